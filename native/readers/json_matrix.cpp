#include "readers/json_matrix.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "readers/decimal.hpp"

namespace rankwright {
namespace {

constexpr double kMargin = 0x1p-50;  // above the rounding error of two operations on doubles

// The number that eight digits write, 0 to 9 each, the first in the lowest byte: pairs are joined, then pairs of
// pairs.
std::uint64_t joined(std::uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    constexpr std::uint64_t pairs = 0x000000FF000000FF;
    constexpr std::uint64_t upper = 100 + (std::uint64_t{1'000'000} << 32),
                            lower = 1 + (std::uint64_t{10'000} << 32);
    return ((digits & pairs) * upper + ((digits >> 16) & pairs) * lower) >> 32;
}

// Appends to `whole` the digits at the beginning of eight characters, and returns how many there are. There is no
// branch: with numbers of many lengths it would be mispredicted.
int append_digits(const char* at, std::uint64_t& whole) {
    constexpr std::uint64_t zeros = 0x3030303030303030, upper_bits = 0x8080808080808080,
                            carry = 0x7676767676767676;
    constexpr std::uint64_t powers[] = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
    std::uint64_t text;
    std::memcpy(&text, at, 8);
    text ^= zeros;  // what is above 9 now is not a digit
    const int n = std::countr_zero((text | (text + carry)) & upper_bits) / 8;
    whole = whole * powers[n] + (n == 0 ? 0 : joined(text << (64 - 8 * n)));
    return n;
}

// As read_digits, eight at a time; `last` is a character that is not a digit.
const char* read_many_digits(const char* at, const char* last, std::uint64_t& whole) {
    if constexpr (std::endian::native == std::endian::little) {
        while (last - at >= 8) {
            const int n = append_digits(at, whole);
            at += n;
            if (n < 8) return at;
        }
    }
    return read_digits(at, whole);
}

// Rounds whole x 10^power, computed as a double with a small error, to a float. Returns false if the error could
// change the float.
bool round_to_float(std::uint64_t whole, std::ptrdiff_t power, float& value) {
    if (power < -kMostExactPower || power > kMostExactPower) return false;
    const auto near = static_cast<double>(whole);
    const double size = power <= 0 ? near / kExactPowers[-power] : near * kExactPowers[power];
    value = static_cast<float>(size * (1 - kMargin));
    return value == static_cast<float>(size * (1 + kMargin));
}

// Reads the number at `begin` and returns its end; nullptr if it is not a JSON number or too large.
const char* read_number(const char* begin, const char* last, float& value) {
    const bool negative = *begin == '-';
    const char* at = begin + negative;
    std::uint64_t whole = 0;
    const char* end = read_many_digits(at, last, whole);
    std::ptrdiff_t n_digits = end - at, power = 0;
    if (n_digits == 0 || (*at == '0' && n_digits > 1)) return nullptr;
    if (*end == '.') {
        const char* fraction = end + 1;
        end = read_many_digits(fraction, last, whole);
        power = fraction - end;
        if (power == 0) return nullptr;
        n_digits -= power;
    }
    if (*end == 'e' || *end == 'E') {
        int exponent = 0;
        if ((end = read_exponent(end + 1, exponent)) == nullptr) return nullptr;
        power += exponent;
    }
    if (n_digits > kMostDigits || !round_to_float(whole, power, value))
        value = static_cast<float>(*parse_decimal({at, static_cast<std::size_t>(end - at)}));
    if (negative) value = -value;
    return std::isfinite(value) ? end : nullptr;
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

const char* skip_space(const char* at) {
    while (is_space(*at)) ++at;
    return at;
}

// Reads the number or null at `at`, and the space behind it.
const char* read_value(const char* at, const char* last, float& value) {
    if (last - at > 4 && std::memcmp(at, "null", 4) == 0) {
        value = std::numeric_limits<float>::quiet_NaN();
        return skip_space(at + 4);
    }
    const char* end = read_number(at, last, value);
    return end == nullptr ? nullptr : skip_space(end);
}

// Appends the numbers of the row at `at` and returns its end.
const char* read_row(const char* at, const char* last, std::vector<float>& values) {
    if (*at != '[') return nullptr;
    do {
        float value = 0;
        at = read_value(skip_space(at + 1), last, value);
        if (at == nullptr) return nullptr;
        values.push_back(value);
    } while (*at == ',');
    return *at == ']' && at < last ? at + 1 : nullptr;
}

}  // namespace

// The last character is the bracket that closes the matrix. No loop passes it, since it is neither space nor
// digit, and it is not taken for the end of a row.
std::optional<JsonMatrix> read_json_matrix(std::string_view text) {
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    if (text.empty() || text.back() != ']') return std::nullopt;
    const char* last = text.data() + text.size() - 1;
    const char* at = skip_space(text.data());
    if (*at != '[') return std::nullopt;
    JsonMatrix matrix;
    do {
        const std::size_t before = matrix.values.size();
        at = read_row(skip_space(at + 1), last, matrix.values);
        if (at == nullptr) return std::nullopt;
        const std::size_t n_columns = matrix.values.size() - before;
        if (before > 0 && n_columns != matrix.n_columns) return std::nullopt;
        matrix.n_columns = n_columns;
        at = skip_space(at);
    } while (*at == ',');
    if (at != last) return std::nullopt;
    return matrix;
}

}  // namespace rankwright
