#include "blob/local_store.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "blob/problem.h"
#include "core/status.h"
#include "core/text.h"

namespace dq::blob {
namespace {

class File {
  public:
    explicit File(int fd) : fd_(fd) {}
    ~File() {
        if (fd_ >= 0) close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd() const { return fd_; }
    bool open() const { return fd_ >= 0; }

  private:
    int fd_;
};

// Opens a path below `folder`; the kernel refuses whatever leaves it, links included.
int openBeneath(int folder, const std::string& key, int flags, mode_t mode = 0) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return static_cast<int>(syscall(SYS_openat2, folder, key.c_str(), &how, sizeof how));
}

absl::Status failure(int error) {
    switch (error) {
        case ENOENT:
        case ENOTDIR: return makeProblem(Problem::kMissing, "no such object");
        case EXDEV:
        case ELOOP: return makeProblem(Problem::kInvalidKey, "object key refused: it leaves the folder");
        case EACCES:
        case EPERM: return makeProblem(Problem::kDenied, "the object may not be read");
        default: return makeProblem(Problem::kTransient, strCat("object file: ", std::strerror(error)));
    }
}

bool writeAll(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

// Makes the folders of a key, one by one, below `folder`.
absl::Status makeFolders(int folder, const std::string& key) {
    for (auto slash = key.find('/'); slash != std::string::npos; slash = key.find('/', slash + 1)) {
        const std::string part = key.substr(0, slash);
        const File there(openBeneath(folder, part, O_PATH | O_DIRECTORY));
        if (there.open()) continue;
        if (errno != ENOENT) return failure(errno);
        const auto parent = part.rfind('/');
        const File above(parent == std::string::npos
                             ? dup(folder)
                             : openBeneath(folder, part.substr(0, parent), O_RDONLY | O_DIRECTORY));
        if (!above.open()) return failure(errno);
        const std::string name = parent == std::string::npos ? part : part.substr(parent + 1);
        if (mkdirat(above.fd(), name.c_str(), 0777) != 0 && errno != EEXIST) return failure(errno);
        fsync(above.fd());
    }
    return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> LocalStore::get(std::string_view key, std::uint64_t limit, const Cancel& cancel,
                                            GetGuard::Admit admit) const {
    DQ_RETURN_IF_ERROR(checkKey(key));
    const File folder(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    // A folder that is not there may be a mount that is away: nothing is known to be lost.
    if (!folder.open()) return makeProblem(Problem::kTransient, strCat("object folder: ", std::strerror(errno)));
    const File file(openBeneath(folder.fd(), std::string(key), O_RDONLY | O_NONBLOCK));
    if (!file.open()) return failure(errno);
    struct stat info {};
    if (fstat(file.fd(), &info) != 0) return failure(errno);
    if (!S_ISREG(info.st_mode)) return makeProblem(Problem::kInvalidKey, "object key refused: it names no file");
    if (static_cast<std::uint64_t>(info.st_size) > limit)
        return makeProblem(Problem::kOversize, "the object is larger than allowed");
    if (!GetGuard(cancel, std::move(admit)).admit(static_cast<std::uint64_t>(info.st_size)))
        return absl::CancelledError("cancelled");
    std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t got = read(file.fd(), bytes.data() + have, bytes.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failure(errno);
        if (got == 0) return makeProblem(Problem::kTransient, "the object file became shorter while it was read");
        have += static_cast<std::size_t>(got);
    }
    return bytes;
}

absl::Status LocalStore::put(std::string_view key, std::string_view bytes) const {
    DQ_RETURN_IF_ERROR(checkKey(key));
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    const File folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.open()) return failure(errno);
    const std::string name(key);
    DQ_RETURN_IF_ERROR(makeFolders(folder.fd(), name));
    const auto slash = name.rfind('/');
    const File parent(slash == std::string::npos
                          ? dup(folder.fd())
                          : openBeneath(folder.fd(), name.substr(0, slash), O_RDONLY | O_DIRECTORY));
    if (!parent.open()) return failure(errno);
    const std::string base = slash == std::string::npos ? name : name.substr(slash + 1);
    const std::string temporary = strCat(".", base, ".", getpid(), ".tmp");
    {
        const File file(openBeneath(parent.fd(), temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666));
        if (!file.open()) return failure(errno);
        if (!writeAll(file.fd(), bytes) || fsync(file.fd()) != 0) {
            const int error = errno;
            unlinkat(parent.fd(), temporary.c_str(), 0);
            return failure(error);
        }
    }
    if (renameat(parent.fd(), temporary.c_str(), parent.fd(), base.c_str()) != 0 || fsync(parent.fd()) != 0)
        return failure(errno);
    return absl::OkStatus();
}

absl::StatusOr<std::string> LocalStore::presign(std::string_view /*key*/, std::int64_t /*seconds*/) const {
    return absl::UnimplementedError("a local folder has no links");
}

}  // namespace dq::blob
