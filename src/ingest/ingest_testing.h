// Helpers of the tests in this folder.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dq::ingest::testing {

std::string gzipped(std::string_view text);
// Memory of this process that is in use now.
std::uint64_t residentKilobytes();

// A folder that is removed with the object.
class TempFolder {
  public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    std::string path(const std::string& name) const { return root_ + "/" + name; }
    std::string write(const std::string& name, std::string_view text) const;  // gives the path
    std::string read(const std::string& name) const;

  private:
    std::string root_;
};

inline constexpr std::string_view kVehicle = "did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:42";
inline constexpr std::string_view kDevice = "did:erc721:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA:7";
inline constexpr std::string_view kSource = "0x5555555555555555555555555555555555555555";

// A dimo.status event on one line that every profile takes; `extra` goes in before the data.
std::string statusEvent(std::string_view id, std::string_view extra = "");

}  // namespace dq::ingest::testing
