// Payload objects in a bucket, through the Rust client; see store.h.
#pragma once
#include <absl/status/statusor.h>

#include <memory>

#include "blob/store.h"

namespace dq::blob {

absl::StatusOr<std::unique_ptr<Store>> openRemote(const BucketAddress& address, const StoreConfig& config);

}  // namespace dq::blob
