#include "ingest/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "core/status.h"
#include "core/text.h"

namespace dq::ingest {
namespace {

constexpr std::size_t kInputBuffer = 64 * 1024;

class MemorySource final : public ByteSource {
  public:
    explicit MemorySource(std::string_view text) : text_(text) {}
    StatusOr<Chunk> read(std::span<char> buffer, std::int64_t) override {
        const std::size_t count = std::min(buffer.size(), text_.size() - position_);
        if (count == 0) return Chunk{ChunkKind::kEnd, 0};
        std::memcpy(buffer.data(), text_.data() + position_, count);
        position_ += count;
        return Chunk{ChunkKind::kData, count};
    }
    std::uint64_t position() const override { return position_; }
    std::optional<std::uint64_t> size() const override { return text_.size(); }

  private:
    std::string_view text_;
    std::size_t position_ = 0;
};

class DescriptorSource final : public ByteSource {
  public:
    DescriptorSource(int descriptor, bool owned) : descriptor_(descriptor), owned_(owned) {
        struct stat info {};
        if (::fstat(descriptor, &info) == 0) {
            regular_ = S_ISREG(info.st_mode);
            if (regular_) size_ = static_cast<std::uint64_t>(info.st_size);
        }
    }
    ~DescriptorSource() override {
        if (owned_) ::close(descriptor_);
    }
    StatusOr<Chunk> read(std::span<char> buffer, std::int64_t wait_micros) override {
        if (!regular_ && wait_micros >= 0) {
            DQ_ASSIGN_OR_RETURN(const bool ready, waitReadable(wait_micros));
            if (!ready) return Chunk{ChunkKind::kIdle, 0};
        }
        while (true) {
            const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
            if (count > 0) {
                position_ += static_cast<std::uint64_t>(count);
                return Chunk{ChunkKind::kData, static_cast<std::size_t>(count)};
            }
            if (count == 0) return Chunk{ChunkKind::kEnd, 0};
            if (errno != EINTR) return absl::InternalError(strCat("read: ", std::strerror(errno)));
        }
    }
    std::uint64_t position() const override { return position_; }
    std::optional<std::uint64_t> size() const override { return size_; }

  private:
    StatusOr<bool> waitReadable(std::int64_t wait_micros) {
        pollfd poll_entry{descriptor_, POLLIN, 0};
        const int millis = static_cast<int>(std::min<std::int64_t>((wait_micros + 999) / 1000, 1'000'000));
        const int ready = ::poll(&poll_entry, 1, millis);
        if (ready < 0 && errno != EINTR) return absl::InternalError(strCat("poll: ", std::strerror(errno)));
        return ready > 0;
    }

    int descriptor_;
    bool owned_;
    bool regular_ = false;
    std::uint64_t position_ = 0;
    std::optional<std::uint64_t> size_;
};

class GzipSource final : public ByteSource {
  public:
    explicit GzipSource(std::unique_ptr<ByteSource> inner) : inner_(std::move(inner)), input_(kInputBuffer, '\0') {
        ready_ = ::inflateInit2(&stream_, MAX_WBITS + 16) == Z_OK;
    }
    ~GzipSource() override {
        if (ready_) ::inflateEnd(&stream_);
    }
    StatusOr<Chunk> read(std::span<char> buffer, std::int64_t wait_micros) override {
        if (!ready_) return absl::ResourceExhaustedError("gzip: no memory");
        while (!ended_) {
            if (stream_.avail_in == 0) {
                DQ_ASSIGN_OR_RETURN(const Chunk chunk, inner_->read(input_, wait_micros));
                if (chunk.kind == ChunkKind::kIdle) return chunk;
                if (chunk.kind == ChunkKind::kEnd) return atInputEnd();
                stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
                stream_.avail_in = static_cast<uInt>(chunk.bytes);
            }
            if (between_members_) {
                DQ_RETURN_IF_ERROR(startMember());
                continue;
            }
            DQ_ASSIGN_OR_RETURN(const std::size_t produced, inflateInto(buffer));
            if (produced > 0) return Chunk{ChunkKind::kData, produced};
        }
        return Chunk{ChunkKind::kEnd, 0};
    }
    std::uint64_t position() const override { return inner_->position(); }
    std::optional<std::uint64_t> size() const override { return inner_->size(); }

  private:
    StatusOr<Chunk> atInputEnd() {
        if (!between_members_) return absl::DataLossError("gzip: the input ends inside the compressed stream");
        ended_ = true;
        return Chunk{ChunkKind::kEnd, 0};
    }
    // At the first byte after a member: another member, or zero padding up to the end.
    Status startMember() {
        if (*stream_.next_in == 0x1f && !padding_) {
            if (::inflateReset(&stream_) != Z_OK) return absl::InternalError("gzip: reset failed");
            between_members_ = false;
            return absl::OkStatus();
        }
        padding_ = true;
        while (stream_.avail_in > 0) {
            if (*stream_.next_in != 0)
                return absl::DataLossError("gzip: bytes that are no gzip follow the compressed stream");
            ++stream_.next_in;
            --stream_.avail_in;
        }
        return absl::OkStatus();
    }
    StatusOr<std::size_t> inflateInto(std::span<char> buffer) {
        stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(buffer.size(), 1u << 30));
        const uInt room = stream_.avail_out;
        const int outcome = ::inflate(&stream_, Z_NO_FLUSH);
        if (outcome == Z_STREAM_END) {
            between_members_ = true;
        } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
            return absl::DataLossError("gzip: the compressed stream is damaged");
        }
        return room - stream_.avail_out;
    }

    std::unique_ptr<ByteSource> inner_;
    std::string input_;
    z_stream stream_{};
    bool ready_ = false, between_members_ = false, padding_ = false, ended_ = false;
};

// Hands out bytes already taken from `inner`, then the rest.
class PrefixedSource final : public ByteSource {
  public:
    PrefixedSource(std::string prefix, std::unique_ptr<ByteSource> inner)
        : prefix_(std::move(prefix)), inner_(std::move(inner)) {}
    StatusOr<Chunk> read(std::span<char> buffer, std::int64_t wait_micros) override {
        if (used_ == prefix_.size()) return inner_->read(buffer, wait_micros);
        const std::size_t count = std::min(buffer.size(), prefix_.size() - used_);
        std::memcpy(buffer.data(), prefix_.data() + used_, count);
        used_ += count;
        return Chunk{ChunkKind::kData, count};
    }
    std::uint64_t position() const override { return inner_->position() - (prefix_.size() - used_); }
    std::optional<std::uint64_t> size() const override { return inner_->size(); }

  private:
    std::string prefix_;
    std::size_t used_ = 0;
    std::unique_ptr<ByteSource> inner_;
};

// Decides at the first read, so that opening standard input does not wait for its sender.
class DetectingSource final : public ByteSource {
  public:
    explicit DetectingSource(std::unique_ptr<ByteSource> inner) : inner_(std::move(inner)) {}
    StatusOr<Chunk> read(std::span<char> buffer, std::int64_t wait_micros) override {
        while (!decided_) {
            char byte = 0;
            DQ_ASSIGN_OR_RETURN(const Chunk chunk, inner_->read({&byte, 1}, wait_micros));
            if (chunk.kind == ChunkKind::kIdle) return chunk;
            if (chunk.kind == ChunkKind::kData) head_.push_back(byte);
            const bool maybe_gzip = !head_.empty() && head_[0] == '\x1f';
            if (chunk.kind == ChunkKind::kEnd || !maybe_gzip || head_.size() == 2) decide();
        }
        return inner_->read(buffer, wait_micros);
    }
    std::uint64_t position() const override { return inner_->position(); }
    std::optional<std::uint64_t> size() const override { return inner_->size(); }

  private:
    void decide() {
        const bool gzip = head_ == "\x1f\x8b";
        inner_ = std::make_unique<PrefixedSource>(std::move(head_), std::move(inner_));
        if (gzip) inner_ = gzipSource(std::move(inner_));
        decided_ = true;
    }

    std::unique_ptr<ByteSource> inner_;
    std::string head_;
    bool decided_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> memorySource(std::string_view text) { return std::make_unique<MemorySource>(text); }
std::unique_ptr<ByteSource> descriptorSource(int descriptor, bool owned) {
    return std::make_unique<DescriptorSource>(descriptor, owned);
}
std::unique_ptr<ByteSource> gzipSource(std::unique_ptr<ByteSource> inner) {
    return std::make_unique<GzipSource>(std::move(inner));
}
std::unique_ptr<ByteSource> detectGzip(std::unique_ptr<ByteSource> inner) {
    return std::make_unique<DetectingSource>(std::move(inner));
}

StatusOr<std::optional<std::uint64_t>> inputSize(const std::string& path, int stdin_descriptor) {
    struct stat info {};
    const bool standard = path == "-";
    if (standard ? ::fstat(stdin_descriptor, &info) != 0
                 : (::stat(path.c_str(), &info) != 0 || ::access(path.c_str(), R_OK) != 0)) {
        const int error = errno;
        const std::string message = strCat(path, ": ", std::strerror(error));
        return error == ENOENT ? absl::NotFoundError(message) : absl::InvalidArgumentError(message);
    }
    if (S_ISDIR(info.st_mode)) return absl::InvalidArgumentError(strCat(path, ": is a directory"));
    if (!S_ISREG(info.st_mode)) return std::nullopt;
    return static_cast<std::uint64_t>(info.st_size);
}

StatusOr<std::unique_ptr<ByteSource>> openInput(const std::string& path, int stdin_descriptor) {
    DQ_RETURN_IF_ERROR(inputSize(path, stdin_descriptor).status());
    if (path == "-") return detectGzip(descriptorSource(stdin_descriptor, false));
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return absl::InvalidArgumentError(strCat(path, ": ", std::strerror(errno)));
    return detectGzip(descriptorSource(descriptor, true));
}

StatusOr<std::string> gunzip(std::string_view body, std::size_t limit) {
    auto source = gzipSource(memorySource(body));
    std::string out;
    std::string buffer(kInputBuffer, '\0');
    while (true) {
        DQ_ASSIGN_OR_RETURN(const Chunk chunk, source->read(buffer, -1));
        if (chunk.kind == ChunkKind::kEnd) return out;
        if (out.size() + chunk.bytes > limit) {
            return absl::ResourceExhaustedError(strCat("the decompressed body is over ", limit, " bytes"));
        }
        out.append(buffer.data(), chunk.bytes);
    }
}

}  // namespace dq::ingest
