#include "api/resolvers.h"

#include "api/arguments.h"
#include "api/errors.h"

namespace dq::api {

using graphql::Field;
using graphql::Resolved;

absl::StatusOr<query::Session*> Operation::session() {
    if (!session_) {
        absl::StatusOr<query::Session> begun = reader_.begin(cancel_);
        if (!begun.ok()) return begun.status();
        session_.emplace(std::move(*begun));
    }
    return &*session_;
}

absl::StatusOr<Operation::Latest> Operation::latest(const Field& field, std::string_view operation) {
    auto open = session();
    if (!open.ok()) return open.status();
    const auto source = sourceFilter(field);
    return (*open)->latest(textArgument(field, "subject"),
                           source ? std::optional<std::string>(source->column) : std::nullopt, operation);
}

Resolved Operation::resolve(const Field& field) {
    const std::string& name = field.definition->name;
    if (name == "signals") return signals(field);
    if (name == "signalsLatest") return signalsLatest(field);
    if (name == "signalsSnapshot") return signalsSnapshot(field);
    if (name == "availableSignals") return availableSignals(field);
    if (name == "dataSummary") return dataSummary(field);
    if (name == "events") return events(field);
    return notInThisBuild(name);
}

}  // namespace dq::api
