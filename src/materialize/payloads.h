// Payloads of raw rows that lie in the object store (materializer.md §8).
//
// A row needs a fetch when it has no inline payload and its data_index_key begins with cloudevent/blobs/. Objects that
// are gone, too large or do not open cost their row, counted and logged; anything else fails the pass, so that the row
// is read again. A bucket that may not be listed answers "denied" for a missing object too: a key that stays denied
// for ten minutes while others can be read counts as gone. Threads: any.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blob/sealer.h"
#include "blob/store.h"
#include "core/clock.h"
#include "materialize/metrics.h"

namespace dq::materialize {

struct PayloadOptions {
    std::shared_ptr<const blob::Store> store;  // none: every fetch is refused as transient
    blob::Sealer sealer;
    std::size_t slice_bytes = 64u << 20;  // payload bytes held by one thread; one object may be larger
};

class Payloads {
  public:
    struct Request {
        std::size_t row;
        std::string_view id, key;
    };
    struct Payload {
        std::size_t row;
        std::optional<std::string> bytes;  // none: the row is dropped
    };
    Payloads(PayloadOptions options, MaterializerMetrics& metrics, const Clock& clock)
        : options_(std::move(options)), metrics_(metrics), clock_(clock) {}

    // True when `key` names a payload object; a key that cannot is counted as an anomaly and decodes as empty.
    bool isPayload(std::string_view id, std::string_view key);
    // The first requests, as many as fit, at most `at_once` of them; at least one.
    absl::StatusOr<std::vector<Payload>> fetch(std::span<const Request> requests, int at_once, const Cancel& cancel);

  private:
    absl::StatusOr<std::optional<std::string>> settle(const Request& request, absl::StatusOr<std::string> fetched);
    bool deniedForGood(std::string_view key);

    PayloadOptions options_;
    MaterializerMetrics& metrics_;
    const Clock& clock_;
    std::mutex mutex_;
    absl::flat_hash_map<std::string, std::int64_t> denied_since_;  // steady µs
    bool read_any_ = false;
};

}  // namespace dq::materialize
