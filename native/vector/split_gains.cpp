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
Numbers weights(Sums sums, double step) {
    return __builtin_convertvector(__builtin_convertvector(sums & 0xffffffff, Halves), Numbers) * step;
}

}  // namespace

void split_gains(const std::int64_t* left_sums, std::int64_t size, const SplitTerms& terms, double* gains) {
    constexpr Numbers never = Numbers{} - __builtin_inf();
    for (std::int64_t first = 0; first < size; first += kSums) {
        const Sums left = *reinterpret_cast<const Sums*>(left_sums + first), right = terms.all - left;
        const Numbers left_gradient = gradients(left, terms.gradient_step);
        const Numbers right_gradient = gradients(right, terms.gradient_step);
        const Numbers left_weight = weights(left, terms.weight_step);
        const Numbers right_weight = weights(right, terms.weight_step);
        const Numbers gain = left_gradient * left_gradient / (left_weight + terms.l2) +
                             right_gradient * right_gradient / (right_weight + terms.l2) - terms.whole;
        const auto enough = (left_weight > 0.0) & (right_weight > 0.0) & (left_weight >= terms.min_weight) &
                            (right_weight >= terms.min_weight);
        *reinterpret_cast<Numbers*>(gains + first) = enough ? gain : never;
    }
}

}  // namespace rankwright::RANKWRIGHT_VECTOR_PATH
