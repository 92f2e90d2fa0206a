#include "query/profile.h"

#include <gtest/gtest.h>

namespace dq::query {
namespace {

TEST(Profile, LakeAcceptance05_LargestScanCounts) {
    EXPECT_EQ(filesReadOf(
                  R"({"children":[{"extra_info":{"Total Files Read":"90"},
                              "children":[{"extra_info":{"Total Files Read":7}}]}]})"),
              90u);
    EXPECT_EQ(filesReadOf(
                  R"({"children":[{"extra_info":{"Total Files Read":"7"}},{"extra_info":{"Total Files Read":"90"}}]})"),
              90u);
}

TEST(Profile, LakeAcceptance05_NothingWithoutACount) {
    for (const char* text : {R"({"children":[]})", R"({"extra_info":{"Total Files Read":"0"}})",
                             R"({"Total Files Read":"many"})", "", "{", "no json"}) {
        EXPECT_EQ(filesReadOf(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace dq::query
