#include "blob/store.h"

#include <absl/strings/str_split.h>

#include "blob/local_store.h"
#include "blob/problem.h"
#include "blob/remote_store.h"
#include "core/status.h"
#include "core/text.h"

namespace dq::blob {
namespace {

// BLOB_BUCKET is empty.
class NoStore final : public Store {
  public:
    absl::StatusOr<std::string> get(std::string_view, std::uint64_t, const Cancel&, GetGuard::Admit) const override {
        return missing();
    }
    absl::Status put(std::string_view, std::string_view) const override { return missing(); }
    absl::StatusOr<std::string> presign(std::string_view, std::int64_t) const override { return missing(); }

  private:
    static absl::Status missing() {
        return makeProblem(Problem::kTransient, "BLOB_BUCKET is empty: there is no object store to read from");
    }
};

}  // namespace

absl::Status checkKey(std::string_view key) {
    const auto refuse = [](std::string_view rule) {
        return makeProblem(Problem::kInvalidKey, strCat("object key refused: ", rule));
    };
    if (key.empty()) return refuse("it is empty");
    if (key.size() > 1024) return refuse("it is longer than 1024 bytes");
    for (const char c : key) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\')
            return refuse("it holds a control character or a backslash");
    }
    for (const absl::string_view segment : absl::StrSplit(abslView(key), '/')) {
        if (segment.empty() || segment == "." || segment == "..") return refuse("it has an empty segment, '.' or '..'");
    }
    return absl::OkStatus();
}

absl::StatusOr<BucketAddress> parseBucket(std::string_view text) {
    if (text.empty()) return BucketAddress{};
    if (text.starts_with("/")) return BucketAddress{"file", std::string(text), ""};
    if (text.starts_with("file://")) {
        const std::string_view folder = text.substr(7);
        if (!folder.starts_with("/")) return absl::InvalidArgumentError("BLOB_BUCKET: file:// needs an absolute path");
        return BucketAddress{"file", std::string(folder), ""};
    }
    std::string scheme = "s3";
    if (const auto end = text.find("://"); end != std::string_view::npos) {
        scheme = std::string(text.substr(0, end));
        text.remove_prefix(end + 3);
        if (scheme == "azure" || scheme == "abfs" || scheme == "abfss") scheme = "az";
        if (scheme == "gcs") scheme = "gs";
        if (scheme == "s3a") scheme = "s3";
        if (scheme != "s3" && scheme != "gs" && scheme != "az") {
            return absl::InvalidArgumentError(
                "BLOB_BUCKET: use a bucket name, s3://, gs://, az://, file:// or an absolute path");
        }
    }
    while (text.ends_with("/")) text.remove_suffix(1);
    const auto slash = text.find('/');
    BucketAddress out{std::move(scheme), std::string(text.substr(0, slash)), ""};
    if (slash != std::string_view::npos) out.prefix = std::string(text.substr(slash + 1));
    if (out.name.empty()) return absl::InvalidArgumentError("BLOB_BUCKET names no bucket");
    if (!out.prefix.empty() && !checkKey(out.prefix).ok())
        return absl::InvalidArgumentError("BLOB_BUCKET: the prefix must be a plain path");
    return out;
}

absl::StatusOr<std::unique_ptr<Store>> Store::open(const StoreConfig& config) {
    DQ_ASSIGN_OR_RETURN(const BucketAddress address, parseBucket(config.bucket));
    if (address.scheme.empty()) return std::unique_ptr<Store>(new NoStore);
    if (address.scheme == "file") return std::unique_ptr<Store>(new LocalStore(address.name));
    return openRemote(address, config);
}

}  // namespace dq::blob
