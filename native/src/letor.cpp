#include "rankwright/letor.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <unordered_map>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "rankwright/decimal.hpp"
#include "rankwright/text.hpp"
#include "rankwright/threads.hpp"

namespace rankwright {
namespace {

// Small enough for a piece's text and rows to stay in a core's cache, large enough to hide the cost of a
// task.
constexpr std::size_t kPieceBytes = 128 * 1024;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r";  // a carriage return before the line end is just another blank
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_fields(char c) { return c == '\n' || c == '#'; }
bool ends_token(char c) { return is_blank(c) || ends_fields(c); }
bool is_missing(std::string_view text) {
    return text == "NULL" || text == "null" || text == "nan" || text == "NaN";
}

const char* skip_blanks(const char* at) {
    while (is_blank(*at)) ++at;
    return at;
}

std::string_view token_at(const char* at) {
    const char* end = at;
    while (!ends_token(*end)) ++end;
    return {at, static_cast<std::size_t>(end - at)};
}

std::string_view without_blanks_before(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    return text;
}

std::string_view first_word(std::string_view text) {
    text = without_blanks_before(text);
    return text.substr(0, text.find_first_of(kBlanks));
}

// X where `text` starts with "docid = X", otherwise nothing.
std::string_view named_document(std::string_view text) {
    constexpr std::string_view name = "docid";
    if (!text.starts_with(name)) return {};
    text = without_blanks_before(text.substr(name.size()));
    return text.starts_with('=') ? first_word(text.substr(1)) : std::string_view();
}

// The document that a comment names: X of "docid = X", wherever that stands, otherwise its first word.
std::string_view document_of(std::string_view comment) {
    for (std::string_view rest = without_blanks_before(comment); !rest.empty();) {
        if (const std::string_view id = named_document(rest); !id.empty()) return id;
        rest = without_blanks_before(rest.substr(first_word(rest).size()));
    }
    return first_word(comment);
}

struct Fault {
    LetorFault kind;
    std::string_view token;
};

// Reads whole lines. The last character is a line end, so that no scan for the end of a token needs to look
// for the end of the text.
class PieceReader {
  public:
    PieceReader(std::string_view piece, std::uint32_t max_feature, LetorRows& rows)
        : at_(piece.data()), end_(piece.data() + piece.size()), max_feature_(max_feature), rows_(rows) {}

    void read() {
        try {
            for (; at_ != end_; ++at_, ++n_lines_) read_line();
        } catch (const Fault& fault) {
            fault_ = fault;
        }
    }

    // The lines before the faulty one, or all of them.
    std::int64_t n_lines() const { return n_lines_; }
    std::uint32_t n_features() const { return n_features_; }
    const std::optional<Fault>& fault() const { return fault_; }

  private:
    // Leaves at_ on the line's end.
    void read_line() {
        at_ = skip_blanks(at_);
        const bool has_document = !ends_fields(*at_);
        if (has_document) {
            read_label();
            read_query();
            read_features();
        }
        const std::string_view comment = read_comment();
        if (has_document) rows_.document_ids.add(checked_id(document_of(comment)));
    }

    void read_label() {
        double label = 0;
        const char* end = read_short_decimal(at_, label);
        if (end == nullptr || !ends_token(*end)) {
            const std::string_view token = token_at(at_);
            const std::optional<double> number = parse_decimal(token);
            if (!number && !is_missing(token)) throw Fault{LetorFault::label_not_number, token};
            if (!number || std::isinf(*number)) throw Fault{LetorFault::label_not_finite, token};
            label = *number;
            end = at_ + token.size();
        }
        rows_.labels.push_back(label);
        at_ = end;
    }

    void read_query() {
        constexpr std::string_view prefix = "qid:";
        at_ = skip_blanks(at_);
        const std::string_view token = token_at(at_);
        if (!token.starts_with(prefix) || token.size() == prefix.size())
            throw Fault{LetorFault::query_missing, token};
        const std::string_view id = token.substr(prefix.size());
        if (rows_.query_ids.size() == 0 || rows_.query_ids[rows_.query_ids.size() - 1] != id) {
            rows_.query_ids.add(checked_id(id));
            rows_.rows_of_query.push_back(0);
        }
        ++rows_.rows_of_query.back();
        at_ += token.size();
    }

    void read_features() {
        const std::size_t runs_before = rows_.runs.size();
        std::uint32_t first = 0, last = 0;  // the run so far holds the features first + 1 to last
        for (at_ = skip_blanks(at_); !ends_fields(*at_); at_ = skip_blanks(at_)) {
            const std::uint32_t feature = read_feature(last);
            if (feature != last + 1) {
                add_run(first, last);
                first = feature - 1;
            }
            last = feature;
            rows_.values.push_back(read_value());
        }
        add_run(first, last);
        rows_.runs_of_row.push_back(static_cast<std::uint32_t>(rows_.runs.size() - runs_before));
        n_features_ = std::max(n_features_, last);
    }

    void add_run(std::uint32_t first, std::uint32_t last) {
        if (first != last) rows_.runs.push_back({first, last - first});
    }

    // Reads "feature:", which must be above `last`, and leaves at_ on the value.
    std::uint32_t read_feature(std::uint32_t last) {
        token_ = at_;
        std::uint64_t feature = 0;
        const char* at = at_;
        for (; is_digit(*at); ++at)
            if (feature <= max_feature_) feature = feature * 10 + static_cast<std::uint64_t>(*at - '0');
        if (*at != ':' || at == at_ || feature <= last || feature > max_feature_) throw_feature_fault(feature);
        at_ = at + 1;
        return static_cast<std::uint32_t>(feature);
    }

    [[noreturn]] void throw_feature_fault(std::uint64_t feature) const {
        const std::string_view token = token_at(token_);
        const std::size_t colon = token.find(':');
        if (colon == std::string_view::npos) throw Fault{LetorFault::pair_malformed, token};
        const bool is_whole = colon > 0 && std::all_of(token.begin(), token.begin() + colon, is_digit);
        if (!is_whole || feature == 0) throw Fault{LetorFault::feature_not_positive, token};
        if (feature > max_feature_) throw Fault{LetorFault::feature_too_high, token};
        throw Fault{LetorFault::feature_order, token};
    }

    float read_value() {
        double value = 0;
        const char* end = read_short_decimal(at_, value);
        if (end == nullptr || !ends_token(*end)) return read_long_value();
        at_ = end;
        return checked_value(value);
    }

    float read_long_value() {
        const std::string_view text = token_at(at_);
        const std::optional<double> number = parse_decimal(text);
        if (!number && !is_missing(text)) throw Fault{LetorFault::value_not_number, token_at(token_)};
        at_ += text.size();
        return number ? checked_value(*number) : kMissing;
    }

    float checked_value(double value) const {
        const auto rounded = static_cast<float>(value);
        if (std::isinf(rounded)) throw Fault{LetorFault::value_not_finite, token_at(token_)};
        return rounded;
    }

    // The text after '#', if there is any; leaves at_ on the line's end.
    std::string_view read_comment() {
        const char* begin = at_ + (*at_ == '#');
        at_ = static_cast<const char*>(std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)));
        return {begin, static_cast<std::size_t>(at_ - begin)};
    }

    static std::string_view checked_id(std::string_view id) {
        if (!is_text(id)) throw Fault{LetorFault::id_not_text, id};
        return id;
    }

    const char* at_;
    const char* end_;
    const char* token_ = nullptr;  // where the pair that is being read begins
    std::uint32_t max_feature_;
    LetorRows& rows_;
    std::int64_t n_lines_ = 0;
    std::uint32_t n_features_ = 0;
    std::optional<Fault> fault_;
};

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

// glibc keeps what is freed in small blocks, here as much as the matrix itself, unless it is asked.
void return_freed_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

// The shortest text that reads back as `value`. Text passes through double on its way to float, and where the
// shortest text of the float does not survive that second rounding, the text of the double does.
char* write_value(float value, char* to, char* end) {
    if (std::isnan(value)) return std::copy_n("NULL", 4, to);
    const auto shortest = std::to_chars(to, end, value);
    double read = 0;
    std::from_chars(to, shortest.ptr, read);
    return static_cast<float>(read) == value ? shortest.ptr : std::to_chars(to, end, double{value}).ptr;
}

}  // namespace

// `= {}` would keep the memory.
void LetorRows::free_features() {
    values = std::vector<float>();
    runs = std::vector<Run>();
    runs_of_row = std::vector<std::uint32_t>();
}

void LetorRows::clear() {
    values.clear();
    runs.clear();
    runs_of_row.clear();
    labels.clear();
    query_ids.clear();
    rows_of_query.clear();
    document_ids.clear();
}

std::optional<LetorError> LetorParser::feed(std::string_view block) {
    const std::size_t first_line = block.find('\n') + 1;
    unfinished_line_.append(block.substr(0, first_line == 0 ? block.size() : first_line));
    if (first_line == 0) return std::nullopt;
    const std::size_t whole_lines = block.rfind('\n') + 1;
    std::vector<std::string_view> pieces{unfinished_line_};
    cut_into_pieces(block.substr(first_line, whole_lines - first_line), pieces);
    std::optional<LetorError> error = read_pieces(pieces);
    unfinished_line_.assign(block.substr(whole_lines));
    return error;
}

std::optional<LetorError> LetorParser::read_pieces(std::vector<std::string_view>& pieces) {
    if (n_lines_ == 0 && pieces[0].starts_with(kByteOrderMark)) pieces[0].remove_prefix(kByteOrderMark.size());
    if (scratch_.size() < pieces.size()) scratch_.resize(pieces.size());
    std::vector<PieceReader> readers;
    for (std::size_t i = 0; i < pieces.size(); ++i) readers.emplace_back(pieces[i], max_feature_, scratch_[i]);
    std::vector<LetorRows> parts(pieces.size());
    parallel_for(pieces.size(), n_threads_, [&](std::size_t i) {
        scratch_[i].clear();
        readers[i].read();
        parts[i] = scratch_[i];  // a copy takes no more space than it needs
    });
    for (const PieceReader& reader : readers) {
        n_lines_ += reader.n_lines();
        if (const auto& fault = reader.fault())
            return LetorError{n_lines_ + 1, fault->kind, std::string(fault->token)};
        n_features_ = std::max<std::size_t>(n_features_, reader.n_features());
    }
    keep(parts);
    return std::nullopt;
}

void LetorParser::keep(std::vector<LetorRows>& parts) {
    parts_.insert(parts_.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
    for (std::size_t part = parts_.size() - parts.size(); part < parts_.size(); ++part)
        n_rows_ += parts_[part].labels.size();
}

bool LetorParser::has_document_ids() const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const LetorRows& part) { return !part.document_ids.all_empty(); });
}

void LetorParser::copy_labels(std::span<double> labels) const {
    auto next = labels.begin();
    for (const LetorRows& part : parts_) next = std::copy(part.labels.begin(), part.labels.end(), next);
}

std::vector<std::string_view> LetorParser::number_queries(std::span<std::int64_t> queries) const {
    std::unordered_map<std::string_view, std::int64_t> number_of;
    std::vector<std::string_view> ids;
    auto next = queries.begin();
    for (const LetorRows& part : parts_)
        for (std::size_t stretch = 0; stretch < part.rows_of_query.size(); ++stretch) {
            const std::string_view id = part.query_ids[stretch];
            const auto [entry, is_new] = number_of.try_emplace(id, static_cast<std::int64_t>(ids.size()));
            if (is_new) ids.push_back(id);
            next = std::fill_n(next, part.rows_of_query[stretch], entry->second);
        }
    return ids;
}

void LetorParser::move_features(float absent, std::size_t width, std::span<float> features) {
    scratch_.clear();
    std::vector<std::size_t> first_rows;
    std::size_t n_rows = 0;
    for (const LetorRows& part : parts_) {
        first_rows.push_back(n_rows);
        n_rows += part.labels.size();
    }
    parallel_for(parts_.size(), n_threads_, [&](std::size_t i) {
        copy_rows(parts_[i], absent, width, features.data() + first_rows[i] * width);
        parts_[i].free_features();
    });
    return_freed_memory();
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
