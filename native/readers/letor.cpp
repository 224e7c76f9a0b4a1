#include "readers/letor.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "readers/decimal.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

// Small enough for the text and rows of a piece to stay in a core's cache, large enough to hide the cost of a
// task.
constexpr std::size_t kPieceBytes = 128 * 1024;

// Cuts whole lines into pieces of about kPieceBytes, each ending with a line end.
void cut_into_pieces(std::string_view lines, std::vector<std::string_view>& pieces) {
    while (!lines.empty()) {
        const std::size_t size = lines.find('\n', std::min(kPieceBytes, lines.size()) - 1) + 1;
        pieces.push_back(lines.substr(0, size));
        lines.remove_prefix(size);
    }
}

void copy_rows(const LetorRows& part, float absent, std::size_t width, float* row) {
    const float* values = part.values.data();
    const LetorRows::Run* run = part.runs.data();
    for (std::uint32_t n_runs : part.runs_of_row) {
        float* filled = row;
        for (const LetorRows::Run* last = run + n_runs; run != last; ++run) {
            std::fill(filled, row + run->first, absent);
            filled = std::copy_n(values, run->size, row + run->first);
            values += run->size;
        }
        row += width;
        std::fill(filled, row, absent);
    }
}

// glibc keeps small freed blocks, here as much as the matrix itself, unless asked to return them.
void return_freed_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

// The shortest text that reads back as `value`. Readers round text to double and then to float; where the shortest
// text of the float does not survive both, the text of the double does.
char* write_value(float value, char* to, char* end) {
    if (std::isnan(value)) return std::copy_n("NULL", 4, to);
    const auto shortest = std::to_chars(to, end, value);
    double read = 0;
    read_decimal(to + (*to == '-'), shortest.ptr, read);
    return static_cast<float>(read) == std::fabs(value) ? shortest.ptr : std::to_chars(to, end, double{value}).ptr;
}

}  // namespace

std::optional<LetorError> LetorParser::feed(std::string_view block) {
    const std::size_t first_line = block.find('\n') + 1;
    unfinished_line_.append(block.substr(0, first_line == 0 ? block.size() : first_line));
    if (first_line != 0) {
        const std::size_t whole_lines = block.rfind('\n') + 1;
        std::vector<std::string_view> pieces{unfinished_line_};
        cut_into_pieces(block.substr(first_line, whole_lines - first_line), pieces);
        if (std::optional<LetorError> error = read_pieces(pieces)) return error;
        unfinished_line_.assign(block.substr(whole_lines));
    }
    return check_unfinished_line();
}

// Waiting for the end of a line must not take more memory than the longest line may.
std::optional<LetorError> LetorParser::check_unfinished_line() const {
    const std::string_view line = without_mark(unfinished_line_);
    if (line.size() <= rules_.max_line) return std::nullopt;
    return LetorError{n_lines_ + 1, LetorFault::line_too_long, std::string(start_of(line))};
}

// The text that comes next, without the byte order mark that a file may start with.
std::string_view LetorParser::without_mark(std::string_view text) const {
    if (n_lines_ == 0 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    return text;
}

std::optional<LetorError> LetorParser::read_pieces(std::vector<std::string_view>& pieces) {
    pieces[0] = without_mark(pieces[0]);
    if (scratch_.size() < pieces.size()) scratch_.resize(pieces.size());
    std::vector<LetorLinesRead> results(pieces.size());
    std::vector<LetorRows> parts(pieces.size());
    parallel_for(pieces.size(), n_threads_, [&](std::size_t i) {
        scratch_[i].clear();
        results[i] = read_letor_lines(pieces[i], rules_, scratch_[i]);
        parts[i] = scratch_[i];  // a copy takes no more space than it needs
    });
    for (const LetorLinesRead& result : results) {
        n_lines_ += result.n_lines;
        if (const auto& fault = result.fault)
            return LetorError{n_lines_ + 1, fault->kind, std::string(fault->token)};
        n_features_ = std::max(n_features_, result.n_features);
        longest_query_id_ = std::max(longest_query_id_, result.longest_query_id);
    }
    keep(parts);
    return std::nullopt;
}

void LetorParser::keep(std::vector<LetorRows>& parts) {
    parts_.insert(parts_.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
    for (std::size_t part = parts_.size() - parts.size(); part < parts_.size(); ++part)
        n_rows_ += parts_[part].n_rows();
}

bool LetorParser::has_document_ids() const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const LetorRows& part) { return !part.document_ids.all_empty(); });
}

void LetorParser::copy_labels(std::span<double> labels) const {
    auto next = labels.begin();
    for (const LetorRows& part : parts_) next = std::copy(part.labels.begin(), part.labels.end(), next);
}

TextNumbering LetorParser::number_queries(std::span<std::int64_t> queries) const {
    TextNumbering numbering;
    auto next = queries.begin();
    for (const LetorRows& part : parts_)
        for (std::size_t stretch = 0; stretch < part.rows_of_query.size(); ++stretch)
            next = std::fill_n(next, part.rows_of_query[stretch], numbering.number(part.query_ids[stretch]));
    return numbering;
}

void LetorParser::move_features(float absent, std::size_t width, std::span<float> features) {
    scratch_.clear();
    std::vector<std::size_t> first_rows;
    std::size_t n_rows = 0;
    for (const LetorRows& part : parts_) {
        first_rows.push_back(n_rows);
        n_rows += part.n_rows();
    }
    parallel_for(parts_.size(), n_threads_, [&](std::size_t i) {
        copy_rows(parts_[i], absent, width, features.data() + first_rows[i] * width);
        parts_[i].free_features();
    });
    return_freed_memory();
}

void LetorParser::clear_rows() {
    parts_.clear();
    n_rows_ = 0;
}

std::string format_letor_features(std::span<const float> row) {
    std::string text;
    char field[64];  // " 4294967295:-1.2345678901234567e-308" and some
    for (std::size_t feature = 0; feature < row.size(); ++feature) {
        char* at = field;
        *at++ = ' ';
        at = std::to_chars(at, std::end(field), feature + 1).ptr;
        *at++ = ':';
        text.append(field, write_value(row[feature], at, std::end(field)));
    }
    return text;
}

}  // namespace rankwright
