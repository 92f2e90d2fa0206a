// Inner parts of Reader and Session; not for other folders.
//
// LakeReader: what the sessions of one lake share. Threads: any. LakeSession: one read transaction. Threads: one.
#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/status.h"
#include "engine/poison.h"
#include "query/read_log.h"
#include "query/reader.h"

namespace dq::query {

class LakeReader {
  public:
    LakeReader(lake::Lake& source, ReaderOptions settings, Metrics& metrics, const Clock& clock)
        : lake(source), options(settings), log(metrics, clock, settings.slow_read_micros) {}

    // A connection in a read transaction.
    StatusOr<engine::Pool::Lease> lease(const Cancel& cancel);
    // What an outcome means for the pool (lake.md §8.2): recycles it or restarts the engine. The lease is given up for
    // a restart.
    void observe(const Status& outcome, std::optional<engine::Pool::Lease>& lease);
    void warnContradiction();

    lake::Lake& lake;
    const ReaderOptions options;
    ReadLog log;

  private:
    engine::PoisonWatch watch_;
    std::mutex restart_mutex_;
    std::once_flag contradiction_;
};

class LakeSession {
  public:
    LakeSession(LakeReader& owner, Cancel request) : reader(owner), cancel(std::move(request)) {}
    ~LakeSession() { close(); }
    LakeSession(const LakeSession&) = delete;
    LakeSession& operator=(const LakeSession&) = delete;

    Status open();
    void close();
    // Runs one statement and drains it. `restart` empties what `consume` filled: a first read that meets a poisoned
    // session is repeated on another connection. A failed read ends the session, but for a missing table.
    Status read(std::string_view op, const engine::Sql& sql, const std::function<void()>& restart,
                const std::function<void(const engine::Chunk&)>& consume);

    LakeReader& reader;
    const Cancel cancel;

  private:
    Status drain(std::string_view op, const engine::Sql& sql, const std::function<void(const engine::Chunk&)>& consume);
    Status stream(const engine::Sql& sql, const std::function<void(const engine::Chunk&)>& consume,
                  std::uint64_t& rows);

    std::optional<engine::Pool::Lease> lease_;
    bool pinned_ = false;  // a read has been answered: the snapshot may not change any more
    Status failed_;        // what ended the session
};

}  // namespace dq::query
