#include "vss/csv.h"

#include <algorithm>

#include "core/status.h"

namespace dq::vss {

std::string_view CsvTable::readField(std::string_view text, std::size_t& at) {
    if (at >= text.size() || text[at] != '"') {
        std::size_t end = std::min(text.find_first_of(",\r\n", at), text.size());
        std::string_view field = text.substr(at, end - at);
        at = end;
        return field;
    }
    std::size_t start = ++at;
    bool doubled = false;
    for (;;) {
        at = text.find('"', at);
        DQ_CHECK(at != std::string_view::npos, "an embedded CSV file has an open quote");
        if (at + 1 >= text.size() || text[at + 1] != '"') break;
        doubled = true;
        at += 2;
    }
    std::string_view field = text.substr(start, at - start);
    ++at;
    if (!doubled) return field;
    std::string& plain = unquoted_.emplace_back();
    for (std::size_t i = 0; i < field.size(); ++i) {
        plain += field[i];
        if (field[i] == '"') ++i;
    }
    return plain;
}

CsvTable::CsvTable(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        Row row;
        for (;;) {
            row.push_back(readField(text, at));
            if (at >= text.size() || text[at] != ',') break;
            ++at;
        }
        if (at < text.size() && text[at] == '\r') ++at;
        DQ_CHECK(at >= text.size() || text[at] == '\n', "an embedded CSV file has text after a closing quote");
        ++at;
        if (header_.empty()) {
            header_ = std::move(row);
            continue;
        }
        DQ_CHECK(row.size() == header_.size(), "an embedded CSV file has a row of another width than its header");
        rows_.push_back(std::move(row));
    }
}

std::size_t CsvTable::column(std::string_view name) const {
    auto found = std::find(header_.begin(), header_.end(), name);
    DQ_CHECK(found != header_.end(), "an embedded CSV file lacks a column");
    return static_cast<std::size_t>(found - header_.begin());
}

}  // namespace dq::vss
