// Bytes that events are read from: a file, standard input, a request body, and the gzip decompression of any of these.
//
//   DQ_ASSIGN_OR_RETURN(auto source, openInput("drive.ndjson.gz"));   // "-" is standard input; gzip is detected
//   DQ_ASSIGN_OR_RETURN(Chunk chunk, source->read(buffer, /*wait_micros=*/-1));
//
// Memory is bounded by the caller's buffer and one input buffer for decompression. Threads: one at a time. Errors:
// NotFound or InvalidArgument for a path that cannot be read, DataLoss for a damaged or truncated gzip stream, Internal
// for an I/O error.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dq::ingest {

enum class ChunkKind { kData, kEnd, kIdle };

struct Chunk {
    ChunkKind kind = ChunkKind::kData;
    std::size_t bytes = 0;  // > 0 exactly for kData
};

class ByteSource {
  public:
    virtual ~ByteSource() = default;
    // Fills the front of `buffer`. Waits at most `wait_micros` for the first byte (< 0: for ever), then answers kIdle;
    // a source that never waits for its sender ignores the limit.
    virtual absl::StatusOr<Chunk> read(std::span<char> buffer, std::int64_t wait_micros) = 0;
    // Bytes taken from the outermost source (compressed ones), for a measure of progress.
    virtual std::uint64_t position() const = 0;
    // Length in the same measure, where it is known.
    virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
};

// Bytes in memory. `text` must outlive the source.
std::unique_ptr<ByteSource> memorySource(std::string_view text);
// A file descriptor, closed with the source when `owned`.
std::unique_ptr<ByteSource> descriptorSource(int descriptor, bool owned);
// Decompresses one or more gzip members; zero bytes after the last are padding, anything else there is damage.
std::unique_ptr<ByteSource> gzipSource(std::unique_ptr<ByteSource> inner);
// Looks at the first two bytes and decompresses when they are gzip's.
std::unique_ptr<ByteSource> detectGzip(std::unique_ptr<ByteSource> inner);
// Length of an input that is a regular file, nothing for other kinds; NotFound or InvalidArgument when it cannot be
// read. Opens nothing, so that a named pipe's sender notices nothing.
absl::StatusOr<std::optional<std::uint64_t>> inputSize(const std::string& path, int stdin_descriptor = 0);
// A path, or "-" for `stdin_descriptor`, with gzip detected. A directory is InvalidArgument.
absl::StatusOr<std::unique_ptr<ByteSource>> openInput(const std::string& path, int stdin_descriptor = 0);

// Decompresses a whole body; ResourceExhausted as soon as more than `limit` bytes come out, DataLoss when it is
// damaged.
absl::StatusOr<std::string> gunzip(std::string_view body, std::size_t limit);

}  // namespace dq::ingest
