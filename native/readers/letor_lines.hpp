// Lines of a LETOR file, `label qid:ID feature:value feature:value ... # comment`, and the rows they become.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "readers/strings.hpp"

namespace rankwright {

enum class LetorFault {
    label_missing,
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
    query_id_too_long,
    line_too_long,
    comment_missing,
};

// Where a line names its document's query.
enum class LetorQueries {
    field,    // qid:ID after the label
    comment,  // "# qid:ID", "# qid = ID", or the first word of the comment
    nowhere,  // not in this file; rows then have no query ids
};

struct LetorRules {
    bool judged;  // whether every line must have a label; if not, labels are checked and dropped
    LetorQueries queries;
    bool zero_based;            // whether features are numbered from 0 in the file; from 1 otherwise
    std::uint32_t max_feature;  // the highest feature number, below 2^32
    std::size_t max_line;       // bytes, without the line end
    std::size_t max_query_id;   // characters
};

// The rows of a piece of text. Values are stored in runs of consecutive features, so that a dense file takes the
// space of its matrix, and a sparse one at most a few times the space of its text.
struct LetorRows {
    struct Run {
        std::uint32_t first, size;  // features first, first + 1, ...; counted from 0
    };
    std::vector<float> values;
    std::vector<Run> runs;
    std::vector<std::uint32_t> runs_of_row;  // one per row
    std::vector<double> labels;              // one per row, none if the rows are not judged
    TextList query_ids;                      // one per stretch of adjacent rows of one query; none for nowhere
    std::vector<std::size_t> rows_of_query;  // one per stretch
    TextList document_ids;                   // one per row, empty where the line names none

    std::size_t n_rows() const { return document_ids.size(); }
    void clear();
    void free_features();
};

struct LetorLinesRead {
    struct Fault {
        LetorFault kind;
        std::string_view token;  // what was found, a part of the text; empty at the end of a line
    };
    std::int64_t n_lines = 0;  // lines without a fault, up to the first that has one
    std::size_t n_features = 0;
    std::size_t longest_query_id = 0;
    std::optional<Fault> fault;
};

// Appends the documents of whole lines, each with its line end, to `rows`.
LetorLinesRead read_letor_lines(std::string_view lines, const LetorRules& rules, LetorRows& rows);

}  // namespace rankwright
