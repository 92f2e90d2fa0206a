#include "engine/error_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine_testing.h"

namespace dq::engine {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

std::string messageOf(const absl::Status& status) { return std::string(status.message()); }

void expectError(const absl::Status& status, ErrorClass error_class, absl::StatusCode code, const std::string& part) {
    EXPECT_EQ(errorClass(status), error_class) << status;
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(messageOf(status), HasSubstr(part));
}

// Two transactions on a lake in a file; `first` commits before `second`, whose outcome is returned.
absl::Status overlap(const std::string& setup, const std::string& first, const std::string& second,
                     int max_retry_count = 10) {
    TempFolder folder;
    auto database = openDatabase();
    Connection a = connectTo(database);
    Connection b = connectTo(database);
    attachLake(a, folder);
    must(a, "SET GLOBAL ducklake_max_retry_count = " + std::to_string(max_retry_count));
    must(a, "CREATE TABLE lake.t AS SELECT i FROM range(10) r(i)");
    if (!setup.empty()) must(a, setup);
    auto one = Transaction::begin(a);
    auto two = Transaction::begin(b);
    must(a, first);
    must(b, second);
    absl::Status committed = one->commit();
    EXPECT_TRUE(committed.ok()) << committed;
    absl::Status outcome = two->commit();
    EXPECT_FALSE(b.inTransaction());
    EXPECT_EQ(number(b, "SELECT 1"), 1);
    return outcome;
}

TEST(ErrorPatterns, LakeConflict) {
    absl::Status outcome =
        overlap("", "UPDATE lake.t SET i = i + 1 WHERE i = 1", "UPDATE lake.t SET i = i + 1 WHERE i = 7");
    expectError(outcome, ErrorClass::kConflict, absl::StatusCode::kAborted, "Transaction conflict");
    EXPECT_TRUE(isCommitConflictText(messageOf(outcome)));
    expectError(overlap("", "UPDATE lake.t SET i = i + 1 WHERE i = 1", "INSERT INTO lake.t VALUES (11)"),
                ErrorClass::kConflict, absl::StatusCode::kAborted, "another transaction has deleted");
    expectError(overlap("", "CREATE TABLE lake.u(i INTEGER)", "CREATE TABLE lake.u(j INTEGER)"), ErrorClass::kConflict,
                absl::StatusCode::kAborted, "Transaction conflict");
}

TEST(ErrorPatterns, LakeRetriesUsedUp) {
    absl::Status outcome =
        overlap("CREATE TABLE lake.u(i INTEGER)", "INSERT INTO lake.t VALUES (11)", "INSERT INTO lake.u VALUES (1)", 0);
    expectError(outcome, ErrorClass::kConflict, absl::StatusCode::kAborted, "Exceeded the maximum retry count");
    EXPECT_TRUE(isCommitConflictText(messageOf(outcome)));
}

TEST(ErrorPatterns, StoreConflict) {
    auto database = openDatabase();
    Connection a = connectTo(database);
    Connection b = connectTo(database);
    must(a, "CREATE TABLE t AS SELECT 1 AS i");
    auto one = Transaction::begin(a);
    auto two = Transaction::begin(b);
    must(a, "UPDATE t SET i = 2");
    expectError(failureOf(b, "UPDATE t SET i = 3"), ErrorClass::kConflict, absl::StatusCode::kAborted, "Conflict on ");
    two->rollback();
    auto three = Transaction::begin(b);
    must(a, "CREATE TABLE u(i INTEGER)");
    expectError(failureOf(b, "CREATE TABLE u(i INTEGER)"), ErrorClass::kConflict, absl::StatusCode::kAborted,
                "write-write conflict");
}

TEST(ErrorPatterns, AbortedTransaction) {
    Connection connection = connectTo(openDatabase());
    auto transaction = Transaction::begin(connection);
    EXPECT_FALSE(connection.execute("SELECT error('x')").ok());
    for (const char* sql : {"SELECT 1", "SELECT 2 FROM range(3)"}) {
        expectError(failureOf(connection, sql), ErrorClass::kSessionAborted, absl::StatusCode::kInternal,
                    "transaction is aborted");
    }
    transaction->rollback();
    must(connection, "SELECT 1");
}

// An error of type INTERNAL inside a query kills the whole instance. It is provoked by a function that hands back a
// vector of another type than it promised.
void breakVectorType(duckdb_function_info, duckdb_data_chunk input, duckdb_vector output) {
    duckdb_vector_reference_vector(output, duckdb_data_chunk_get_vector(input, 0));
}

void registerBreaker(Connection& connection) {
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_scalar_function_set_name(function, "break_engine");
    duckdb_logical_type number_type = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_logical_type text_type = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_scalar_function_add_parameter(function, number_type);
    duckdb_scalar_function_set_return_type(function, text_type);
    duckdb_scalar_function_set_function(function, breakVectorType);
    EXPECT_EQ(duckdb_register_scalar_function(connection.handle(), function), DuckDBSuccess);
    duckdb_destroy_logical_type(&number_type);
    duckdb_destroy_logical_type(&text_type);
    duckdb_destroy_scalar_function(&function);
}

TEST(ErrorPatterns, InvalidatedInstance) {
    auto database = openDatabase();
    Connection connection = connectTo(database);
    Connection other = connectTo(database);
    must(other, "CREATE TABLE t(i INTEGER)");
    registerBreaker(connection);
    auto transaction = Transaction::begin(other);
    must(other, "INSERT INTO t VALUES (1)");
    absl::Status first = failureOf(connection, "SELECT break_engine(i) FROM range(10) r(i)");
    EXPECT_EQ(errorClass(first), ErrorClass::kOther) << first;
    EXPECT_THAT(messageOf(first), Not(HasSubstr("Stack")));
    expectError(failureOf(connection, "SELECT 1"), ErrorClass::kEngineDead, absl::StatusCode::kDataLoss,
                "database has been invalidated");
    expectError(transaction->commit(), ErrorClass::kEngineDead, absl::StatusCode::kDataLoss,
                "database has been invalidated");
    auto next = Transaction::begin(other);
    EXPECT_EQ(errorClass(next.status()), ErrorClass::kEngineDead) << next.status();
}

TEST(ErrorPatterns, InvalidatedAttachedFile) {
    TempFolder folder;
    Connection connection = connectTo(openDatabase());
    must(connection, "ATTACH " + quoteLiteral(folder / "side.db") + " AS side");
    must(connection, "CREATE TABLE side.t AS SELECT 1 AS i");
    must(connection, "SET debug_checkpoint_abort = 'before_header'");
    expectError(failureOf(connection, "CHECKPOINT side"), ErrorClass::kEngineDead, absl::StatusCode::kDataLoss,
                "database has been invalidated");
    expectError(failureOf(connection, "SELECT * FROM side.t"), ErrorClass::kEngineDead, absl::StatusCode::kDataLoss,
                "has been invalidated because");
}

TEST(ErrorPatterns, MissingTableAndSnapshot) {
    TempFolder folder;
    Connection connection = connectTo(openDatabase());
    attachLake(connection, folder);
    must(connection, "CREATE TABLE lake.t(i INTEGER)");
    for (const char* sql : {"SELECT * FROM nope", "SELECT * FROM lake.nope", "INSERT INTO lake.nope VALUES (1)",
                            "SELECT * FROM main.nope"}) {
        expectError(failureOf(connection, sql), ErrorClass::kMissingTable, absl::StatusCode::kNotFound,
                    "does not exist");
    }
    expectError(failureOf(connection, "SELECT * FROM lake.t AT (VERSION => 99)"), ErrorClass::kMissingTable,
                absl::StatusCode::kNotFound, "No snapshot found at version");
    absl::Status feed = failureOf(connection, "SELECT * FROM ducklake_table_insertions('lake', 'main', 'nope', 1, 2)");
    EXPECT_EQ(errorClass(feed), ErrorClass::kMissingTable) << feed;
    EXPECT_EQ(errorClass(failureOf(connection, "SELECT nope(1)")), ErrorClass::kOther);
}

TEST(ErrorPatterns, CallersMistakes) {
    Connection connection = connectTo(openDatabase());
    expectError(failureOf(connection, "SELEC 1"), ErrorClass::kOther, absl::StatusCode::kInvalidArgument,
                "syntax error");
    expectError(failureOf(connection, "SELECT nope FROM range(1)"), ErrorClass::kOther,
                absl::StatusCode::kInvalidArgument, "nope");
    expectError(failureOf(connection, "SELECT * FROM nope.x.y"), ErrorClass::kOther, absl::StatusCode::kInvalidArgument,
                "nope");
    expectError(failureOf(connection, "SELECT 1 % 'x'::INTEGER"), ErrorClass::kOther, absl::StatusCode::kInternal,
                "Could not convert");
}

TEST(ErrorPatterns, OutOfMemory) {
    Connection connection = connectTo(openDatabase());
    must(connection, "SET memory_limit = '20MB'");
    must(connection, "SET temp_directory = ''");
    expectError(failureOf(connection, "CREATE TABLE t AS SELECT repeat('x', 300) || i AS s FROM range(1000000) r(i)"),
                ErrorClass::kOutOfMemory, absl::StatusCode::kResourceExhausted, "");
    EXPECT_EQ(number(connection, "SELECT 1"), 1);  // over the limit fails one statement, not the instance
}

TEST(ErrorPatterns, UnavailableFilesAndServers) {
    TempFolder folder;
    Connection connection = connectTo(openDatabase());
    expectError(failureOf(connection, "SELECT * FROM read_parquet(" + quoteLiteral(folder / "nope.parquet") + ")"),
                ErrorClass::kUnavailable, absl::StatusCode::kUnavailable, "No files found");
    expectError(failureOf(connection, "ATTACH " + quoteLiteral(folder / "no/folder.db") + " AS x"),
                ErrorClass::kUnavailable, absl::StatusCode::kUnavailable, "");
    must(connection, "LOAD " + quoteLiteral(extensionPath("postgres_scanner")));
    for (const char* dsn :
         {"host=127.0.0.1 port=1 user=u password=hunter2 dbname=d", "postgres://u:hunter2@127.0.0.1:1/d"}) {
        absl::Status error = failureOf(connection, "ATTACH " + quoteLiteral(dsn) + " AS p (TYPE postgres)");
        expectError(error, ErrorClass::kUnavailable, absl::StatusCode::kUnavailable, "Connection refused");
        EXPECT_THAT(messageOf(error), Not(HasSubstr("hunter2")));
    }
    must(connection, "LOAD " + quoteLiteral(extensionPath("httpfs")));
    absl::Status http = failureOf(connection, "SELECT * FROM read_parquet('http://127.0.0.1:1/x.parquet')");
    EXPECT_EQ(errorClass(http), ErrorClass::kUnavailable) << http;
}

TEST(ErrorPatterns, DataInAMessageIsNotMistakenForAPattern) {
    Connection connection = connectTo(openDatabase());
    absl::Status error =
        failureOf(connection, Sql{"SELECT CAST($1 AS INTEGER)", {std::string("database has been invalidated")}});
    EXPECT_EQ(errorClass(error), ErrorClass::kOther) << error;
}

TEST(ErrorPatterns, TypeOfText) {
    EXPECT_EQ(errorTypeOfText("Catalog Error: x"), DUCKDB_ERROR_CATALOG);
    EXPECT_EQ(errorTypeOfText("Out of Memory Error: x"), DUCKDB_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(errorTypeOfText("IO Error: x"), DUCKDB_ERROR_IO);
    EXPECT_EQ(errorTypeOfText("IOError: x"), DUCKDB_ERROR_INVALID);
    EXPECT_EQ(errorTypeOfText("x Catalog Error: y"), DUCKDB_ERROR_INVALID);
    EXPECT_EQ(errorTypeOfText(""), DUCKDB_ERROR_INVALID);
}

// Texts of a catalog server that goes away (postgres_test.cc provokes those that one can), and of outcomes that prove
// nothing.
TEST(ErrorPatterns, CommitOutcomes) {
    constexpr char kHead[] = "TransactionContext Error: Failed to commit: ";
    struct Case {
        std::string text;
        ErrorClass error_class;
    };
    const Case cases[] = {
        {"Failed to commit DuckLake transaction.\nTransaction conflict - attempting to insert", ErrorClass::kConflict},
        {"Failed to commit DuckLake transaction.\nExceeded the maximum retry count of 10 set by the "
         "ducklake_max_retry_count setting.",
         ErrorClass::kConflict},
        {"Failed to execute query \"ROLLBACK\": ", ErrorClass::kOutcomeUnknown},
        {"Failed to commit DuckLake transaction.\nFailed to execute query \"COMMIT\": server closed the connection "
         "unexpectedly",
         ErrorClass::kOutcomeUnknown},
        {"Failed to commit DuckLake transaction.\nsomething new", ErrorClass::kOutcomeUnknown},
        {"something new", ErrorClass::kOutcomeUnknown},
        {"PRIMARY KEY or UNIQUE constraint violation: duplicate key \"1\"", ErrorClass::kOther},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(classifyCommitError(DUCKDB_ERROR_TRANSACTION, kHead + c.text), c.error_class) << c.text;
        EXPECT_EQ(classifyCommitError(DUCKDB_ERROR_INVALID, kHead + c.text), c.error_class) << c.text;
    }
    EXPECT_EQ(classifyCommitError(DUCKDB_ERROR_TRANSACTION,
                                  "TransactionContext Error: cannot commit - no transaction is active"),
              ErrorClass::kOther);
    EXPECT_EQ(classifyCommitError(DUCKDB_ERROR_IO, "IO Error: Could not write file"), ErrorClass::kOutcomeUnknown);
    EXPECT_EQ(classifyCommitError(DUCKDB_ERROR_FATAL, "FATAL Error: broken"), ErrorClass::kOutcomeUnknown);
    EXPECT_EQ(classifyCommitError(DUCKDB_ERROR_INTERRUPT, "INTERRUPT Error: Interrupted!"),
              ErrorClass::kOutcomeUnknown);
}

TEST(CleanMessage, KeepsOnlyTheFirstLinesAndNoSecrets) {
    const std::pair<std::string, std::string> cases[] = {
        {"Parser Error: syntax error\n\nLINE 1: SELECT 'did:x'\n       ^", "Parser Error: syntax error"},
        {"one\ntwo\n", "one\ntwo"},
        {"at \"host=h password=hunter2 user=u\": refused", "at \"host=h password=*** user=u\": refused"},
        {"PASSWORD = 'a b\\'c' x", "PASSWORD = '***' x"},
        {"postgres://u:p@ss:w@h:5432/d?x=1 failed", "postgres://u:***@h:5432/d?x=1 failed"},
        {"'postgresql://h/d?password=p&sslmode=x'", "'postgresql://h/d?password=***&sslmode=x'"},
        {"http://h:80/p", "http://h:80/p"},
        {"password authentication failed for user \"u\"", "password authentication failed for user \"u\""},
        {"(TYPE s3, KEY_ID 'AKIA', SECRET 'shh')", "(TYPE s3, KEY_ID '***', SECRET '***')"},
        {"Could not convert string 'pay'to'load' to INT32", "Could not convert string '…' to INT32"},
        {"Duplicate key \"subject: did:erc721:137:0xbA:1, name: x\"", "Duplicate key \"subject: did:***, name: x\""},
        {"Failed to execute query \"INSERT INTO t VALUES ('a\": b')\": cause",
         "Failed to execute query \"INSERT (…)\": cause"},
        {"Failed to execute query \"ROLLBACK\": ", "Failed to execute query \"ROLLBACK\":"},
        {"Failed to prepare COPY \"COPY (SELECT x WHERE s = 'y') TO STDOUT;\": gone",
         "Failed to prepare COPY \"COPY (…)\": gone"},
        {"Failed to execute query \"SELECT secret", "Failed to execute query \"SELECT (…)"},
    };
    for (const auto& [message, clean] : cases) EXPECT_EQ(cleanMessage(message), clean);
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "é";
    for (std::size_t shift = 0; shift < 3; ++shift) {
        std::string cut = cleanMessage(std::string(shift, 'x') + many);
        EXPECT_LE(cut.size(), 600U);
        EXPECT_GT(cut.size(), 595U);
        EXPECT_TRUE(cut.ends_with("é…")) << cut;
    }
}

TEST(Error, ClassTravelsWithTheStatus) {
    EXPECT_EQ(errorClass(absl::OkStatus()), ErrorClass::kNone);
    EXPECT_EQ(errorClass(absl::InternalError("x")), ErrorClass::kOther);
    absl::Status error = makeError(DUCKDB_ERROR_OUT_OF_MEMORY, "full");
    absl::Status annotated = annotate(error, "while testing");
    EXPECT_EQ(errorClass(annotated), ErrorClass::kOutOfMemory);
    EXPECT_EQ(annotated.message(), "while testing: full");
    EXPECT_FALSE(makeError(DUCKDB_ERROR_INVALID, "").message().empty());
    EXPECT_EQ(makeError(DUCKDB_ERROR_INTERRUPT, "INTERRUPT Error: Interrupted!").code(), absl::StatusCode::kCancelled);
    std::vector<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(ErrorClass::kOther); ++i)
        names.push_back(errorClassName(static_cast<ErrorClass>(i)));
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(RedactStatement, Acceptance11_NoSecretIsShown) {
    EXPECT_EQ(redactStatement("SET threads = 4"), "SET threads = 4");
    EXPECT_EQ(redactStatement("CREATE OR REPLACE SECRET dq_s3 (TYPE s3, KEY_ID 'AKIA123', SECRET 'shh''s')"),
              "CREATE OR REPLACE SECRET dq_s3 (…)");
    EXPECT_EQ(redactStatement("ATTACH IF NOT EXISTS 'ducklake:postgres:postgres://u:p@h/d' AS lake (READ_ONLY)"),
              "ATTACH IF NOT EXISTS (…)");
    EXPECT_EQ(redactStatement("attach $$postgres://u:p@h/d$$ as lake"), "attach (…)");
    EXPECT_EQ(redactStatement("DROP SECRET dq_s3"), "DROP SECRET dq_s3");
    EXPECT_EQ(redactStatement("SELECT 'plain'"), "SELECT 'plain'");
}

}  // namespace
}  // namespace dq::engine
