// Converts decimal text to double, correctly rounded, as Python's float() does.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rankwright {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Powers of ten that a double represents exactly.
inline constexpr double kExactPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr int kMostExactPower = 22;
inline constexpr std::uint64_t kMostExactWhole = std::uint64_t{1} << 53;
inline constexpr std::ptrdiff_t kMostDigits = 19;  // more could overflow 64 bits

// All of `text` as a number, or nothing if it is not a number. Too large a number becomes infinite, too small a
// number zero; "inf" and "infinity" are accepted, NaN is not.
std::optional<double> parse_decimal(std::string_view text);

// As std::from_chars, which Apple's library has only for integers. The text must begin with a digit or a point.
std::from_chars_result read_decimal(const char* first, const char* last, double& value);

// Appends the digits at `at` to `whole` and returns their end. A character that is not a digit must follow.
inline const char* read_digits(const char* at, std::uint64_t& whole) {
    for (; is_digit(*at); ++at) whole = whole * 10 + static_cast<std::uint64_t>(*at - '0');
    return at;
}

// Reads the exponent after an 'e', adds it to `power` and returns its end.
inline const char* read_exponent(const char* at, int& power) {
    const bool negative = *at == '-';
    if (negative || *at == '+') ++at;
    std::uint64_t size = 0;
    const char* end = read_digits(at, size);
    if (end == at || end - at > 3) return nullptr;
    power += negative ? -static_cast<int>(size) : static_cast<int>(size);
    return end;
}

// Reads the number at `at` and returns its end. Returns nullptr if it is not a number or needs more than one exact
// operation on doubles; use parse_decimal then. A character that cannot be part of a number must follow.
inline const char* read_short_decimal(const char* at, double& value) {
    const bool negative = *at == '-';
    at += negative;
    std::uint64_t whole = 0;
    const char* end = read_digits(at, whole);
    std::ptrdiff_t n_digits = end - at;
    int power = 0;
    if (*end == '.') {
        const char* fraction = end + 1;
        end = read_digits(fraction, whole);
        n_digits += end - fraction;
        power = static_cast<int>(fraction - end);
    }
    if (n_digits == 0 || n_digits > kMostDigits || whole > kMostExactWhole) return nullptr;
    if ((*end == 'e' || *end == 'E') && (end = read_exponent(end + 1, power)) == nullptr) return nullptr;
    if (power < -kMostExactPower || power > kMostExactPower) return nullptr;
    const auto exact = static_cast<double>(whole);
    const double size = power <= 0 ? exact / kExactPowers[-power] : exact * kExactPowers[power];
    value = negative ? -size : size;
    return end;
}

}  // namespace rankwright
