#include "query/sql_signals.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_join.h>

#include "core/text.h"
#include "query/filters.h"
#include "query/literals.h"
#include "query/sql_readings.h"

namespace dq::query {
namespace {

constexpr std::string_view kLocationColumns[] = {"loc_lat", "loc_lon", "loc_hdop", "loc_heading"};
constexpr int kFirstColumn = 2;  // after bucket and name

// The columns of the statement and the conditions they use, each text once.
class Columns {
  public:
    int add(const std::string& expression) {
        const auto [it, added] = numbers_.try_emplace(expression, kFirstColumn + static_cast<int>(expressions_.size()));
        if (added) expressions_.push_back(expression);
        return it->second;
    }
    // Name of the boolean column that holds for rows of `name` where `condition` holds.
    std::string keep(const std::string& name, const std::string& condition) {
        const std::string text = strCat("name = ", engine::quoteLiteral(name), " AND (", condition, ")");
        const auto [it, added] = keeps_.try_emplace(text, strCat("keep", keep_texts_.size()));
        if (added) keep_texts_.push_back(text);
        return it->second;
    }
    const std::vector<std::string>& expressions() const { return expressions_; }
    const std::vector<std::string>& keepTexts() const { return keep_texts_; }

  private:
    std::vector<std::string> expressions_, keep_texts_;
    absl::flat_hash_map<std::string, int> numbers_;
    absl::flat_hash_map<std::string, std::string> keeps_;
};

std::string filtered(std::string expression, const std::string& keep) {
    return keep.empty() ? expression : strCat(expression, " FILTER (", keep, ")");
}

std::string floatAggregate(FloatAggregation aggregation) {
    switch (aggregation) {
        case FloatAggregation::kAvg: return "avg(value_number)";
        case FloatAggregation::kMed: return "median(value_number)";
        case FloatAggregation::kMax: return "max(value_number)";
        case FloatAggregation::kMin: return "min(value_number)";
        case FloatAggregation::kRand: return "arg_max(value_number, draw)";
        case FloatAggregation::kFirst: return "arg_min(value_number, \"timestamp\")";
        case FloatAggregation::kLast: return "arg_max(value_number, \"timestamp\")";
    }
    return "NULL";
}

std::string stringAggregate(StringAggregation aggregation) {
    switch (aggregation) {
        case StringAggregation::kRand: return "arg_max(value_string, draw)";
        case StringAggregation::kFirst: return "arg_min(value_string, \"timestamp\")";
        case StringAggregation::kLast: return "arg_max(value_string, \"timestamp\")";
        case StringAggregation::kTop: return "any_value(top_text)";
        case StringAggregation::kUnique: return "any_value(distinct_texts)";
    }
    return "NULL";
}

std::string locationAggregate(LocationAggregation aggregation, std::string_view column) {
    switch (aggregation) {
        case LocationAggregation::kAvg: return strCat("avg(", column, ")");
        case LocationAggregation::kRand: return strCat("arg_max(", column, ", draw)");
        case LocationAggregation::kFirst: return strCat("arg_min(", column, ", \"timestamp\")");
        case LocationAggregation::kLast: return strCat("arg_max(", column, ", \"timestamp\")");
    }
    return "NULL";
}

class Builder {
  public:
    explicit Builder(const SignalsQuestion& question) : question_(question) {
        for (const StringRequest& request : question.strings) {
            if (!request.presence_only && grouped(request.aggregation)) grouped_texts_.push_back(request.name);
        }
        grouped_texts_ = sortedDistinct(std::move(grouped_texts_));
        for (const FloatRequest& request : question.floats) {
            if (!request.presence_only && request.aggregation == FloatAggregation::kMed)
                medians_.push_back(request.name);
        }
        medians_ = sortedDistinct(std::move(medians_));
    }

    SignalsStatement build() {
        SignalsStatement out;
        for (const FloatRequest& request : question_.floats) out.floats.push_back(add(request));
        for (const StringRequest& request : question_.strings) out.strings.push_back(add(request));
        for (const LocationRequest& request : question_.locations) out.locations.push_back(add(request));
        out.sql.text = text(out.sql.binds);
        return out;
    }

  private:
    static bool grouped(StringAggregation a) { return a == StringAggregation::kTop || a == StringAggregation::kUnique; }

    RequestColumns add(const FloatRequest& request) {
        RequestColumns out;
        names_.push_back(request.name);
        std::optional<std::string> condition;
        if (request.filter) condition = floatCondition(*request.filter, "value_number");
        std::string keep;
        if (condition) {
            keep = columns_.keep(request.name, *condition);
            out.rows = columns_.add(filtered("count(*)", keep));
        }
        scanned_.number |= condition.has_value() || !request.presence_only;
        if (request.presence_only) return out;
        // A median holds all its values, so it is kept from names that do not want it; the others cost less than a
        // comparison.
        if (request.aggregation == FloatAggregation::kMed && keep.empty()) {
            keep = strCat("name IN (", literalList(medians_), ")");
        }
        drawn_ |= request.aggregation == FloatAggregation::kRand;
        out.value[0] = columns_.add(filtered(floatAggregate(request.aggregation), keep));
        return out;
    }

    RequestColumns add(const StringRequest& request) {
        RequestColumns out;
        names_.push_back(request.name);
        if (request.presence_only) return out;
        scanned_.text = true;
        drawn_ |= request.aggregation == StringAggregation::kRand;
        out.value[0] = columns_.add(stringAggregate(request.aggregation));
        return out;
    }

    RequestColumns add(const LocationRequest& request) {
        RequestColumns out;
        names_.push_back(request.name);
        scanned_.location = true;
        std::optional<std::string> condition;
        if (request.filter) condition = locationCondition(*request.filter);
        const std::string keep = condition ? columns_.keep(request.name, *condition) : "";
        out.rows = columns_.add(filtered("count(loc_lat)", keep));
        if (request.presence_only) return out;
        drawn_ |= request.aggregation == LocationAggregation::kRand;
        for (std::size_t i = 0; i < out.value.size(); ++i) {
            out.value[i] = columns_.add(filtered(locationAggregate(request.aggregation, kLocationColumns[i]), keep));
        }
        return out;
    }

    // Readings with their bucket, the shared draw of RAND (after the collapse, so that it is one a row), and the
    // filters' verdicts.
    std::string placed() const {
        std::string out = strCat("SELECT *, (epoch_us(\"timestamp\") - (", question_.from, ")) // ", question_.interval,
                                 " AS bucket");
        if (drawn_) strAppend(&out, ", random() AS draw");
        for (std::size_t i = 0; i < columns_.keepTexts().size(); ++i) {
            strAppend(&out, ",\n       ", columns_.keepTexts()[i], " AS keep", i);
        }
        return strCat(out, "\nFROM readings");
    }

    // Text with the most rows, among equals the one seen first; all distinct texts in byte order.
    std::string textGroups() const {
        return strCat(
            "SELECT bucket, name,\n       arg_min(value_string, create_sort_key(times, 'DESC NULLS LAST', first_at, "
            "'ASC NULLS LAST')) AS top_text,"
            "\n       string_agg(value_string, ',' ORDER BY value_string) AS distinct_texts"
            "\nFROM (SELECT bucket, name, value_string, count(*) AS times, min(\"timestamp\") AS first_at"
            "\n      FROM placed\n      WHERE value_string IS NOT NULL AND name IN (",
            literalList(grouped_texts_),
            ")"
            "\n      GROUP BY bucket, name, value_string)\nGROUP BY bucket, name");
    }

    std::string text(std::vector<engine::Value>& binds) const {
        const ReadingScope scope{question_.subject, question_.source, sortedDistinct(names_), question_.from,
                                 question_.to};
        std::string out =
            strCat("WITH readings AS NOT MATERIALIZED (\n", readingsSql(scope, scanned_, binds), "\n), placed AS ",
                   grouped_texts_.empty() ? "NOT MATERIALIZED" : "MATERIALIZED", " (\n", placed(), "\n)");
        std::string from = "placed";
        if (!grouped_texts_.empty()) {
            strAppend(&out, ", texts AS (\n", textGroups(), "\n)");
            from = "placed LEFT JOIN texts USING (bucket, name)";
        }
        strAppend(&out, "\nSELECT bucket, name");
        for (const std::string& expression : columns_.expressions()) strAppend(&out, ",\n       ", expression);
        return strCat(out, "\nFROM ", from, "\nGROUP BY bucket, name\nORDER BY bucket, name");
    }

    const SignalsQuestion& question_;
    Columns columns_;
    ReadingColumns scanned_;
    bool drawn_ = false;
    std::vector<std::string> names_, grouped_texts_, medians_;
};

}  // namespace

SignalsStatement signalsSql(const SignalsQuestion& question) { return Builder(question).build(); }

}  // namespace dq::query
