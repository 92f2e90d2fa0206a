#include "blob/sealer.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "blob/problem.h"
#include "core/status.h"

namespace dq::blob {
namespace {

constexpr std::string_view kMark = "DBE1";
constexpr std::size_t kNonce = 12, kTag = 16, kKey = 32;

struct FreeContext {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* bytesOf(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytesOf(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

Sealer::Sealer(std::optional<std::string> key) : key_(std::move(key)) {
    DQ_CHECK(!key_ || key_->size() == kKey, "a sealing key has 32 bytes");
}

absl::StatusOr<std::string> Sealer::open(std::string bytes, std::string_view object_key) const {
    if (!bytes.starts_with(kMark)) return bytes;
    if (!key_) return makeProblem(Problem::kSealedNoKey, "the object is sealed and no key is configured");
    const auto broken = [] { return makeProblem(Problem::kDecrypt, "the sealed object does not open"); };
    if (bytes.size() < kMark.size() + kNonce + kTag) return broken();
    const std::string_view nonce = std::string_view(bytes).substr(kMark.size(), kNonce);
    const std::string_view sealed =
        std::string_view(bytes).substr(kMark.size() + kNonce, bytes.size() - kMark.size() - kNonce - kTag);
    std::string tag = bytes.substr(bytes.size() - kTag);
    const Context context(EVP_CIPHER_CTX_new());
    if (context == nullptr) return absl::ResourceExhaustedError("no memory to open a sealed object");
    std::string plain(sealed.size(), '\0');
    int size = 0;
    const bool opened = EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytesOf(std::string_view(*key_)),
                                           bytesOf(nonce)) == 1 &&
                        EVP_DecryptUpdate(context.get(), nullptr, &size, bytesOf(object_key),
                                          static_cast<int>(object_key.size())) == 1 &&
                        EVP_DecryptUpdate(context.get(), bytesOf(plain), &size, bytesOf(sealed),
                                          static_cast<int>(sealed.size())) == 1 &&
                        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTag, tag.data()) == 1 &&
                        EVP_DecryptFinal_ex(context.get(), bytesOf(plain) + size, &size) == 1;
    if (!opened) return broken();
    return plain;
}

absl::StatusOr<std::string> Sealer::seal(std::string_view bytes, std::string_view object_key) const {
    if (!key_) return absl::FailedPreconditionError("no key is configured to seal with");
    std::string out(kMark);
    out.resize(kMark.size() + kNonce + bytes.size() + kTag);
    unsigned char* nonce = bytesOf(out) + kMark.size();
    unsigned char* sealed = nonce + kNonce;
    const Context context(EVP_CIPHER_CTX_new());
    int size = 0;
    const bool done =
        context != nullptr && RAND_bytes(nonce, kNonce) == 1 &&
        EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytesOf(std::string_view(*key_)), nonce) == 1 &&
        EVP_EncryptUpdate(context.get(), nullptr, &size, bytesOf(object_key), static_cast<int>(object_key.size())) ==
            1 &&
        EVP_EncryptUpdate(context.get(), sealed, &size, bytesOf(bytes), static_cast<int>(bytes.size())) == 1 &&
        EVP_EncryptFinal_ex(context.get(), sealed + size, &size) == 1 &&
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTag, sealed + bytes.size()) == 1;
    if (!done) return absl::InternalError("the object cannot be sealed");
    return out;
}

}  // namespace dq::blob
