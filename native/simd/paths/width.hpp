// The width of a vector on the path that is being compiled. GCC compares wider vectors one number at a time.
#pragma once
#include <cstdint>

namespace rankwright::RANKWRIGHT_VECTOR_PATH {

#if defined(__AVX512F__)
constexpr std::int64_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr std::int64_t kVectorBytes = 32;
#else
constexpr std::int64_t kVectorBytes = 16;
#endif

}  // namespace rankwright::RANKWRIGHT_VECTOR_PATH
