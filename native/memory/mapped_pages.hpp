// Advice on pages of mapped files.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rankwright {

namespace pages {
constexpr std::size_t kPage = 4096;

// The whole pages of a range, or all that it touches.
template <bool kTouched>
void advise(const std::uint8_t* data, std::size_t n_bytes, [[maybe_unused]] int advice) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data), end = begin + n_bytes;
    const std::uintptr_t first = (begin + (kTouched ? 0 : kPage - 1)) / kPage * kPage;
    const std::uintptr_t last = (end + (kTouched ? kPage - 1 : 0)) / kPage * kPage;
    if (first >= last) return;
#if defined(__linux__)
    madvise(reinterpret_cast<void*>(first), last - first, advice);  // a refusal changes nothing
#endif
}
}  // namespace pages

#if defined(__linux__)
// Starts to read a part of a mapped file, and returns.
inline void fetch_pages(const std::uint8_t* data, std::size_t n_bytes) {
    pages::advise<true>(data, n_bytes, MADV_WILLNEED);
}
// Gives the memory of a part of a mapped file back; the next access reads the file again.
inline void release_pages(const std::uint8_t* data, std::size_t n_bytes) {
    pages::advise<false>(data, n_bytes, MADV_DONTNEED);
}
#else
inline void fetch_pages(const std::uint8_t*, std::size_t) {}
inline void release_pages(const std::uint8_t*, std::size_t) {}
#endif

}  // namespace rankwright
