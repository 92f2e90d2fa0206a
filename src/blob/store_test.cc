#include "blob/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "blob/fake_s3_testing.h"
#include "blob/problem.h"
#include "core/status.h"

namespace dq::blob {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class LocalTest : public testing::Test {
  protected:
    LocalTest() {
        std::string pattern = (fs::temp_directory_path() / "dq-blob-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        store_ = *Store::open({.bucket = "file://" + folder_.string() + "/bucket"});
        fs::create_directories(folder_ / "bucket/cloudevent/blobs");
    }
    ~LocalTest() override { fs::remove_all(folder_); }
    Problem problem(const std::string& key, std::uint64_t limit = kObjectLimit) {
        return problemOf(store_->get(key, limit, Cancel::root()).status());
    }
    fs::path folder_;
    std::unique_ptr<Store> store_;
};

TEST_F(LocalTest, WhatWasPutIsRead) {
    const std::string bytes(3'000'000, 'x');
    ASSERT_TRUE(store_->put("cloudevent/blobs/2026/10/a.json", bytes).ok());
    EXPECT_EQ(*store_->get("cloudevent/blobs/2026/10/a.json", kObjectLimit, Cancel::root()), bytes);
    ASSERT_TRUE(store_->put("cloudevent/blobs/2026/10/a.json", "").ok());
    EXPECT_EQ(*store_->get("cloudevent/blobs/2026/10/a.json", kObjectLimit, Cancel::root()), "");
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "bucket"))
        EXPECT_THAT(entry.path().string(), Not(HasSubstr(".tmp")));
}

TEST_F(LocalTest, Acceptance20_Classes) {
    std::ofstream(folder_ / "bucket/cloudevent/blobs/big") << std::string(11, 'x');
    EXPECT_EQ(problem("cloudevent/blobs/none"), Problem::kMissing);
    EXPECT_EQ(problem("cloudevent/blobs/big", 10), Problem::kOversize);
    EXPECT_EQ(problem("cloudevent/blobs/big", 11), Problem::kNone);
    EXPECT_EQ(problem("cloudevent/blobs"), Problem::kInvalidKey);  // a folder is no object
}

TEST_F(LocalTest, KeysNeverLeaveTheFolder) {
    std::ofstream(folder_ / "secret") << "s";
    fs::create_symlink(folder_, folder_ / "bucket/up");
    fs::create_symlink(folder_ / "secret", folder_ / "bucket/link");
    fs::create_symlink("/etc/passwd", folder_ / "bucket/absolute");
    for (const std::string& key :
         {std::string("../secret"), std::string("a/../../secret"), std::string("/etc/passwd"), std::string(""),
          std::string("a//b"), std::string("./a"), std::string("a\\b"), std::string("a\0b", 3),
          std::string("up/secret"), std::string("link"), std::string("absolute"), std::string(2000, 'k')}) {
        EXPECT_EQ(problem(key), Problem::kInvalidKey) << key;
        // A put replaces a link by the object; what the link points to stays.
        if (key != "link" && key != "absolute") {
            EXPECT_EQ(problemOf(store_->put(key, "xx")), Problem::kInvalidKey) << key;
        }
    }
    EXPECT_TRUE(store_->put("link", "xx").ok());
    EXPECT_EQ(fs::file_size(folder_ / "secret"), 1u);
}

TEST_F(LocalTest, AFolderThatIsAwayLosesNothing) {
    const auto gone = *Store::open({.bucket = (folder_ / "not-mounted").string()});
    EXPECT_EQ(problemOf(gone->get("cloudevent/blobs/a", 10, Cancel::root()).status()), Problem::kTransient);
    EXPECT_EQ(store_->presign("cloudevent/blobs/a", 60).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(Bucket, Forms) {
    const auto form = [](std::string_view text) {
        const auto address = parseBucket(text);
        return address.ok() ? address->scheme + "|" + address->name + "|" + address->prefix : "refused";
    };
    EXPECT_EQ(form(""), "||");
    EXPECT_EQ(form("events"), "s3|events|");
    EXPECT_EQ(form("s3://events/lake/raw/"), "s3|events|lake/raw");
    EXPECT_EQ(form("gs://events"), "gs|events|");
    EXPECT_EQ(form("azure://events"), "az|events|");
    EXPECT_EQ(form("/data/blobs"), "file|/data/blobs|");
    EXPECT_EQ(form("file:///data/blobs"), "file|/data/blobs|");
    for (const char* bad : {"file://relative", "ftp://x", "s3://", "s3://b/../c"})
        EXPECT_EQ(form(bad), "refused") << bad;
}

TEST(Bucket, NoneIsTransientAndSaysSo) {
    const auto store = *Store::open({});
    const auto got = store->get("cloudevent/blobs/a", 10, Cancel::root()).status();
    EXPECT_EQ(problemOf(got), Problem::kTransient);
    EXPECT_THAT(std::string(got.message()), HasSubstr("BLOB_BUCKET"));
}

class S3Test : public testing::Test {
  protected:
    std::unique_ptr<Store> open(const FakeS3& server, std::uint32_t timeout_ms = 5000) {
        return *Store::open({.bucket = "events",
                             .region = "eu-central-1",
                             .access_key_id = "AKIA123",
                             .secret_access_key = "very-secret",
                             .endpoint = server.endpoint(),
                             .timeout_ms = timeout_ms,
                             .attempts = 3,
                             .backoff_ms = 1});
    }
    static constexpr char kKey[] = "cloudevent/blobs/a.json";
};

TEST_F(S3Test, PathStyleGet) {
    const FakeS3 server([](int, const std::string&, const std::string&) {
        return FakeS3::Answer{200, "payload", false, false};
    });
    EXPECT_EQ(*open(server)->get(kKey, kObjectLimit, Cancel::root()), "payload");
    EXPECT_EQ(server.lines().at(0), "GET /events/cloudevent/blobs/a.json HTTP/1.1");
}

TEST_F(S3Test, Acceptance20_ClassesByStatus) {
    for (const auto& [status, wanted] :
         {std::pair{404, Problem::kMissing}, std::pair{403, Problem::kDenied}, std::pair{400, Problem::kTransient}}) {
        const FakeS3 server([status = status](int, const std::string&, const std::string&) {
            return FakeS3::Answer{status, "<Error><Code>X</Code></Error>", false, false};
        });
        const auto got = open(server)->get(kKey, kObjectLimit, Cancel::root()).status();
        EXPECT_EQ(problemOf(got), wanted) << status << " " << got;
        EXPECT_THAT(std::string(got.message()), Not(HasSubstr("very-secret")));
    }
}

// A wrong bucket or wrong credentials say nothing about the object: no row may be dropped for them.
TEST_F(S3Test, AMissingBucketAndBadCredentialsAreTransient) {
    for (const auto& [status, body] :
         {std::pair{404, "<Error><Code>NoSuchBucket</Code></Error>"}, std::pair{401, "<Error/>"}}) {
        const FakeS3 server([status = status, body = body](int, const std::string&, const std::string&) {
            return FakeS3::Answer{status, body, false, false};
        });
        const auto got = open(server)->get(kKey, kObjectLimit, Cancel::root()).status();
        EXPECT_EQ(problemOf(got), Problem::kTransient) << status << " " << got;
    }
}

TEST_F(S3Test, Acceptance20_TheAnnouncedLengthIsCheckedBeforeReading) {
    const FakeS3 server([](int, const std::string&, const std::string&) {
        return FakeS3::Answer{200, std::string(100, 'x'), false, false};
    });
    EXPECT_EQ(problemOf(open(server)->get(kKey, 99, Cancel::root()).status()), Problem::kOversize);
    EXPECT_TRUE(open(server)->get(kKey, 100, Cancel::root()).ok());
}

TEST_F(S3Test, AServerThatComesBackIsAskedAgainAtMostThreeTimes) {
    const FakeS3 recovering([](int number, const std::string&, const std::string&) {
        return FakeS3::Answer{number < 2 ? 503 : 200, "payload", false, false};
    });
    EXPECT_EQ(*open(recovering)->get(kKey, kObjectLimit, Cancel::root()), "payload");
    const FakeS3 away([](int, const std::string&, const std::string&) {
        return FakeS3::Answer{503, "", false, false};
    });
    EXPECT_EQ(problemOf(open(away)->get(kKey, kObjectLimit, Cancel::root()).status()), Problem::kTransient);
    EXPECT_THAT(away.lines(), SizeIs(3));
}

TEST_F(S3Test, Acceptance20_ACutConnectionIsTransient) {
    const FakeS3 server([](int, const std::string&, const std::string&) {
        return FakeS3::Answer{200, std::string(1000, 'x'), true, false};
    });
    EXPECT_EQ(problemOf(open(server)->get(kKey, kObjectLimit, Cancel::root()).status()), Problem::kTransient);
}

TEST_F(S3Test, AHangingServerTimesOutAndCancelEndsTheWait) {
    const FakeS3 server([](int, const std::string&, const std::string&) {
        return FakeS3::Answer{200, "", false, true};
    });
    EXPECT_EQ(problemOf(open(server, 100)->get(kKey, kObjectLimit, Cancel::root()).status()), Problem::kTransient);
    const auto got = open(server, 60'000)->get(kKey, kObjectLimit, Cancel::root().withTimeout(100'000)).status();
    EXPECT_EQ(got.code(), absl::StatusCode::kCancelled);
}

TEST_F(S3Test, RoomIsAskedForBeforeTheBodyIsRead) {
    const FakeS3 server([](int, const std::string&, const std::string&) {
        return FakeS3::Answer{200, "payload", false, false};
    });
    std::uint64_t asked = 0;
    const auto got = open(server)->get(kKey, kObjectLimit, Cancel::root(), [&](std::uint64_t bytes) {
        asked = bytes;
        return false;
    });
    EXPECT_EQ(asked, 7u);
    EXPECT_EQ(got.status().code(), absl::StatusCode::kCancelled);
}

TEST_F(S3Test, PutAndPresign) {
    std::string stored;
    const FakeS3 server([&](int, const std::string&, const std::string& body) {
        stored = body;
        return FakeS3::Answer{};
    });
    const auto store = open(server);
    ASSERT_TRUE(store->put(kKey, "bytes").ok());
    EXPECT_EQ(stored, "bytes");
    const auto link = store->presign(kKey, 900);
    ASSERT_TRUE(link.ok()) << link.status();
    EXPECT_THAT(*link, HasSubstr("/events/cloudevent/blobs/a.json?"));
    EXPECT_THAT(*link, HasSubstr("X-Amz-Expires=900"));
    EXPECT_THAT(*link, Not(HasSubstr("very-secret")));
}

}  // namespace
}  // namespace dq::blob
