#include "threads/parallel_for.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

namespace rankwright {
namespace {

// A running parallel_for. It is on the stack of its caller; `helpers` is the number of pool threads that work on
// it.
struct Job {
    const std::function<void(std::size_t)>& body;
    const std::size_t n_chunks;
    int open_slots;  // pool threads that may still join; guarded by the pool's mutex
    int helpers = 0;
    std::atomic<std::size_t> next{0};
    std::exception_ptr error{};  // guarded by the pool's mutex
};

class Pool {
  public:
    void run(Job& job) {
        {
            std::lock_guard lock(mutex_);
            grow(job.open_slots);
            jobs_.push_back(&job);
        }
        wake_.notify_all();
        take_chunks(job);
        std::unique_lock lock(mutex_);
        jobs_.remove(&job);  // no other thread can join
        left_.wait(lock, [&] { return job.helpers == 0; });
    }

  private:
    void grow(int wanted) {
        try {
            while (size_ < std::min(wanted, kMostThreads)) {
                std::thread([this] { serve(); }).detach();
                ++size_;
            }
        } catch (const std::system_error&) {
            // The system provides no more threads: the existing ones, at least the caller's, do the same work.
        }
    }

    [[noreturn]] void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            const auto waiting =
                std::find_if(jobs_.begin(), jobs_.end(), [](Job* job) { return job->open_slots > 0; });
            if (waiting == jobs_.end()) {
                wake_.wait(lock);
                continue;
            }
            Job& job = **waiting;
            --job.open_slots;
            ++job.helpers;
            lock.unlock();
            take_chunks(job);
            lock.lock();
            if (--job.helpers == 0) left_.notify_all();
        }
    }

    void take_chunks(Job& job) {
        try {
            for (std::size_t chunk; (chunk = job.next.fetch_add(1)) < job.n_chunks;) job.body(chunk);
        } catch (...) {
            job.next.store(job.n_chunks);
            std::lock_guard lock(mutex_);
            if (!job.error) job.error = std::current_exception();
        }
    }

    static constexpr int kMostThreads = 255;
    std::mutex mutex_;
    std::condition_variable wake_, left_;
    std::list<Job*> jobs_;
    int size_ = 0;
};

// Never destroyed: its threads sleep until the process ends. A forked child inherits no threads, so it starts a
// new pool.
Pool* pool = nullptr;

Pool& the_pool() {
    static std::once_flag once;
    std::call_once(once, [] {
        pool = new Pool;
#if !defined(_WIN32)
        pthread_atfork(nullptr, nullptr, [] { pool = new Pool; });
#endif
    });
    return *pool;
}

}  // namespace

void parallel_for(std::size_t n_chunks, int n_threads, const std::function<void(std::size_t)>& body) {
    const std::size_t useful = std::min<std::size_t>(n_chunks, static_cast<std::size_t>(std::max(n_threads, 1)));
    if (useful <= 1) {
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) body(chunk);
        return;
    }
    Job job{body, n_chunks, static_cast<int>(useful) - 1};
    the_pool().run(job);
    if (job.error) std::rethrow_exception(job.error);
}

}  // namespace rankwright
