// Sealed payload objects: `DBE1` ‖ nonce (12 bytes) ‖ AES-256-GCM ciphertext ‖ tag (16 bytes); the additional data is
// the object's key (materializer.md §8.1). Threads: any.
#pragma once
#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>

namespace dq::blob {

class Sealer {
  public:
    // `key`: 32 bytes, or none: then nothing can be sealed, and sealed objects do not open.
    Sealer() = default;
    explicit Sealer(std::optional<std::string> key);
    bool hasKey() const { return key_.has_value(); }
    // Bytes without the mark are returned unchanged. Problems: kSealedNoKey, kDecrypt.
    absl::StatusOr<std::string> open(std::string bytes, std::string_view object_key) const;
    // With a fresh random nonce. FailedPrecondition without a key.
    absl::StatusOr<std::string> seal(std::string_view bytes, std::string_view object_key) const;

  private:
    std::optional<std::string> key_;
};

}  // namespace dq::blob
