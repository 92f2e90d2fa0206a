#include "materialize/payloads.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "blob/problem.h"
#include "core/log.h"
#include "core/status.h"
#include "core/text.h"

namespace dq::materialize {
namespace {

using blob::Problem;

constexpr std::int64_t kDeniedForGood = 600'000'000;
constexpr std::size_t kDeniedKeys = 10'000;

// Of one fetch: `deferred` when there was no room for it beside the others.
struct Fetched {
    absl::StatusOr<std::string> bytes = absl::CancelledError("not fetched");
    bool deferred = false;
};

}  // namespace

bool Payloads::isPayload(std::string_view id, std::string_view key) {
    if (key.empty()) return false;
    if (key.starts_with(blob::kPayloadPrefix) && blob::checkKey(key).ok()) return true;
    metrics_.blob_prefix_anomalies.Increment();
    // Not the key: what lies outside the prefix may be anything, a vehicle included.
    logWarn("data_index_key outside the payload prefix; decoding an empty payload",
            {{"component", "materializer"}, {"id", id}});
    return false;
}

bool Payloads::deniedForGood(std::string_view key) {
    std::lock_guard lock(mutex_);
    const std::int64_t now = clock_.steadyMicros();
    if (denied_since_.size() >= kDeniedKeys) denied_since_.clear();
    const std::int64_t since = denied_since_.try_emplace(std::string(key), now).first->second;
    return read_any_ && now - since >= kDeniedForGood;
}

absl::StatusOr<std::optional<std::string>> Payloads::settle(const Request& request,
                                                            absl::StatusOr<std::string> fetched) {
    if (fetched.ok()) {
        {
            std::lock_guard lock(mutex_);
            read_any_ = true;
            denied_since_.erase(std::string(request.key));
        }
        fetched = options_.sealer.open(*std::move(fetched), request.key);
    }
    if (fetched.ok()) return std::optional<std::string>(*std::move(fetched));
    const auto dropped = [&](std::string_view message) {
        logError(message, {{"component", "materializer"}, {"id", request.id}, {"blob", request.key}});
        return std::optional<std::string>();
    };
    const auto poison = [&](const char* reason) {
        metrics_.blob_poison.Add({{"reason", reason}}).Increment();
        return dropped(strCat("raw_events blob payload unusable (", reason, "); skipping row"));
    };
    switch (blob::problemOf(fetched.status())) {
        case Problem::kOversize: return poison("oversize");
        case Problem::kSealedNoKey: return poison("sealed_no_key");
        case Problem::kDecrypt: return poison("decrypt");
        case Problem::kDenied:
            if (!deniedForGood(request.key)) break;
            [[fallthrough]];
        case Problem::kMissing:
            metrics_.blob_missing.Increment();
            return dropped("raw_events blob payload permanently missing; skipping row");
        default: break;
    }
    return annotate(fetched.status(), "payload object");
}

absl::StatusOr<std::vector<Payloads::Payload>> Payloads::fetch(std::span<const Request> requests, int at_once,
                                                               const Cancel& cancel) {
    requests = requests.first(std::min<std::size_t>(requests.size(), std::max(1, at_once)));
    if (options_.store == nullptr)
        return absl::UnavailableError("payload object: there is no object store (BLOB_BUCKET is empty)");
    std::vector<Fetched> fetched(requests.size());
    std::atomic<std::size_t> held{0};
    const auto one = [&](std::size_t index) {
        Fetched& out = fetched[index];
        const auto admit = [&](std::uint64_t bytes) {
            // The first always has room: it may be larger than the slice.
            const std::size_t before = held.fetch_add(bytes);
            if (index == 0 || before + bytes <= options_.slice_bytes) return true;
            held.fetch_sub(bytes);
            out.deferred = true;
            return false;
        };
        out.bytes = options_.store->get(requests[index].key, blob::kObjectLimit, cancel, admit);
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t index = 1; index < requests.size(); ++index) threads.emplace_back(one, index);
        one(0);
    }
    DQ_RETURN_IF_ERROR(cancel.check());
    std::vector<Payload> out;
    Status failed;
    for (std::size_t index = 0; index < requests.size(); ++index) {
        if (fetched[index].deferred) break;  // with the next slice, order kept
        // All are looked at though one fails: what else can be read tells denied from missing.
        auto bytes = settle(requests[index], std::move(fetched[index].bytes));
        if (!bytes.ok()) {
            failed = bytes.status();
        } else {
            out.push_back({requests[index].row, *std::move(bytes)});
        }
    }
    if (!failed.ok()) return failed;
    return out;
}

}  // namespace dq::materialize
