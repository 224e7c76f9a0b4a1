// Reading and writing LETOR / SVMlight ranking files.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/letor_lines.hpp"

namespace rankwright {

// `text` is empty at the end of a line.
using LetorError = TextError<LetorFault>;

// Reads a file given as blocks of bytes, cut anywhere. The result depends neither on where the blocks are cut nor
// on n_threads.
class LetorParser {
  public:
    LetorParser(const LetorRules& rules, int n_threads) : rules_(rules), n_threads_(n_threads) {}

    // Reads the lines that `block` completes; the rest waits for the next block (the last must end with a line
    // end). Returns the error of the first faulty line; after that the parser must not be fed again.
    std::optional<LetorError> feed(std::string_view block);

    bool is_judged() const { return rules_.judged; }
    bool has_queries() const { return rules_.queries != LetorQueries::nowhere; }
    std::size_t n_rows() const { return n_rows_; }
    // The highest feature so far.
    std::size_t n_features() const { return n_features_; }
    // In characters.
    std::size_t longest_query_id() const { return longest_query_id_; }
    bool has_document_ids() const;

    // Calls visit(id) with every row's document id, in the order of the file.
    template <class Visit>
    void visit_document_ids(const Visit& visit) const {
        for (const LetorRows& part : parts_)
            for (std::size_t row = 0; row < part.document_ids.size(); ++row) visit(part.document_ids[row]);
    }
    // labels has n_rows places; only for judged rows.
    void copy_labels(std::span<double> labels) const;
    // Writes the number of each row's query to `queries` (n_rows places); returns the ids of the queries by
    // number. Queries are numbered as they first appear. Only for rows with query ids. The views live until the
    // parser is fed or its rows are cleared.
    TextNumbering number_queries(std::span<std::int64_t> queries) const;
    // Fills `features`, n_rows x width in C order (width >= n_features), with `absent` where the text has no
    // value. The parsed values are freed as they are copied, so this works once.
    void move_features(float absent, std::size_t width, std::span<float> features);
    // Forgets the rows so far; the lines that are fed next follow those before.
    void clear_rows();

  private:
    std::optional<LetorError> read_pieces(std::vector<std::string_view>& pieces);
    void keep(std::vector<LetorRows>& parts);
    std::optional<LetorError> check_unfinished_line() const;
    std::string_view without_mark(std::string_view text) const;

    LetorRules rules_;
    int n_threads_;
    std::int64_t n_lines_ = 0;
    std::size_t n_rows_ = 0;
    std::size_t n_features_ = 0;
    std::size_t longest_query_id_ = 0;
    std::string unfinished_line_;
    std::vector<LetorRows> parts_;
    std::vector<LetorRows> scratch_;  // one per piece, reused by every block
};

// " 1:0.5 2:NULL ...": the features of a row as text that reads back as the same floats, NaN as NULL.
std::string format_letor_features(std::span<const float> row);

}  // namespace rankwright
