// Gradients and hessians as integers, whose sums are exact: neither the order of rows nor the number of threads
// can change a sum, and so neither can change a tree.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace rankwright {

// A gradient in the upper 32 bits, a hessian in the lower: one addition adds both.
using Packed = std::int64_t;

inline Packed pack(std::int32_t gradient, std::int32_t hessian) {
    return static_cast<Packed>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(gradient)) << 32) + hessian;
}
inline std::int64_t gradient_of(Packed sum) { return sum >> 32; }
inline std::int64_t hessian_of(Packed sum) { return sum & 0xffffffff; }

// A row's gradient and hessian in at most kMostLevels steps: two bytes, so that many rows fit into the nearest
// caches.
struct Steps {
    std::int8_t gradient, hessian;
};
inline Packed pack(Steps steps) { return pack(steps.gradient, steps.hessian); }
inline Packed pack(Packed steps) { return steps; }

constexpr int kMostLevels = 127, kFineLevels = 0;

// Either `steps` or `wide_steps` holds the integers, one per row; the sums of all rows fit 32 bits.
struct Quantised {
    std::vector<Steps> steps;
    std::vector<Packed> wide_steps;
    bool is_wide = false;
    double gradient_step = 0.0, hessian_step = 0.0;

    // Calls body with the span of whichever holds the integers.
    template <class Body>
    void visit(const Body& body) const {
        is_wide ? body(std::span<const Packed>(wide_steps)) : body(std::span<const Steps>(steps));
    }
};

// Gradients and hessians to be rounded, of the rows listed, or of all if none is listed; times each row's factor,
// if there are factors.
struct RoundedRows {
    std::span<const double> gradient, hessian;
    std::span<const std::uint32_t> rows;
    std::span<const double> factors;

    std::size_t size() const { return rows.empty() ? gradient.size() : rows.size(); }
    std::size_t row(std::size_t i) const { return rows.empty() ? i : rows[i]; }
    double factor(std::size_t i) const { return factors.empty() ? 1.0 : factors[i]; }
    double gradient_at(std::size_t i) const { return gradient[row(i)] * factor(i); }
    double hessian_at(std::size_t i) const { return hessian[row(i)] * factor(i); }
};

// The largest gradient in size, and the largest hessian.
struct NumberSizes {
    double gradient = 0.0, hessian = 0.0;

    void grow_to(const NumberSizes& other) {
        gradient = std::max(gradient, other.gradient);
        hessian = std::max(hessian, other.hessian);
    }
};

NumberSizes largest(const RoundedRows& rows, int n_threads);

// The step of numbers up to this size: 1 / levels of it, or more where n_rows such sums would not fit 32 bits.
double step_of(double largest, std::size_t n_rows, int levels);

// Overwrites the bytes of the rows by the steps that are set.
void round_to_steps(const RoundedRows& rows, int n_threads, Quantised& quantised);

// Rounds gradients and hessians, times each row's factor if there are factors, to integer multiples of a step.
// Overwrites those of the rows listed; none listed: of all rows. Rows ascend.
//
// A step is 1 / levels of the largest number. With kFineLevels it is about 2^-31 of the sum of all numbers, as
// fine as exact sums allow, and the integers are wide: for rows whose weights differ so much that most would round
// to zero.
void quantise(std::span<const double> gradient, std::span<const double> hessian,
              std::span<const std::uint32_t> rows, std::span<const double> factors, int levels, int n_threads,
              Quantised& quantised);

}  // namespace rankwright
