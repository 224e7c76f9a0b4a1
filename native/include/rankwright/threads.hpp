// A small pool of threads that sleep when idle, and the one loop that uses it.
#pragma once
#include <cstddef>
#include <functional>

namespace rankwright {

// Runs body(chunk) once for every chunk in [0, n_chunks), on at most n_threads threads, the caller's among
// them, and returns when all are done. Chunks are taken, not dealt: a thread that is held up takes fewer.
// A body that writes only what its chunk owns makes the result independent of n_threads.
// The first exception thrown by a body is rethrown here, after the chunks under way have ended.
void parallel_for(std::size_t n_chunks, int n_threads, const std::function<void(std::size_t)>& body);

// parallel_for over [0, n) cut into runs of at most `grain` items: body(begin, end).
template <class Body>
void parallel_ranges(std::size_t n, std::size_t grain, int n_threads, const Body& body) {
    parallel_for((n + grain - 1) / grain, n_threads, [&](std::size_t chunk) {
        const std::size_t begin = chunk * grain;
        body(begin, begin + grain < n ? begin + grain : n);
    });
}

}  // namespace rankwright
