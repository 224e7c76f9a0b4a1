#include "simd/kernels.hpp"
#include "simd/paths/width.hpp"

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

using Doubles = double __attribute__((vector_size(kRegisterBytes)));
using Bits = std::int64_t __attribute__((vector_size(kRegisterBytes)));
constexpr std::int64_t kDoubles = kRegisterBytes / 8;

constexpr double kLowest = -708.0;             // below, powers of two are denormal
constexpr double kRounder = 0x1.8p52;          // adding it moves the nearest integer into the lowest bits
constexpr double kLog2High = 0x1.62e42feep-1;  // times an integer of 11 bits, this is exact
constexpr double kLog2Low = 0x1.a39ef35793c76p-33;

// 1 / 13!, 1 / 12!, ..., 1 / 0!
constexpr double kInverseFactorials[] = {1.0 / 6227020800.0,
                                         1.0 / 479001600.0,
                                         1.0 / 39916800.0,
                                         1.0 / 3628800.0,
                                         1.0 / 362880.0,
                                         1.0 / 40320.0,
                                         1.0 / 5040.0,
                                         1.0 / 720.0,
                                         1.0 / 120.0,
                                         1.0 / 24.0,
                                         1.0 / 6.0,
                                         0.5,
                                         1.0,
                                         1.0};

// 2^n x exp(r) with |r| <= log(2) / 2.
inline Doubles exponential(Doubles x) {
    const Doubles kept = x < kLowest ? kLowest + Doubles{} : x;
    const Doubles shifted = kept * 1.4426950408889634 + kRounder;
    const Doubles n = shifted - kRounder;
    const Doubles r = (kept - n * kLog2High) - n * kLog2Low;
    Doubles series = kInverseFactorials[0] + Doubles{};
#pragma GCC unroll 13
    for (int term = 1; term < 14; ++term) series = kInverseFactorials[term] + r * series;
    const Bits power = (reinterpret_cast<Bits>(shifted) + 1023) << 52;
    return x < kLowest ? Doubles{} : series * reinterpret_cast<Doubles>(power);
}

}  // namespace

void exponentiate(double* values, std::int64_t size) {
    std::int64_t i = 0;
    for (; i + kDoubles <= size; i += kDoubles) {
        Doubles x;
        __builtin_memcpy(&x, values + i, sizeof x);
        x = exponential(x);
        __builtin_memcpy(values + i, &x, sizeof x);
    }
    for (; i < size; ++i) values[i] = exponential(values[i] + Doubles{})[0];
}

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
