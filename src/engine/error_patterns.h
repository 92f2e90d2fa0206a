// All matching of engine message texts. The error type decides first; a text is looked at where the type is missing
// (prepare gives only text) or too coarse. Each pattern has a test that provokes the real message
// (error_patterns_test.cc, postgres_test.cc).
#pragma once
#include <string>
#include <string_view>

#include "engine/error.h"

namespace dq::engine {

// The duckdb_error_type named at the head of a message ("Catalog Error: …"); DUCKDB_ERROR_INVALID when it names none.
int errorTypeOfText(std::string_view message);

// Class of an error of any statement but COMMIT. A type of DUCKDB_ERROR_INVALID means "unknown": the text is asked.
ErrorClass classifyError(int type, std::string_view message);

// Class of an error of COMMIT. Only texts that prove that nothing landed keep their class; everything else is
// kOutcomeUnknown, since DuckLake puts "Failed to commit DuckLake transaction" before any cause, a lost acknowledgement
// among them.
ErrorClass classifyCommitError(int type, std::string_view message);

// What of a message may leave engine/: up to its first blank line (after it come the statement text and stack traces),
// at most 600 bytes, without passwords, vehicle ids, converted values and statements that were sent to a catalog
// server.
std::string cleanMessage(std::string_view message);

}  // namespace dq::engine
