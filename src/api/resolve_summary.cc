// dataSummary and events (queries.md §8, §9).
#include "api/arguments.h"
#include "api/errors.h"
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

constexpr Micros k1900 = -2'208'988'800LL * kMicrosPerSecond;  // lastSeen of a subject without data

struct Summary {
    std::vector<query::LatestSignal> signals;  // visible ones, ascending by name
    std::vector<query::EventSummary> events;
    Micros first_seen = 0, last_seen = k1900;
    std::uint64_t count = 0;
};

Resolved signalSummaries(const std::shared_ptr<const Summary>& summary) {
    return makeList(summary->signals.size(), [summary](std::size_t at) {
        return makeObject([summary, at](const Field& field) -> Resolved {
            const query::LatestSignal& row = summary->signals[at];
            const std::string& name = field.definition->name;
            if (name == "name") return row.name;
            if (name == "numberOfSignals") return row.count;
            return graphql::TimeValue{name == "firstSeen" ? row.first_seen : row.last_seen};
        });
    });
}

Resolved eventSummaries(const std::shared_ptr<const Summary>& summary) {
    return makeList(summary->events.size(), [summary](std::size_t at) {
        return makeObject([summary, at](const Field& field) -> Resolved {
            const query::EventSummary& row = summary->events[at];
            const std::string& name = field.definition->name;
            if (name == "name") return row.name;
            if (name == "numberOfEvents") return row.count;
            return graphql::TimeValue{name == "firstSeen" ? row.first_seen : row.last_seen};
        });
    });
}

// eq and in must be namespaced names, startsWith a namespaced prefix, `or` members likewise; the rest is unchecked.
std::optional<FieldError> checkNameFilter(const query::TextFilter& filter) {
    const auto name = [](const std::string& text) -> std::optional<FieldError> {
        if (query::isNamespacedEventName(text)) return std::nullopt;
        return badRequest(
            strCat("event name '", text, "' does not match namespace pattern (e.g. 'behavior.harshBraking')"));
    };
    if (filter.eq) {
        if (auto error = name(*filter.eq)) return error;
    }
    for (const std::string& text : filter.in) {
        if (auto error = name(text)) return error;
    }
    if (filter.starts_with && !query::isNamespacedEventPrefix(*filter.starts_with)) {
        return badRequest(strCat("event name prefix '", *filter.starts_with,
                                 "' does not match namespace pattern (e.g. 'behavior.' or 'behavior.harsh')"));
    }
    for (const query::TextFilter& alternative : filter.any_of) {
        if (auto error = checkNameFilter(alternative)) return error;
    }
    return std::nullopt;
}

std::optional<FieldError> checkEvents(const Field& field, const query::EventsQuestion& question) {
    const Instant from = timeArgument(field, "from"), to = timeArgument(field, "to"), zero{kZeroTime, 0};
    if (question.subject.empty()) return badRequest("subject is required");
    if (from == zero) return badRequest("from timestamp is zero");
    if (to == zero) return badRequest("to timestamp is zero");
    if (from > to) return badRequest("from timestamp is after to timestamp");
    return question.name ? checkNameFilter(*question.name) : std::nullopt;
}

}  // namespace

Resolved Operation::dataSummary(const Field& field) {
    auto rows = latest(field, "signalSummaries");
    if (!rows.ok()) return readFailure(rows.status(), "dataSummary");
    auto open = session();
    if (!open.ok()) return readFailure(open.status(), "dataSummary");
    auto events = (*open)->eventSummaries(textArgument(field, "subject"));
    if (!events.ok()) return readFailure(events.status(), "dataSummary");

    auto summary = std::make_shared<Summary>();
    summary->events = std::move(*events);
    summary->first_seen = clock_.now();
    const auto extend = [&](Micros first, Micros last) {
        summary->first_seen = std::min(summary->first_seen, first);
        summary->last_seen = std::max(summary->last_seen, last);
    };
    // Extremes over what the caller may see: times of hidden signals would tell of them.
    for (const query::LatestSignal& row : **rows) {
        if (vss::findSignal(row.name) == nullptr || !vss::mayList(row.name, privileges())) continue;
        summary->signals.push_back(row);
        summary->count += row.count;
        extend(row.first_seen, row.last_seen);
    }
    for (const query::EventSummary& row : summary->events) extend(row.first_seen, row.last_seen);

    return makeObject([summary](const Field& selected) -> Resolved {
        const std::string& name = selected.definition->name;
        if (name == "numberOfSignals") return summary->count;
        if (name == "firstSeen") return graphql::TimeValue{summary->first_seen};
        if (name == "lastSeen") return graphql::TimeValue{summary->last_seen};
        if (name == "signalDataSummary") return signalSummaries(std::shared_ptr<const Summary>(summary));
        if (name == "eventDataSummary") return eventSummaries(std::shared_ptr<const Summary>(summary));
        graphql::StringListValue names;
        for (const query::LatestSignal& row : summary->signals) names.items.push_back(row.name);
        return names;
    });
}

Resolved Operation::events(const Field& field) {
    query::EventsQuestion question;
    question.subject = textArgument(field, "subject");
    question.from = timeArgument(field, "from").micros;
    question.to = timeArgument(field, "to").micros;
    if (const graphql::Value* filter = field.argument("filter"); filter != nullptr && filter->members() != nullptr) {
        question.name = textFilter(filter->member("name"));
        question.source = textFilter(filter->member("source"));
        question.tags = listFilter(filter->member("tags"));
    }
    if (auto refusal = checkEvents(field, question)) return *refusal;
    auto open = session();
    if (!open.ok()) return readFailure(open.status(), "events");
    auto read = (*open)->events(question);
    if (!read.ok()) return readFailure(read.status(), "events");
    auto events = std::make_shared<const std::vector<query::Event>>(std::move(*read));
    return makeList(events->size(), [events](std::size_t at) {
        return makeObject([events, at](const Field& selected) -> Resolved {
            const query::Event& event = (*events)[at];
            const std::string& name = selected.definition->name;
            if (name == "timestamp") return graphql::TimeValue{event.timestamp};
            if (name == "name") return event.name;
            if (name == "source") return event.source;
            if (name == "durationNs") return static_cast<std::int64_t>(event.duration_ns);
            if (event.metadata.empty()) return graphql::NullValue{};
            return event.metadata;
        });
    });
}

}  // namespace dq::api
