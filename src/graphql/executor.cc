#include "graphql/executor.h"

#include <absl/strings/str_cat.h>

#include "core/log.h"
#include "core/status.h"
#include "dq_rust.h"
#include "graphql/errors.h"
#include "graphql/plan.h"
#include "graphql/walker.h"

namespace dq::graphql {

namespace {

constexpr std::string_view kDataStart = "{\"data\":";

::rust::Slice<const std::uint8_t> bytesOf(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Response::Kind kindOf(rust::PlanStatus status) {
    switch (status) {
        case rust::PlanStatus::ParseFailed: return Response::Kind::kParseFailed;
        case rust::PlanStatus::TooComplex: return Response::Kind::kTooComplex;
        default: return Response::Kind::kInvalid;
    }
}

std::string_view codeOf(rust::PlanStatus status) {
    switch (status) {
        case rust::PlanStatus::ParseFailed: return "GRAPHQL_PARSE_FAILED";
        case rust::PlanStatus::Invalid: return "GRAPHQL_VALIDATION_FAILED";
        case rust::PlanStatus::TooComplex: return "COMPLEXITY_LIMIT_EXCEEDED";
        default: return {};
    }
}

// Answer to a request that cannot run.
Response refuse(const rust::Plan& plan) {
    if (plan.status == rust::PlanStatus::Broken) logError("GraphQL planning failed");
    ErrorList errors;
    for (const rust::PlanError& error : plan.errors) {
        Path path;
        for (const rust::PathStep& step : error.path) {
            const std::string_view name(step.name.data(), step.name.size());
            path.push_back(step.is_index ? pathIndex(step.index) : pathKey(name));
        }
        errors.addRequestError(std::string(error.message), codeOf(plan.status), error.line, error.column, path);
    }
    Response response;
    response.kind = kindOf(plan.status);
    response.complexity = plan.complexity;
    response.has_errors = true;
    response.body = absl::StrCat("{", errors.finish(), ",\"data\":null}");
    return response;
}

// Runs the root fields of one plan.
class Run {
  public:
    Run(const SchemaTable& table, const Hooks& hooks, const std::vector<RootField>& roots)
        : table_(table), hooks_(hooks), roots_(roots), walker_(table, hooks, out_, errors_) {}

    Response execute() {
        admitRoots();
        resolveRoots();
        out_ = kDataStart;
        writeData();
        Response response;
        response.data_bytes = out_.size() - kDataStart.size();
        out_ += '}';
        response.has_errors = !errors_.empty();
        if (response.has_errors) out_.insert(1, absl::StrCat(errors_.finish(), ","));
        response.body = std::move(out_);
        return response;
    }

  private:
    bool isResolved(const RootField& root) const {
        return !table_.isTypename(*root.field.definition) && !table_.isIntrospection(*root.field.definition);
    }

    void done(const Field& field, bool error) const {
        if (hooks_.root_done) hooks_.root_done(field, error);
    }

    void admitRoots() {
        admitted_.assign(roots_.size(), false);
        for (std::size_t i = 0; i < roots_.size(); ++i) {
            const Field& field = roots_[i].field;
            if (!isResolved(roots_[i])) continue;
            walker_.enter(field);
            admitted_[i] = walker_.admit(field);
            walker_.leave();
            if (admitted_[i]) {
                asked_.push_back(&field);
            } else if (field.argument_errors.empty()) {
                done(field, true);
            }
        }
    }

    void resolveRoots() {
        if (asked_.empty()) return;
        try {
            results_ = hooks_.resolve_roots(asked_);
        } catch (...) {
            results_.clear();
        }
        // Whatever the resolvers left out failed.
        results_.resize(asked_.size(), FieldError{"internal system error", {}, {}});
    }

    void writeData() {
        out_ += '{';
        bool fits = true;
        const char* separator = "";
        for (std::size_t i = 0; i < roots_.size(); ++i) {
            out_ += separator;
            separator = ",";
            walker_.enter(roots_[i].field);
            fits = writeRoot(i) && fits;
            walker_.leave();
        }
        out_ += '}';
        if (fits) return;
        out_.resize(kDataStart.size());
        out_ += "null";
    }

    bool writeRoot(std::size_t i) {
        const RootField& root = roots_[i];
        const Field& field = root.field;
        if (table_.isTypename(*field.definition)) {
            walker_.writeTypename(field, "Query");
            return true;
        }
        if (table_.isIntrospection(*field.definition)) return writeIntrospection(root);
        if (!admitted_[i]) return walker_.writeRoot(field, false, NullValue{});
        // Freed as soon as it is written.
        const Resolved value = std::move(results_[next_result_++]);
        done(field, std::holds_alternative<FieldError>(value));
        return walker_.writeRoot(field, true, value);
    }

    bool writeIntrospection(const RootField& root) {
        const bool enabled = !root.introspection.empty();
        if (enabled) {
            walker_.writeRaw(root.field, root.introspection);
        } else {
            walker_.fail({"introspection disabled", {}, {}});
            walker_.writeRaw(root.field, "null");
        }
        done(root.field, !enabled);
        return true;
    }

    const SchemaTable& table_;
    const Hooks& hooks_;
    const std::vector<RootField>& roots_;
    std::string out_;
    ErrorList errors_;
    Walker walker_;
    std::vector<bool> admitted_;
    std::vector<const Field*> asked_;
    std::vector<Resolved> results_;
    std::size_t next_result_ = 0;
};

}  // namespace

struct Executor::Impl {
    Options options;
    SchemaTable table;
};

Executor::Executor(Options options) : impl_(std::make_unique<Impl>()) { impl_->options = std::move(options); }
Executor::~Executor() = default;

Response Executor::execute(const Request& request, const Hooks& hooks) const {
    rust::PlanLimits limits;
    limits.complexity = static_cast<std::uint32_t>(std::max(impl_->options.complexity_limit, 0));
    limits.document_bytes = impl_->options.max_document_bytes;
    const rust::Plan plan = rust::plan_operation(bytesOf(request.query), bytesOf(request.operation_name),
                                                 bytesOf(request.variables_json), request.introspection, limits);
    if (plan.status != rust::PlanStatus::Ok) return refuse(plan);
    const std::vector<RootField> roots = buildRoots(impl_->table, impl_->options.scalar_check, plan);
    Response response = Run(impl_->table, hooks, roots).execute();
    response.complexity = plan.complexity;
    return response;
}

std::span<const FieldDefinition> Executor::fieldsOf(std::string_view type) const { return impl_->table.fieldsOf(type); }

}  // namespace dq::graphql
