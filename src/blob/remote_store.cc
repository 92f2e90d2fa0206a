#include "blob/remote_store.h"

#include "blob/problem.h"
#include "core/status.h"
#include "core/text.h"
#include "dq_rust.h"

namespace dq::blob {
namespace {

using rust::ObjectStatus;

// Rust takes keys as UTF-8.
absl::StatusOr<::rust::Str> utf8(std::string_view key) {
    try {
        return ::rust::Str(key.data(), key.size());
    } catch (const std::invalid_argument&) {
        return makeProblem(Problem::kInvalidKey, "object key refused: it is not UTF-8");
    }
}

absl::Status statusOf(const rust::ObjectAnswer& answer) {
    const std::string message(answer.message);
    switch (answer.status) {
        case ObjectStatus::Ok: return absl::OkStatus();
        case ObjectStatus::Missing: return makeProblem(Problem::kMissing, "no such object");
        case ObjectStatus::Denied: return makeProblem(Problem::kDenied, message);
        case ObjectStatus::TooLarge: return makeProblem(Problem::kOversize, message);
        case ObjectStatus::InvalidKey: return makeProblem(Problem::kInvalidKey, "object key refused");
        case ObjectStatus::Cancelled: return absl::CancelledError("cancelled");
        default: return makeProblem(Problem::kTransient, strCat("object store: ", message));
    }
}

absl::StatusOr<std::string> bytesOf(const rust::ObjectAnswer& answer) {
    DQ_RETURN_IF_ERROR(statusOf(answer));
    return std::string(reinterpret_cast<const char*>(answer.bytes.data()), answer.bytes.size());
}

class RemoteStore final : public Store {
  public:
    explicit RemoteStore(::rust::Vec<rust::RemoteStore> store) : store_(std::move(store)) {}

    absl::StatusOr<std::string> get(std::string_view key, std::uint64_t limit, const Cancel& cancel,
                                    GetGuard::Admit admit) const override {
        DQ_RETURN_IF_ERROR(checkKey(key));
        DQ_ASSIGN_OR_RETURN(const auto name, utf8(key));
        return bytesOf(store_[0].get(name, limit, GetGuard(cancel, std::move(admit))));
    }
    absl::Status put(std::string_view key, std::string_view bytes) const override {
        DQ_RETURN_IF_ERROR(checkKey(key));
        DQ_ASSIGN_OR_RETURN(const auto name, utf8(key));
        return statusOf(store_[0].put(name, ::rust::Slice<const std::uint8_t>(
                                                reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size())));
    }
    absl::StatusOr<std::string> presign(std::string_view key, std::int64_t seconds) const override {
        DQ_RETURN_IF_ERROR(checkKey(key));
        DQ_ASSIGN_OR_RETURN(const auto name, utf8(key));
        return bytesOf(store_[0].presign(name, static_cast<std::uint64_t>(std::max<std::int64_t>(1, seconds))));
    }

  private:
    ::rust::Vec<rust::RemoteStore> store_;  // one
};

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> openRemote(const BucketAddress& address, const StoreConfig& config) {
    rust::ObjectConfig remote;
    remote.scheme = address.scheme;
    remote.bucket = address.name;
    remote.prefix = address.prefix;
    remote.region = config.region;
    remote.access_key_id = config.access_key_id;
    remote.secret_access_key = config.secret_access_key;
    remote.endpoint = config.endpoint;
    remote.timeout_ms = config.timeout_ms;
    remote.attempts = config.attempts;
    remote.backoff_ms = config.backoff_ms;
    ::rust::String error;
    auto store = rust::objects_open(remote, error);
    if (store.empty()) return absl::InvalidArgumentError(strCat("object store: ", std::string(error)));
    return std::unique_ptr<Store>(new RemoteStore(std::move(store)));
}

}  // namespace dq::blob
