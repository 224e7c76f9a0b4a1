// Reading CSV text: one record of column names, then one record per document.
//
// Fields are separated by the delimiter, records by a line feed, with or without a carriage return before it. A
// field that starts with a double quote ends at the next single one, may hold delimiters and line ends, and writes
// a quote as two. Empty lines and a byte order mark are skipped. Every record has as many fields as the first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/strings.hpp"

namespace rankwright {

enum class CsvFault {
    too_few_fields,
    too_many_fields,
    quote_not_closed,
    text_after_quote,
    carriage_return,
    not_utf8,
    record_too_long,
};

// At the line where the record begins; `text` may be the number of fields.
using CsvError = TextError<CsvFault>;

// The values of a column. Features and labels are numbers: decimal, or `true` and `false` for 1 and 0; a missing
// value is NaN, and so is text, which is counted in n_texts. Features are floats, until an integer comes that a
// float cannot hold.
struct CsvColumn {
    enum class Kind { feature, label, id };
    struct FirstText {
        std::int64_t line;
        std::string text;
    };

    std::string name;
    Kind kind = Kind::feature;
    std::vector<float> floats;
    std::vector<double> doubles;
    bool is_double = false;  // which of the two holds the values
    TextList ids;
    std::size_t n_numbers = 0, n_texts = 0;
    std::optional<FirstText> first_text;
    std::optional<std::int64_t> first_missing_line;
};

// Which columns have which role.
struct CsvRoles {
    std::optional<std::string> label;  // the column of labels, if there is one
    std::vector<std::string> ids;      // columns kept as text
};

// Reads a file given as blocks of bytes, cut anywhere.
class CsvParser {
  public:
    // A record of more than max_record bytes is an error.
    CsvParser(char delimiter, CsvRoles roles, std::size_t max_record)
        : delimiter_(delimiter), max_record_(max_record), roles_(std::move(roles)) {}

    // Reads the records that `block` completes; the rest waits for the next block. The last block must end with a
    // line end. Returns the error of the first faulty record; after that the parser must not be fed again.
    std::optional<CsvError> feed(std::string_view block);
    // To be called after the last block: the error of a record that never ended.
    std::optional<CsvError> end() const;

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_columns() const { return columns_.size(); }
    // The columns with the records since the last call; n_rows counts from 0 again.
    std::vector<CsvColumn> take_columns();

  private:
    struct Fault {
        CsvFault kind;
        std::string text;
    };

    const char* read_record(const char* at, const char* end);
    const char* read_quoted(const char* at, const char* end);
    const char* read_plain(const char* at);
    const char* after_field(const char* at) const;
    void keep_record(std::size_t n_bytes);
    void keep_names();
    CsvColumn new_column(std::string_view name) const;
    void keep_field(std::string_view field, CsvColumn& column);
    void keep_number(std::string_view field, CsvColumn& column);

    char delimiter_;
    std::size_t max_record_;
    CsvRoles roles_;
    std::string waiting_;       // text after the last complete record
    std::int64_t n_lines_ = 0;  // before the current record
    std::int64_t record_lines_ = 0;
    bool has_names_ = false;
    std::size_t n_rows_ = 0;
    std::vector<CsvColumn> columns_;
    std::vector<std::string_view> fields_;  // of the current record
    std::deque<std::string> unquoted_;      // its fields with doubled quotes
};

}  // namespace rankwright
