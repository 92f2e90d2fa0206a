#include "blob/problem.h"

#include <absl/strings/cord.h>

#include "core/status.h"

namespace dq::blob {
namespace {

constexpr char kPayload[] = "dq/blob-problem";

struct Entry {
    Problem problem;
    absl::StatusCode code;
    std::string_view name;
};
constexpr Entry kEntries[] = {
    {Problem::kMissing, absl::StatusCode::kNotFound, "missing"},
    {Problem::kOversize, absl::StatusCode::kOutOfRange, "oversize"},
    {Problem::kSealedNoKey, absl::StatusCode::kFailedPrecondition, "sealed_no_key"},
    {Problem::kDecrypt, absl::StatusCode::kDataLoss, "decrypt"},
    {Problem::kInvalidKey, absl::StatusCode::kInvalidArgument, "invalid_key"},
    {Problem::kDenied, absl::StatusCode::kPermissionDenied, "denied"},
    {Problem::kTransient, absl::StatusCode::kUnavailable, "transient"},
};

}  // namespace

absl::Status makeProblem(Problem problem, std::string_view message) {
    for (const Entry& entry : kEntries) {
        if (entry.problem != problem) continue;
        absl::Status status(entry.code, abslView(message));
        status.SetPayload(kPayload, absl::Cord(abslView(entry.name)));
        return status;
    }
    return absl::OkStatus();
}

Problem problemOf(const absl::Status& status) {
    if (status.ok()) return Problem::kNone;
    if (const auto payload = status.GetPayload(kPayload)) {
        for (const Entry& entry : kEntries) {
            if (*payload == abslView(entry.name)) return entry.problem;
        }
    }
    return Problem::kTransient;
}

}  // namespace dq::blob
