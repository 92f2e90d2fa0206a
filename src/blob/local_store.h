// Payload objects as files below a folder; see store.h.
#pragma once
#include <filesystem>
#include <string>

#include "blob/store.h"

namespace dq::blob {

class LocalStore final : public Store {
  public:
    explicit LocalStore(std::string folder) : folder_(std::move(folder)) {}
    absl::StatusOr<std::string> get(std::string_view key, std::uint64_t limit, const Cancel& cancel,
                                    GetGuard::Admit admit) const override;
    // By a temporary file beside it, synced, then renamed.
    absl::Status put(std::string_view key, std::string_view bytes) const override;
    absl::StatusOr<std::string> presign(std::string_view key, std::int64_t seconds) const override;

  private:
    std::filesystem::path folder_;
};

}  // namespace dq::blob
