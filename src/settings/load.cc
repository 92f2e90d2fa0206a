#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_join.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "settings/parse.h"
#include "settings/settings.h"

namespace dq::settings {
namespace {

using Texts = absl::flat_hash_map<std::string, std::string>;

// YAML writes a boolean in more ways than a variable of the environment may.
void spellYamlBool(std::string& text) {
    for (const char* yes : {"yes", "Yes", "YES", "on", "On", "ON"}) {
        if (text == yes) text = "true";
    }
    for (const char* no : {"no", "No", "NO", "off", "Off", "OFF"}) {
        if (text == no) text = "false";
    }
}

// Values of the known keys. The caller catches what yaml-cpp throws.
Status takeYaml(const std::string& content, Texts& texts, std::vector<std::string>& problems) {
    const YAML::Node root = YAML::Load(content);
    if (!root.IsDefined() || root.IsNull()) return absl::OkStatus();
    if (!root.IsMap()) return absl::InvalidArgumentError("is not a map of settings");
    for (const auto& entry : root) {
        if (!entry.first.IsScalar()) continue;
        const std::string& name = entry.first.Scalar();
        const Binding* binding = findBinding(name);
        if (binding == nullptr) continue;
        if (!entry.second.IsScalar() && !entry.second.IsNull()) {
            problems.push_back(name + " must be one value, not a list or map");
            continue;
        }
        std::string text = entry.second.IsNull() ? "" : entry.second.Scalar();
        if (binding->is_bool) spellYamlBool(text);
        if (!texts.emplace(name, std::move(text)).second)
            problems.push_back(name + " is given twice in the settings file");
    }
    return absl::OkStatus();
}

Status takeFile(const std::string& path, Texts& texts, std::vector<std::string>& problems, Settings& out) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) && (!error || error == std::errc::no_such_file_or_directory)) {
        out.file_note = "no settings file " + path + ", using the environment only";
        return absl::OkStatus();
    }
    const std::string unreadable = "settings file " + path + " cannot be read";
    if (std::filesystem::is_directory(path, error)) return absl::InvalidArgumentError(unreadable);
    try {
        std::ifstream file(path, std::ios::binary);
        const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        if (!file.is_open() || file.bad()) return absl::InvalidArgumentError(unreadable);
        return annotate(takeYaml(content, texts, problems), "settings file " + path);
    } catch (const YAML::Exception& failure) {  // its text may quote the file, which holds secrets
        const std::string line = failure.mark.is_null() ? "" : " at line " + std::to_string(failure.mark.line + 1);
        return absl::InvalidArgumentError("settings file " + path + " is no valid YAML" + line);
    } catch (const std::ios_base::failure&) {
        return absl::InvalidArgumentError(unreadable);
    }
}

}  // namespace

std::optional<std::string> processEnvironment(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
}

StatusOr<Settings> loadSettings(const std::string& yaml_path, const Environment& environment) {
    Settings out;
    Texts texts;
    std::vector<std::string> problems;
    if (Status file = takeFile(yaml_path, texts, problems, out); !file.ok()) problems.emplace_back(file.message());
    for (const Binding& binding : bindings()) {
        const std::string name(binding.name);
        if (auto value = environment(name)) texts[name] = *std::move(value);
        const auto text = texts.find(name);
        if (text == texts.end() || text->second.empty()) continue;
        if (auto problem = binding.set(binding.name, text->second, out)) problems.push_back(*std::move(problem));
    }
    if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
    if (out.materializer_enabled && out.latest_kv_coverage && !out.latest_kv_write_enabled) {
        out.warnings.emplace_back("LATEST_KV_COVERAGE is ignored without LATEST_KV_WRITE_ENABLED");
    }
    return out;
}

}  // namespace dq::settings
