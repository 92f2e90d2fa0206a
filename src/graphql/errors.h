// The `errors` member of a response, written as text while the answer is walked: an error per bucket and field can be
// many.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graphql/value.h"

namespace dq::graphql {

// A response key or member name, or an index into a list.
struct PathItem {
    std::string_view key;
    std::size_t index = 0;
    bool is_index = false;
};
using Path = std::vector<PathItem>;
inline PathItem pathKey(std::string_view key) { return {key, 0, false}; }
inline PathItem pathIndex(std::size_t index) { return {{}, index, true}; }

class ErrorList {
  public:
    // More are counted, not kept; a last error tells how many.
    static constexpr std::size_t kMaxErrors = 100'000;

    // `below` continues the path: names and, where all digits, indices.
    void add(const FieldError& error, const Path& path, const std::vector<std::string>& below = {});
    // An error of the document or its variables; line 0 = no place.
    void addRequestError(std::string_view message, std::string_view code, std::uint32_t line, std::uint32_t column,
                         const Path& path);
    bool empty() const { return count_ == 0; }
    // `"errors":[…]`.
    std::string finish();

  private:
    void begin(std::string_view message);

    std::string text_;
    std::size_t count_ = 0;
};

}  // namespace dq::graphql
