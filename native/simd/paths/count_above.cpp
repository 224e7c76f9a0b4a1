#include "simd/kernels.hpp"
#include "simd/paths/width.hpp"

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

using Keys = float __attribute__((vector_size(kRegisterBytes)));
using Counts = std::int32_t __attribute__((vector_size(kRegisterBytes)));
constexpr std::int64_t kWidth = kRegisterBytes / 4;
constexpr std::int64_t kParts = kRegisterBytes == 64 ? 2 : 4;  // as many as fit the registers
constexpr std::int64_t kTogether = kParts * kWidth;
static_assert(kCountLanes % kTogether == 0);

// The comparison gives -1 where it holds. A processor with masks adds 1 there instead.
inline void count(Counts& above, const Counts& holds) {
    if constexpr (kRegisterBytes == 64)
        above = holds ? above + 1 : above;
    else
        above -= holds;
}

}  // namespace

// Compares kTogether documents at a time, one per lane, with every document.
void count_above(const float* keys, std::int64_t size, std::int32_t* ranks) {
    for (std::int64_t block = 0; block < size; block += kTogether) {
        const std::int64_t block_end = block + kTogether < size ? block + kTogether : size;
        Keys own[kParts];
        Counts above[kParts] = {}, position[kParts];
        for (std::int64_t part = 0; part < kParts; ++part) {
            __builtin_memcpy(&own[part], keys + block + part * kWidth, sizeof own[part]);
            for (std::int64_t lane = 0; lane < kWidth; ++lane)
                position[part][lane] = static_cast<std::int32_t>(block + part * kWidth + lane);
        }
        for (std::int64_t other = 0; other < block; ++other)
            for (std::int64_t part = 0; part < kParts; ++part) count(above[part], keys[other] >= own[part]);
        for (std::int64_t other = block; other < block_end; ++other)
            for (std::int64_t part = 0; part < kParts; ++part)
                count(above[part],
                      (keys[other] > own[part]) |
                          ((keys[other] == own[part]) & (static_cast<std::int32_t>(other) < position[part])));
        for (std::int64_t other = block_end; other < size; ++other)
            for (std::int64_t part = 0; part < kParts; ++part) count(above[part], keys[other] > own[part]);
        __builtin_memcpy(ranks + block, above, sizeof above);
    }
}

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
