// signals: selections become one question, its buckets become SignalAggregations (queries.md §4).
#include <absl/container/flat_hash_map.h>

#include "api/arguments.h"
#include "api/errors.h"
#include "api/guard.h"
#include "api/objects.h"
#include "api/resolvers.h"
#include "core/text.h"
#include "query/validation.h"
#include "vss/signals.h"

namespace dq::api {
namespace {

using graphql::Field;
using graphql::FieldError;
using graphql::Resolved;
using query::RequestKind;

constexpr std::size_t kMostRequests = 65535;

// Which request answers a selected field.
struct RequestKey {
    RequestKind kind;
    std::uint32_t index;
};
using RequestIndex = absl::flat_hash_map<const Field*, RequestKey>;

struct Selections {
    query::SignalsQuestion question;
    RequestIndex index;
    std::optional<std::string> invalid_location;
};

class BucketObject final : public graphql::Object {
  public:
    BucketObject(std::shared_ptr<const std::vector<query::SignalBucket>> buckets,
                 std::shared_ptr<const RequestIndex> index, std::size_t at)
        : buckets_(std::move(buckets)), index_(std::move(index)), at_(at) {}

    Resolved resolve(const Field& field) const override {
        const query::SignalBucket& bucket = (*buckets_)[at_];
        if (field.definition->name == "timestamp") return graphql::TimeValue{bucket.start};
        const auto key = index_->find(&field);
        if (key == index_->end()) return graphql::NullValue{};
        const auto wanted = std::make_pair(key->second.kind, key->second.index);
        const auto value = std::lower_bound(
            bucket.values.begin(), bucket.values.end(), wanted,
            [](const query::SignalValue& v, const auto& w) { return std::make_pair(v.kind, v.index) < w; });
        if (value == bucket.values.end() || std::make_pair(value->kind, value->index) != wanted)
            return graphql::NullValue{};
        switch (value->kind) {
            case RequestKind::kFloat: return value->number;
            case RequestKind::kString: return value->text;
            default: break;
        }
        if (field.definition->name != vss::kApproximateCoordinates) return locationObject(value->location);
        auto coarse = approximateLocationObject(value->location);
        if (coarse == nullptr) return graphql::NullValue{};
        return coarse;
    }

  private:
    std::shared_ptr<const std::vector<query::SignalBucket>> buckets_;
    std::shared_ptr<const RequestIndex> index_;
    std::size_t at_;
};

std::string enumArgument(const Field& field, std::string_view name) {
    const graphql::Value* value = field.argument(name);
    return value != nullptr && value->string() != nullptr ? *value->string() : "";
}

// A refused field still makes buckets: its presence is read, its value is not.
Selections selectionsOf(const Field& field, const std::optional<auth::Claims>& claims) {
    Selections out;
    query::SignalsQuestion& question = out.question;
    for (const Field& selected : field.selections) {
        if (selected.definition->directive("isSignal") == nullptr ||
            selected.definition->directive("hasAggregation") == nullptr)
            continue;
        if (!selected.argument_errors.empty()) continue;
        const bool refused = guardField(selected, claims).has_value();
        const std::string& name = selected.definition->name;
        const std::string aggregation = enumArgument(selected, "agg");
        if (selected.definition->agg_type == "FloatAggregation") {
            out.index[&selected] = {RequestKind::kFloat, static_cast<std::uint32_t>(question.floats.size())};
            question.floats.push_back({name, floatAggregation(aggregation).value_or(query::FloatAggregation::kAvg),
                                       floatFilter(selected.argument("filter")), refused});
        } else if (selected.definition->agg_type == "StringAggregation") {
            out.index[&selected] = {RequestKind::kString, static_cast<std::uint32_t>(question.strings.size())};
            question.strings.push_back(
                {name, stringAggregation(aggregation).value_or(query::StringAggregation::kTop), refused});
        } else {
            auto filter = locationFilter(selected.argument("filter"));
            if (const auto* invalid = std::get_if<std::string>(&filter)) {
                if (!out.invalid_location) out.invalid_location = *invalid;
                continue;
            }
            out.index[&selected] = {RequestKind::kLocation, static_cast<std::uint32_t>(question.locations.size())};
            const std::string stored = name == vss::kApproximateCoordinates ? std::string(vss::kCoordinates) : name;
            question.locations.push_back({stored,
                                          locationAggregation(aggregation).value_or(query::LocationAggregation::kAvg),
                                          std::get<std::optional<query::LocationFilter>>(std::move(filter)), refused});
        }
    }
    return out;
}

// Checks in the order of queries.md §3, after the interval's text.
std::optional<FieldError> check(const Field& field, const Selections& selections,
                                const std::optional<SourceFilter>& source) {
    const query::SignalsQuestion& question = selections.question;
    const Instant from = timeArgument(field, "from"), to = timeArgument(field, "to");
    const Instant zero{kZeroTime, 0};
    if (from == zero) return badRequest("from timestamp is zero");
    if (to == zero) return badRequest("to timestamp is zero");
    if (from > to) return badRequest("from timestamp is after to timestamp");
    if (question.interval < 1) return badRequest("interval is not a positive integer");
    if (query::bucketCapExceeded(question.from, question.to, question.interval)) {
        return badRequest("interval too small for the requested window (exceeds the aggregation bucket limit)");
    }
    if (question.floats.size() > kMostRequests) return badRequest("too many float aggregations");
    if (question.strings.size() > kMostRequests) return badRequest("too many string aggregations");
    if (question.locations.size() > kMostRequests) return badRequest("too many location aggregations");
    if (selections.invalid_location) return badRequest(*selections.invalid_location);
    if (question.subject.empty()) return badRequest("subject is required");
    if (source && !source->valid) return badRequest(strCat("source '", source->text, "' is not a valid ethr DID"));
    return std::nullopt;
}

}  // namespace

Resolved Operation::signals(const Field& field) {
    const auto interval = query::parseInterval(textArgument(field, "interval"));
    if (!interval.ok()) return FieldError{std::string(stdView(interval.status().message())), "", ""};
    Selections selections = selectionsOf(field, claims_);
    query::SignalsQuestion& question = selections.question;
    question.subject = textArgument(field, "subject");
    question.from = timeArgument(field, "from").micros;
    question.to = timeArgument(field, "to").micros;
    question.interval = *interval;
    const auto source = sourceFilter(field);
    if (auto refusal = check(field, selections, source)) return *refusal;
    if (source) question.source = source->column;
    if (selections.index.empty() || question.from == question.to) return graphql::NullValue{};

    auto open = session();
    if (!open.ok()) return readFailure(open.status(), "signals");
    auto read = (*open)->signals(question);
    if (!read.ok()) return readFailure(read.status(), "signals");
    if (read->empty()) return graphql::NullValue{};
    auto buckets = std::make_shared<const std::vector<query::SignalBucket>>(std::move(*read));
    auto index = std::make_shared<const RequestIndex>(std::move(selections.index));
    return makeList(buckets->size(),
                    [buckets, index](std::size_t at) { return std::make_shared<BucketObject>(buckets, index, at); });
}

}  // namespace dq::api
