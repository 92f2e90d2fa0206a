// Sends raw events as an ingest service does, and notes what must become of them.
//
// Every bundle is one snapshot. The events: readings of a number, a text, a position; uploads stored as several types
// under one id and time; events of 40 days ago; deliveries of earlier events again; an id used again with another
// value; rows with NULL headers; foreign chains and broken payloads, which give no row. Threads: one.
#pragma once
#include <random>
#include <vector>

#include "cloudevent/cloudevent.h"
#include "core/cancel.h"
#include "lake/lake.h"
#include "sent.h"

namespace dq::race {

inline constexpr Micros kNow = 1'793'318'400LL * kMicrosPerSecond;  // 2026-10-30T00:00:00Z, of the decoder's clock

class Feeder {
  public:
    Feeder(lake::Lake& lake, Sent& sent, std::uint64_t seed) : lake_(lake), sent_(sent), random_(seed) {}

    // Bundles at random intervals until `stop`, then one more. An append in hand is ended, not cut.
    void run(const Cancel& stop);
    // Creates the table.
    void prepare();

    std::int64_t lastSnapshot() const { return last_snapshot_; }  // 0 until something was appended
    std::int64_t bundles() const { return bundles_; }
    std::int64_t rows() const { return rows_; }
    std::int64_t redelivered() const { return redelivered_; }
    std::int64_t repeatedAppends() const { return repeated_appends_; }

  private:
    void bundle();
    void upload(std::vector<cloudevent::Row>& out);
    void reading(cloudevent::Row row, std::vector<cloudevent::Row>& out);
    void behaviour(cloudevent::Row row, std::vector<cloudevent::Row>& out);
    void again(std::vector<cloudevent::Row>& out);
    void unusable(std::vector<cloudevent::Row>& out);
    void nullHeaders();
    void append(const std::vector<cloudevent::Row>& rows);
    // Until it is acknowledged; a repetition is one more delivery.
    void repeat(const char* what, const std::function<Status()>& attempt);
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    cloudevent::Row header(const std::string& type);

    lake::Lake& lake_;
    Sent& sent_;
    std::mt19937_64 random_;
    std::vector<cloudevent::Row> history_;
    std::int64_t next_id_ = 0, last_snapshot_ = 0, bundles_ = 0, rows_ = 0, redelivered_ = 0, repeated_appends_ = 0;
};

}  // namespace dq::race
