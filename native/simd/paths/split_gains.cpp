#include "simd/kernels.hpp"
#include "simd/paths/width.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

constexpr std::int64_t kSums = kRegisterBytes / 8;
static_assert(kGainLanes % kSums == 0);
using Sums = std::int64_t __attribute__((vector_size(kRegisterBytes)));
using Bits = std::uint64_t __attribute__((vector_size(kRegisterBytes)));
using BitPair = std::uint64_t __attribute__((vector_size(2 * kRegisterBytes)));
using Halves = std::int32_t __attribute__((vector_size(kRegisterBytes)));
using HalfBits = std::uint32_t __attribute__((vector_size(kRegisterBytes)));
using Floats = float __attribute__((vector_size(kRegisterBytes)));
using ShortHalves = std::int32_t __attribute__((vector_size(kRegisterBytes / 2)));
using Numbers = double __attribute__((vector_size(kRegisterBytes)));

Sums at(const std::int64_t* sums) {  // which may be at any address
    Sums loaded;
    __builtin_memcpy(&loaded, sums, sizeof loaded);
    return loaded;
}

// Each sum plus all before it in the register; unsigned, as lanes past the last sum may hold anything.
Bits running(Bits sums) {
#if defined(__AVX512F__)
    const __m512i none = {};
    sums += (Bits)_mm512_alignr_epi64((__m512i)sums, none, 7);
    sums += (Bits)_mm512_alignr_epi64((__m512i)sums, none, 6);
    sums += (Bits)_mm512_alignr_epi64((__m512i)sums, none, 4);
#elif defined(__AVX2__)
    const __m256i none = {};
    sums += (Bits)_mm256_slli_si256((__m256i)sums, 8);
    sums += (Bits)_mm256_blend_epi32(none, _mm256_permute4x64_epi64((__m256i)sums, 0x50), 0xf0);
#else
    sums[1] += sums[0];
#endif
    return sums;
}

// Both halves of a sum fit 32 bits, from which every processor converts. Not every one shifts 64 bits with their
// sign, which the upper half does not need.
Numbers gradients(Sums sums, double step) {
    return __builtin_convertvector(__builtin_convertvector(reinterpret_cast<Bits>(sums) >> 32, ShortHalves),
                                   Numbers) *
           step;
}
Numbers hessians(Sums sums, double step) {
    return __builtin_convertvector(__builtin_convertvector(sums & 0xffffffff, ShortHalves), Numbers) * step;
}

struct Side {
    Numbers gain = {}, hessian = {};
};

void add_class(Sums sums, const SplitTerms& terms, Side& side) {
    const Numbers gradient = gradients(sums, terms.gradient_step), hessian = hessians(sums, terms.hessian_step);
    const Numbers divisor = hessian + terms.l2;
    side.gain += divisor > 0.0 ? gradient * gradient / divisor : Numbers{};
    side.hessian += hessian;
}

}  // namespace

void split_gains(const std::int64_t* left_sums, std::int64_t size, const SplitTerms& terms, double* gains) {
    constexpr Numbers never = Numbers{} - __builtin_inf();
    for (std::int64_t first = 0; first < size; first += kSums) {
        const Sums left = at(left_sums + first), right = terms.total - left;
        const Numbers left_gradient = gradients(left, terms.gradient_step);
        const Numbers right_gradient = gradients(right, terms.gradient_step);
        const Numbers left_hessian = hessians(left, terms.hessian_step);
        const Numbers right_hessian = hessians(right, terms.hessian_step);
        const Numbers gain = left_gradient * left_gradient / (left_hessian + terms.l2) +
                             right_gradient * right_gradient / (right_hessian + terms.l2) - terms.parent_gain;
        const auto enough = (left_hessian > 0.0) & (right_hessian > 0.0) & (left_hessian >= terms.min_hessian) &
                            (right_hessian >= terms.min_hessian);
        const Numbers kept = enough ? gain : never;
        __builtin_memcpy(gains + first, &kept, sizeof kept);
    }
}

// Two registers of sums give one of 32-bit halves. One division per split: gl^2 / hl + gr^2 / hr =
// (gl^2 hr + gr^2 hl) / (hl hr).
float highest_sides(const std::int64_t* sums, std::int64_t size, std::int64_t before, const SideTerms& terms) {
    constexpr std::int64_t kSides = 2 * kSums;
    static_assert(kSideLanes % kSides == 0);
    Halves position;
    for (std::int64_t lane = 0; lane < kSides; ++lane) position[lane] = static_cast<std::int32_t>(lane);
    Floats highest = {};
    auto above = static_cast<std::uint64_t>(before);
    for (std::int64_t first = 0; first < size; first += kSides) {
        Bits parts[2];
        for (Bits& part : parts) {
            part = running(reinterpret_cast<Bits>(at(sums + first + (&part - parts) * kSums))) + above;
            above = part[kSums - 1];
        }
        BitPair left;
        __builtin_memcpy(&left, parts, sizeof left);
        const HalfBits left_gradients = __builtin_convertvector(left >> 32, HalfBits);
        const HalfBits left_hessians = __builtin_convertvector(left, HalfBits);
        const auto left_gradient = reinterpret_cast<Halves>(left_gradients);
        const auto left_hessian = reinterpret_cast<Halves>(left_hessians);
        const auto right_gradient =
            reinterpret_cast<Halves>(static_cast<std::uint32_t>(terms.gradient) - left_gradients);
        const auto right_hessian =
            reinterpret_cast<Halves>(static_cast<std::uint32_t>(terms.hessian) - left_hessians);
        const Floats gl = __builtin_convertvector(left_gradient, Floats);
        const Floats gr = __builtin_convertvector(right_gradient, Floats);
        const Floats hl = __builtin_convertvector(left_hessian, Floats) + terms.l2;
        const Floats hr = __builtin_convertvector(right_hessian, Floats) + terms.l2;
        const Floats sides = (gl * gl * hr + gr * gr * hl) / (hl * hr);
        const auto higher = (position < static_cast<std::int32_t>(size - first)) & (left_hessian >= terms.least) &
                            (right_hessian >= terms.least) & (sides > highest);
        highest = higher ? sides : highest;
    }
    float most = 0.0f;
    for (std::int64_t lane = 0; lane < kSides; ++lane) most = highest[lane] > most ? highest[lane] : most;
    return most;
}

void class_gains(const ClassSides& sides, std::int64_t size, double* gains) {
    constexpr Numbers never = Numbers{} - __builtin_inf();
    for (std::int64_t first = 0; first < size; first += kSums) {
        Side left, right;
        for (std::int64_t k = 0; k < sides.n_classes; ++k) {
            const Sums sums = at(sides.left + k * sides.stride + first);
            add_class(sums, sides.terms[k], left);
            add_class(sides.terms[k].total - sums, sides.terms[k], right);
        }
        const double least = sides.terms[0].min_hessian;
        const auto enough =
            (left.hessian > 0.0) & (right.hessian > 0.0) & (left.hessian >= least) & (right.hessian >= least);
        const Numbers gain = left.gain + right.gain - sides.terms[0].parent_gain;
        const Numbers kept = enough ? gain : never;
        __builtin_memcpy(gains + first, &kept, sizeof kept);
    }
}

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
