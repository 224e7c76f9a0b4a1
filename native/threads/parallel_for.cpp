#include "threads/parallel_for.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace rankwright {
namespace {

using Clock = std::chrono::steady_clock;
// How long a thread that has nothing to do stays awake between frequent loops.
constexpr std::chrono::microseconds kAwake(100);

// A running parallel_for, on the stack of its caller. The pool's mutex guards what is neither constant nor atomic.
struct Job {
    const std::function<void(std::size_t)>& body;
    const std::size_t n_chunks;
    Job* const parent;            // whose chunk has started this job; null: none has
    int open_slots;               // threads that may still join
    int spare;                    // of a job without parent: threads that may still join it or jobs within it
    std::atomic<int> helpers{0};  // threads at work on it beside its caller's
    std::atomic<std::size_t> next{0};
    std::exception_ptr error{};

    Job& outermost() {
        Job* job = this;
        while (job->parent != nullptr) job = job->parent;
        return *job;
    }
};

thread_local Job* current_job = nullptr;  // whose chunk this thread runs

bool is_within(const Job* inner, const Job* outer) {
    while (inner != nullptr && inner != outer) inner = inner->parent;
    return inner == outer;
}

class Pool {
  public:
    std::atomic<int> n_frequent{0};  // FrequentLoops that exist

    void run(Job& job) {
        int n_asleep;
        {
            std::lock_guard lock(mutex_);
            grow(job.open_slots);
            jobs_.push_back(&job);
            ++n_started_;
            n_asleep = job.open_slots - n_lingering_;
        }
        if (n_asleep == 1) wake_.notify_one();
        if (n_asleep > 1) wake_.notify_all();
        if (job.parent != nullptr) left_.notify_all();
        take_chunks(job);
        std::unique_lock lock(mutex_);
        jobs_.remove(&job);  // no other thread can join
        // Until the others are done, helps with what their chunks have started.
        const auto done = [&] { return job.helpers == 0; };
        for (const auto until = Clock::now() + kAwake; !done();)
            if (!help(lock, 0, [&](Job* started) { return is_within(started, &job); }) &&
                !linger(lock, until, done))
                left_.wait(lock);
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
        for (Clock::time_point until{};;) {
            if (help(lock, 1, [](Job* job) { return job->outermost().spare > 0; })) {
                until = Clock::now() + kAwake;
                continue;
            }
            ++n_lingering_;
            const bool any_started = linger(lock, until, [] { return false; });
            --n_lingering_;
            if (!any_started) wake_.wait(lock);
        }
    }

    // Between frequent loops, waits unlocked and awake until `done`, or until another job has started; false if
    // the time is up.
    template <class Done>
    bool linger(std::unique_lock<std::mutex>& lock, Clock::time_point until, const Done& done) {
        const std::size_t n_before = n_started_;
        const auto is_over = [&] { return done() || n_started_ != n_before; };
        lock.unlock();
        while (!is_over() && n_frequent > 0 && Clock::now() < until) std::this_thread::yield();
        lock.lock();
        return is_over();
    }

    // Works on a job of this kind, unlocked; false if none wants another thread. n_taken is the number of spare
    // threads that this one uses up: a thread that waits for its own job is no spare one.
    template <class Kind>
    bool help(std::unique_lock<std::mutex>& lock, int n_taken, const Kind& kind) {
        const auto find = [&] {
            return std::find_if(jobs_.begin(), jobs_.end(),
                                [&](Job* job) { return job->open_slots > 0 && kind(job); });
        };
        const auto waiting = find();
        if (waiting == jobs_.end()) return false;
        Job &job = **waiting, &outermost = job.outermost();
        --job.open_slots;
        ++job.helpers;
        outermost.spare -= n_taken;
        // Leaving a job may let threads join several others, of which this thread takes only one.
        if (n_taken > 0 && find() != jobs_.end()) wake_.notify_one();
        lock.unlock();
        take_chunks(job);
        lock.lock();
        outermost.spare += n_taken;
        if (--job.helpers == 0) left_.notify_all();
        return true;
    }

    void take_chunks(Job& job) {
        Job* const outer = std::exchange(current_job, &job);
        try {
            for (std::size_t chunk; (chunk = job.next.fetch_add(1)) < job.n_chunks;) job.body(chunk);
        } catch (...) {
            job.next.store(job.n_chunks);
            std::lock_guard lock(mutex_);
            if (!job.error) job.error = std::current_exception();
        }
        current_job = outer;
    }

    static constexpr int kMostThreads = 255;
    std::mutex mutex_;
    std::condition_variable wake_, left_;
    std::list<Job*> jobs_;
    std::atomic<std::size_t> n_started_{0};  // jobs, ever
    int size_ = 0, n_lingering_ = 0;         // threads of the pool
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

// The destructor may run in a forked child, which has a new pool.
FrequentLoops::FrequentLoops(int n_threads) : count_(n_threads > 1 ? &the_pool().n_frequent : nullptr) {
    if (count_ != nullptr) ++*count_;
}
FrequentLoops::~FrequentLoops() {
    if (count_ != nullptr) --*count_;
}

void parallel_for(std::size_t n_chunks, int n_threads, const std::function<void(std::size_t)>& body) {
    const std::size_t useful = std::min<std::size_t>(n_chunks, static_cast<std::size_t>(std::max(n_threads, 1)));
    if (useful <= 1) {
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) body(chunk);
        return;
    }
    Job job{body, n_chunks, current_job, static_cast<int>(useful) - 1, n_threads - 1};
    the_pool().run(job);
    if (job.error) std::rethrow_exception(job.error);
}

}  // namespace rankwright
