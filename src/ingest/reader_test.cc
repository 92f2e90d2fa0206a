#include "ingest/reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <random>

#include "core/text.h"
#include "ingest/ingest_testing.h"

namespace dq::ingest {
namespace {

using testing::gzipped;

// Hands out its text in pieces of the given size, with an idle answer before each.
class PiecewiseSource final : public ByteSource {
  public:
    PiecewiseSource(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
    absl::StatusOr<Chunk> read(std::span<char> buffer, std::int64_t) override {
        idle_ = !idle_;
        if (idle_) return Chunk{ChunkKind::kIdle, 0};
        const std::size_t count = std::min({piece_, buffer.size(), text_.size() - position_});
        if (count == 0) return Chunk{ChunkKind::kEnd, 0};
        text_.copy(buffer.data(), count, position_);
        position_ += count;
        return Chunk{ChunkKind::kData, count};
    }
    std::uint64_t position() const override { return position_; }

  private:
    std::string text_;
    std::size_t piece_, position_ = 0;
    bool idle_ = false;
};

// A source of `total` bytes made on the fly: `head`, then the letter x, then `tail`.
class LongSource final : public ByteSource {
  public:
    LongSource(std::string head, std::uint64_t fill, std::string tail)
        : head_(std::move(head)), tail_(std::move(tail)), fill_(fill) {}
    absl::StatusOr<Chunk> read(std::span<char> buffer, std::int64_t) override {
        if (!head_.empty()) return give(head_, buffer);
        if (fill_ > 0) {
            const std::size_t count = std::min<std::uint64_t>(fill_, buffer.size());
            std::fill_n(buffer.begin(), count, 'x');
            fill_ -= count;
            return Chunk{ChunkKind::kData, count};
        }
        if (!tail_.empty()) return give(tail_, buffer);
        return Chunk{ChunkKind::kEnd, 0};
    }
    std::uint64_t position() const override { return 0; }

  private:
    static Chunk give(std::string& from, std::span<char> buffer) {
        const std::size_t count = from.copy(buffer.data(), buffer.size());
        from.erase(0, count);
        return Chunk{ChunkKind::kData, count};
    }
    std::string head_, tail_;
    std::uint64_t fill_;
};

std::vector<InputItem> drain(EventReader& reader) {
    std::vector<InputItem> items;
    while (true) {
        auto next = reader.next();
        EXPECT_TRUE(next.ok()) << next.status();
        if (!next.ok() || next->kind == ReadKind::kEnd) return items;
        if (next->kind == ReadKind::kItem) items.push_back(std::move(next->item));
    }
}

std::vector<InputItem> readAll(const std::string& text, ReaderOptions options = {}) {
    EventReader reader(memorySource(text), options);
    return drain(reader);
}

// Text of good items, "!error" of bad ones.
std::vector<std::string> shapes(const std::vector<InputItem>& items) {
    std::vector<std::string> out;
    for (const InputItem& item : items) out.push_back(item.error.empty() ? item.text : "!" + item.error);
    return out;
}

using Shapes = std::vector<std::string>;

TEST(EventReader, LinesWithBlanksMarkAndMissingLastLineEnd) {
    const auto items = readAll("\xEF\xBB\xBF{\"a\":1}\r\n\n   \n{\"a\":\n{\"a\":2}\nrubbish\n{\"a\":3}");
    EXPECT_EQ(shapes(items), (Shapes{"{\"a\":1}", "{\"a\":", "{\"a\":2}", "rubbish", "{\"a\":3}"}));
    EXPECT_EQ(items[0].line, 1u);
    EXPECT_EQ(items[0].offset, 3u);
    EXPECT_EQ(items[2].line, 5u);
    EXPECT_EQ(items[4].line, 7u);
    EXPECT_EQ(items[4].offset, 39u);
}

TEST(EventReader, FirstLineThatDoesNotCloseIsABadLineWhenTheNextCannotContinueIt) {
    EXPECT_EQ(shapes(readAll("{\"a\":1\n{\"a\":2}\n")), (Shapes{"{\"a\":1", "{\"a\":2}"}));
    EXPECT_EQ(shapes(readAll("{\"a\":\"x\n{\"a\":2}\n")), (Shapes{"{\"a\":\"x", "{\"a\":2}"}));
    EXPECT_EQ(shapes(readAll("{\"a\":1\n")), (Shapes{"{\"a\":1"}));
    EXPECT_EQ(shapes(readAll("{\"a\":1} {\"a\":2}\n{\"a\":3}")), (Shapes{"{\"a\":1} {\"a\":2}", "{\"a\":3}"}));
}

TEST(EventReader, ObjectsSpreadOverLines) {
    const std::string one = "{\n  \"a\": [\n    {\"b\": \"}]\\\"\"}\n  ],\n  \"c\": 1\n}";
    EXPECT_EQ(shapes(readAll(one)), (Shapes{one}));
    const auto items = readAll(one + "\n\n" + one + "\n{\"d\":1}\n{\"d\":2}\n");
    EXPECT_EQ(shapes(items), (Shapes{one, one, "{\"d\":1}", "{\"d\":2}"}));
    EXPECT_EQ(items[1].line, 8u);
    EXPECT_EQ(shapes(readAll("{\"a\":\n{\"b\":1}}")), (Shapes{"{\"a\":\n{\"b\":1}}"}));
    EXPECT_EQ(shapes(readAll("{\n \"a\": 1,\n \"b\": ")), (Shapes{"!the input ends inside an event"}));
}

TEST(EventReader, ArraysElementByElement) {
    EXPECT_EQ(shapes(readAll("[]")), Shapes{});
    EXPECT_EQ(shapes(readAll(" [ {\"a\":[1,{\"b\":\"],[\"}]} ,\n{\"a\":2}]\n")),
              (Shapes{"{\"a\":[1,{\"b\":\"],[\"}]}", "{\"a\":2}"}));
    EXPECT_EQ(shapes(readAll("[{\"a\":1}]\n[{\"a\":2}]\n{\"a\":3}\n")),
              (Shapes{"{\"a\":1}", "{\"a\":2}", "{\"a\":3}"}));
}

TEST(EventReader, ArraysWithRubbishKeepTheirGoodElements) {
    const std::string good = "{\"g\":1}";
    const auto bad = [&](const std::string& middle) {
        const auto items = shapes(readAll("[" + good + "," + middle + "," + good + "]"));
        EXPECT_EQ(items.size(), 3u) << middle;
        EXPECT_EQ(items.front(), good) << middle;
        EXPECT_EQ(items.back(), good) << middle;
        return items.size() == 3 ? items[1] : "";
    };
    EXPECT_EQ(bad("1"), "!an element of the array is not an object");
    EXPECT_EQ(bad("null"), "!an element of the array is not an object");
    EXPECT_EQ(bad("\"a,]\\\"{b\""), "!an element of the array is not an object");
    EXPECT_EQ(bad(" "), "!an element of the array is empty");
    EXPECT_EQ(bad("{\"a\":[}"), "{\"a\":[}");
    EXPECT_EQ(bad("{\"a\":\"open\n"), "!a string is not closed on its line");
    EXPECT_EQ(shapes(readAll("[" + good + " xyz, " + good + "]")),
              (Shapes{good, "!text that is no event stands between the elements of the array", good}));
    EXPECT_EQ(shapes(readAll("[" + good + good + "]")), (Shapes{good, good}));
    EXPECT_EQ(shapes(readAll("[" + good + ",]")), (Shapes{good, "!an element of the array is empty"}));
    EXPECT_EQ(shapes(readAll("[" + good)), (Shapes{good, "!the input ends before the ] of the array"}));
    EXPECT_EQ(shapes(readAll("[" + good + ",{\"a\":1")), (Shapes{good, "!the input ends inside an event"}));
    EXPECT_EQ(shapes(readAll("[" + good + ",{\"a\":1]\n" + good)), (Shapes{good, "!the object is not closed", good}));
}

TEST(EventReader, FixedFormats) {
    EXPECT_EQ(shapes(readAll("[{\"a\":1}]", {.format = InputFormat::kLines})), (Shapes{"[{\"a\":1}]"}));
    EXPECT_EQ(shapes(readAll("{\n}", {.format = InputFormat::kSingle})), (Shapes{"{\n}"}));
    EXPECT_EQ(shapes(readAll("[1]", {.format = InputFormat::kSingle})), (Shapes{"[1]"}));
    EXPECT_EQ(shapes(readAll(" \n", {.format = InputFormat::kSingle})), (Shapes{"!there is no event"}));
    EXPECT_EQ(shapes(readAll("{\"a\":1}", {.format = InputFormat::kArray})),
              (Shapes{"!text that is no event stands outside the array"}));
    EXPECT_EQ(shapes(readAll("", {.format = InputFormat::kArray})), (Shapes{"!there is no array"}));
    EXPECT_EQ(shapes(readAll("[{\"a\":1}] x", {.format = InputFormat::kArray})),
              (Shapes{"{\"a\":1}", "!text that is no event stands outside the array"}));
}

TEST(EventReader, SizeLimitIsExactAndNotExceededInMemory) {
    const std::string at_limit = "{\"a\":\"" + std::string(92, 'x') + "\"}";
    ASSERT_EQ(at_limit.size(), 100u);
    for (const std::string_view end : {"\n", "\r\n"}) {
        const auto items =
            readAll(strCat(at_limit, end, "y", at_limit, end, "{}", end), {.max_event_bytes = 100, .kept_bytes = 10});
        ASSERT_EQ(items.size(), 3u);
        EXPECT_EQ(items[0].text, at_limit);
        EXPECT_FALSE(items[0].cut);
        EXPECT_EQ(items[1].error, "the event has 101 bytes, over the limit of 100");
        EXPECT_EQ(items[1].text, "y{\"a\":\"xxx");
        EXPECT_TRUE(items[1].cut);
        EXPECT_EQ(items[2].text, "{}");
    }
}

TEST(EventReader, HundredMegabyteEventIsSkippedWithoutBufferingIt) {
    constexpr std::uint64_t kFill = 100u << 20;
    const std::pair<std::string, std::string> frames[] = {{"{\"a\":1}\n{\"a\":\"", "\"}\n{\"a\":2}\n"},
                                                          {"[{\"a\":1},{\"a\":\"", "\"},{\"a\":2}]"},
                                                          {"{\n\"a\":1}\n{\n\"a\":\"", "\"}\n{\n\"a\":2}\n"}};
    for (const auto& [head, tail] : frames) {
        const std::uint64_t before = testing::residentKilobytes();
        EventReader reader(std::make_unique<LongSource>(head, kFill, tail), {.max_event_bytes = 1 << 20});
        const auto items = drain(reader);
        ASSERT_EQ(items.size(), 3u) << head;
        EXPECT_TRUE(items[1].cut);
        EXPECT_GT(items[1].bytes, kFill);
        EXPECT_LE(items[1].text.size(), 4096u);
        EXPECT_TRUE(items[2].error.empty());
        EXPECT_LT(testing::residentKilobytes(), before + 20 * 1024);
    }
}

TEST(EventReader, CutsAnywhereGiveTheSameItems) {
    const std::string texts[] = {"\xEF\xBB\xBF{\"a\":\"\\\\\\\"\"}\r\n\n{\"a\":2}\nrubbish",
                                 "[{\"a\":[1,2]} , x\n, {\"a\":\"}\"},,7]{\"b\":1}\n{\"b\":2}",
                                 "{\n\"a\":{\"b\":[]}\n}\n{\n\"c\":1}\n", "{\"a\":1\n\n {\"a\":2}\n"};
    for (const std::string& text : texts) {
        const auto whole = readAll(text);
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            EventReader reader(std::make_unique<PiecewiseSource>(text, piece), {});
            const auto items = drain(reader);
            ASSERT_EQ(shapes(items), shapes(whole)) << "piece " << piece;
            for (std::size_t i = 0; i < items.size(); ++i) {
                EXPECT_EQ(items[i].line, whole[i].line);
                EXPECT_EQ(items[i].offset, whole[i].offset);
            }
        }
    }
}

TEST(EventReader, RandomBytesNeverHangAndEveryGoodLineIsFound) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(strCat("seed ", seed));
    std::mt19937 random(seed);
    const std::string alphabet = "{}[]\",:\\\n\r ab1";
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (std::size_t i = random() % 60; i > 0; --i) text += alphabet[random() % alphabet.size()];
        readAll(text);  // ends
        readAll(text, {.format = InputFormat::kArray, .max_event_bytes = 8});
        const std::string marked = "plain\n" + text + "\n{\"good\":1}\n";
        const auto items = shapes(readAll(marked));
        EXPECT_EQ(items.back(), "{\"good\":1}") << text;
    }
}

TEST(ByteSource, GzipIsFoundByItsMagic) {
    const std::string text = "{\"a\":1}\n{\"a\":2}\n";
    const std::string packed = gzipped(text);
    EventReader members(detectGzip(memorySource(packed)), {});
    EXPECT_EQ(shapes(drain(members)), (Shapes{"{\"a\":1}", "{\"a\":2}"}));
    const std::string two = packed + packed + std::string(512, '\0');
    EventReader padded(detectGzip(std::make_unique<PiecewiseSource>(two, 1)), {});
    EXPECT_EQ(drain(padded).size(), 4u);
    EventReader plain(detectGzip(memorySource(text)), {});
    EXPECT_EQ(drain(plain).size(), 2u);
    EventReader empty(detectGzip(memorySource("")), {});
    EXPECT_EQ(drain(empty).size(), 0u);
    const std::string lone = "\x1f";
    EventReader one_byte(detectGzip(memorySource(lone)), {});
    EXPECT_EQ(shapes(drain(one_byte)), (Shapes{"\x1f"}));
}

TEST(ByteSource, TruncatedOrDamagedGzipIsDataLossAfterTheGoodLines) {
    std::string text;
    for (int i = 0; i < 5000; ++i) strAppend(&text, "{\"a\":", i * 7919 % 10007, "}\n");
    const std::string packed = gzipped(text);
    for (std::size_t length : {std::size_t{3}, std::size_t{10}, packed.size() / 2, packed.size() - 1}) {
        const std::string cut = packed.substr(0, length);
        EventReader reader(detectGzip(memorySource(cut)), {});
        std::size_t items = 0;
        absl::StatusOr<ReadResult> next = reader.next();
        for (; next.ok() && next->kind == ReadKind::kItem; next = reader.next()) ++items;
        EXPECT_TRUE(absl::IsDataLoss(next.status())) << length;
        EXPECT_EQ(items > 0, length > 1000) << length;
    }
    std::string flipped = packed;
    flipped[flipped.size() - 6] ^= 1;  // inside the checksum
    EXPECT_TRUE(absl::IsDataLoss(gunzip(flipped, 1 << 20).status()));
    EXPECT_TRUE(absl::IsDataLoss(gunzip(packed + "rubbish", 1 << 20).status()));
    EXPECT_EQ(gunzip(packed, text.size()).value(), text);
}

TEST(ByteSource, GunzipStopsAtItsLimit) {
    const std::string bomb = gzipped(std::string(40 << 20, 'x'));
    ASSERT_LT(bomb.size(), 300'000u);
    const std::uint64_t before = testing::residentKilobytes();
    EXPECT_TRUE(absl::IsResourceExhausted(gunzip(bomb, 1 << 20).status()));
    EXPECT_LT(testing::residentKilobytes(), before + 20 * 1024);
    EXPECT_TRUE(absl::IsResourceExhausted(gunzip(gzipped("12345"), 4).status()));
}

TEST(ByteSource, SilentPipeAnswersIdle) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    auto source = descriptorSource(ends[0], true);
    std::string buffer(10, '\0');
    EXPECT_EQ(source->read(buffer, 0)->kind, ChunkKind::kIdle);
    ASSERT_EQ(::write(ends[1], "ab", 2), 2);
    EXPECT_EQ(source->read(buffer, 0)->bytes, 2u);
    ::close(ends[1]);
    EXPECT_EQ(source->read(buffer, 0)->kind, ChunkKind::kEnd);
}

TEST(ByteSource, InputsThatCannotBeRead) {
    testing::TempFolder folder;
    EXPECT_TRUE(absl::IsNotFound(openInput(folder.path("absent")).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(openInput(folder.path("")).status()));
    folder.write("file", "12345");
    EXPECT_EQ(inputSize(folder.path("file")).value(), 5u);
}

}  // namespace
}  // namespace dq::ingest
