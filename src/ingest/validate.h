// From the text of one CloudEvent to rows of lake.raw_events, or the reason why not (writer.md A3, B1).
//
//   Validator validator({.profile = Profile::kConnection});
//   Verdict verdict = validator.check(text);
//   if (!verdict.fault.ok()) reject(verdict.fault.message());
//   store(std::move(verdict.rows));        // may be non-empty beside a fault: siblings of the event part that failed
//
// A fault is InvalidArgument; its message names member and rule and repeats nothing of the event, so that it may be
// logged. Threads: check() may run on several threads at once.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cloudevent/cloudevent.h"
#include "core/clock.h"

namespace dq::ingest {

// kConnection: what vehicles send (A3.3–A3.8). kRaw: any type, subject and producer; tombstones get their voids_id.
// kAttestation: signed documents; refused by checkProfile until signatures can be verified.
enum class Profile { kConnection, kAttestation, kRaw };

// Whose word counts for `source`: the event's own when it is a hex address, the event's own whatever it is (the
// connection profile still wants an address), or one fixed value for all.
enum class SourceRule { kOwnAddress, kTrust, kFixed };

absl::StatusOr<Profile> parseProfile(std::string_view name);
// OK when events of this profile can be taken; else says what is missing.
absl::Status checkProfile(Profile profile);

struct ValidationOptions {
    Profile profile = Profile::kConnection;
    SourceRule source_rule = SourceRule::kOwnAddress;
    std::string source = {};             // for kFixed
    bool fingerprint_validation = true;  // FINGERPRINT_VALIDATION
    std::int64_t allowable_skew_micros = 5 * 60 * kMicrosPerSecond;
    std::uint64_t inline_limit = 1048576;  // DOCUMENT_SIZE_THRESHOLD
    const Clock* clock = &systemClock();
    std::function<std::string(Micros)> new_id;  // sortable id for events without one; empty = newEventId
};
// InvalidArgument for a fixed source that the profile would refuse in every event.
absl::Status checkOptions(const ValidationOptions& options);

struct Verdict {
    std::vector<cloudevent::Row> rows;
    absl::Status fault;
    std::uint64_t dropped_fingerprints = 0;  // VIN that cannot be one: dropped as the reference does, but counted
    std::uint64_t oversized = 0;             // rows whose payload is over the inline limit
};

class Validator {
  public:
    explicit Validator(ValidationOptions options);
    Verdict check(std::string_view text);
    // Events whose time lay in the future, and the warnings that were logged about them (one an hour and producer).
    std::uint64_t futureEvents() const;
    std::uint64_t futureWarnings() const;

  private:
    absl::Status complete(cloudevent::Event& event, Micros now) const;  // A3.3: source and defaults
    absl::Status checkEvent(cloudevent::Event& event) const;            // A3.4–A3.6
    void noteFuture(const cloudevent::Event& event, Micros now);
    void addRow(const cloudevent::Event& event, std::optional<std::string> voids_id, Verdict& verdict) const;

    ValidationOptions options_;
    mutable std::mutex mutex_;  // guards what follows
    absl::flat_hash_map<std::string, Micros> warned_;
    std::uint64_t future_events_ = 0;
    std::uint64_t future_warnings_ = 0;
};

// Non-empty and of [a-zA-Z0-9-_/,. :] only.
bool isIdentifier(std::string_view text);
// True for a VIN of 17 characters or a chassis number, not one repeated character.
bool isPlausibleVin(std::string_view vin);
// 27 characters of base 62: seconds since 2014-05-13, then 128 random bits. Sorts by time.
std::string newEventId(Micros now);

}  // namespace dq::ingest
