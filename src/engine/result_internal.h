// State of a Result. Not for other folders.
#pragma once
#include "core/cancel.h"
#include "engine/result.h"

namespace dq::engine {

struct Result::Impl {
    // What a result may do to its connection: a stream interrupts it while it lives, and ends its statement when
    // dropped half-way.
    Impl(duckdb_connection owner, Cancel reason, bool is_stream)
        : connection(owner), cancel(std::move(reason)), streaming(is_stream) {}
    ~Impl();
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    // No more rows: an interrupt must not reach the next statement of the connection.
    void finish();

    duckdb_connection connection;
    Cancel cancel;
    bool streaming;
    bool done = false;
    duckdb_result result{};
    Cancel::Guard guard;
};

}  // namespace dq::engine
