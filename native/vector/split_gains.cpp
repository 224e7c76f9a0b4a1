#include "rankwright/vectors.hpp"

namespace rankwright::RANKWRIGHT_VECTOR_PATH {
namespace {

constexpr std::int64_t kSums = 8;
using Sums = std::int64_t __attribute__((vector_size(64), aligned(8), may_alias));
using Halves = std::int32_t __attribute__((vector_size(32)));
using Numbers = double __attribute__((vector_size(64), aligned(8), may_alias));

// Both halves of a sum fit 32 bits, from which every processor converts.
Numbers gradients(Sums sums, double step) {
    return __builtin_convertvector(__builtin_convertvector(sums >> 32, Halves), Numbers) * step;
}
Numbers hessians(Sums sums, double step) {
    return __builtin_convertvector(__builtin_convertvector(sums & 0xffffffff, Halves), Numbers) * step;
}

// Adds one side's gain and hessian to those of the classes before.
void add_side(Sums sums, const SplitTerms& terms, double* gains, double* all_hessians) {
    const Numbers gradient = gradients(sums, terms.gradient_step), hessian = hessians(sums, terms.hessian_step);
    const Numbers divisor = hessian + terms.l2;
    *reinterpret_cast<Numbers*>(gains) += divisor > 0.0 ? gradient * gradient / divisor : Numbers{};
    *reinterpret_cast<Numbers*>(all_hessians) += hessian;
}

}  // namespace

void split_gains(const std::int64_t* left_sums, std::int64_t size, const SplitTerms& terms, double* gains) {
    constexpr Numbers never = Numbers{} - __builtin_inf();
    for (std::int64_t first = 0; first < size; first += kSums) {
        const Sums left = *reinterpret_cast<const Sums*>(left_sums + first), right = terms.total - left;
        const Numbers left_gradient = gradients(left, terms.gradient_step);
        const Numbers right_gradient = gradients(right, terms.gradient_step);
        const Numbers left_hessian = hessians(left, terms.hessian_step);
        const Numbers right_hessian = hessians(right, terms.hessian_step);
        const Numbers gain = left_gradient * left_gradient / (left_hessian + terms.l2) +
                             right_gradient * right_gradient / (right_hessian + terms.l2) - terms.parent_gain;
        const auto enough = (left_hessian > 0.0) & (right_hessian > 0.0) & (left_hessian >= terms.min_hessian) &
                            (right_hessian >= terms.min_hessian);
        *reinterpret_cast<Numbers*>(gains + first) = enough ? gain : never;
    }
}

void add_side_gains(const std::int64_t* left_sums, std::int64_t size, const SplitTerms& terms,
                    const SideSums& sides) {
    for (std::int64_t first = 0; first < size; first += kSums) {
        const Sums left = *reinterpret_cast<const Sums*>(left_sums + first);
        add_side(left, terms, sides.left_gain + first, sides.left_hessian + first);
        add_side(terms.total - left, terms, sides.right_gain + first, sides.right_hessian + first);
    }
}

}  // namespace rankwright::RANKWRIGHT_VECTOR_PATH
