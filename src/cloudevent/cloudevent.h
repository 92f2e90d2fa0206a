// CloudEvents: the JSON wire form, the header, and the row of lake.raw_events that carries one.
//
// Parsing follows decode.md §1.1 (member names case-sensitive, first of duplicates counts, wrong types of text
// members read as empty, `time` strict, `data` kept as exact source text, `data_base64` validated). Rows follow
// writer.md A7: time cut to ms, extras `{}` or one JSON object holding unknown members plus dataschema, signature,
// raweventid, tags.
#pragma once
#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.h"

namespace dq::cloudevent {

inline constexpr std::string_view kStatusType = "dimo.status";
inline constexpr std::string_view kEventsType = "dimo.events";
inline constexpr std::string_view kFingerprintType = "dimo.fingerprint";
inline constexpr std::string_view kTombstoneType = "dimo.tombstone";
inline constexpr std::string_view kAttestationType = "dimo.attestation";
inline constexpr std::string_view kBlobPrefix = "cloudevent/blobs/";

struct Event {
    std::string type, source, subject, id, producer;
    std::string data_content_type, data_version, data_schema, signature, raw_event_id;
    std::vector<std::string> tags;
    Instant time{kZeroTime, 0};      // zero time when absent
    std::string extras_json = "{}";  // unknown members as one JSON object, source text of each value kept
    std::string data;                // exact source text; empty = none
    std::string data_base64;         // base64 text as sent; empty = none
};

// One row of lake.raw_events in column order. Optionals are SQL NULL.
struct Row {
    std::string subject;
    Micros time = 0;  // whole ms
    std::string type, id, source, producer, data_content_type, data_version, extras;
    std::optional<std::string> data, data_base64, data_index_key, voids_id;
};

// Parses one JSON object. `text` need not be padded. Errors are InvalidArgument and name the member and the rule.
absl::StatusOr<Event> parse(std::string_view text);
// Row of an event (voids_id and data_index_key are the caller's business).
Row toRow(const Event& event);

// did:erc721:<chain>:<address>:<token> of the vehicle gate (decode.md §2.1).
struct Erc721Did {
    std::uint64_t chain_id = 0;
    std::string address_hex;  // 40 lower-case hex digits, no 0x
    std::string token;        // decimal digits, sign dropped
};
std::optional<Erc721Did> parseErc721Did(std::string_view text);
// did:ethr:<chain>:<address> → EIP-55 checksummed "0x…" (queries.md §5). nullopt when it is no such DID.
std::optional<std::string> ethrDidAddress(std::string_view text);
// EIP-55 form of 40 hex digits (any case, with or without 0x); nullopt when malformed.
std::optional<std::string> checksumAddress(std::string_view hex);
// did:erc721:… or the legacy did:nft:<chain>:<address>_<token>, rewritten to did:erc721 with an EIP-55 address
// (writer.md A3.6).
std::optional<std::string> canonicalVehicleDid(std::string_view text);

}  // namespace dq::cloudevent
