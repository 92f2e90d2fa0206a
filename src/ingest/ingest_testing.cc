#include "ingest/ingest_testing.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/text.h"

namespace dq::ingest::testing {

std::string gzipped(std::string_view text) {
    z_stream stream{};
    EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(::deflateBound(&stream, text.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
}

std::uint64_t residentKilobytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t total = 0, resident = 0;
    statm >> total >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

TempFolder::TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dq-ingest-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
}

TempFolder::~TempFolder() { std::filesystem::remove_all(root_); }

std::string TempFolder::write(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
}

std::string TempFolder::read(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(path(name), std::ios::binary).rdbuf();
    return out.str();
}

std::string statusEvent(std::string_view id, std::string_view extra) {
    return strCat(R"({"specversion":"1.0","type":"dimo.status","source":")", kSource, R"(","subject":")", kVehicle,
                  R"(","producer":")", kDevice, R"(","id":")", id, R"(","time":"2026-06-08T10:00:00.123456789Z",)",
                  extra, R"("data":{"signals":[{"name":"speed","timestamp":"2026-06-08T10:00:00Z","value":1}]}})");
}

}  // namespace dq::ingest::testing
