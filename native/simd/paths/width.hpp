// The width of a register on the path that is being compiled. GCC compares the numbers of wider types one at a
// time.
#pragma once
#include <cstdint>

namespace rankwright::RANKWRIGHT_SIMD_PATH {

#if defined(__AVX512F__)
constexpr std::int64_t kRegisterBytes = 64;
#elif defined(__AVX2__)
constexpr std::int64_t kRegisterBytes = 32;
#else
constexpr std::int64_t kRegisterBytes = 16;
#endif

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
