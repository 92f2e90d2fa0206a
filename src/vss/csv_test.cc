#include "vss/csv.h"

#include <gtest/gtest.h>

namespace dq::vss {
namespace {

TEST(Csv, QuotedEmptyAndLastFields) {
    CsvTable table("a,b,c\r\n1,\"x,\"\"y\"\"\n z\",\n,,3\n");
    ASSERT_EQ(table.rows().size(), 2u);
    EXPECT_EQ(table.column("c"), 2u);
    EXPECT_EQ(table.rows()[0], (CsvTable::Row{"1", "x,\"y\"\n z", ""}));
    EXPECT_EQ(table.rows()[1], (CsvTable::Row{"", "", "3"}));
}

TEST(Csv, LastLineNeedsNoNewline) {
    CsvTable table("a\nb");
    ASSERT_EQ(table.rows().size(), 1u);
    EXPECT_EQ(table.rows()[0][0], "b");
}

TEST(CsvDeathTest, DamagedFilesEndTheProcess) {
    EXPECT_DEATH(CsvTable("a,b\n1\n"), "width");
    EXPECT_DEATH(CsvTable("a\n\"1"), "open quote");
    EXPECT_DEATH(CsvTable("a\n").column("b"), "lacks a column");
}

}  // namespace
}  // namespace dq::vss
