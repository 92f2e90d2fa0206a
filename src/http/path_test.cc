#include "http/path.h"

#include <gtest/gtest.h>

namespace dq::http {
namespace {

Request asking(std::string method, std::string path, std::string query = "") {
    Request request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.query = std::move(query);
    return request;
}

TEST(CleanPath, Table) {
    const std::pair<const char*, const char*> cases[] = {
        {"/", "/"},
        {"", "/"},
        {"//", "/"},
        {"/query", "/query"},
        {"//query", "/query"},
        {"/query/", "/query/"},
        {"/a//b", "/a/b"},
        {"/a/./b", "/a/b"},
        {"/a/../query", "/query"},
        {"/a/..", "/"},
        {"/../..", "/"},
        {"/../x", "/x"},
        {"/a/.", "/a"},
        {"/a/./", "/a/"},
        {"/a/b/../", "/a/"},
        {"/...", "/..."},
        {"/.a/..b", "/.a/..b"},
        {"/%2e%2E/x", "/x"},
        {"/a/.%2e/x", "/x"},
        {"/a%2Fb", "/a%2Fb"},
        {"/%2", "/%2"},
        {"query", "/query"},
        {"///a///", "/a/"},
    };
    for (const auto& [path, clean] : cases) EXPECT_EQ(cleanPath(path), clean) << path;
}

TEST(CleanPath, CleaningTwiceChangesNothing) {
    for (const char* path : {"/a/../../b//c/./", "//../x/..", "/./././", "/a/b/c/../../../..//"}) {
        EXPECT_EQ(cleanPath(cleanPath(path)), cleanPath(path)) << path;
    }
}

TEST(Redirect, RecordedExchanges) {
    for (const char* path : {"//query", "/a/../query"}) {
        const auto response = redirectToCleanPath(asking("GET", path));
        ASSERT_TRUE(response) << path;
        EXPECT_EQ(response->status, 307);
        EXPECT_EQ(response->headers[0], (std::pair<std::string, std::string>("Location", "/query")));
        EXPECT_EQ(response->headers[1],
                  (std::pair<std::string, std::string>("Content-Type", "text/html; charset=utf-8")));
        EXPECT_EQ(response->body, "<a href=\"/query\">Temporary Redirect</a>.\n\n");
    }
}

TEST(Redirect, CleanPathsPass) {
    for (const char* path : {"/", "/query", "/query/", "/favicon.ico", "*"}) {
        EXPECT_FALSE(redirectToCleanPath(asking("GET", path))) << path;
    }
    EXPECT_FALSE(redirectToCleanPath(asking("CONNECT", "host:80")));
}

TEST(Redirect, KeepsTheQueryAndOtherMethodsGetNoPage) {
    const auto response = redirectToCleanPath(asking("POST", "/a//b", "x=1&y=2"));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->headers[0].second, "/a/b?x=1&y=2");
    EXPECT_EQ(response->headers.size(), 1U);
    EXPECT_EQ(response->body, "");
}

TEST(Redirect, NeverLeavesTheSite) {
    for (const char* path : {"//evil.example", "/\\evil.example/..//x", "//\\evil.example", "/.//evil.example"}) {
        const auto response = redirectToCleanPath(asking("GET", path));
        ASSERT_TRUE(response) << path;
        const std::string& location = response->headers[0].second;
        EXPECT_EQ(location[0], '/') << path;
        EXPECT_TRUE(location.size() == 1 || (location[1] != '/' && location[1] != '\\')) << location;
    }
    const auto quoted = redirectToCleanPath(asking("GET", "//\"><script>", "'&"));
    ASSERT_TRUE(quoted);
    EXPECT_EQ(quoted->body, "<a href=\"/%22%3E%3Cscript%3E?&#39;&amp;\">Temporary Redirect</a>.\n\n");
}

}  // namespace
}  // namespace dq::http
