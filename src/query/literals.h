// SQL text of values that are part of a statement's shape. Everything a caller may choose freely (subjects, sources,
// event names, tags) is bound instead, except names of signals, which must stand in the text to reach the scan.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/time.h"
#include "engine/value.h"

namespace dq::query {

// A DOUBLE that reads back to the same bits; NaN and the infinities too.
std::string doubleLiteral(double value);
// Sorted bytewise and without repeats: equal questions give equal text.
std::vector<std::string> sortedDistinct(std::vector<std::string> names);
// 'a', 'b'
std::string literalList(const std::vector<std::string>& names);
// Time bound as a literal. Bounds outside the years 1..9999 are drawn to their edge, where no row can lie.
std::string timeBound(Micros time);
// Binds the value and returns its place: $3.
std::string parameter(std::vector<engine::Value>& binds, engine::Value value);

}  // namespace dq::query
