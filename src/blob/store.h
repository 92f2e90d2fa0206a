// Payload objects in a bucket (S3, Google Cloud Storage, Azure) or a local folder.
//
//   DQ_ASSIGN_OR_RETURN(auto store, Store::open({.bucket = "s3://events", .region = "eu-central-1"}));
//   DQ_ASSIGN_OR_RETURN(std::string bytes, store->get(key, kObjectLimit, cancel));
//
// Bucket: "" = no store (every get is kTransient and says so); a plain name or s3://name[/prefix]; gs://…; az://…;
// /folder or file:///folder. With an S3 endpoint requests are path style. Static keys only when both are given, else
// the environment's and the machine's credentials. Opening reaches no network. Keys are relative paths that may not
// leave the prefix or folder, through links neither. Errors: blob/problem.h. Threads: any; calls block.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "blob/get_guard.h"
#include "core/cancel.h"

namespace dq::blob {

inline constexpr std::string_view kPayloadPrefix = "cloudevent/blobs/";
inline constexpr std::uint64_t kObjectLimit = 52'428'800;  // bytes as stored
inline constexpr int kMaxInFlight = 16;

struct StoreConfig {
    std::string bucket{}, region{}, access_key_id{}, secret_access_key{}, endpoint{};
    std::uint32_t timeout_ms = 30'000;  // per request
    std::uint32_t attempts = 3;
    std::uint32_t backoff_ms = 100;  // before the second; doubled, with jitter
};

class Store {
  public:
    static absl::StatusOr<std::unique_ptr<Store>> open(const StoreConfig& config);
    virtual ~Store() = default;
    // The object's bytes, at most `limit`. `admit`, if given, is asked for room before the body is read.
    virtual absl::StatusOr<std::string> get(std::string_view key, std::uint64_t limit, const Cancel& cancel,
                                            GetGuard::Admit admit = {}) const = 0;
    // Durable when it returns.
    virtual absl::Status put(std::string_view key, std::string_view bytes) const = 0;
    // A link that needs no other credentials; Unimplemented for a local folder.
    virtual absl::StatusOr<std::string> presign(std::string_view key, std::int64_t seconds) const = 0;
};

// kInvalidKey for anything but a relative path of plain segments.
absl::Status checkKey(std::string_view key);

// Where a bucket text points.
struct BucketAddress {
    std::string scheme;  // "" (no store), file, s3, gs, az
    std::string name;    // bucket, or folder
    std::string prefix;
};
absl::StatusOr<BucketAddress> parseBucket(std::string_view text);

}  // namespace dq::blob
