#include "embedded/settings_csv.h"
#include "settings/parse.h"
#include "settings/settings.h"

namespace dq::settings {
namespace {

// Takes one record of RFC 4180 off the front of `csv`.
std::vector<std::string> takeRecord(std::string_view& csv) {
    std::vector<std::string> fields(1);
    bool in_quotes = false;
    while (!csv.empty()) {
        const char c = csv.front();
        csv.remove_prefix(1);
        if (in_quotes && c == '"' && csv.starts_with('"')) {
            fields.back() += '"';
            csv.remove_prefix(1);
        } else if (c == '"') {
            in_quotes = !in_quotes;
        } else if (c == ',' && !in_quotes) {
            fields.emplace_back();
        } else if (c == '\n' && !in_quotes) {
            break;
        } else if (c != '\r' || in_quotes) {
            fields.back() += c;
        }
    }
    return fields;
}

std::vector<SettingInfo> readInfos() {
    std::vector<SettingInfo> out;
    std::string_view csv = embedded::settings_csv;
    const std::vector<std::string> heading = takeRecord(csv);
    DQ_CHECK(heading.size() >= 5 && heading[0] == "env_var", "columns of data/settings.csv");
    while (!csv.empty()) {
        std::vector<std::string> row = takeRecord(csv);
        DQ_CHECK(row.size() == heading.size(), "a row of data/settings.csv");
        out.push_back({std::move(row[0]), std::move(row[1]), std::move(row[2]), std::move(row[3]), std::move(row[4])});
    }
    return out;
}

}  // namespace

std::span<const SettingInfo> settingInfos() {
    static const auto* infos = new std::vector<SettingInfo>(readInfos());
    return *infos;
}

bool isKnownSetting(std::string_view name) { return findBinding(name) != nullptr; }

}  // namespace dq::settings
