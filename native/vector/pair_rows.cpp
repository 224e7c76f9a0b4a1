#include "rankwright/pair_rows.hpp"

namespace rankwright::RANKWRIGHT_VECTOR_PATH {
namespace {

using Floats = float __attribute__((vector_size(64), may_alias));
using Bits = std::int32_t __attribute__((vector_size(64), may_alias));
constexpr std::int64_t kHalf = kLanes / 2;
using Doubles = double __attribute__((vector_size(64), may_alias));
using Wholes = std::int64_t __attribute__((vector_size(64), may_alias));
using HalfFloats = float __attribute__((vector_size(32), may_alias));

inline Floats& lanes(float* column, std::int64_t place) { return *reinterpret_cast<Floats*>(column + place); }
inline const Floats& lanes(const float* column, std::int64_t place) {
    return *reinterpret_cast<const Floats*>(column + place);
}

inline void drop_sign(Floats& values) {
    values = reinterpret_cast<Floats>(reinterpret_cast<Bits>(values) & 0x7fffffff);
}

// Always in the same order, whatever the width.
inline float sum(const Floats& values) {
    float part[kLanes];
    reinterpret_cast<Floats&>(part) = values;
    for (int width = kLanes / 2; width > 0; width /= 2)
        for (int lane = 0; lane < width; ++lane) part[lane] += part[lane + width];
    return part[0];
}

// With q = exp(sigma (s_lower - s_upper)), rho is 1 / (1 + q) if the lower document is the better one and
// q / (1 + q) if the upper one is; rho (1 - rho) is q / (1 + q)^2 in both cases.
template <class WriteDeltas>
inline RowSums meet_below(std::int64_t upper, const PairColumns& documents, const WriteDeltas& write_deltas) {
    const float label = documents.labels[upper], below = documents.below[upper];
    const float inverse_odds = 1.0f / documents.odds[upper];
    documents.labels[upper] = __builtin_nanf("");
    Floats gradient = {}, hessian = {}, total = {};
    for (std::int64_t place = upper / kLanes * kLanes; place < documents.size; place += kLanes) {
        const Floats labels = lanes(documents.labels, place);
        const Floats q = lanes(documents.odds, place) * inverse_odds;
        Floats distance = below - lanes(documents.below, place), delta;
        drop_sign(distance);
        write_deltas(place, delta);
        const Floats damping = documents.floor + documents.slope * distance;
        const Floats share = 1.0f / ((1.0f + q) * damping);  // the only division a pair
        const Floats if_lower = (label > labels) | (label < labels) ? delta * share : Floats{};
        const Floats if_upper = if_lower * q;
        const Floats push = label > labels ? if_upper : -if_lower;
        const Floats curvature = if_upper * (share * damping);
        Floats size = push;
        drop_sign(size);
        gradient += push;
        hessian += curvature;
        total += size;
        lanes(documents.gradient, place) -= push;
        lanes(documents.hessian, place) += curvature;
    }
    return {sum(gradient), sum(hessian), sum(total)};
}

// exp for -80 <= x <= 0, to single precision: 2^n x exp(r) with |r| <= log(2) / 2.
inline void exponentiate(Doubles& x) {
    constexpr double kRounder = 0x1.8p52;  // brings the nearest whole number into the lowest bits
    const Doubles shifted = x * 1.4426950408889634 + kRounder;
    const Doubles r = x - (shifted - kRounder) * 0.6931471805599453;
    Doubles series = 1.0 + Doubles{};
    for (double term = 7.0; term > 0.0; term -= 1.0) series = 1.0 + r * (1.0 / term) * series;
    const Wholes power = (reinterpret_cast<Wholes>(shifted) + 1023) << 52;
    x = series * reinterpret_cast<Doubles>(power);
}

}  // namespace

void measure_from(std::int64_t anchor, const double* scores, double sigma, const PairColumns& documents) {
    const double origin = scores[anchor];
    for (std::int64_t place = anchor / kHalf * kHalf; place < documents.size; place += kHalf) {
        Doubles below = *reinterpret_cast<const Doubles*>(scores + place) - origin;
        below = below < -1e30 ? -1e30 + Doubles{} : below;  // stays finite as a float
        below = below > 0.0 ? Doubles{} : below;            // documents above the anchor take no part
        Doubles odds = sigma * below;
        odds = odds < -80.0 ? -80.0 + Doubles{} : odds;
        exponentiate(odds);
        *reinterpret_cast<HalfFloats*>(documents.below + place) = __builtin_convertvector(below, HalfFloats);
        *reinterpret_cast<HalfFloats*>(documents.odds + place) = __builtin_convertvector(odds, HalfFloats);
    }
}

RowSums linear_row(std::int64_t upper, const LinearColumns& metric, const PairColumns& documents) {
    const float gain = metric.gains[upper], discount = metric.discounts[upper];
    return meet_below(upper, documents, [&](std::int64_t place, Floats& delta) {
        delta = (gain - lanes(metric.gains, place)) * (discount - lanes(metric.discounts, place));
        drop_sign(delta);
    });
}

RowSums given_row(std::int64_t upper, const float* deltas, const PairColumns& documents) {
    return meet_below(upper, documents, [&](std::int64_t place, Floats& delta) { delta = lanes(deltas, place); });
}

}  // namespace rankwright::RANKWRIGHT_VECTOR_PATH
