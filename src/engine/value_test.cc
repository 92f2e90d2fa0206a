#include "engine/value.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/engine_testing.h"

namespace dq::engine {
namespace {

using testing::connectTo;
using testing::failureOf;
using testing::openDatabase;
using testing::texts;

using Texts = std::vector<std::string>;

TEST(Value, LiteralsReadBackAsTheyWere) {
    Connection connection = connectTo(openDatabase());
    for (std::string text : {"", "plain", "it's", "''", "a\"b", "back\\slash", "héé\n"}) {
        EXPECT_EQ(texts(connection, "SELECT " + quoteLiteral(text)), Texts{text});
        if (text.empty()) continue;
        auto result = connection.query("SELECT 1 AS " + quoteIdentifier(text));
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_EQ(result->columnName(0), text);
    }
    EXPECT_EQ(quoteLiteral("it's"), "'it''s'");
    EXPECT_EQ(quoteIdentifier("a\"b"), "\"a\"\"b\"");
}

TEST(Value, TimestampLiteralKeepsMicroseconds) {
    Connection connection = connectTo(openDatabase());
    EXPECT_EQ(timestampLiteral(1'795'953'600'000'000), "TIMESTAMPTZ '2026-11-29 12:00:00.000000+00'");
    for (Micros time : {Micros{0}, Micros{1'795'953'600'123'456}, Micros{-1}, kZeroTime}) {
        EXPECT_EQ(texts(connection, "SELECT epoch_us(" + timestampLiteral(time) + ")"), Texts{std::to_string(time)});
    }
}

TEST(Value, EveryKindBinds) {
    Connection connection = connectTo(openDatabase());
    struct Case {
        Value value;
        std::string type, text;
    };
    const Case cases[] = {
        {Null{}, "INTEGER", "NULL"},
        {true, "BOOLEAN", "true"},
        {std::numeric_limits<std::int32_t>::min(), "INTEGER", "-2147483648"},
        {std::numeric_limits<std::int64_t>::min(), "BIGINT", "-9223372036854775808"},
        {std::numeric_limits<std::uint64_t>::max(), "UBIGINT", "18446744073709551615"},
        {-0.5, "DOUBLE", "-0.5"},
        {std::string("it's héé"), "VARCHAR", "it's héé"},
        {TimestampTz{1'795'953'600'123'456}, "TIMESTAMP WITH TIME ZONE", "2026-11-29 12:00:00.123456+00"},
        {Blob{std::string("\x00\xff!", 3)}, "BLOB", "\\x00\\xFF!"},
        {StringList{}, "VARCHAR[]", "[]"},
        {StringList{"a", "it's", "é"}, "VARCHAR[]", "[a, 'it\\'s', é]"},
    };
    ASSERT_TRUE(connection.execute("SET TimeZone = 'UTC'").ok());
    for (const Case& c : cases) {
        EXPECT_EQ(texts(connection, Sql{"SELECT $1::" + c.type, {c.value}}), Texts{c.text}) << c.type;
        if (!std::holds_alternative<Null>(c.value)) {
            EXPECT_EQ(texts(connection, Sql{"SELECT typeof($1)", {c.value}}), Texts{c.type});
        }
    }
}

TEST(Value, StringWithNulByteBindsWhole) {
    Connection connection = connectTo(openDatabase());
    EXPECT_EQ(texts(connection, Sql{"SELECT strlen($1)", {std::string("a\0b", 3)}}), Texts{"3"});
}

TEST(Value, ListIsUsableInUnnest) {
    Connection connection = connectTo(openDatabase());
    EXPECT_EQ(texts(connection, Sql{"SELECT unnest($1) AS name ORDER BY name", {StringList{"b", "a"}}}),
              (Texts{"a", "b"}));
    EXPECT_EQ(texts(connection, Sql{"SELECT count(*) FROM range(5) t(i) WHERE list_contains($1, i::VARCHAR)",
                                    {StringList{"1", "9", "4"}}}),
              Texts{"2"});
}

TEST(Value, WhatCannotBindIsInvalidArgument) {
    Connection connection = connectTo(openDatabase());
    const Sql bad[] = {
        {"SELECT $1", {}},
        {"SELECT 1", {std::int32_t{1}}},
        {"SELECT $1, $2", {std::int32_t{1}}},
        {"SELECT $1", {std::string("\xff\xfe")}},
        {"SELECT $1", {std::string("abcdefgh\xc3")}},
        {"SELECT $1", {StringList{"good", "\xc3("}}},
        {std::string("SELECT 1\0 + 1", 13), {}},
    };
    for (const Sql& sql : bad) {
        absl::Status error = failureOf(connection, sql);
        EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error;
        EXPECT_EQ(errorClass(error), ErrorClass::kOther);
    }
    EXPECT_EQ(texts(connection, "SELECT 1"), Texts{"1"});
}

}  // namespace
}  // namespace dq::engine
