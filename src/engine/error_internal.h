// How engine/ makes its Status values. Not for other folders.
#pragma once
#include <absl/status/status.h>

#include <string_view>

#include "core/cancel.h"
#include "engine/error.h"

namespace dq::engine {

// An error of this class; `type` chooses between InvalidArgument and Internal for kOther. The message is cleaned.
absl::Status makeClassifiedError(ErrorClass error_class, int type, std::string_view message);
// An error of COMMIT (classifyCommitError).
absl::Status makeCommitError(int type, std::string_view message);
// Error of a statement that ran under `cancel`: an interrupt carries the Cancel's reason.
absl::Status makeStatementError(int type, std::string_view message, const Cancel& cancel);
// OK, or the Cancel's reason with class kInterrupted.
absl::Status checkCancel(const Cancel& cancel);

}  // namespace dq::engine
