#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "rankwright/letor.hpp"

namespace rankwright {
namespace {

// The shortest text that reads back as `value`. Readers round text to double and then to float; where the shortest
// text of the float does not survive both, the text of the double does.
char* write_value(float value, char* to, char* end) {
    if (std::isnan(value)) return std::copy_n("NULL", 4, to);
    const auto shortest = std::to_chars(to, end, value);
    double read = 0;
    std::from_chars(to, shortest.ptr, read);
    return static_cast<float>(read) == value ? shortest.ptr : std::to_chars(to, end, double{value}).ptr;
}

}  // namespace

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
