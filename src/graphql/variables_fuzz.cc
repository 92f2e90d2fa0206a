// Any bytes as the variables of one request: the answer is JSON, and what was coerced has the declared types.
#include <cstdlib>

#include "graphql/executor.h"
#include "graphql/json_text.h"

namespace {

constexpr const char* kQuery =
    "query($s:String!,$n:Int=3,$t:Time,$f:CloudEventFilter,$m:DetectionMechanism!,$c:SegmentConfig,$r:["
    "SegmentSignalRequest!],"
    "$b:Boolean=true){cloudEvents(subject:$s,limit:$n,filter:$f){dataUrl} "
    "other:cloudEvents(subject:\"s\",filter:{before:$t,types:[\"a\",$s]})"
    "{dataUrl} "
    "segments(subject:$s,from:\"a\",to:\"b\",mechanism:$m,config:$c,signalRequests:$r)@include(if:$b){duration}}";

void require(bool condition) {
    if (!condition) std::abort();
}

void check(const dq::graphql::Field& field) {
    const auto* subject = field.argument("subject");
    require(subject != nullptr && subject->string() != nullptr);
    if (const auto* limit = field.argument("limit")) require(limit->isNull() || limit->integer() != nullptr);
    const auto* config = field.argument("config");
    if (config == nullptr || config->isNull()) return;
    require(config->members() != nullptr);
    for (const auto& [name, value] : *config->members()) require(value.isNull() || value.integer() != nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const dq::graphql::Executor executor({});
    dq::graphql::Request request;
    request.query = kQuery;
    request.variables_json.assign(reinterpret_cast<const char*>(data), size);
    dq::graphql::Hooks hooks;
    hooks.resolve_roots = [](std::span<const dq::graphql::Field* const> fields) {
        for (const auto* field : fields) check(*field);
        return std::vector<dq::graphql::Resolved>(fields.size(), dq::graphql::NullValue{});
    };
    const std::string body = executor.execute(request, hooks).body;
    std::string copy;
    require(dq::graphql::appendStoredJson(copy, body) && copy == body);
    require(body != dq::graphql::errorBody("internal system error"));
    return 0;
}
