#include "engine/result.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "engine/database.h"
#include "engine/engine_testing.h"

namespace dq::engine {
namespace {

using namespace testing;

TEST(Result, ReadsEveryPhysicalType) {
    Connection connection = connectTo(openDatabase());
    const char* sql =
        "SELECT i = 1 AS b, (i % 100)::TINYINT, i::SMALLINT, i::INTEGER, -i::BIGINT, (i % 200)::UTINYINT, "
        "i::USMALLINT, i::UINTEGER, "
        "18446744073709551615::UBIGINT - i::UBIGINT, i::FLOAT / 2, i::DOUBLE / 4, 'text of more than twelve bytes ' || "
        "i, "
        "encode('b' || i), make_timestamptz(1000000 * i + 7), DATE '1970-01-01' + i::INTEGER FROM range(3000) t(i)";
    for (bool streaming : {false, true}) {
        auto result = streaming ? connection.stream(Sql{sql, {}}) : connection.query(Sql{sql, {}});
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_EQ(result->columnCount(), 15U);
        EXPECT_EQ(result->columnName(0), "b");
        idx_t seen = 0;
        std::int64_t sum = 0;
        while (true) {
            auto chunk = result->next();
            ASSERT_TRUE(chunk.ok()) << chunk.status();
            if (!*chunk) break;
            ASSERT_GT((*chunk)->size(), 0U);
            auto flag = (*chunk)->column<bool>(0);
            auto small = (*chunk)->column<std::int16_t>(2);
            auto whole = (*chunk)->column<std::int32_t>(3);
            auto negative = (*chunk)->column<std::int64_t>(4);
            auto huge = (*chunk)->column<std::uint64_t>(8);
            auto half = (*chunk)->column<float>(9);
            auto quarter = (*chunk)->column<double>(10);
            auto text = (*chunk)->strings(11);
            auto blob = (*chunk)->strings(12);
            auto time = (*chunk)->micros(13);
            auto day = (*chunk)->column<std::int32_t>(14);
            for (idx_t row = 0; row < (*chunk)->size(); ++row) {
                std::int64_t i = whole[row];
                ASSERT_EQ(flag[row], i == 1);
                ASSERT_EQ(small[row], i);
                ASSERT_EQ(negative[row], -i);
                ASSERT_EQ(huge[row], ~std::uint64_t{0} - static_cast<std::uint64_t>(i));
                ASSERT_EQ(half[row], static_cast<float>(i) / 2);
                ASSERT_EQ(quarter[row], static_cast<double>(i) / 4);
                ASSERT_EQ(text[row], "text of more than twelve bytes " + std::to_string(i));
                ASSERT_EQ(blob[row], "b" + std::to_string(i));
                ASSERT_EQ(time[row], 1000000 * i + 7);
                ASSERT_EQ(day[row], i);
                sum += i;
            }
            seen += (*chunk)->size();
        }
        EXPECT_EQ(seen, 3000U);
        EXPECT_EQ(sum, 3000 * 2999 / 2);
        auto end = result->next();
        EXPECT_TRUE(end.ok() && !*end);
    }
}

TEST(Result, ReadsSmallTypes) {
    Connection connection = connectTo(openDatabase());
    auto result = connection.query("SELECT (-5)::TINYINT, 250::UTINYINT, 65000::USMALLINT, 4000000000::UINTEGER");
    ASSERT_TRUE(result.ok()) << result.status();
    auto chunk = result->next();
    ASSERT_TRUE(chunk.ok() && *chunk);
    EXPECT_EQ((*chunk)->column<std::int8_t>(0)[0], -5);
    EXPECT_EQ((*chunk)->column<std::uint8_t>(1)[0], 250);
    EXPECT_EQ((*chunk)->column<std::uint16_t>(2)[0], 65000);
    EXPECT_EQ((*chunk)->column<std::uint32_t>(3)[0], 4000000000U);
}

TEST(Result, NullsReadAsEmptyAndInvalid) {
    Connection connection = connectTo(openDatabase());
    auto result = connection.query(
        "SELECT CASE WHEN i % 3 = 0 THEN NULL ELSE i END, CASE WHEN i % 3 = 0 THEN NULL ELSE 'a text that is not "
        "inlined' END, "
        "CASE WHEN i % 3 = 0 THEN NULL ELSE ['x', NULL] END FROM range(200) t(i)");
    ASSERT_TRUE(result.ok()) << result.status();
    auto chunk = result->next();
    ASSERT_TRUE(chunk.ok() && *chunk);
    auto number_column = (*chunk)->column<std::int64_t>(0);
    auto text = (*chunk)->strings(1);
    auto list = (*chunk)->stringLists(2);
    ASSERT_EQ((*chunk)->size(), 200U);
    for (idx_t row = 0; row < 200; ++row) {
        bool null = row % 3 == 0;
        ASSERT_EQ(number_column.valid(row), !null);
        ASSERT_EQ(number_column[row], null ? 0 : static_cast<std::int64_t>(row));
        ASSERT_EQ(text.valid(row), !null);
        ASSERT_EQ(text[row], null ? "" : "a text that is not inlined");
        ASSERT_EQ(list.lists.valid(row), !null);
        ASSERT_EQ(list.lists[row].length, null ? 0U : 2U);
        if (null) continue;
        ASSERT_EQ(list.items[list.lists[row].offset], "x");
        ASSERT_FALSE(list.items.valid(list.lists[row].offset + 1));
    }
}

TEST(Result, ListsOfFilteredAndConstantRowsRead) {
    Connection connection = connectTo(openDatabase());
    for (bool streaming : {false, true}) {
        Sql sql{
            "SELECT ['const', 'ant'], list_filter(['a', 'b' || i, 'c'], x -> x <> 'a') FROM range(5000) t(i) WHERE i % "
            "7 = 2",
            {}};
        auto result = streaming ? connection.stream(sql) : connection.query(sql);
        ASSERT_TRUE(result.ok()) << result.status();
        std::int64_t i = 2;
        while (true) {
            auto chunk = result->next();
            ASSERT_TRUE(chunk.ok()) << chunk.status();
            if (!*chunk) break;
            auto constant = (*chunk)->stringLists(0);
            auto filtered = (*chunk)->stringLists(1);
            for (idx_t row = 0; row < (*chunk)->size(); ++row, i += 7) {
                ASSERT_EQ(constant.lists[row].length, 2U);
                ASSERT_EQ(constant.items[constant.lists[row].offset + 1], "ant");
                ASSERT_EQ(filtered.lists[row].length, 2U);
                ASSERT_EQ(filtered.items[filtered.lists[row].offset], "b" + std::to_string(i));
            }
        }
        EXPECT_GT(i, 4990);
    }
}

TEST(Result, ChunkOutlivesItsResult) {
    Connection connection = connectTo(openDatabase());
    std::optional<Chunk> kept;
    {
        auto result = connection.stream(Sql{"SELECT 'a text that is not inlined ' || i FROM range(10000) t(i)", {}});
        ASSERT_TRUE(result.ok());
        kept = *result->next();
    }
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->strings(0)[1], "a text that is not inlined 1");
}

TEST(ResultDeathTest, WrongTypeIsABrokenInvariant) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Connection connection = connectTo(openDatabase());
    auto result = connection.query("SELECT 1::INTEGER, 'x', [1]");
    ASSERT_TRUE(result.ok());
    auto chunk = result->next();
    ASSERT_TRUE(chunk.ok() && *chunk);
    EXPECT_DEATH((*chunk)->column<std::int64_t>(0), "another type");
    EXPECT_DEATH((*chunk)->strings(0), "another type");
    EXPECT_DEATH((*chunk)->column<std::int32_t>(3), "beyond the chunk");
    EXPECT_DEATH((*chunk)->stringLists(2), "not of strings");
}

std::int64_t residentMegabytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * sysconf(_SC_PAGESIZE) / (1 << 20);
}

// 800 MB of rows pass by.
TEST(Result, StreamingNeedsBoundedMemory) {
    Connection connection = connectTo(openDatabase());
    must(connection, "SET memory_limit = '50MB'");
    must(connection, "SET temp_directory = ''");
    auto result = connection.stream(Sql{"SELECT i, repeat('x', 200) || i FROM range(4000000) t(i)", {}});
    ASSERT_TRUE(result.ok()) << result.status();
    std::int64_t before = residentMegabytes();
    std::int64_t peak = before;
    std::int64_t rows = 0;
    for (int chunks = 0;; ++chunks) {
        auto chunk = result->next();
        ASSERT_TRUE(chunk.ok()) << chunk.status();
        if (!*chunk) break;
        rows += static_cast<std::int64_t>((*chunk)->size());
        if (chunks % 50 == 0) peak = std::max(peak, residentMegabytes());
    }
    EXPECT_EQ(rows, 4000000);
    EXPECT_LT(peak - before, 200);
}

TEST(Result, ErrorWhileStreamingEndsTheResult) {
    Connection connection = connectTo(openDatabase());
    auto result = connection.stream(
        Sql{"SELECT CASE WHEN i = 500000 THEN error('late') ELSE i END FROM range(1000000) t(i)", {}});
    absl::Status status = result.status();
    while (status.ok()) {
        auto chunk = result->next();
        status = chunk.status();
        ASSERT_TRUE(!chunk.ok() || *chunk) << "ended without the error";
    }
    EXPECT_EQ(errorClass(status), ErrorClass::kOther) << status;
    EXPECT_NE(status.message().find("late"), absl::string_view::npos) << status;
    auto after = result->next();
    EXPECT_TRUE(after.ok() && !*after);
    EXPECT_EQ(number(connection, "SELECT 1"), 1);
}

// A stream that is dropped half-way must not keep its transaction: it would pin a snapshot. While one is active, the
// file of a detached database stays in use.
TEST(Result, AbandonedStreamReleasesItsTransaction) {
    TempFolder folder;
    auto database = openDatabase();
    Connection reader = connectTo(database);
    Connection other = connectTo(database);
    must(other, "ATTACH " + quoteLiteral(folder / "side.db") + " AS side");
    must(other, "CREATE TABLE side.t AS SELECT i FROM range(1000000) r(i)");
    {
        auto result = reader.stream(Sql{"SELECT * FROM side.t", {}});
        ASSERT_TRUE(result.ok() && result->next().ok());
    }
    must(other, "DETACH side");
    must(other, "ATTACH " + quoteLiteral(folder / "side.db") + " AS again");
    EXPECT_EQ(number(reader, "SELECT count(*) FROM again.t"), 1000000);
}

TEST(Result, MovedResultKeepsItsPlace) {
    Connection connection = connectTo(openDatabase());
    auto result = connection.stream(Sql{"SELECT i FROM range(5000) t(i)", {}});
    ASSERT_TRUE(result.ok());
    Result moved = *std::move(result);
    idx_t rows = 0;
    while (true) {
        auto chunk = moved.next();
        ASSERT_TRUE(chunk.ok());
        if (!*chunk) break;
        rows += (*chunk)->size();
    }
    EXPECT_EQ(rows, 5000U);
}

}  // namespace
}  // namespace dq::engine
