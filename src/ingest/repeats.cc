#include "ingest/repeats.h"

#include <openssl/sha.h>

#include <array>
#include <cstring>

namespace dq::ingest {

bool RepeatFilter::seen(std::string_view text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> bytes{};
    ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data());
    Digest digest;
    std::memcpy(&digest.first, bytes.data(), 8);
    std::memcpy(&digest.second, bytes.data() + 8, 8);
    if (before_.contains(digest) || !now_.insert(digest).second) return true;
    if (now_.size() >= generation_) {
        before_ = std::move(now_);
        now_ = {};
    }
    return false;
}

}  // namespace dq::ingest
