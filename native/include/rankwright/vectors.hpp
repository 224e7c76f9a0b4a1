// Kernels that are compiled once for each vector width. The files in native/vector define them, each in the
// namespace of its path; the widest path that the processor has is chosen when the program runs.
//
// All paths give the same bits. A file there includes no library templates: a copy compiled for a wide processor
// must never be the one that the linker keeps for everybody.
#pragma once
#include <cstdint>

namespace rankwright {

enum class VectorPath : int { portable, avx2, avx512 };

VectorPath widest_path();

// Documents and padding: arrays given to these kernels are readable and writable up to a multiple of this.
constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kCountLanes = 2 * kLanes;

// Values coded together, and the room for one feature's edges: 255, the rest infinite.
constexpr std::int64_t kEncodeRows = 512;
constexpr std::int64_t kEdgeStride = 256;

// count_above: ranks[i] = how many keys are above keys[i], an earlier one that is equal among them.
// encode_column: codes[i] = how many of the edges are below values[i], 255 where it is NaN; kEncodeRows of them.
#define RANKWRIGHT_DECLARE_KERNELS(path)                                              \
    namespace path {                                                                  \
    void count_above(const float* keys, std::int64_t size, std::int32_t* ranks);      \
    void encode_column(const float* values, const float* edges, std::uint8_t* codes); \
    }

RANKWRIGHT_DECLARE_KERNELS(portable)
#if defined(__x86_64__)
RANKWRIGHT_DECLARE_KERNELS(avx2)
RANKWRIGHT_DECLARE_KERNELS(avx512)
#endif

void count_above(const float* keys, std::int64_t size, std::int32_t* ranks, VectorPath path);
void encode_column(const float* values, const float* edges, std::uint8_t* codes, VectorPath path);

}  // namespace rankwright
