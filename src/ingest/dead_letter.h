// File of the events that were not stored: one JSON object {file, line, offset, bytes, error, raw} a line. Text that is
// not valid UTF-8 is given as raw_base64 instead; `raw_cut` is true where only the beginning was kept.
//
// Opened for appending, so that no earlier letter is lost, and readable by its owner only: it holds payloads. Threads:
// one.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dq::ingest {

struct DeadLetter {
    std::string_view file;  // input path, "-" for standard input
    std::uint64_t line = 0, offset = 0, bytes = 0;
    std::string_view error, raw;
    bool cut = false;
};

std::string deadLetterJson(const DeadLetter& letter);

class DeadLetterFile {
  public:
    static absl::StatusOr<std::unique_ptr<DeadLetterFile>> open(const std::string& path);
    ~DeadLetterFile();
    absl::Status write(const DeadLetter& letter);
    // Writes what is buffered to the disk.
    absl::Status sync();
    // True when `path` names this very file.
    bool isSameFile(const std::string& path) const;

  private:
    explicit DeadLetterFile(int descriptor) : descriptor_(descriptor) {}
    absl::Status flush();
    int descriptor_;
    std::string buffer_;
};

}  // namespace dq::ingest
