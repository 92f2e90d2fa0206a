#include <gtest/gtest.h>

#include <limits>

#include "engine/database.h"
#include "engine/engine_testing.h"

namespace dq::engine {
namespace {

using namespace testing;

constexpr char kAllTypes[] =
    "CREATE TABLE t(b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INTEGER, i64 BIGINT, u8 UTINYINT, u16 USMALLINT, u32 "
    "UINTEGER, "
    "u64 UBIGINT, f FLOAT, d DOUBLE, s VARCHAR, x BLOB, moment TIMESTAMPTZ, tags VARCHAR[])";

std::string textOf(std::int64_t i) {
    return std::string(static_cast<std::size_t>(i % 30), 'x') + "é" + std::to_string(i);
}

void appendAllTypes(Appender& appender, std::int64_t i) {
    std::string text = textOf(i);
    appender.value<bool>(0, i % 2 == 0);
    appender.value<std::int8_t>(1, static_cast<std::int8_t>(i));
    appender.value<std::int16_t>(2, static_cast<std::int16_t>(i));
    appender.value<std::int32_t>(3, static_cast<std::int32_t>(-i));
    appender.value<std::int64_t>(4, i * 1'000'000'007);
    appender.value<std::uint8_t>(5, static_cast<std::uint8_t>(i));
    appender.value<std::uint16_t>(6, static_cast<std::uint16_t>(i));
    appender.value<std::uint32_t>(7, static_cast<std::uint32_t>(i));
    appender.value<std::uint64_t>(8, std::numeric_limits<std::uint64_t>::max() - static_cast<std::uint64_t>(i));
    appender.value<float>(9, static_cast<float>(i) / 8);
    appender.value<double>(10, static_cast<double>(i) / 3);
    appender.string(11, text);
    appender.string(12, std::string_view("\0\xff", 2));
    appender.value<std::int64_t>(13, i * 1000 + 1);
    std::vector<std::string_view> tags(static_cast<std::size_t>(i % 4), text);
    appender.stringList(14, tags);
    if (i % 5 != 0) return;
    for (idx_t column = 0; column < 15; ++column) appender.null(column);
}

TEST(Appender, HundredThousandRowsOfAllTypesReadBack) {
    constexpr std::int64_t kRows = 100'000;
    Connection connection = connectTo(openDatabase());
    must(connection, kAllTypes);
    auto appender = Appender::open(connection, "memory", "main", "t");
    ASSERT_TRUE(appender.ok()) << appender.status();
    for (std::int64_t i = 0; i < kRows; ++i) {
        appendAllTypes(*appender, i);
        ASSERT_TRUE(appender->endRow().ok());
    }
    absl::Status closed = appender->close();
    ASSERT_TRUE(closed.ok()) << closed;

    auto result = connection.query("SELECT * FROM t");
    ASSERT_TRUE(result.ok());
    std::int64_t i = 0;
    while (true) {
        auto chunk = result->next();
        ASSERT_TRUE(chunk.ok()) << chunk.status();
        if (!*chunk) break;
        auto list = (*chunk)->stringLists(14);
        for (idx_t row = 0; row < (*chunk)->size(); ++row, ++i) {
            bool null = i % 5 == 0;
            ASSERT_EQ((*chunk)->column<bool>(0).valid(row), !null) << i;
            ASSERT_EQ((*chunk)->strings(11).valid(row), !null);
            ASSERT_EQ(list.lists.valid(row), !null);
            if (null) continue;
            ASSERT_EQ((*chunk)->column<bool>(0)[row], i % 2 == 0);
            ASSERT_EQ((*chunk)->column<std::int8_t>(1)[row], static_cast<std::int8_t>(i));
            ASSERT_EQ((*chunk)->column<std::int16_t>(2)[row], static_cast<std::int16_t>(i));
            ASSERT_EQ((*chunk)->column<std::int32_t>(3)[row], -i);
            ASSERT_EQ((*chunk)->column<std::int64_t>(4)[row], i * 1'000'000'007);
            ASSERT_EQ((*chunk)->column<std::uint8_t>(5)[row], static_cast<std::uint8_t>(i));
            ASSERT_EQ((*chunk)->column<std::uint16_t>(6)[row], static_cast<std::uint16_t>(i));
            ASSERT_EQ((*chunk)->column<std::uint32_t>(7)[row], i);
            ASSERT_EQ((*chunk)->column<std::uint64_t>(8)[row], ~std::uint64_t{0} - static_cast<std::uint64_t>(i));
            ASSERT_EQ((*chunk)->column<float>(9)[row], static_cast<float>(i) / 8);
            ASSERT_EQ((*chunk)->column<double>(10)[row], static_cast<double>(i) / 3);
            ASSERT_EQ((*chunk)->strings(11)[row], textOf(i));
            ASSERT_EQ((*chunk)->strings(12)[row], std::string_view("\0\xff", 2));
            ASSERT_EQ((*chunk)->micros(13)[row], i * 1000 + 1);
            ASSERT_EQ(list.lists[row].length, static_cast<std::uint64_t>(i % 4));
            for (idx_t item = 0; item < list.lists[row].length; ++item) {
                ASSERT_EQ(list.items[list.lists[row].offset + item], textOf(i));
            }
        }
    }
    EXPECT_EQ(i, kRows);
}

TEST(Appender, InvalidUtf8FailsTheRowOnly) {
    Connection connection = connectTo(openDatabase());
    must(connection, "CREATE TABLE t(s VARCHAR, n INTEGER, tags VARCHAR[], x BLOB)");
    auto appender = Appender::open(connection, "memory", "main", "t");
    ASSERT_TRUE(appender.ok());
    auto row = [&](std::string_view text, std::vector<std::string_view> tags, std::string_view blob) {
        appender->string(0, text);
        appender->null(1);
        appender->stringList(2, tags);
        appender->string(3, blob);
        return appender->endRow();
    };
    EXPECT_TRUE(row("good", {"a"}, "\xff").ok());
    for (std::string_view bad :
         {"\xff", "long enough to be stored elsewhere \xc3(", "\xed\xa0\x80", "\xf5\x80\x80\x80", "abcdefgh\xc0\x80"}) {
        absl::Status status = row(bad, {}, "");
        EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
        EXPECT_EQ(row("x", {"good", bad}, "").code(), absl::StatusCode::kInvalidArgument);
    }
    appender->string(0, "last");
    appender->value<std::int32_t>(1, 7);  // the refused rows before had NULL here
    appender->stringList(2, {"héé", "b"});
    appender->string(3, std::string_view());
    EXPECT_TRUE(appender->endRow().ok());
    ASSERT_TRUE(appender->close().ok());
    EXPECT_EQ(texts(connection, "SELECT s || coalesce(n, 0) || array_to_string(tags, ',') || octet_length(x) FROM t"),
              (std::vector<std::string>{"good0a1", "last7héé,b0"}));
}

TEST(Appender, UnclosedRowsAreDropped) {
    Connection connection = connectTo(openDatabase());
    must(connection, "CREATE TABLE t(i INTEGER)");
    {
        auto appender = Appender::open(connection, "memory", "main", "t");
        ASSERT_TRUE(appender.ok());
        for (int i = 0; i < 5000; ++i) {
            appender->value<std::int32_t>(0, i);
            ASSERT_TRUE(appender->endRow().ok());
        }
    }
    EXPECT_EQ(number(connection, "SELECT count(*) FROM t"), 0);
}

TEST(Appender, RowsBelongToTheTransaction) {
    Connection connection = connectTo(openDatabase());
    must(connection, "CREATE TABLE t(i INTEGER)");
    for (bool commit : {false, true}) {
        auto transaction = Transaction::begin(connection);
        ASSERT_TRUE(transaction.ok());
        auto appender = Appender::open(connection, "memory", "main", "t");
        ASSERT_TRUE(appender.ok());
        appender->value<std::int32_t>(0, 1);
        ASSERT_TRUE(appender->endRow().ok());
        ASSERT_TRUE(appender->close().ok());
        EXPECT_EQ(number(connection, "SELECT count(*) FROM t"), 1);
        if (commit) {
            EXPECT_TRUE(transaction->commit().ok());
        } else {
            transaction->rollback();
        }
        EXPECT_EQ(number(connection, "SELECT count(*) FROM t"), commit ? 1 : 0);
    }
}

TEST(Appender, MissingTableAndUnsupportedColumnAreErrors) {
    Connection connection = connectTo(openDatabase());
    absl::Status missing = Appender::open(connection, "memory", "main", "nope").status();
    EXPECT_EQ(errorClass(missing), ErrorClass::kMissingTable) << missing;
    EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
    must(connection, "CREATE TABLE t(i INTEGER, h HUGEINT)");
    absl::Status unsupported = Appender::open(connection, "memory", "main", "t").status();
    EXPECT_EQ(unsupported.code(), absl::StatusCode::kInvalidArgument) << unsupported;
}

TEST(Appender, ConstraintFailureIsReportedAtClose) {
    Connection connection = connectTo(openDatabase());
    must(connection, "CREATE TABLE t(i INTEGER PRIMARY KEY)");
    auto appender = Appender::open(connection, "memory", "main", "t");
    ASSERT_TRUE(appender.ok());
    for (int i : {1, 2, 1}) {
        appender->value<std::int32_t>(0, i);
        ASSERT_TRUE(appender->endRow().ok());
    }
    absl::Status status = appender->close();
    EXPECT_EQ(errorClass(status), ErrorClass::kOther) << status;
    EXPECT_EQ(number(connection, "SELECT count(*) FROM t"), 0);
}

TEST(AppenderDeathTest, MisuseIsABrokenInvariant) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Connection connection = connectTo(openDatabase());
    must(connection, "CREATE TABLE t(i INTEGER, s VARCHAR)");
    auto appender = Appender::open(connection, "memory", "main", "t");
    ASSERT_TRUE(appender.ok());
    EXPECT_DEATH(appender->value<std::int64_t>(0, 1), "another type");
    EXPECT_DEATH(appender->value<std::int32_t>(1, 1), "another type");
    EXPECT_DEATH(appender->string(0, "x"), "another type");
    EXPECT_DEATH(appender->stringList(1, {"x"}), "another type");
    ASSERT_TRUE(appender->close().ok());
    EXPECT_DEATH(static_cast<void>(appender->endRow().ok()), "was closed");
}

}  // namespace
}  // namespace dq::engine
