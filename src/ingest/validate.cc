#include "ingest/validate.h"

#include <openssl/rand.h>
#include <simdjson.h>

#include <array>

#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "ingest/event_json.h"
#include "ingest/payload.h"

namespace dq::ingest {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::array<std::string_view, 5> kConnectionTypes = {
    cloudevent::kStatusType, cloudevent::kFingerprintType, cloudevent::kEventsType, "dimo.signals", "dimo.raw.status"};
constexpr std::int64_t kWarnEveryMicros = 3600 * kMicrosPerSecond;
constexpr std::size_t kMaxWarnedProducers = 100'000;
constexpr std::int64_t kIdEpochSeconds = 1'400'000'000;

Status invalid(std::string_view member, std::string_view rule) {
    return absl::InvalidArgumentError(strCat(member, ": ", rule));
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }

Status checkIdentifiers(const cloudevent::Event& event) {
    constexpr std::string_view kRule = "only letters, digits and - _ / , . : and blanks are allowed";
    const std::pair<std::string_view, const std::string*> required[] = {{"id", &event.id},
                                                                        {"datacontenttype", &event.data_content_type}};
    for (const auto& [name, value] : required) {
        if (!isIdentifier(*value)) return invalid(name, value->empty() ? "must not be empty" : kRule);
    }
    const std::pair<std::string_view, const std::string*> optional[] = {{"dataschema", &event.data_schema},
                                                                        {"dataversion", &event.data_version},
                                                                        {"type", &event.type},
                                                                        {"subject", &event.subject},
                                                                        {"producer", &event.producer}};
    for (const auto& [name, value] : optional) {
        if (!value->empty() && !isIdentifier(*value)) return invalid(name, kRule);
    }
    if (!headerFits(event)) return invalid("header", strCat("over ", kMaxHeaderBytes, " bytes without data"));
    return absl::OkStatus();
}

Status canonicalDid(std::string_view member, std::string& did) {
    std::optional<std::string> canonical = cloudevent::canonicalVehicleDid(did);
    if (!canonical)
        return invalid(member,
                       "must be did:erc721:<chain>:<0x address>:<token> or did:nft:<chain>:<0x address>_<token>");
    did = std::move(*canonical);
    return absl::OkStatus();
}

bool isChassisNumber(std::string_view text) {
    const std::size_t hyphen = text.find('-');
    for (std::size_t head = 2; head <= 7; ++head) {
        if (hyphen != std::string_view::npos && head != hyphen) continue;
        const std::size_t tail_at = hyphen == std::string_view::npos ? head : head + 1;
        if (text.size() < tail_at + 5 || text.size() > tail_at + 7) continue;
        const std::string_view front = text.substr(0, head), tail = text.substr(tail_at);
        if (std::all_of(front.begin(), front.end(), [](char c) { return isUpper(c) || isDigit(c); }) &&
            std::all_of(tail.begin(), tail.end(), isDigit)) {
            return true;
        }
    }
    return false;
}

}  // namespace

StatusOr<Profile> parseProfile(std::string_view name) {
    if (name == "connection") return Profile::kConnection;
    if (name == "attestation") return Profile::kAttestation;
    if (name == "raw") return Profile::kRaw;
    return absl::InvalidArgumentError(strCat("unknown profile \"", name, "\": connection, attestation or raw"));
}

Status checkProfile(Profile profile) {
    if (profile != Profile::kAttestation) return absl::OkStatus();
    return absl::UnimplementedError(
        "profile attestation is not available: this build verifies no signatures (secp256k1 of key-owned accounts, "
        "ERC-1271 through RPC_URL)"
        " and has no token identity; use --profile raw to store attestations as they are");
}

Status checkOptions(const ValidationOptions& options) {
    DQ_RETURN_IF_ERROR(checkProfile(options.profile));
    if (options.source_rule != SourceRule::kFixed) return absl::OkStatus();
    if (options.source.empty()) return invalid("source", "must not be empty");
    if (options.profile == Profile::kConnection && !cloudevent::checksumAddress(options.source)) {
        return invalid("source", "must be a hex address of 40 digits");
    }
    return absl::OkStatus();
}

bool isIdentifier(std::string_view text) {
    static const std::array<bool, 256> kAllowed = [] {
        std::array<bool, 256> allowed{};
        for (char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/,. :")) {
            allowed[static_cast<unsigned char>(c)] = true;
        }
        return allowed;
    }();
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return kAllowed[static_cast<unsigned char>(c)]; });
}

bool isPlausibleVin(std::string_view vin) {
    if (vin.empty() || vin.find_first_not_of(vin[0]) == std::string_view::npos) return false;
    const bool seventeen = vin.size() == 17 && std::all_of(vin.begin(), vin.end(), [](char c) {
                               return isDigit(c) || (isUpper(c) && c != 'I' && c != 'O' && c != 'Q');
                           });
    return seventeen || isChassisNumber(vin);
}

std::string newEventId(Micros now) {
    std::array<unsigned char, 20> bytes{};
    const auto seconds = static_cast<std::uint32_t>(floorDiv(now, kMicrosPerSecond) - kIdEpochSeconds);
    for (int i = 0; i < 4; ++i)
        bytes[static_cast<std::size_t>(i)] = static_cast<unsigned char>(seconds >> (24 - 8 * i));
    DQ_CHECK(::RAND_bytes(bytes.data() + 4, 16) == 1, "the random generator of OpenSSL failed");
    constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    std::string id(27, '0');
    for (std::size_t place = id.size(); place-- > 0;) {  // long division of the 160 bits by 62
        unsigned remainder = 0;
        for (unsigned char& byte : bytes) {
            const unsigned value = remainder * 256 + byte;
            byte = static_cast<unsigned char>(value / 62);
            remainder = value % 62;
        }
        id[place] = kDigits[remainder];
    }
    return id;
}

Validator::Validator(ValidationOptions options) : options_(std::move(options)) {
    if (!options_.new_id) options_.new_id = newEventId;
    if (options_.source_rule == SourceRule::kFixed) {
        if (auto address = cloudevent::checksumAddress(options_.source)) options_.source = *address;
    }
}

Status Validator::complete(cloudevent::Event& event, Micros now) const {
    if (options_.source_rule == SourceRule::kFixed) event.source = options_.source;
    const std::optional<std::string> address = cloudevent::checksumAddress(event.source);
    if (address) event.source = *address;
    if (!address && (options_.profile == Profile::kConnection || options_.source_rule == SourceRule::kOwnAddress)) {
        return invalid("source", "must be a hex address of 40 digits");
    }
    if (event.subject.empty()) event.subject = event.producer;
    if (event.time == Instant{kZeroTime, 0}) event.time = Instant{now, 0};
    if (event.id.empty()) event.id = options_.new_id(now);
    if (event.data_content_type.empty()) event.data_content_type = kJson;
    return absl::OkStatus();
}

Status Validator::checkEvent(cloudevent::Event& event) const {
    if (options_.profile == Profile::kRaw) {
        if (event.type.empty()) return invalid("type", "must not be empty");
        if (event.subject.empty()) return invalid("subject", "must not be empty");
        return checkIdentifiers(event);
    }
    if (event.data_content_type != kJson) return invalid("datacontenttype", "must be application/json");
    DQ_RETURN_IF_ERROR(checkIdentifiers(event));
    if (std::find(kConnectionTypes.begin(), kConnectionTypes.end(), event.type) == kConnectionTypes.end()) {
        return invalid("type", "must be dimo.status, dimo.fingerprint, dimo.events, dimo.signals or dimo.raw.status");
    }
    DQ_RETURN_IF_ERROR(canonicalDid("subject", event.subject));
    return canonicalDid("producer", event.producer);
}

void Validator::noteFuture(const cloudevent::Event& event, Micros now) {
    if (event.time.micros <= now + options_.allowable_skew_micros) return;
    bool warn = false;
    {
        std::lock_guard lock(mutex_);
        ++future_events_;
        if (warned_.size() >= kMaxWarnedProducers) warned_.clear();
        const auto [entry, first] = warned_.try_emplace(event.producer, now);
        warn = first || now - entry->second >= kWarnEveryMicros;
        if (warn) {
            entry->second = now;
            ++future_warnings_;
        }
    }
    if (warn)
        logWarn("event time lies in the future", {{"ahead_seconds", (event.time.micros - now) / kMicrosPerSecond}});
}

std::uint64_t Validator::futureEvents() const {
    std::lock_guard lock(mutex_);
    return future_events_;
}

std::uint64_t Validator::futureWarnings() const {
    std::lock_guard lock(mutex_);
    return future_warnings_;
}

void Validator::addRow(const cloudevent::Event& event, std::optional<std::string> voids_id, Verdict& verdict) const {
    cloudevent::Row row = cloudevent::toRow(event);
    row.voids_id = std::move(voids_id);
    if (payloadBytes(row) > options_.inline_limit) ++verdict.oversized;
    verdict.rows.push_back(std::move(row));
}

Verdict Validator::check(std::string_view text) {
    Verdict verdict;
    const auto fail = [&](Status fault) {
        verdict.rows.clear();
        verdict.fault = std::move(fault);
        return std::move(verdict);
    };
    if (!simdjson::validate_utf8(text.data(), text.size()))
        return fail(absl::InvalidArgumentError("the text is not valid UTF-8"));
    StatusOr<cloudevent::Event> parsed = cloudevent::parse(text);
    if (!parsed.ok()) return fail(parsed.status());
    cloudevent::Event& event = *parsed;
    const Micros now = options_.clock->now();
    if (Status status = complete(event, now); !status.ok()) return fail(std::move(status));

    std::vector<std::string> types = {event.type};
    if (event.type.empty() && options_.profile == Profile::kConnection) {
        types.clear();
        for (std::string_view type : typesOfData(event.data)) types.emplace_back(type);
    }
    // Headers are all checked before anything is kept; a fingerprint's VIN costs only the fingerprint.
    Status fingerprint_fault;
    for (const std::string& type : types) {
        event.type = type;
        if (Status status = checkEvent(event); !status.ok()) return fail(std::move(status));
        std::optional<std::string> voids_id;
        if (options_.profile == Profile::kRaw && type == cloudevent::kTombstoneType) {
            StatusOr<std::string> voided = voidedId(event);
            if (!voided.ok()) return fail(voided.status());
            voids_id = *std::move(voided);
        }
        if (options_.profile == Profile::kConnection && options_.fingerprint_validation &&
            type == cloudevent::kFingerprintType) {
            const StatusOr<std::string> vin = vinOfData(event.data);
            if (!vin.ok() || !isPlausibleVin(*vin)) {
                vin.ok() ? void(++verdict.dropped_fingerprints) : fingerprint_fault.Update(vin.status());
                continue;
            }
        }
        addRow(event, std::move(voids_id), verdict);
    }
    noteFuture(event, now);
    verdict.fault = fingerprint_fault;
    return verdict;
}

}  // namespace dq::ingest
