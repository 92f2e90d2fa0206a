// Why an object could not be had. Rides on absl::Status as a payload; problemOf() reads it back.
//   kMissing      NotFound            no such object
//   kOversize     OutOfRange          larger than the limit, as stored
//   kSealedNoKey  FailedPrecondition  sealed, and no key is configured
//   kDecrypt      DataLoss            sealed, and does not open
//   kInvalidKey   InvalidArgument     the key leaves the prefix or folder, or is no key
//   kDenied       PermissionDenied    also a missing object, where the bucket may not be listed
//   kTransient    Unavailable         anything else: try again later
#pragma once
#include <absl/status/status.h>

#include <string_view>

namespace dq::blob {

enum class Problem { kNone, kMissing, kOversize, kSealedNoKey, kDecrypt, kInvalidKey, kDenied, kTransient };

absl::Status makeProblem(Problem problem, std::string_view message);
// kNone for OK; kTransient for a status that carries none.
Problem problemOf(const absl::Status& status);

}  // namespace dq::blob
