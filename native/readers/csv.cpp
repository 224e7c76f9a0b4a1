#include "readers/csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "readers/decimal.hpp"

namespace rankwright {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 7> kMissingWords = {"NA", "N/A", "NaN", "nan", "NULL", "null", "None"};
constexpr std::array<std::string_view, 3> kTrueWords = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> kFalseWords = {"false", "False", "FALSE"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view text) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

std::string_view without_blanks(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_missing(std::string_view field) {
    const std::string_view text = without_blanks(field);
    return text.empty() || is_one_of(kMissingWords, text);
}

// A character that cannot be part of a number follows `field`.
std::optional<double> number_in(std::string_view field) {
    double value = 0;
    if (read_short_decimal(field.data(), value) == field.data() + field.size()) return value;
    const std::string_view text = without_blanks(field);
    if (const std::optional<double> number = parse_decimal(text)) return number;
    if (is_one_of(kTrueWords, text)) return 1.0;
    if (is_one_of(kFalseWords, text)) return 0.0;
    return std::nullopt;
}

bool is_rounded_integer(double value) {
    return static_cast<double>(static_cast<float>(value)) != value && std::trunc(value) == value;
}

}  // namespace

std::optional<CsvError> CsvParser::feed(std::string_view block) {
    waiting_.append(block);
    const char* at = waiting_.data();
    const char* end = at + waiting_.rfind('\n') + 1;  // a quoted field may still go on after it
    try {
        if (n_lines_ == 0 && waiting_.starts_with(kByteOrderMark) && at != end) at += kByteOrderMark.size();
        while (at != end) {
            const char* next = read_record(at, end);
            if (next == nullptr) break;
            keep_record(static_cast<std::size_t>(next - at));
            at = next;
        }
        waiting_.erase(0, static_cast<std::size_t>(at - waiting_.data()));
        if (waiting_.size() > max_record_) throw Fault{CsvFault::record_too_long, std::string(start_of(waiting_))};
    } catch (const Fault& fault) {
        return CsvError{n_lines_ + 1, fault.kind, fault.text};
    }
    return std::nullopt;
}

std::optional<CsvError> CsvParser::end() const {
    if (waiting_.empty()) return std::nullopt;
    return CsvError{n_lines_ + 1, CsvFault::quote_not_closed, std::string(start_of(waiting_))};
}

// Splits the record at `at` into fields_ and returns where the next one begins, or nullptr if a quoted field goes
// on beyond `end`, which follows a line end.
const char* CsvParser::read_record(const char* at, const char* end) {
    fields_.clear();
    unquoted_.clear();
    record_lines_ = 1;
    while (true) {
        at = *at == '"' ? read_quoted(at + 1, end) : read_plain(at);
        if (at == nullptr) return nullptr;
        if (*at++ == '\n') return at;
    }
}

// Both return the delimiter or the line feed that follows the field.
const char* CsvParser::read_plain(const char* at) {
    const char* begin = at;
    while (*at != delimiter_ && *at != '\n' && *at != '\r') ++at;
    fields_.emplace_back(begin, static_cast<std::size_t>(at - begin));
    return after_field(at);
}

const char* CsvParser::read_quoted(const char* at, const char* end) {
    std::string* joined = nullptr;
    for (const char* begin = at;; begin = at) {
        const auto* quote = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
        if (quote == nullptr) return nullptr;
        record_lines_ += std::count(begin, quote, '\n');
        const bool is_doubled = quote[1] == '"';
        const std::string_view part(begin, static_cast<std::size_t>(quote - begin) + is_doubled);
        if (is_doubled && joined == nullptr) joined = &unquoted_.emplace_back();
        if (joined != nullptr) joined->append(part);
        at = quote + 1 + is_doubled;
        if (is_doubled) continue;
        fields_.push_back(joined != nullptr ? std::string_view(*joined) : part);
        return after_field(at);
    }
}

const char* CsvParser::after_field(const char* at) const {
    if (*at == '\r') {
        if (at[1] != '\n') throw Fault{CsvFault::carriage_return, std::string(start_of(fields_.back()))};
        ++at;
    }
    if (*at != delimiter_ && *at != '\n')
        throw Fault{CsvFault::text_after_quote, std::string(start_of(fields_.back()))};
    return at;
}

void CsvParser::keep_record(std::size_t n_bytes) {
    if (n_bytes > max_record_ + 1) throw Fault{CsvFault::record_too_long, std::string(start_of(fields_[0]))};
    if (fields_.size() > 1 || !fields_[0].empty()) {
        if (!has_names_) {
            keep_names();
        } else {
            if (fields_.size() != columns_.size())
                throw Fault{
                    fields_.size() < columns_.size() ? CsvFault::too_few_fields : CsvFault::too_many_fields,
                    std::to_string(fields_.size())};
            for (std::size_t i = 0; i < fields_.size(); ++i) keep_field(fields_[i], columns_[i]);
            ++n_rows_;
        }
    }
    n_lines_ += record_lines_;
}

void CsvParser::keep_names() {
    for (std::string_view name : fields_) {
        if (!is_text(name)) throw Fault{CsvFault::not_utf8, std::string(start_of(name))};
        columns_.push_back(new_column(name));
    }
    has_names_ = true;
}

CsvColumn CsvParser::new_column(std::string_view name) const {
    CsvColumn column;
    column.name = name;
    if (roles_.label == column.name) column.kind = CsvColumn::Kind::label;
    column.is_double = column.kind == CsvColumn::Kind::label;
    if (std::find(roles_.ids.begin(), roles_.ids.end(), name) != roles_.ids.end())
        column.kind = CsvColumn::Kind::id;
    return column;
}

std::vector<CsvColumn> CsvParser::take_columns() {
    std::vector<CsvColumn> empty;
    for (const CsvColumn& column : columns_) empty.push_back(new_column(column.name));
    n_rows_ = 0;
    return std::exchange(columns_, std::move(empty));
}

void CsvParser::keep_field(std::string_view field, CsvColumn& column) {
    if (column.kind != CsvColumn::Kind::id) return keep_number(field, column);
    if (!is_text(field)) throw Fault{CsvFault::not_utf8, std::string(start_of(field))};
    if (is_missing(field) && !column.first_missing_line) column.first_missing_line = n_lines_ + 1;
    column.ids.add(field);
}

void CsvParser::keep_number(std::string_view field, CsvColumn& column) {
    double value = kMissing;
    if (const std::optional<double> number = number_in(field)) {
        value = *number;
        ++column.n_numbers;
    } else if (is_missing(field)) {
        if (!column.first_missing_line) column.first_missing_line = n_lines_ + 1;
    } else {
        if (!is_text(field)) throw Fault{CsvFault::not_utf8, std::string(start_of(field))};
        if (!column.first_text) column.first_text = {n_lines_ + 1, std::string(start_of(field))};
        ++column.n_texts;
    }
    if (!column.is_double && is_rounded_integer(value)) {
        column.doubles.assign(column.floats.begin(), column.floats.end());
        column.floats = {};
        column.is_double = true;
    }
    if (column.is_double)
        column.doubles.push_back(value);
    else
        column.floats.push_back(static_cast<float>(value));
}

}  // namespace rankwright
