#include "simd/pair_kernels.hpp"
#include "simd/paths/width.hpp"

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

constexpr std::int64_t kFloats = kRegisterBytes / 4, kDoubles = kRegisterBytes / 8, kParts = kLanes / kFloats;

using Floats = float __attribute__((vector_size(kRegisterBytes), may_alias));
using FloatBits = std::int32_t __attribute__((vector_size(kRegisterBytes), may_alias));
using Doubles = double __attribute__((vector_size(kRegisterBytes), may_alias));
using DoubleBits = std::int64_t __attribute__((vector_size(kRegisterBytes), may_alias));
using HalfFloats = float __attribute__((vector_size(kRegisterBytes / 2), may_alias));
using Quad = float __attribute__((vector_size(16), may_alias));

inline Floats& floats(float* column, std::int64_t position) {
    return *reinterpret_cast<Floats*>(column + position);
}
inline const Floats& floats(const float* column, std::int64_t position) {
    return *reinterpret_cast<const Floats*>(column + position);
}

inline void drop_sign(Floats& values) {
    values = reinterpret_cast<Floats>(reinterpret_cast<FloatBits>(values) & 0x7fffffff);
}

// kLanes sums side by side, as many at a time as the path is wide: each adds the same numbers on every path.
struct LaneSums {
    Floats parts[kParts] = {};

    float sum() const {
        const Quad* quads = reinterpret_cast<const Quad*>(parts);
        const Quad four = (quads[0] + quads[2]) + (quads[1] + quads[3]);
        return (four[0] + four[2]) + (four[1] + four[3]);
    }
};

// With q = exp(sigma (s_lower - s_upper)), rho is 1 / (1 + q) if the lower document is the better one and
// q / (1 + q) if the upper one is; rho (1 - rho) is q / (1 + q)^2 in both cases.
template <class WriteDeltas>
inline RowSums meet_below(std::int64_t upper, const PairColumns& columns, const WriteDeltas& write_deltas) {
    const PairColumns documents = columns;  // a copy that no store can change stays in registers
    const float label = documents.labels[upper], below = documents.below[upper];
    const float inverse_odds = 1.0f / documents.odds[upper];
    documents.labels[upper] = __builtin_nanf("");
    LaneSums gradient, hessian, total;
    for (std::int64_t block = upper / kLanes * kLanes; block < documents.size; block += kLanes)
        for (std::int64_t part = 0; part < kParts; ++part) {
            const std::int64_t position = block + part * kFloats;
            const Floats labels = floats(documents.labels, position);
            const Floats q = floats(documents.odds, position) * inverse_odds;
            Floats distance = below - floats(documents.below, position), delta;
            drop_sign(distance);
            write_deltas(position, delta);
            const Floats damping = documents.floor + documents.slope * distance;
            const Floats inverse = 1.0f / ((1.0f + q) * damping);  // the only division per pair
            const Floats if_lower = (label > labels) | (label < labels) ? delta * inverse : Floats{};
            const Floats if_upper = if_lower * q;
            const Floats push = label > labels ? if_upper : -if_lower;
            const Floats curvature = if_upper * (inverse * damping);
            Floats size = push;
            drop_sign(size);
            gradient.parts[part] += push;
            hessian.parts[part] += curvature;
            total.parts[part] += size;
            floats(documents.gradient, position) -= push;
            floats(documents.hessian, position) += curvature;
        }
    return {gradient.sum(), hessian.sum(), total.sum()};
}

// exp for -80 <= x <= 0, to single precision: 2^n x exp(r) with |r| <= log(2) / 2.
inline void exponentiate(Doubles& x) {
    constexpr double kRounder = 0x1.8p52;  // adding it moves the nearest integer into the lowest bits
    const Doubles shifted = x * 1.4426950408889634 + kRounder;
    const Doubles r = x - (shifted - kRounder) * 0.6931471805599453;
    Doubles series = 1.0 + Doubles{};
    for (double term = 7.0; term > 0.0; term -= 1.0) series = 1.0 + r * (1.0 / term) * series;
    const DoubleBits power = (reinterpret_cast<DoubleBits>(shifted) + 1023) << 52;
    x = series * reinterpret_cast<Doubles>(power);
}

}  // namespace

void measure_from(std::int64_t anchor, const double* scores, double sigma, const PairColumns& documents) {
    const double origin = scores[anchor];
    for (std::int64_t position = anchor / kDoubles * kDoubles; position < documents.size; position += kDoubles) {
        Doubles below = *reinterpret_cast<const Doubles*>(scores + position) - origin;
        below = below < -1e30 ? -1e30 + Doubles{} : below;  // stays finite as a float
        below = below > 0.0 ? Doubles{} : below;            // documents above the anchor form no pairs here
        Doubles odds = sigma * below;
        odds = odds < -80.0 ? -80.0 + Doubles{} : odds;
        exponentiate(odds);
        *reinterpret_cast<HalfFloats*>(documents.below + position) = __builtin_convertvector(below, HalfFloats);
        *reinterpret_cast<HalfFloats*>(documents.odds + position) = __builtin_convertvector(odds, HalfFloats);
    }
}

RowSums linear_row(std::int64_t upper, const LinearColumns& columns, const PairColumns& documents) {
    const LinearColumns metric = columns;
    const float gain = metric.gains[upper], discount = metric.discounts[upper];
    return meet_below(upper, documents, [=](std::int64_t position, Floats& delta) {
        delta = (gain - floats(metric.gains, position)) * (discount - floats(metric.discounts, position));
        drop_sign(delta);
    });
}

RowSums given_row(std::int64_t upper, const float* deltas, const PairColumns& documents) {
    return meet_below(upper, documents,
                      [=](std::int64_t position, Floats& delta) { delta = floats(deltas, position); });
}

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
