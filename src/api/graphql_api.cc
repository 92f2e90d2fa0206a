#include "api/graphql_api.h"

#include <absl/container/flat_hash_map.h>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/resolvers.h"

namespace dq::api {
namespace {

std::optional<std::string> checkScalar(std::string_view scalar, graphql::Value& value) {
    if (scalar != "Time") return std::nullopt;
    const std::string* text = value.string();
    if (text != nullptr && parseTimeInput(*text)) return std::nullopt;
    return "time should be RFC3339Nano formatted string";
}

graphql::Executor::Options executorOptions() {
    graphql::Executor::Options options;
    options.scalar_check = checkScalar;
    return options;
}

// Labels of data/metrics.csv; bounds inclusive.
std::string sizeLabel(std::size_t bytes) {
    constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;
    if (bytes <= 10 * kKiB) return "0-10KB";
    if (bytes <= 100 * kKiB) return "10-100KB";
    if (bytes <= kMiB) return "100KB-1MB";
    if (bytes <= 10 * kMiB) return "1-10MB";
    return bytes <= 1024 * kMiB ? "10MB-1GB" : ">1GB";
}

std::string complexityLabel(int complexity) {
    if (complexity < 0) return "unknown";
    if (complexity <= 5) return "0-5";
    if (complexity <= 10) return "6-10";
    if (complexity <= 20) return "11-20";
    return complexity <= 40 ? "21-40" : "41+";
}

}  // namespace

GraphqlApi::GraphqlApi(query::Reader& reader, Metrics& metrics, const Clock& clock)
    : reader_(reader),
      clock_(clock),
      executor_(executorOptions()),
      requests_(metrics.counters("graphql_request_total", "GraphQL responses by size of data, complexity and status")),
      field_seconds_(metrics.histograms("dq_graphql_field_seconds", "Wall time of each root Query field resolver")) {}

void GraphqlApi::count(const graphql::Response& response) {
    requests_
        .Add({{"response_size", sizeLabel(response.data_bytes)},
              {"complexity", complexityLabel(response.complexity)},
              {"status", response.has_errors ? "with_errors" : "success"}})
        .Increment();
}

graphql::Response GraphqlApi::execute(const graphql::Request& request, const std::optional<auth::Claims>& claims,
                                      const Cancel& cancel) {
    Operation operation(reader_, claims, clock_, cancel);
    absl::flat_hash_map<const graphql::Field*, double> seconds;
    graphql::Hooks hooks;
    hooks.guard = [&](const graphql::Field& field) { return guardField(field, claims); };
    hooks.resolve_roots = [&](std::span<const graphql::Field* const> fields) {
        std::vector<graphql::Resolved> values;
        values.reserve(fields.size());
        for (const graphql::Field* field : fields) {
            const std::int64_t start = clock_.steadyMicros();
            values.push_back(operation.resolve(*field));
            seconds[field] = static_cast<double>(clock_.steadyMicros() - start) / 1e6;
        }
        return values;
    };
    hooks.root_done = [&](const graphql::Field& field, bool error) {
        // Argument errors are no run of a resolver.
        if (field.definition == nullptr || !field.argument_errors.empty()) return;
        const auto took = seconds.find(&field);
        field_seconds_
            .Add({{"field", field.definition->name}, {"status", error ? "error" : "success"}},
                 prometheus::Histogram::BucketBoundaries(exponentialBuckets(0.001, 2, 16)))
            .Observe(took == seconds.end() ? 0 : took->second);
    };
    graphql::Response response = executor_.execute(request, hooks);
    count(response);
    return response;
}

TransportResponse GraphqlApi::handle(const TransportRequest& request, const std::optional<auth::Claims>& claims,
                                     const Cancel& cancel) {
    auto read = readRequest(request);
    if (auto* refusal = std::get_if<TransportResponse>(&read)) return std::move(*refusal);
    return writeResponse(request, execute(std::get<graphql::Request>(read), claims, cancel));
}

}  // namespace dq::api
