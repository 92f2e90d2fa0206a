#include "core/time.h"

#include <absl/status/status.h>
#include <fmt/format.h>

#include "core/status.h"

namespace dq {
namespace {

constexpr std::int64_t kNanosPerMicro = 1'000;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// Days since 1970-01-01 of a proleptic Gregorian date. Counts in 400-year eras that begin on March 1st, so that the
// leap day is the last day of its year.
std::int64_t daysFromCivil(std::int64_t year, int month, int day) {
    if (month <= 2) --year;
    const std::int64_t era = floorDiv(year, 400);
    const std::int64_t year_of_era = year - era * 400;
    const std::int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    const std::int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146'097 + day_of_era - 719'468;
}

CivilDate civilFromDays(std::int64_t days) {
    days += 719'468;
    const std::int64_t era = floorDiv(days, 146'097);
    const std::int64_t day_of_era = days - era * 146'097;
    const std::int64_t year_of_era =
        (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
    const int month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
    CivilDate date{};
    date.day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
    date.month = month;
    date.year = static_cast<int>(year_of_era + era * 400 + (month <= 2 ? 1 : 0));
    return date;
}

int daysInMonth(int year, int month) {
    if (month == 2) return (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)) ? 29 : 28;
    return (month == 4 || month == 6 || month == 9 || month == 11) ? 30 : 31;
}

// Reads a text from left to right; every step tells whether it matched.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}
    bool literal(char c) {
        if (text_.empty() || text_.front() != c) return false;
        text_.remove_prefix(1);
        return true;
    }
    bool digits(std::size_t count, int& out) {
        if (text_.size() < count) return false;
        out = 0;
        for (std::size_t i = 0; i < count; ++i) {
            if (!isDigit(text_[i])) return false;
            out = out * 10 + (text_[i] - '0');
        }
        text_.remove_prefix(count);
        return true;
    }
    // One or more digits as nanoseconds; those beyond the ninth are cut.
    bool fraction(std::int64_t& nanos) {
        nanos = 0;
        std::size_t count = 0;
        for (; count < text_.size() && isDigit(text_[count]); ++count) {
            if (count < 9) nanos = nanos * 10 + (text_[count] - '0');
        }
        for (std::size_t i = count; i < 9; ++i) nanos *= 10;
        text_.remove_prefix(count);
        return count > 0;
    }
    bool secondIsDigit() const { return text_.size() > 1 && isDigit(text_[1]); }
    bool atEnd() const { return text_.empty(); }

  private:
    std::string_view text_;
};

bool scanDate(Scanner& in, std::int64_t& days) {
    int year, month, day;
    if (!in.digits(4, year) || !in.literal('-') || !in.digits(2, month) || !in.literal('-') || !in.digits(2, day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return false;
    days = daysFromCivil(year, month, day);
    return true;
}

bool scanClock(Scanner& in, std::int64_t& seconds) {
    int hour, minute, second;
    if (!in.digits(in.secondIsDigit() ? 2 : 1, hour) || !in.literal(':')) return false;
    if (!in.digits(2, minute) || !in.literal(':') || !in.digits(2, second)) return false;
    if (hour > 23 || minute > 59 || second > 59) return false;
    seconds = hour * 3'600 + minute * 60 + second;
    return true;
}

bool scanOffset(Scanner& in, std::int64_t& seconds) {
    seconds = 0;
    if (in.literal('Z')) return true;
    const bool east = in.literal('+');
    if (!east && !in.literal('-')) return false;
    int hour, minute;
    if (!in.digits(2, hour) || !in.literal(':') || !in.digits(2, minute) || hour > 24 || minute > 60) return false;
    seconds = (hour * 3'600 + minute * 60) * (east ? 1 : -1);
    return true;
}

struct Parts {
    CivilDate date;
    std::int64_t hour, minute, second, micros;
};

Parts partsOf(Micros time) {
    const std::int64_t days = floorDiv(time, kMicrosPerDay);
    const std::int64_t in_day = time - days * kMicrosPerDay;
    const std::int64_t seconds = in_day / kMicrosPerSecond;
    return {civilFromDays(days), seconds / 3'600, seconds / 60 % 60, seconds % 60, in_day % kMicrosPerSecond};
}

// The way Go's time package quotes a text in its errors: bytes outside of printable ASCII as \xhh.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x80) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
    }
    return out + '"';
}

std::uint64_t unitNanos(std::string_view unit) {
    if (unit == "ns") return 1;
    if (unit == "us" || unit == "\xC2\xB5s" || unit == "\xCE\xBCs") return 1'000;  // both micro signs
    if (unit == "ms") return 1'000'000;
    if (unit == "s") return 1'000'000'000;
    if (unit == "m") return 60'000'000'000;
    if (unit == "h") return 3'600'000'000'000;
    return 0;
}

constexpr std::uint64_t kDurationLimit = 1ULL << 63;

// Takes the digits at the front of `text`. False when the number passes 2^63.
bool takeWhole(std::string_view& text, std::uint64_t& value) {
    value = 0;
    for (; !text.empty() && isDigit(text.front()); text.remove_prefix(1)) {
        if (value > kDurationLimit / 10) return false;
        value = value * 10 + static_cast<std::uint64_t>(text.front() - '0');
        if (value > kDurationLimit) return false;
    }
    return true;
}

// Takes the digits after a decimal point; digits that would pass 2^63 are read and ignored.
void takeFraction(std::string_view& text, std::uint64_t& value, double& scale) {
    value = 0;
    scale = 1;
    bool full = false;
    for (; !text.empty() && isDigit(text.front()); text.remove_prefix(1)) {
        if (full) continue;
        const std::uint64_t digit = static_cast<std::uint64_t>(text.front() - '0');
        if (value > (kDurationLimit - 1) / 10 || value * 10 + digit > kDurationLimit) {
            full = true;
            continue;
        }
        value = value * 10 + digit;
        scale *= 10;
    }
}

// One `<decimal><unit>` at the front of `rest`, in nanoseconds.
StatusOr<std::uint64_t> takeTerm(std::string_view& rest, std::string_view whole_text) {
    const auto invalid = [&] { return absl::InvalidArgumentError("time: invalid duration " + quoted(whole_text)); };
    const std::size_t at_number = rest.size();
    std::uint64_t whole, fraction = 0;
    double scale = 1;
    if (!takeWhole(rest, whole)) return invalid();
    bool has_digits = rest.size() != at_number;
    if (!rest.empty() && rest.front() == '.') {
        rest.remove_prefix(1);
        const std::size_t at_fraction = rest.size();
        takeFraction(rest, fraction, scale);
        has_digits |= rest.size() != at_fraction;
    }
    if (!has_digits) return invalid();
    std::size_t unit_size = 0;
    while (unit_size < rest.size() && rest[unit_size] != '.' && !isDigit(rest[unit_size])) ++unit_size;
    if (unit_size == 0) return absl::InvalidArgumentError("time: missing unit in duration " + quoted(whole_text));
    const std::string_view unit_text = rest.substr(0, unit_size);
    rest.remove_prefix(unit_size);
    const std::uint64_t unit = unitNanos(unit_text);
    if (unit == 0) {
        return absl::InvalidArgumentError("time: unknown unit " + quoted(unit_text) + " in duration " +
                                          quoted(whole_text));
    }
    if (whole > kDurationLimit / unit) return invalid();
    std::uint64_t nanos = whole * unit;
    if (fraction > 0) {
        nanos += static_cast<std::uint64_t>(static_cast<double>(fraction) * (static_cast<double>(unit) / scale));
        if (nanos > kDurationLimit) return invalid();
    }
    return nanos;
}

}  // namespace

std::optional<Instant> parseRfc3339(std::string_view text) {
    Scanner in(text);
    std::int64_t days, seconds, nanos = 0, offset;
    if (!scanDate(in, days) || !in.literal('T') || !scanClock(in, seconds)) return std::nullopt;
    if ((in.literal('.') || in.literal(',')) && !in.fraction(nanos)) return std::nullopt;
    if (!scanOffset(in, offset) || !in.atEnd()) return std::nullopt;
    Instant out;
    out.micros = (days * 86'400 + seconds - offset) * kMicrosPerSecond + nanos / kNanosPerMicro;
    out.nanos = static_cast<std::int32_t>(nanos % kNanosPerMicro);
    return out;
}

std::string formatRfc3339(Instant time) {
    const Parts p = partsOf(time.micros);
    std::string out = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", p.date.year, p.date.month, p.date.day, p.hour,
                                  p.minute, p.second);
    if (const std::int64_t nanos = p.micros * kNanosPerMicro + time.nanos; nanos != 0) {
        std::string digits = fmt::format(".{:09}", nanos);
        digits.erase(digits.find_last_not_of('0') + 1);
        out += digits;
    }
    return out + 'Z';
}

std::string formatRfc3339(Micros time) { return formatRfc3339(Instant{time, 0}); }

std::string formatSqlTimestamp(Micros time) {
    const Parts p = partsOf(time);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06}+00", p.date.year, p.date.month, p.date.day, p.hour,
                       p.minute, p.second, p.micros);
}

CivilDate civilDate(Micros time) { return civilFromDays(floorDiv(time, kMicrosPerDay)); }

StatusOr<std::int64_t> parseGoDuration(std::string_view text) {
    std::string_view rest = text;
    bool negative = false;
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
        negative = rest.front() == '-';
        rest.remove_prefix(1);
    }
    if (rest == "0") return 0;
    const auto invalid = [&] { return absl::InvalidArgumentError("time: invalid duration " + quoted(text)); };
    if (rest.empty()) return invalid();
    std::uint64_t total = 0;
    while (!rest.empty()) {
        DQ_ASSIGN_OR_RETURN(const std::uint64_t term, takeTerm(rest, text));
        total += term;  // both at most 2^63: no wrap before the check, except to 0 at 2^64
        if (total > kDurationLimit || total < term) return invalid();
    }
    if (negative) return static_cast<std::int64_t>(0 - total);
    if (total == kDurationLimit) return invalid();
    return static_cast<std::int64_t>(total);
}

}  // namespace dq
