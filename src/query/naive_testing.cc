#include "query/naive_testing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace dq::query {
namespace {

// NaN equals itself and is above every other number.
int compare(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return int{std::isnan(a)} - int{std::isnan(b)};
    return a < b ? -1 : a > b ? 1 : 0;
}
int compareNullsLast(const std::optional<double>& a, const std::optional<double>& b) {
    if (!a || !b) return int{!a} - int{!b};
    return compare(*a, *b);
}
int compareNullsLast(const std::optional<std::string>& a, const std::optional<std::string>& b) {
    if (!a || !b) return int{!a} - int{!b};
    return a->compare(*b);
}

// Is `a` the row to keep of two rows of one instant?
bool wins(const SignalRow& a, const SignalRow& b) {
    for (int c :
         {compareNullsLast(a.id, b.id), compareNullsLast(a.source, b.source), compareNullsLast(a.producer, b.producer),
          compareNullsLast(a.number, b.number), compareNullsLast(a.text, b.text), compareNullsLast(a.lat, b.lat),
          compareNullsLast(a.lon, b.lon), compareNullsLast(a.hdop, b.hdop), compareNullsLast(a.heading, b.heading)}) {
        if (c != 0) return c < 0;
    }
    return false;
}
bool isFix(const SignalRow& row) { return row.lat && row.lon && (*row.lat != 0 || *row.lon != 0); }

struct Reading {
    const SignalRow* value = nullptr;
    const SignalRow* fix = nullptr;
};
// By name, then instant.
using Readings = std::map<std::string, std::map<Micros, Reading>>;

Readings collapse(const std::vector<SignalRow>& rows, const std::string& subject,
                  const std::optional<std::string>& source, Micros from, Micros to) {
    Readings out;
    for (const SignalRow& row : rows) {
        if (row.subject != subject || row.timestamp < from || row.timestamp >= to) continue;
        if (source && row.source != source) continue;
        Reading& reading = out[row.name][row.timestamp];
        if (reading.value == nullptr || wins(row, *reading.value)) reading.value = &row;
        if (isFix(row) && (reading.fix == nullptr || wins(row, *reading.fix))) reading.fix = &row;
    }
    return out;
}

bool keeps(const FloatFilter& filter, const std::optional<double>& value) {
    bool any_leaf = false, all = true, any_alternative = false, some = false;
    const auto leaf = [&](bool holds) {
        any_leaf = true;
        all = all && value && holds;
    };
    const double v = value.value_or(0);
    const auto within = [&](const std::vector<double>& list) {
        return std::any_of(list.begin(), list.end(), [&](double x) { return compare(v, x) == 0; });
    };
    if (filter.eq) leaf(compare(v, *filter.eq) == 0);
    if (filter.neq) leaf(compare(v, *filter.neq) != 0);
    if (filter.gt) leaf(compare(v, *filter.gt) > 0);
    if (filter.lt) leaf(compare(v, *filter.lt) < 0);
    if (filter.gte) leaf(compare(v, *filter.gte) >= 0);
    if (filter.lte) leaf(compare(v, *filter.lte) <= 0);
    if (!filter.in.empty()) leaf(within(filter.in));
    if (!filter.not_in.empty()) leaf(!within(filter.not_in));
    const std::function<bool(const FloatFilter&)> empty = [&](const FloatFilter& f) {
        return !f.eq && !f.neq && !f.gt && !f.lt && !f.gte && !f.lte && f.in.empty() && f.not_in.empty() &&
               std::all_of(f.any_of.begin(), f.any_of.end(), empty);
    };
    for (const FloatFilter& alternative : filter.any_of) {
        if (empty(alternative)) continue;
        any_alternative = true;
        some = some || keeps(alternative, value);
    }
    if (!any_alternative) return all;
    return (any_leaf && all) || some;
}

double distance(const Point& a, double lat, double lon) {
    const double rad = M_PI / 180;
    const double cosine = std::sin(a.latitude * rad) * std::sin(lat * rad) +
                          std::cos(a.latitude * rad) * std::cos(lat * rad) * std::cos((lon - a.longitude) * rad);
    return 6'371'000.0 * std::acos(std::clamp(cosine, -1.0, 1.0));  // another formula than the statement's
}

bool keeps(const LocationFilter& filter, const SignalRow& fix) {
    const double lat = *fix.lat, lon = *fix.lon;
    if (filter.circle) return distance(filter.circle->center, lat, lon) <= filter.circle->radius_km * 1000;
    const std::vector<Point>& ring = filter.polygon;
    bool inside = false;
    for (std::size_t i = 0; i < ring.size(); ++i) {
        const Point &a = ring[i], &b = ring[(i + 1) % ring.size()];
        const double dx = b.longitude - a.longitude, dy = b.latitude - a.latitude;
        if (dx == 0 && dy == 0) {  // a vertex given twice: the edges beside it end there too
            if (lat == a.latitude && lon == a.longitude) return false;
            continue;
        }
        const double along = (lon - a.longitude) * dx + (lat - a.latitude) * dy;
        const double across = (lat - a.latitude) * dx - (lon - a.longitude) * dy;
        if (across == 0 && along >= 0 && along <= dx * dx + dy * dy) return false;
        if ((a.latitude > lat) == (b.latitude > lat)) continue;
        if (lon < dx * (lat - a.latitude) / dy + a.longitude) inside = !inside;
    }
    return ring.empty() || inside;
}

double aggregate(FloatAggregation aggregation, std::vector<double> values) {
    if (values.empty()) return 0;
    double sum = 0;
    for (double v : values) sum += v;
    if (aggregation == FloatAggregation::kFirst) return values.front();
    if (aggregation == FloatAggregation::kLast) return values.back();
    if (aggregation == FloatAggregation::kAvg) return sum / static_cast<double>(values.size());
    std::sort(values.begin(), values.end(), [](double a, double b) { return compare(a, b) < 0; });
    if (aggregation == FloatAggregation::kMin) return values.front();
    if (aggregation == FloatAggregation::kMax) return values.back();
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string aggregate(StringAggregation aggregation, const std::vector<std::string>& texts) {
    if (texts.empty()) return "";
    if (aggregation == StringAggregation::kFirst) return texts.front();
    if (aggregation == StringAggregation::kLast) return texts.back();
    std::map<std::string, int> counts;
    for (const std::string& text : texts) ++counts[text];
    if (aggregation == StringAggregation::kTop) {
        std::string best = texts.front();
        for (const std::string& text : texts) {  // in time order, so that the first of equals stays
            if (counts[text] > counts[best]) best = text;
        }
        return best;
    }
    std::string joined;
    for (const auto& [text, count] : counts) joined += (text == counts.begin()->first ? "" : ",") + text;
    return joined;
}

FloatAggregation asFloat(LocationAggregation aggregation) {
    return aggregation == LocationAggregation::kAvg     ? FloatAggregation::kAvg
           : aggregation == LocationAggregation::kFirst ? FloatAggregation::kFirst
                                                        : FloatAggregation::kLast;
}

using Group = std::vector<const Reading*>;  // one bucket of one name, in time order

std::optional<SignalValue> answer(const FloatRequest& request, const Group& group) {
    std::size_t kept = 0;
    std::vector<double> values;
    for (const Reading* reading : group) {
        if (request.filter && !keeps(*request.filter, reading->value->number)) continue;
        ++kept;
        if (reading->value->number) values.push_back(*reading->value->number);
    }
    if (kept == 0) return std::nullopt;
    return SignalValue{
        RequestKind::kFloat, 0, request.presence_only ? 0 : aggregate(request.aggregation, values), "", {}};
}

std::optional<SignalValue> answer(const StringRequest& request, const Group& group) {
    std::vector<std::string> texts;
    for (const Reading* reading : group) {
        if (reading->value->text) texts.push_back(*reading->value->text);
    }
    return SignalValue{
        RequestKind::kString, 0, 0, request.presence_only ? "" : aggregate(request.aggregation, texts), {}};
}

std::optional<SignalValue> answer(const LocationRequest& request, const Group& group) {
    std::vector<double> columns[4];
    std::size_t kept = 0;
    for (const Reading* reading : group) {
        const SignalRow* fix = reading->fix;
        if (fix == nullptr || (request.filter && !keeps(*request.filter, *fix))) continue;
        ++kept;
        const std::optional<double> values[] = {fix->lat, fix->lon, fix->hdop, fix->heading};
        for (std::size_t i = 0; i < 4; ++i) {
            if (values[i]) columns[i].push_back(*values[i]);
        }
    }
    if (kept == 0) return std::nullopt;
    SignalValue out{RequestKind::kLocation, 0, 0, "", {}};
    if (request.presence_only) return out;
    const FloatAggregation how = asFloat(request.aggregation);
    out.location = {aggregate(how, columns[0]), aggregate(how, columns[1]), aggregate(how, columns[2]),
                    aggregate(how, columns[3])};
    return out;
}

}  // namespace

std::vector<SignalBucket> naiveSignals(const std::vector<SignalRow>& rows, const SignalsQuestion& q) {
    const Readings readings = collapse(rows, q.subject, q.source, q.from, q.to);
    std::map<Micros, std::map<std::string, Group>> groups;
    for (const auto& [name, instants] : readings) {
        for (const auto& [time, reading] : instants) {
            groups[q.from + floorDiv(time - q.from, q.interval) * q.interval][name].push_back(&reading);
        }
    }
    std::vector<SignalBucket> out;
    for (const auto& [start, names] : groups) {
        SignalBucket bucket{start, {}};
        const auto ask = [&, &by_name = names](const auto& requests) {
            for (std::uint32_t i = 0; i < requests.size(); ++i) {
                const auto group = by_name.find(requests[i].name);
                if (group == by_name.end()) continue;
                if (std::optional<SignalValue> value = answer(requests[i], group->second)) {
                    value->index = i;
                    bucket.values.push_back(*std::move(value));
                }
            }
        };
        ask(q.floats);
        ask(q.strings);
        ask(q.locations);
        if (!bucket.values.empty()) out.push_back(std::move(bucket));
    }
    return out;
}

std::vector<LatestSignal> naiveLatest(const std::vector<SignalRow>& rows, const std::string& subject,
                                      const std::optional<std::string>& source) {
    std::vector<LatestSignal> out;
    for (const auto& [name, instants] : collapse(rows, subject, source, INT64_MIN, INT64_MAX)) {
        LatestSignal latest;
        latest.name = name;
        latest.count = instants.size();
        latest.first_seen = instants.begin()->first;
        latest.timestamp = latest.last_seen = instants.rbegin()->first;
        for (const auto& [time, reading] : instants) {
            if (reading.value->number) latest.value_number = *reading.value->number;
            if (reading.value->text) latest.value_string = *reading.value->text;
            if (reading.fix == nullptr || time <= 0) continue;
            latest.location_time = time;
            latest.location = {*reading.fix->lat, *reading.fix->lon, reading.fix->hdop.value_or(0),
                               reading.fix->heading.value_or(0)};
        }
        out.push_back(std::move(latest));
    }
    return out;
}

namespace {

bool keeps(const ListFilter& filter, const std::vector<std::string>& tags) {
    const auto has = [&](const std::string& tag) { return std::find(tags.begin(), tags.end(), tag) != tags.end(); };
    const auto any = [&](const std::vector<std::string>& list) { return std::any_of(list.begin(), list.end(), has); };
    const auto all = [&](const std::vector<std::string>& list) { return std::all_of(list.begin(), list.end(), has); };
    return (filter.contains_any.empty() || any(filter.contains_any)) && all(filter.contains_all) &&
           !any(filter.not_contains_any) && (filter.not_contains_all.empty() || !all(filter.not_contains_all));
}

bool keeps(const TextFilter& filter, const std::string& text) {
    const auto within = [&](const std::vector<std::string>& list) {
        return std::find(list.begin(), list.end(), text) != list.end();
    };
    return (!filter.eq || text == *filter.eq) && (!filter.neq || text != *filter.neq) &&
           (filter.in.empty() || within(filter.in)) && !within(filter.not_in) &&
           (!filter.starts_with || text.starts_with(*filter.starts_with));
}

}  // namespace

std::vector<Event> naiveEvents(const std::vector<EventRow>& rows, const EventsQuestion& q) {
    std::map<std::tuple<Micros, std::string, std::string>, const EventRow*> winners;
    for (const EventRow& row : rows) {
        if (row.subject != q.subject || row.timestamp < q.from || row.timestamp >= q.to) continue;
        const EventRow*& winner = winners[{-row.timestamp, row.name, *row.source}];
        if (winner == nullptr || row.id < winner->id) winner = &row;
    }
    std::vector<Event> out;
    for (const auto& [key, row] : winners) {
        if (q.name && !keeps(*q.name, row->name)) continue;
        if (q.source && !keeps(*q.source, *row->source)) continue;
        if (q.tags && !keeps(*q.tags, *row->tags)) continue;
        out.push_back({row->timestamp, row->name, *row->source, *row->duration_ns, *row->metadata});
    }
    return out;
}

std::vector<EventSummary> naiveSummaries(const std::vector<EventRow>& rows, const std::string& subject) {
    std::map<std::string, std::set<std::pair<Micros, std::string>>> seen;
    for (const EventRow& row : rows) {
        if (row.subject == subject) seen[row.name].insert({row.timestamp, *row.source});
    }
    std::vector<EventSummary> out;
    for (const auto& [name, keys] : seen) out.push_back({name, keys.size(), keys.begin()->first, keys.rbegin()->first});
    return out;
}

}  // namespace dq::query
