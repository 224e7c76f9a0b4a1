// Counts the threads at work at once in nested calls of parallel_for, after the pool has grown to seven threads.
// Several such calls run at once; for each it prints the most threads at work and the number of bodies that ran.
// Then all of it again, with threads that stay awake.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "threads/parallel_for.hpp"

using Clock = std::chrono::steady_clock;

class ThreadCount {
  public:
    // Stays until so many threads were at work at once, or for ten seconds.
    void work(int expected) {
        const int now = ++at_work_;
        for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
        }
        const auto end = Clock::now() + std::chrono::seconds(10);
        while (most_ < expected && Clock::now() < end) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        --at_work_;
        ++n_bodies_;
    }
    void print(int n_threads) const {
        std::printf("%d threads: %d at work, %d bodies\n", n_threads, most_.load(), n_bodies_.load());
    }

  private:
    std::atomic<int> at_work_{0}, most_{0}, n_bodies_{0};
};

// Chunk 0 is by far the largest, so that the threads of other chunks come to help with it.
void run(int n_threads, ThreadCount& count) {
    rankwright::parallel_for(3, n_threads, [&](std::size_t chunk) {
        rankwright::parallel_for(chunk == 0 ? 40 : 2, 8, [&](std::size_t) { count.work(n_threads); });
    });
}

void run_all() {
    ThreadCount all;
    rankwright::parallel_for(8, 8, [&](std::size_t) { all.work(8); });
    all.print(8);
    for (const int n_threads : {2, 3, 5}) {
        std::vector<ThreadCount> counts(8 / n_threads);  // the pool has enough threads for so many calls at once
        std::vector<std::thread> callers;
        for (ThreadCount& count : counts) callers.emplace_back([&count, n_threads] { run(n_threads, count); });
        for (std::thread& caller : callers) caller.join();
        for (const ThreadCount& count : counts) count.print(n_threads);
    }
}

int main() {
    run_all();
    const rankwright::FrequentLoops frequent(8);
    run_all();
}
