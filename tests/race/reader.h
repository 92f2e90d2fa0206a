// Polls a lake and checks, in one read transaction per look, what must hold at every snapshot.
//
// - every row at rest was sent, and each identity rests once;
// - row counts and the cursor never fall;
// - a row of signals_latest and events_latest equals a recompute, or its subject carries a mark.
// Threads: one.
#pragma once
#include <array>
#include <map>
#include <string>

#include "core/cancel.h"
#include "lake/lake.h"
#include "sent.h"

namespace dq::race {

class Reader {
  public:
    Reader(lake::Lake& lake, const Sent& sent) : lake_(lake), sent_(sent) {}

    // Until `stop`, or until something does not hold: `violation` is called once then.
    void run(const Cancel& stop, const std::function<void(const std::string&)>& violation);
    // One look. Text of what does not hold, "" when all does. `all`: nothing that was sent is missing either.
    StatusOr<std::string> look(bool all = false);

    std::int64_t checked() const { return checked_; }  // snapshots
    // Looks that ended with an error (a file or the snapshot was removed under them): text → how often.
    const std::map<std::string, int>& errors() const { return errors_; }

  private:
    StatusOr<std::string> checkRows(engine::Connection& connection, Side side, bool all);

    lake::Lake& lake_;
    const Sent& sent_;
    std::int64_t checked_ = 0, head_ = -1, cursor_ = -1;
    std::array<std::size_t, 2> counts_{};
    std::map<std::string, int> errors_;
};

// Starts an engine instance anew that an internal error has ended. The one instance of a catalog file is its writer's
// affair.
void reviveEngine(lake::Lake& lake, const Status& error);
// One value of a statement as BIGINT; 0 when it gives no row.
StatusOr<std::int64_t> numberOf(engine::Connection& connection, const std::string& sql);
// Cursor of the decoder, -1 before there is one, and the number of marked subjects.
StatusOr<std::int64_t> cursorOf(engine::Connection& connection);
StatusOr<std::int64_t> marksOf(engine::Connection& connection);

}  // namespace dq::race
