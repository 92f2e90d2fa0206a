#include "engine/row_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text.h"
#include "engine/engine_testing.h"

namespace dq::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Numbers 0 … n − 1 with a text each, in parts of given morsels.
class Numbers final : public RowSource {
  public:
    explicit Numbers(std::vector<std::vector<Range>> parts) : parts_(std::move(parts)) {
        for (int i = 0; i < 20'000; ++i)
            texts_.push_back(strCat(i % 2 == 0 ? "short" : "a text of more than twelve bytes, ", i));
    }
    std::span<const Column> columns() const override {
        static constexpr Column kColumns[] = {{"n", Type::kInteger},          {"t", Type::kText},
                                              {"d", Type::kDouble},           {"u", Type::kUnsignedBigint},
                                              {"moment", Type::kTimestampTz}, {"list", Type::kTextList}};
        return kColumns;
    }
    std::size_t parts() const override { return parts_.size(); }
    std::span<const Range> morsels(std::size_t part) const override { return parts_[part]; }
    absl::Status read(std::size_t first, std::size_t count, RowChunk& out) const override {
        if (fail) return absl::InternalError("the source broke");
        std::vector<std::uint32_t> lengths;
        std::vector<Text> items;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t row = first + i;
            out.values<std::int32_t>(0)[i] = static_cast<std::int32_t>(row);
            out.texts(1)[i] = Text(texts_[row]);
            out.values<double>(2)[i] = static_cast<double>(row) / 2;
            out.values<std::uint64_t>(3)[i] = UINT64_MAX - row;
            out.values<std::int64_t>(4)[i] = static_cast<std::int64_t>(row) * 1'000'000;
            lengths.push_back(static_cast<std::uint32_t>(row % 3));
            for (std::size_t k = 0; k < row % 3; ++k) items.emplace_back(texts_[row]);
        }
        return out.lists(5, lengths, items);
    }
    bool fail = false;

  private:
    std::vector<std::vector<Range>> parts_;
    std::vector<std::string> texts_;
};

TEST(RowSource, EveryTypeArrives) {
    const auto database = testing::openDatabase();
    Connection connection = testing::connectTo(database);
    const Numbers numbers({{{0, 4}}});
    const RowSourceScope scope(numbers);
    EXPECT_THAT(testing::texts(connection,
                               strCat("SELECT n || '|' || t || '|' || d || '|' || u || '|' || epoch(moment)::BIGINT || "
                                      "'|' || list::VARCHAR FROM dq_rows(",
                                      scope.id(), ", 0) ORDER BY n")),
                ElementsAre("0|short0|0.0|18446744073709551615|0|[]",
                            "1|a text of more than twelve bytes, 1|0.5|18446744073709551614|1|"
                            "['a text of more than twelve bytes, 1']",
                            "2|short2|1.0|18446744073709551613|2|[short2, short2]",
                            "3|a text of more than twelve bytes, 3|1.5|18446744073709551612|3|[]"));
}

TEST(RowSource, PartsMorselsAndChunksAreAllRead) {
    const auto database = testing::openDatabase();
    Connection connection = testing::connectTo(database);
    const Numbers numbers({{{0, 1}, {1, 5000}, {5000, 5000}, {5000, 10'000}}, {}, {{10'000, 20'000}}});
    const RowSourceScope scope(numbers);
    const auto sum = [&](int part) {
        return testing::number(connection,
                               strCat("SELECT coalesce(sum(n), 0)::BIGINT FROM dq_rows(", scope.id(), ", ", part, ")"));
    };
    EXPECT_EQ(sum(0), 9'999 * 5000);
    EXPECT_EQ(sum(1), 0);
    EXPECT_EQ(sum(2), 29'999 * 5000);
    // Texts outlive the chunk they came in.
    EXPECT_EQ(testing::number(connection, strCat("SELECT count(DISTINCT t) FROM dq_rows(", scope.id(), ", 0)")),
              10'000);
}

// Rows of a morsel stay in their order, whatever the threads.
TEST(RowSource, AMorselIsReadInOrderByOneThread) {
    const auto database = testing::openDatabase();
    Connection connection = testing::connectTo(database);
    const Numbers numbers({{{0, 10'000}, {10'000, 20'000}}});
    const RowSourceScope scope(numbers);
    testing::must(connection, "SET threads = 2");
    testing::must(connection, "SET preserve_insertion_order = false");
    testing::must(connection, strCat("CREATE TABLE copy AS SELECT n FROM dq_rows(", scope.id(), ", 0)"));
    EXPECT_EQ(testing::number(connection,
                              "SELECT count(*) FROM (SELECT n, lag(n) OVER (PARTITION BY n >= 10000 ORDER BY "
                              "rowid) AS before FROM copy) WHERE n < before"),
              0);
}

TEST(RowSource, AnUnknownSourceOrPartIsRefusedAndAFailingOneEndsTheStatement) {
    const auto database = testing::openDatabase();
    Connection connection = testing::connectTo(database);
    EXPECT_THAT(std::string(testing::failureOf(connection, "FROM dq_rows(123456789, 0)").message()),
                HasSubstr("no such source"));
    Numbers numbers({{{0, 10}}});
    std::int64_t id = 0;
    {
        const RowSourceScope scope(numbers);
        id = scope.id();
        EXPECT_FALSE(testing::failureOf(connection, strCat("FROM dq_rows(", id, ", 1)")).ok());
        EXPECT_FALSE(testing::failureOf(connection, strCat("FROM dq_rows(", id, ", -1)")).ok());
        numbers.fail = true;
        EXPECT_THAT(std::string(testing::failureOf(connection, strCat("FROM dq_rows(", id, ", 0)")).message()),
                    HasSubstr("the source broke"));
    }
    EXPECT_FALSE(testing::failureOf(connection, strCat("FROM dq_rows(", id, ", 0)")).ok());
    EXPECT_EQ(testing::number(connection, "SELECT 7::BIGINT"), 7);
}

}  // namespace
}  // namespace dq::engine
