// The inner loops of pairs/lambdas.hpp: the pairs of one document with all documents below it. Compiled once per
// SIMD path; see simd/kernels.hpp.
#pragma once
#include <cstdint>

#include "simd/kernels.hpp"

namespace rankwright {

// The documents of one query, best first. Every column is aligned to kLanes, and readable and writable up to a
// multiple of kLanes. A document whose label is NaN, as in the padding, forms no pairs.
struct PairColumns {
    std::int64_t size;
    float* labels;
    float* below;        // score minus that of the anchor, which ranks at least as high
    float* odds;         // exp(sigma x below)
    float* gradient;     // sums over the pairs with documents above
    float* hessian;      // without the factor sigma
    float floor, slope;  // a delta is divided by floor + slope x |difference of scores|
};

// Gradient and hessian of the upper document of a row of pairs, and the sum of all |lambda| of the row.
struct RowSums {
    float gradient, hessian, total;
};

// The two per-document arrays of a metric that sums gain x discount.
struct LinearColumns {
    const float* gains;
    const float* discounts;
};

// measure_from fills `below` and `odds` of the documents from `anchor` on. The other functions add the pairs of
// `upper` with every document below it and then set its label to NaN, so that rows must be processed from the best
// document down. The odds of an upper document must be at least exp(-16). deltas[j] is that of document j.
#define RANKWRIGHT_DECLARE_PAIR_ROWS(path)                                                                    \
    namespace path {                                                                                          \
    void measure_from(std::int64_t anchor, const double* scores, double sigma, const PairColumns& documents); \
    RowSums linear_row(std::int64_t upper, const LinearColumns& metric, const PairColumns& documents);        \
    RowSums given_row(std::int64_t upper, const float* deltas, const PairColumns& documents);                 \
    }

RANKWRIGHT_DECLARE_PAIR_ROWS(portable)
#if defined(__x86_64__)
RANKWRIGHT_DECLARE_PAIR_ROWS(avx2)
RANKWRIGHT_DECLARE_PAIR_ROWS(avx512)
#endif

struct PairRows {
    decltype(&portable::measure_from) measure_from;
    decltype(&portable::linear_row) linear_row;
    decltype(&portable::given_row) given_row;
};

PairRows pair_rows(SimdPath path);

}  // namespace rankwright
