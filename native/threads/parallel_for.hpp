// A pool of threads that sleep when idle, and the parallel loop that uses it.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>

namespace rankwright {

// Runs body(chunk) once for every chunk in [0, n_chunks), on at most n_threads threads including the caller's, and
// returns when all are done. A call within a body is limited to the threads of the outermost call. Threads take
// chunks dynamically, so that a delayed thread takes fewer. If a body writes only data that belongs to its chunk,
// the result does not depend on n_threads. The first exception thrown by a body is rethrown here after all running
// chunks have ended.
void parallel_for(std::size_t n_chunks, int n_threads, const std::function<void(std::size_t)>& body);

// Waking a thread takes 30 microseconds, as long as a whole loop over small data. While one of these exists, a
// thread without work yields to others for up to 100 microseconds before it sleeps.
class FrequentLoops {
  public:
    explicit FrequentLoops(int n_threads);
    ~FrequentLoops();
    FrequentLoops(const FrequentLoops&) = delete;
    FrequentLoops& operator=(const FrequentLoops&) = delete;

  private:
    std::atomic<int>* const count_;  // of the pool; null: one thread only
};

// parallel_for over [0, n) divided into runs of at most `grain` items: body(begin, end).
template <class Body>
void parallel_ranges(std::size_t n, std::size_t grain, int n_threads, const Body& body) {
    parallel_for((n + grain - 1) / grain, n_threads, [&](std::size_t chunk) {
        const std::size_t begin = chunk * grain;
        body(begin, begin + grain < n ? begin + grain : n);
    });
}

// A grain of at most `most` with which each of several threads gets about four runs.
inline std::size_t grain_for(std::size_t n, std::size_t most, int n_threads) {
    return n_threads > 1 ? std::clamp<std::size_t>(n / (4 * static_cast<std::size_t>(n_threads)), 1, most) : most;
}

}  // namespace rankwright
