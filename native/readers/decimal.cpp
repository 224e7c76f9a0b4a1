#include "readers/decimal.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <system_error>

#if defined(__APPLE__)
#include <xlocale.h>
#endif

namespace rankwright {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 60;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
    return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; });
}

// The exponent written in "1.5e-7", saturated so that sums with it cannot overflow.
std::int64_t written_exponent(std::string_view text, std::size_t e) {
    if (e == std::string_view::npos) return 0;
    text.remove_prefix(e + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t exponent = 0;
    const auto error = std::from_chars(text.data(), text.data() + text.size(), exponent).ec;
    if (error != std::errc()) exponent = text.starts_with('-') ? -kHuge : kHuge;
    return std::clamp(exponent, -kHuge, kHuge);
}

// A number out of range is too large or too small, depending on the power of ten of its first digit.
bool is_large(std::string_view text) {
    const std::size_t e = text.find_first_of("eE");
    const std::string_view mantissa = text.substr(0, e);
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    const std::size_t first = std::min(mantissa.find_first_of("123456789"), mantissa.size());
    const auto power = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
    return written_exponent(text, e) + power > 0;
}

}  // namespace

#if defined(__APPLE__)
std::from_chars_result read_decimal(const char* first, const char* last, double& value) {
    const std::string text(first, std::find_if(first, last, [](char c) { return c == 'x' || c == 'X'; }));
    char* end = nullptr;
    value = strtod_l(text.c_str(), &end, nullptr);  // as the C locale writes numbers, and never hexadecimal ones
    return {first + (end - text.c_str()), std::errc()};
}
#else
std::from_chars_result read_decimal(const char* first, const char* last, double& value) {
    return std::from_chars(first, last, value);
}
#endif

std::optional<double> parse_decimal(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    double size = kInfinity;
    if (!equals_ignoring_case(text, "inf") && !equals_ignoring_case(text, "infinity")) {
        // from_chars would also accept a second sign and several kinds of NaN.
        if (text.empty() || !(is_digit(text[0]) || text[0] == '.')) return std::nullopt;
        const auto [end, error] = read_decimal(text.data(), text.data() + text.size(), size);
        if (end != text.data() + text.size()) return std::nullopt;
        if (error == std::errc::result_out_of_range) size = is_large(text) ? kInfinity : 0.0;
    }
    return negative ? -size : size;
}

}  // namespace rankwright
