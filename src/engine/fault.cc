#include "engine/fault.h"

#include <duckdb.h>

#include <string>

#include "core/status.h"
#include "engine/error_internal.h"

namespace dq::engine {
namespace internal {

std::atomic<FaultInjector*> injector{nullptr};

}  // namespace internal

FaultScope::FaultScope(FaultInjector& active) {
    DQ_CHECK(internal::injector.exchange(&active) == nullptr, "two fault injectors at once");
}
FaultScope::~FaultScope() { internal::injector.store(nullptr); }

absl::Status faultOf(ErrorClass error_class) {
    return makeClassifiedError(error_class, DUCKDB_ERROR_INTERNAL,
                               std::string("injected fault: ") + std::string(errorClassName(error_class)));
}

}  // namespace dq::engine
