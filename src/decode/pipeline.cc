#include "decode/pipeline.h"

#include <algorithm>
#include <cmath>

#include "vss/signals.h"

namespace dq::decode {
namespace {

constexpr Micros kFutureTolerance = 5 * 60 * kMicrosPerSecond;
constexpr std::size_t kSmall = 24;  // up to here insertion beats a general sort

// Ascending by (time, name), then by emission, so that a plain sort is stable.
bool before(const std::vector<RawSignal>& raw, std::uint32_t a, std::uint32_t b) {
    const RawSignal& left = raw[a];
    const RawSignal& right = raw[b];
    if (left.time != right.time) return left.time < right.time;
    int names = left.name.compare(right.name);
    return names != 0 ? names < 0 : a < b;
}

void sortOrder(const std::vector<RawSignal>& raw, std::vector<std::uint32_t>& order) {
    order.resize(raw.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    if (order.size() > kSmall) {
        std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return before(raw, a, b); });
        return;
    }
    for (std::size_t i = 1; i < order.size(); ++i) {
        std::uint32_t moving = order[i];
        std::size_t at = i;
        for (; at > 0 && before(raw, moving, order[at - 1]); --at) order[at] = order[at - 1];
        order[at] = moving;
    }
}

// Of exact duplicates the last stays; signals of the future go.
void prune(const std::vector<RawSignal>& raw, Micros now, std::vector<std::uint32_t>& order) {
    const Instant latest{now + kFutureTolerance, 0};
    std::size_t kept = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const RawSignal& signal = raw[order[i]];
        if (signal.time > latest) break;  // ascending: so are all that follow
        if (i + 1 < order.size()) {
            const RawSignal& next = raw[order[i + 1]];
            if (next.time == signal.time && next.name == signal.name) continue;
        }
        order[kept++] = order[i];
    }
    order.resize(kept);
}

// At least half a second from `start` to `time`.
bool windowOver(const Instant& start, const Instant& time) {
    Micros micros = time.micros - start.micros;
    return micros > 500'000 || (micros == 500'000 && time.nanos >= start.nanos);
}

class LocationAssembly {
  public:
    LocationAssembly(std::vector<RawSignal>& raw, std::vector<std::uint32_t>& order) : raw_(raw), order_(order) {}

    void run() {
        const std::size_t listed = order_.size(), emitted = raw_.size();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < listed; ++i) {
            const RawSignal& signal = raw_[order_[i]];
            Role role = signal.role;
            Instant time = signal.time;
            double number = signal.number;
            if (open_ && windowOver(start_, time)) close();
            if (role == Role::kNone) {
                order_[kept++] = order_[i];
                continue;
            }
            Slot& slot = slots_[static_cast<std::size_t>(role) - 1];
            if (slot.taken) close();
            slot = Slot{true, number};
            if (!open_) start_ = time;
            open_ = true;
        }
        close();
        order_.resize(kept);
        for (std::size_t i = emitted; i < raw_.size(); ++i) order_.push_back(static_cast<std::uint32_t>(i));
    }

  private:
    struct Slot {
        bool taken = false;
        double value = 0;
    };

    static bool isValid(double latitude, double longitude) {
        return std::isfinite(latitude) && std::isfinite(longitude) && !(latitude == 0 && longitude == 0) &&
               std::fabs(latitude) <= 90 && std::fabs(longitude) <= 180;
    }

    void close() {
        const auto& [latitude, longitude, hdop] = slots_;
        bool pair = latitude.taken && longitude.taken && isValid(latitude.value, longitude.value);
        if (pair || hdop.taken) {
            RawSignal made;
            made.name = vss::kCoordinates;
            made.time = start_;
            if (pair) {
                made.latitude = latitude.value;
                made.longitude = longitude.value;
            }
            if (hdop.taken) made.hdop = hdop.value;
            raw_.push_back(made);
        }
        for (Slot& slot : slots_) slot = Slot{};
        open_ = false;
    }

    std::vector<RawSignal>& raw_;
    std::vector<std::uint32_t>& order_;
    std::array<Slot, 3> slots_;  // latitude, longitude, hdop
    Instant start_;
    bool open_ = false;
};

bool isFinite(const RawSignal& signal) {
    // Each product is zero, or NaN when its factor is not finite; a NaN makes the sum NaN.
    double zero = signal.number * 0 + signal.latitude * 0 + signal.longitude * 0 + signal.hdop * 0;
    return zero == 0;
}

}  // namespace

Role roleOf(std::string_view signal_name) {
    if (signal_name == "currentLocationLatitude") return Role::kLatitude;
    if (signal_name == "currentLocationLongitude") return Role::kLongitude;
    return signal_name == "dimoAftermarketHDOP" ? Role::kHdop : Role::kNone;
}

bool appendRows(const Header& header, Micros now, std::vector<RawSignal>& raw, std::vector<std::uint32_t>& order,
                Batch& out) {
    sortOrder(raw, order);
    prune(raw, now, order);
    bool parts = false;
    for (const RawSignal& signal : raw) parts = parts || signal.role != Role::kNone;
    if (parts) LocationAssembly(raw, order).run();
    bool dropped = false;
    for (std::uint32_t index : order) {
        const RawSignal& signal = raw[index];
        if (!isFinite(signal)) {
            dropped = true;
            continue;
        }
        SignalRow& row = out.signals.emplace_back();
        row.subject = header.subject;
        row.subject_bucket = header.bucket;
        row.name = signal.name;
        row.timestamp = signal.time.micros;
        row.source = header.source;
        row.producer = header.producer;
        row.cloud_event_id = header.id;
        row.value_number = signal.number;
        row.value_string = signal.text;
        row.loc_lat = signal.latitude;
        row.loc_lon = signal.longitude;
        row.loc_hdop = signal.hdop;
        row.loc_heading = 0;
    }
    return dropped;
}

}  // namespace dq::decode
