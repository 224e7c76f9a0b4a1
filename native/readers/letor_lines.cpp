#include "readers/letor_lines.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "readers/decimal.hpp"

namespace rankwright {
namespace {

constexpr std::string_view kQueryPrefix = "qid:";
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

// X where `text` starts with "name = X", otherwise nothing; `signs` are the characters that may stand for "=".
std::string_view named_at(std::string_view text, std::string_view name, std::string_view signs) {
    if (!text.starts_with(name)) return {};
    text = without_blanks_before(text.substr(name.size()));
    const bool has_sign = !text.empty() && signs.find(text.front()) != std::string_view::npos;
    return has_sign ? first_word(text.substr(1)) : std::string_view();
}

// X of "name = X", anywhere in the comment; nothing if there is none.
std::string_view named_in(std::string_view comment, std::string_view name, std::string_view signs) {
    for (std::string_view rest = without_blanks_before(comment); !rest.empty();) {
        if (const std::string_view id = named_at(rest, name, signs); !id.empty()) return id;
        rest = without_blanks_before(rest.substr(first_word(rest).size()));
    }
    return {};
}

std::string_view document_in(std::string_view comment) { return named_in(comment, "docid", "="); }

// The document that a comment names: X of "docid = X", otherwise its first word.
std::string_view document_of(std::string_view comment) {
    const std::string_view named = document_in(comment);
    return named.empty() ? first_word(comment) : named;
}

// The query that a comment names: X of "qid:X" or "qid = X", otherwise its first word.
std::string_view query_of(std::string_view comment) {
    const std::string_view named = named_in(comment, "qid", ":=");
    return named.empty() ? first_word(comment) : named;
}

using Fault = LetorLinesRead::Fault;

// Reads whole lines. The last character is a line end, so that no scan for the end of a token has to check for the
// end of the text.
class LineReader {
  public:
    LineReader(std::string_view lines, const LetorRules& rules, LetorRows& rows)
        : at_(lines.data()), end_(lines.data() + lines.size()), rules_(rules), rows_(rows) {}

    LetorLinesRead read() {
        try {
            for (; at_ != end_; ++at_, ++result_.n_lines) read_line();
        } catch (const Fault& fault) {  // a line that is too long has no other fault
            result_.fault = is_too_long(line_end_after(at_)) ? too_long() : fault;
        }
        return result_;
    }

  private:
    // Leaves at_ on the line end, which is searched for only after the features, so that the bytes of a line are
    // read once.
    void read_line() {
        line_ = at_;
        at_ = skip_blanks(at_);
        if (ends_fields(*at_))
            at_ = line_end_after(at_);
        else
            read_document();
        if (is_too_long(at_)) throw too_long();
    }

    const char* line_end_after(const char* at) const {
        return *at == '\n' ? at
                           : static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end_ - at)));
    }

    bool is_too_long(const char* line_end) const {
        return static_cast<std::size_t>(line_end - line_) > rules_.max_line;
    }

    Fault too_long() const {
        const char* line_end = line_end_after(line_);
        return {LetorFault::line_too_long, start_of({line_, static_cast<std::size_t>(line_end - line_)})};
    }

    void read_document() {
        if (rules_.judged || starts_with_label()) read_label();
        if (rules_.queries == LetorQueries::field) read_query();
        read_features();
        const char* comment = at_ + (*at_ == '#');
        const char* line_end = line_end_after(at_);
        read_comment({comment, static_cast<std::size_t>(line_end - comment)});
        at_ = line_end;
    }

    // Whether a line has a label although the file need not have labels: all other fields have a colon.
    bool starts_with_label() const {
        const std::string_view token = token_at(at_);
        if (rules_.queries == LetorQueries::field) return !token.starts_with(kQueryPrefix);
        return token.find(':') == std::string_view::npos;
    }

    void read_comment(std::string_view comment) {
        if (rules_.queries != LetorQueries::comment) {
            rows_.document_ids.add(checked_id(document_of(comment)));
            return;
        }
        const std::string_view query = query_of(comment);
        if (query.empty()) throw Fault{LetorFault::comment_missing, {}};
        add_row_of_query(query);
        rows_.document_ids.add(checked_id(document_in(comment)));
    }

    void read_label() {
        double label = 0;
        const char* end = read_short_decimal(at_, label);
        if (end == nullptr || !ends_token(*end)) {
            const std::string_view token = token_at(at_);
            label = long_label(token);
            end = at_ + token.size();
        }
        if (rules_.judged) rows_.labels.push_back(label);
        at_ = end;
    }

    static double long_label(std::string_view token) {
        if (token.starts_with(kQueryPrefix)) throw Fault{LetorFault::label_missing, token};
        const std::optional<double> number = parse_decimal(token);
        if (!number && !is_missing(token)) throw Fault{LetorFault::label_not_number, token};
        if (!number || std::isinf(*number)) throw Fault{LetorFault::label_not_finite, token};
        return *number;
    }

    void read_query() {
        at_ = skip_blanks(at_);
        const std::string_view token = token_at(at_);
        if (!token.starts_with(kQueryPrefix) || token.size() == kQueryPrefix.size())
            throw Fault{LetorFault::query_missing, token};
        add_row_of_query(token.substr(kQueryPrefix.size()));
        at_ += token.size();
    }

    void add_row_of_query(std::string_view id) {
        const std::size_t n_stretches = rows_.query_ids.size();
        if (n_stretches == 0 || rows_.query_ids[n_stretches - 1] != id) add_query(id);
        ++rows_.rows_of_query.back();
    }

    void add_query(std::string_view id) {
        rows_.query_ids.add(checked_id(id));
        rows_.rows_of_query.push_back(0);
        const std::size_t length = n_characters(id);
        if (length > rules_.max_query_id) throw Fault{LetorFault::query_id_too_long, start_of(id)};
        result_.longest_query_id = std::max(result_.longest_query_id, length);
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
        result_.n_features = std::max<std::size_t>(result_.n_features, last);
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
            if (feature <= rules_.max_feature) feature = feature * 10 + static_cast<std::uint64_t>(*at - '0');
        feature += rules_.zero_based;
        if (*at != ':' || at == at_ || feature <= last || feature > rules_.max_feature)
            throw_feature_fault(feature);
        at_ = at + 1;
        return static_cast<std::uint32_t>(feature);
    }

    [[noreturn]] void throw_feature_fault(std::uint64_t feature) const {
        const std::string_view token = token_at(token_);
        const std::size_t colon = token.find(':');
        if (colon == std::string_view::npos) throw Fault{LetorFault::pair_malformed, token};
        const bool is_whole = colon > 0 && std::all_of(token.begin(), token.begin() + colon, is_digit);
        if (!is_whole || feature == 0) throw Fault{LetorFault::feature_not_positive, token};
        if (feature > rules_.max_feature) throw Fault{LetorFault::feature_too_high, token};
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

    static std::string_view checked_id(std::string_view id) {
        if (!is_text(id)) throw Fault{LetorFault::id_not_text, id};
        return id;
    }

    const char* at_;
    const char* end_;
    const char* line_ = nullptr;   // where the current line begins
    const char* token_ = nullptr;  // where the current pair begins
    const LetorRules rules_;
    LetorRows& rows_;
    LetorLinesRead result_;
};

}  // namespace

// Assigning {} would keep the memory.
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

LetorLinesRead read_letor_lines(std::string_view lines, const LetorRules& rules, LetorRows& rows) {
    return LineReader(lines, rules, rows).read();
}

}  // namespace rankwright
