#include "graphql/walker.h"

#include <cmath>

#include "graphql/json_text.h"

namespace dq::graphql {

namespace {

template <typename... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// A resolver that throws fails its field only.
Resolved resolveSafely(const Object& parent, const Field& field) {
    try {
        return parent.resolve(field);
    } catch (...) {
        return FieldError{"internal system error", {}, {}};
    }
}

}  // namespace

bool Walker::admit(const Field& field) {
    if (!field.argument_errors.empty()) {
        const auto& [below, message] = field.argument_errors.front();
        errors_.add({message, {}, {}}, path_, below);
        return false;
    }
    if (!hooks_.guard || field.definition->directives.empty()) return true;
    if (const auto refusal = hooks_.guard(field)) {
        fail(*refusal);
        return false;
    }
    return true;
}

void Walker::writeKey(const Field& field) {
    out_ += '"';
    out_ += field.response_key;  // a GraphQL name: nothing to escape
    out_ += "\":";
}

bool Walker::finish(const Field& field, std::size_t start, bool written) {
    if (written) return true;
    out_.resize(start);
    if (field.definition->non_null) return false;
    out_ += "null";
    return true;
}

bool Walker::writeRoot(const Field& field, bool admitted, const Resolved& value) {
    writeKey(field);
    const std::size_t start = out_.size();
    return finish(field, start, admitted && writeValue(field, value));
}

void Walker::writeTypename(const Field& field, std::string_view type) {
    writeKey(field);
    appendJsonString(out_, type);
}

void Walker::writeRaw(const Field& field, std::string_view json) {
    writeKey(field);
    appendTrustedJson(out_, json);
}

bool Walker::writeMember(const Field& field, const Object& parent, std::string_view parent_type) {
    if (table_.isTypename(*field.definition)) {
        writeTypename(field, parent_type);
        return true;
    }
    enter(field);
    writeKey(field);
    const std::size_t start = out_.size();
    const bool written = admit(field) && writeValue(field, resolveSafely(parent, field));
    const bool fits = finish(field, start, written);
    leave();
    return fits;
}

bool Walker::writeObject(const Field& field, const Object& object) {
    out_ += '{';
    bool fits = true;
    const char* separator = "";
    for (const Field& selection : field.selections) {
        out_ += separator;
        fits = writeMember(selection, object, field.definition->named_type) && fits;
        separator = ",";
    }
    out_ += '}';
    return fits;
}

bool Walker::writeItem(const Field& field, const ObjectList& list, std::size_t index) {
    const std::size_t start = out_.size();
    const bool non_null = field.definition->item_non_null;
    const std::shared_ptr<const Object> item = list.at(index);
    if (item == nullptr) return writeNull(!non_null);
    if (writeObject(field, *item)) return true;
    out_.resize(start);
    if (non_null) return false;
    out_ += "null";
    return true;
}

bool Walker::writeList(const Field& field, const ObjectList& list) {
    out_ += '[';
    bool fits = true;
    const std::size_t size = list.size();
    for (std::size_t i = 0; i < size; ++i) {
        if (i != 0) out_ += ',';
        path_.push_back(pathIndex(i));
        fits = writeItem(field, list, i) && fits;
        path_.pop_back();
    }
    out_ += ']';
    return fits;
}

bool Walker::writeStrings(const StringListValue& list) {
    out_ += '[';
    const char* separator = "";
    for (const std::string& item : list.items) {
        out_ += separator;
        appendJsonString(out_, item);
        separator = ",";
    }
    out_ += ']';
    return true;
}

bool Walker::writeNull(bool allowed) {
    if (allowed) {
        out_ += "null";
        return true;
    }
    fail({"must not be null", {}, {}});
    return false;
}

bool Walker::writeValue(const Field& field, const Resolved& value) {
    const bool nullable = !field.definition->non_null;
    const Overloaded cases{
        [&](const NullValue&) { return writeNull(nullable); },
        [&](bool flag) {
            out_ += flag ? "true" : "false";
            return true;
        },
        [&](std::int64_t number) {
            appendInteger(out_, number);
            return true;
        },
        [&](std::uint64_t number) {
            appendUnsigned(out_, number);
            return true;
        },
        [&](double number) {
            if (std::isfinite(number)) {
                appendFloat(out_, number);
                return true;
            }
            fail({"cannot marshal infinite no NaN float values", {}, {}});
            return false;
        },
        [&](const std::string& text) {
            appendJsonString(out_, text);
            return true;
        },
        [&](const TimeValue& time) {
            if (time.micros == kZeroTime) return writeNull(nullable);
            appendJsonString(out_, formatRfc3339(time.micros));
            return true;
        },
        [&](const RawJson& json) { return appendStoredJson(out_, json.text) || writeNull(nullable); },
        [&](const StringListValue& list) { return writeStrings(list); },
        [&](const std::shared_ptr<const Object>& object) {
            return object == nullptr ? writeNull(nullable) : writeObject(field, *object);
        },
        [&](const std::shared_ptr<const ObjectList>& list) {
            return list == nullptr ? writeNull(nullable) : writeList(field, *list);
        },
        [&](const FieldError& error) {
            fail(error);
            return false;
        },
    };
    return std::visit(cases, value);
}

}  // namespace dq::graphql
