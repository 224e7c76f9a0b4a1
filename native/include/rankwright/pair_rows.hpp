// The inner loops of lambdas.hpp: one document meets all that rank below it. Compiled once for each vector width,
// as vectors.hpp tells.
#pragma once
#include <cstdint>

#include "rankwright/vectors.hpp"

namespace rankwright {

// One query's documents, best first. Every column is aligned to, and readable and writable up to, a whole number
// of kLanes. A document whose label is NaN, as in the padding, meets nobody.
struct PairColumns {
    std::int64_t size;
    float* labels;
    float* below;        // score less that of the anchor, a document that ranks no lower
    float* odds;         // exp(sigma x below)
    float* gradient;     // what the documents were given by those above them
    float* hessian;      // without the factor sigma
    float floor, slope;  // a delta is divided by floor + slope x |difference of scores|
};

// What the upper document of a row was given, and the sum of all |lambda| of the row.
struct RowSums {
    float gradient, hessian, total;
};

// The two per-document arrays of a metric that sums gain x discount.
struct LinearColumns {
    const float* gains;
    const float* discounts;
};

// measure_from fills `below` and `odds` of the documents from `anchor` on. The rows add the pairs of `upper` with
// every document below it and then set its label to NaN: rows are to be taken from the best document downwards.
// odds of an upper document must not be less than exp(-16). deltas[j] is that of document j.
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

PairRows pair_rows(VectorPath path);

}  // namespace rankwright
