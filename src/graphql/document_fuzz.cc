// Any bytes as a document: the answer is JSON, and nothing crashes or hangs.
#include <cstdlib>

#include "graphql/executor.h"
#include "graphql/json_text.h"

namespace {

// Every field of the schema can be answered with null or a number; both must keep the answer well-formed.
class Numbers final : public dq::graphql::Object {
  public:
    dq::graphql::Resolved resolve(const dq::graphql::Field& field) const override {
        if (!field.selections.empty()) return std::shared_ptr<const Object>(std::make_shared<Numbers>());
        return 1.5;
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const dq::graphql::Executor executor({});
    dq::graphql::Request request;
    request.query.assign(reinterpret_cast<const char*>(data), size);
    dq::graphql::Hooks hooks;
    hooks.resolve_roots = [](std::span<const dq::graphql::Field* const> fields) {
        const Numbers numbers;
        std::vector<dq::graphql::Resolved> results;
        for (const auto* field : fields) results.push_back(numbers.resolve(*field));
        return results;
    };
    const std::string body = executor.execute(request, hooks).body;
    std::string copy;
    if (!dq::graphql::appendStoredJson(copy, body) || copy != body) std::abort();
    if (body == dq::graphql::errorBody("internal system error")) std::abort();  // the planner panicked
    return 0;
}
