// Questions about decoded data and their answers, free of SQL and of GraphQL (queries.md). Times are µs UTC.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/time.h"

namespace dq::query {

enum class FloatAggregation : std::uint8_t { kAvg, kMed, kMax, kMin, kRand, kFirst, kLast };
enum class StringAggregation : std::uint8_t { kRand, kTop, kUnique, kFirst, kLast };
enum class LocationAggregation : std::uint8_t { kAvg, kRand, kFirst, kLast };

// Leaf conditions are AND-ed; with `any_of` non-empty the result is (leafs) OR any_of[0] OR … (queries.md §4.6).
struct FloatFilter {
    std::optional<double> eq, neq, gt, lt, gte, lte;
    std::vector<double> in, not_in;  // empty = no condition
    std::vector<FloatFilter> any_of;
};
struct TextFilter {
    std::optional<std::string> eq, neq, starts_with;
    std::vector<std::string> in, not_in;
    std::vector<TextFilter> any_of;
};
struct ListFilter {
    std::vector<std::string> contains_any, contains_all, not_contains_any, not_contains_all;
    std::vector<ListFilter> any_of;
};
struct Point {
    double latitude = 0, longitude = 0;  // degrees
};
struct Circle {
    Point center;
    double radius_km = 0;  // great-circle, boundary included
};
struct LocationFilter {
    std::optional<Circle> circle;  // wins over the polygon
    std::vector<Point> polygon;    // ≥ 3 points, or empty; boundary excluded
};

struct FloatRequest {
    std::string name;
    FloatAggregation aggregation;
    std::optional<FloatFilter> filter;
    bool presence_only = false;  // refused by privilege: only "has a row in this bucket" is wanted
};
struct StringRequest {
    std::string name;
    StringAggregation aggregation;
    bool presence_only = false;
};
struct LocationRequest {
    std::string name;
    LocationAggregation aggregation;
    std::optional<LocationFilter> filter;
    bool presence_only = false;
};

struct SignalsQuestion {
    std::string subject;
    Micros from = 0, to = 0;            // [from, to)
    std::int64_t interval = 0;          // µs, ≥ 1
    std::optional<std::string> source;  // exact text of the source column
    std::vector<FloatRequest> floats;
    std::vector<StringRequest> strings;
    std::vector<LocationRequest> locations;
};

struct Location {
    double latitude = 0, longitude = 0, hdop = 0, heading = 0;
};

enum class RequestKind : std::uint8_t { kFloat = 1, kString = 2, kLocation = 3 };
// One value of one request in one bucket. Requests without a row in the bucket have none.
struct SignalValue {
    RequestKind kind;
    std::uint32_t index;  // into the question's list of that kind
    double number = 0;
    std::string text;
    Location location;
};
struct SignalBucket {
    Micros start = 0;
    std::vector<SignalValue> values;  // by (kind, index)
};

// One row of the latest state of a subject: what signals_latest holds, from the rollup or from a scan.
struct LatestSignal {
    std::string name;
    Micros timestamp = 0;  // newest row
    double value_number = 0;
    std::string value_string;
    Location location;         // newest fix; zeros when there is none
    Micros location_time = 0;  // epoch when there is no fix
    std::uint64_t count = 0;   // de-duplicated rows
    Micros first_seen = 0, last_seen = 0;
};

struct EventSummary {
    std::string name;
    std::uint64_t count = 0;
    Micros first_seen = 0, last_seen = 0;
};

struct EventsQuestion {
    std::string subject;
    Micros from = 0, to = 0;
    std::optional<TextFilter> name, source;
    std::optional<ListFilter> tags;
};
struct Event {
    Micros timestamp = 0;
    std::string name, source;
    std::uint64_t duration_ns = 0;
    std::string metadata;
};

}  // namespace dq::query
