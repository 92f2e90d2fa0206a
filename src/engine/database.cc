#include "engine/database.h"

#include <utility>

#include "engine/error_internal.h"
#include "engine/row_source.h"

namespace dq::engine {

absl::StatusOr<std::shared_ptr<Database>> Database::open() {
    duckdb_config config = nullptr;
    if (duckdb_create_config(&config) != DuckDBSuccess) {
        return makeError(DUCKDB_ERROR_OUT_OF_MEMORY, "engine configuration cannot be made");
    }
    duckdb_state state = DuckDBSuccess;
    // The process loads the extensions it was shipped with and never fetches one from the network.
    for (const char* name :
         {"autoinstall_known_extensions", "autoload_known_extensions", "allow_unsigned_extensions"}) {
        if (state == DuckDBSuccess) state = duckdb_set_config(config, name, "false");
    }
    duckdb_database handle = nullptr;
    char* message = nullptr;
    if (state == DuckDBSuccess) state = duckdb_open_ext(nullptr, &handle, config, &message);
    duckdb_destroy_config(&config);
    if (state != DuckDBSuccess) {
        absl::Status error = makeError(DUCKDB_ERROR_INVALID, message == nullptr ? "engine cannot be opened" : message);
        if (message != nullptr) duckdb_free(message);
        return error;
    }
    auto database = std::shared_ptr<Database>(new Database(handle));
    DQ_ASSIGN_OR_RETURN(const Connection connection, database->connect());
    DQ_RETURN_IF_ERROR(registerRowSources(connection.handle()));
    return database;
}

Database::~Database() { duckdb_close(&handle_); }

absl::StatusOr<Connection> Database::connect() {
    duckdb_connection connection = nullptr;
    if (duckdb_connect(handle_, &connection) != DuckDBSuccess)
        return makeError(DUCKDB_ERROR_CONNECTION, "engine refuses a connection");
    return Connection(shared_from_this(), connection);
}

}  // namespace dq::engine
