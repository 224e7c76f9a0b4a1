#include "rankwright/vectors.hpp"

namespace rankwright::RANKWRIGHT_VECTOR_PATH {

// A search of eight steps for all values together: step by step, not value by value, so that each step is a vector
// of gathers. The count of edges below a value is its code.
void encode_column(const float* values, const float* edges, std::uint8_t* codes) {
    std::int32_t below[kEncodeRows];
    for (std::int64_t i = 0; i < kEncodeRows; ++i) below[i] = 0;
    for (std::int32_t step = 128; step > 0; step /= 2)
        for (std::int64_t i = 0; i < kEncodeRows; ++i)
            below[i] += edges[below[i] + step - 1] < values[i] ? step : 0;
    for (std::int64_t i = 0; i < kEncodeRows; ++i)
        codes[i] = static_cast<std::uint8_t>(values[i] == values[i] ? below[i] : 255);
}

}  // namespace rankwright::RANKWRIGHT_VECTOR_PATH
