// Reads a matrix of numbers from JSON: an array with one array of numbers per row.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace rankwright {

struct JsonMatrix {
    std::size_t n_columns = 0;
    std::vector<float> values;  // row-major
};

// The matrix that is all of `text`; each number is rounded to a double and then to a float, null is NaN. Returns
// nothing if the text is not such a matrix (other values, rows of different lengths or without numbers, invalid
// JSON), or has a number too large for a float or with more than three digits of exponent: the caller then uses a
// general JSON reader, which accepts it or reports what is wrong.
std::optional<JsonMatrix> read_json_matrix(std::string_view text);

}  // namespace rankwright
