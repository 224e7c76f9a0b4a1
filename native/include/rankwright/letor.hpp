// LETOR / SVMlight ranking files: `label qid:ID feature:value feature:value ... # comment`.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankwright {

enum class LetorFault {
    label_not_number,
    label_not_finite,
    query_missing,
    pair_malformed,
    feature_not_positive,
    feature_order,
    feature_too_high,
    value_not_number,
    value_not_finite,
    id_not_text,
};

struct LetorError {
    std::int64_t line;  // from 1
    LetorFault fault;
    std::string token;  // what was found; empty at the end of a line
};

// Many short texts in one allocation.
class TextList {
  public:
    void add(std::string_view text) {
        text_.append(text);
        ends_.push_back(text_.size());
    }
    void clear() {
        text_.clear();
        ends_.clear();
    }
    std::size_t size() const { return ends_.size(); }
    bool all_empty() const { return text_.empty(); }
    std::string_view operator[](std::size_t i) const {
        const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
        return std::string_view(text_).substr(begin, ends_[i] - begin);
    }

  private:
    std::string text_;
    std::vector<std::size_t> ends_;
};

// Rows as the text has them. Values stand in runs of features with consecutive numbers, so that a dense file
// takes the space of its matrix, and a sparse one never more than a few times that of its text.
struct LetorRows {
    struct Run {
        std::uint32_t first, size;  // features first, first + 1, ...; counted from 0
    };
    std::vector<float> values;
    std::vector<Run> runs;
    std::vector<std::uint32_t> runs_of_row;
    std::vector<double> labels;
    TextList query_ids;  // one for each stretch of rows of one query
    std::vector<std::size_t> rows_of_query;
    TextList document_ids;  // one a row, empty where the line names none

    void clear();
    void free_features();
};

// Reads a file given as blocks of bytes cut anywhere. What it returns depends neither on where the blocks are
// cut nor on n_threads.
class LetorParser {
  public:
    // A feature above max_feature is an error; max_feature is below 2^32.
    LetorParser(std::uint32_t max_feature, int n_threads) : max_feature_(max_feature), n_threads_(n_threads) {}

    // Reads the lines that `block` completes; the rest waits for the next block (the last must end with a
    // line end). Returns the error of the first line that has one; the parser is then of no further use.
    std::optional<LetorError> feed(std::string_view block);

    std::size_t n_rows() const { return n_rows_; }
    // The highest feature so far.
    std::size_t n_features() const { return n_features_; }
    bool has_document_ids() const;

    // Calls visit(id) with every row's document id, in the order of the file.
    template <class Visit>
    void visit_document_ids(const Visit& visit) const {
        for (const LetorRows& part : parts_)
            for (std::size_t row = 0; row < part.document_ids.size(); ++row) visit(part.document_ids[row]);
    }
    // labels has n_rows places.
    void copy_labels(std::span<double> labels) const;
    // queries (n_rows places) takes each row's query; returns the queries' ids in the order of their numbers,
    // which is that of first appearance. The views live until the parser is fed or cleared.
    std::vector<std::string_view> number_queries(std::span<std::int64_t> queries) const;
    // Fills `features`, n_rows x width in C order (width >= n_features), with `absent` where the text has
    // nothing. The values read are freed as they are copied, so this works once.
    void move_features(float absent, std::size_t width, std::span<float> features);
    void clear() { *this = LetorParser(max_feature_, n_threads_); }

  private:
    std::optional<LetorError> read_pieces(std::vector<std::string_view>& pieces);
    void keep(std::vector<LetorRows>& parts);

    std::uint32_t max_feature_;
    int n_threads_;
    std::int64_t n_lines_ = 0;
    std::size_t n_rows_ = 0;
    std::size_t n_features_ = 0;
    std::string unfinished_line_;
    std::vector<LetorRows> parts_;
    std::vector<LetorRows> scratch_;  // one a piece, used again by every block
};

// " 1:0.5 2:NULL ...": a row's features as text that reads back as the same floats, NaN as NULL.
std::string format_letor_features(std::span<const float> row);

}  // namespace rankwright
