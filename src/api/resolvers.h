// Root fields of Query over decoded data: argument checks, one read plan per operation, lazily resolved objects.
//
// All fields of one operation are read in one session, that is from one lake snapshot; the session is opened by the
// first field that needs the lake. Threads: an Operation belongs to one thread.
#pragma once
#include <optional>
#include <span>

#include "auth/auth.h"
#include "core/clock.h"
#include "graphql/executor.h"
#include "query/reader.h"

namespace dq::api {

class Operation {
  public:
    Operation(query::Reader& reader, const std::optional<auth::Claims>& claims, const Clock& clock,
              const Cancel& cancel)
        : reader_(reader), claims_(claims), clock_(clock), cancel_(cancel) {}

    graphql::Resolved resolve(const graphql::Field& field);

  private:
    graphql::Resolved signals(const graphql::Field& field);
    graphql::Resolved signalsLatest(const graphql::Field& field);
    graphql::Resolved signalsSnapshot(const graphql::Field& field);
    graphql::Resolved availableSignals(const graphql::Field& field);
    graphql::Resolved dataSummary(const graphql::Field& field);
    graphql::Resolved events(const graphql::Field& field);

    // The session of this operation, begun at first use.
    absl::StatusOr<query::Session*> session();
    using Latest = std::shared_ptr<const std::vector<query::LatestSignal>>;
    absl::StatusOr<Latest> latest(const graphql::Field& field, std::string_view operation);
    vss::Privileges privileges() const { return claims_ ? claims_->privileges : 0; }

    query::Reader& reader_;
    const std::optional<auth::Claims>& claims_;
    const Clock& clock_;
    const Cancel& cancel_;
    std::optional<query::Session> session_;
};

}  // namespace dq::api
