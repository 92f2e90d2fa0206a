#include "query/profile.h"

#include <absl/strings/numbers.h>
#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/log.h"
#include "core/text.h"

namespace dq::query {
namespace {

constexpr std::int64_t kDisarmTimeout = 5 * kMicrosPerSecond;
constexpr int kMaxDepth = 500;

// Walks operators and their children; plans are trees of some tens of levels.
void collect(const simdjson::dom::element& element, int depth, std::uint64_t& most) {
    if (depth > kMaxDepth) return;
    simdjson::dom::object object;
    simdjson::dom::array array;
    if (element.get(array) == simdjson::SUCCESS) {
        for (const auto& item : array) collect(item, depth + 1, most);
    } else if (element.get(object) == simdjson::SUCCESS) {
        for (const auto& [key, value] : object) {
            std::string_view text;
            std::uint64_t number = 0;
            if (key != "Total Files Read") {
                collect(value, depth + 1, most);
            } else if (value.get(number) == simdjson::SUCCESS ||
                       (value.get(text) == simdjson::SUCCESS && absl::SimpleAtoi(abslView(text), &number))) {
                most = std::max(most, number);
            }
        }
    }
}

std::string scratchPath(const std::string& directory) {
    static std::atomic<std::uint64_t> sequence{0};
    std::error_code ignored;
    std::filesystem::path base =
        directory.empty() ? std::filesystem::temp_directory_path(ignored) : std::filesystem::path(directory);
    return (base / strCat("dq-profile-", ::getpid(), "-", ++sequence, ".json")).string();
}

}  // namespace

std::optional<std::uint64_t> filesReadOf(std::string_view profile) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.parse(profile.data(), profile.size()).get(root) != simdjson::SUCCESS) return std::nullopt;
    std::uint64_t most = 0;
    collect(root, 0, most);
    if (most == 0) return std::nullopt;
    return most;
}

ReadProfile::ReadProfile(engine::Connection& connection, const std::string& directory)
    : connection_(connection), path_(scratchPath(directory)) {
    // The engine takes a .json output only once the format is json; the first statement that it could print is then the
    // second one, whose plan already goes to the file.
    absl::Status armed = connection_.execute("SET enable_profiling = 'json'").status();
    disarmed_ = !armed.ok();
    if (armed.ok())
        armed = connection_.execute(strCat("SET profiling_output = ", engine::quoteLiteral(path_))).status();
    armed_ = armed.ok();
    if (armed_) return;
    logWarn("read is not profiled: profiling cannot be armed", {{"error", armed.message().substr(0, 200)}});
    finish();
}

ReadProfile::~ReadProfile() { finish(); }

std::optional<std::uint64_t> ReadProfile::finish() {
    std::optional<std::uint64_t> files;
    if (armed_) {
        std::ifstream file(path_, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        files = filesReadOf(text.str());
    }
    armed_ = false;
    if (!disarmed_) {
        const Cancel limit = Cancel::root().withTimeout(kDisarmTimeout);
        disarmed_ = connection_.execute("PRAGMA disable_profiling", limit).ok() &&
                    connection_.execute("RESET profiling_output", limit).ok();
    }
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    return files;
}

}  // namespace dq::query
