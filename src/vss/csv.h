// Reader of the CSV files that are embedded in the binary (RFC 4180: quoted fields, doubled quotes, LF or CRLF).
//
// Fields are views into the text where possible, else into the table, so a table must outlive them and `text` must
// outlive both.
//   CsvTable table(embedded::signals_csv);
//   std::size_t name = table.column("name");
//   for (const auto& row : table.rows()) use(row[name]);
#pragma once
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dq::vss {

class CsvTable {
  public:
    using Row = std::vector<std::string_view>;

    // The first line is the header. Every row has as many fields as the header, or the process ends: the files are
    // our own.
    explicit CsvTable(std::string_view text);
    CsvTable(const CsvTable&) = delete;
    CsvTable& operator=(const CsvTable&) = delete;

    std::span<const Row> rows() const { return rows_; }
    // Index of a header field; the process ends when there is none.
    std::size_t column(std::string_view name) const;

  private:
    std::string_view readField(std::string_view text, std::size_t& at);

    Row header_;
    std::vector<Row> rows_;
    std::deque<std::string> unquoted_;
};

}  // namespace dq::vss
