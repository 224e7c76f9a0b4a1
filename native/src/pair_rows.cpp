#include "rankwright/pair_rows.hpp"

namespace rankwright {

#if defined(__x86_64__)
PairRows pair_rows(VectorPath path) {
    switch (path) {
        case VectorPath::avx512:
            return {avx512::measure_from, avx512::linear_row, avx512::given_row};
        case VectorPath::avx2:
            return {avx2::measure_from, avx2::linear_row, avx2::given_row};
        case VectorPath::portable:
            break;
    }
    return {portable::measure_from, portable::linear_row, portable::given_row};
}
#else
PairRows pair_rows(VectorPath) { return {portable::measure_from, portable::linear_row, portable::given_row}; }
#endif

}  // namespace rankwright
