#include "ingest/dead_letter.h"

#include <absl/strings/escaping.h>
#include <fcntl.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/status.h"
#include "core/text.h"
#include "ingest/event_json.h"

namespace dq::ingest {
namespace {

constexpr std::size_t kBuffer = 64 * 1024;

Status systemError(std::string_view what) {
    return absl::InternalError(strCat("dead-letter file: ", what, ": ", std::strerror(errno)));
}

}  // namespace

std::string deadLetterJson(const DeadLetter& letter) {
    std::string out =
        strCat("{\"file\":", jsonString(letter.file), ",\"line\":", letter.line, ",\"offset\":", letter.offset,
               ",\"bytes\":", letter.bytes, ",\"error\":", jsonString(letter.error));
    if (simdjson::validate_utf8(letter.raw.data(), letter.raw.size())) {
        strAppend(&out, ",\"raw\":", jsonString(letter.raw));
    } else {
        strAppend(&out, ",\"raw_base64\":\"", absl::Base64Escape(std::string(letter.raw)), "\"");
    }
    if (letter.cut) out += ",\"raw_cut\":true";
    out += "}\n";
    return out;
}

StatusOr<std::unique_ptr<DeadLetterFile>> DeadLetterFile::open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return absl::InvalidArgumentError(strCat("dead-letter file ", path, ": ", std::strerror(errno)));
    return std::unique_ptr<DeadLetterFile>(new DeadLetterFile(descriptor));
}

DeadLetterFile::~DeadLetterFile() {
    ignore(flush(), "sync() has reported faults; this is the way out after one");
    ::close(descriptor_);
}

Status DeadLetterFile::write(const DeadLetter& letter) {
    buffer_ += deadLetterJson(letter);
    return buffer_.size() >= kBuffer ? flush() : absl::OkStatus();
}

Status DeadLetterFile::flush() {
    std::string_view rest = buffer_;
    while (!rest.empty()) {
        const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return systemError("write");
        rest.remove_prefix(static_cast<std::size_t>(count));
    }
    buffer_.clear();
    return absl::OkStatus();
}

Status DeadLetterFile::sync() {
    DQ_RETURN_IF_ERROR(flush());
    // A pipe or terminal has nothing to sync.
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) return systemError("fsync");
    return absl::OkStatus();
}

bool DeadLetterFile::isSameFile(const std::string& path) const {
    struct stat mine {
    }, other{};
    return ::fstat(descriptor_, &mine) == 0 && ::stat(path.c_str(), &other) == 0 && S_ISREG(mine.st_mode) &&
           mine.st_dev == other.st_dev && mine.st_ino == other.st_ino;
}

}  // namespace dq::ingest
