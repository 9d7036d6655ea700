// Threads for the kernels: short-lived, so that nothing survives a fork, an exception or an interrupt.
//
// Starting a thread costs some 20 microseconds; the kernels only use threads when a call takes milliseconds. In return
// there is no global pool that could deadlock after fork(), and no second OpenMP runtime next to torch's.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace clausewise {

// A thread with room for deep recursion. The default is 8 MB on Linux, half a megabyte on macOS and less elsewhere; the
// memory is only reserved, and is used as far as the recursion goes. Throws std::system_error as std::thread does.
class Thread {
public:
    template <class Work>
    explicit Thread(Work work) : work_(std::make_unique<std::function<void()>>(std::move(work))) {
#if defined(__unix__) || defined(__APPLE__)
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, kStackSize);
        const int error = pthread_create(&handle_, &attributes, &Thread::run, work_.get());
        pthread_attr_destroy(&attributes);
        if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start a thread");
#else
        handle_ = std::thread(*work_);
#endif
    }
    Thread(Thread&&) = default;
    Thread(const Thread&) = delete;
    Thread& operator=(const Thread&) = delete;

    void join() {
#if defined(__unix__) || defined(__APPLE__)
        pthread_join(handle_, nullptr);
#else
        handle_.join();
#endif
    }

private:
    static constexpr std::size_t kStackSize = std::size_t{64} << 20;

#if defined(__unix__) || defined(__APPLE__)
    static void* run(void* work) {
        (*static_cast<std::function<void()>*>(work))();
        return nullptr;
    }
    pthread_t handle_;
#else
    std::thread handle_;
#endif
    std::unique_ptr<std::function<void()>> work_;  // stays in place when the Thread is moved
};

// Calls work(task, worker) for every task in [0, n_tasks), on up to n_threads threads. Tasks are handed out one at a
// time, so the order in which they run is undefined; a task must write its results to memory of its own. `worker` <
// n_threads is the index of the scratch space to use. The first exception is rethrown at the end.
template <class Work>
void parallel_for(std::size_t n_tasks, std::size_t n_threads, Work&& work) {
    n_threads = std::min(n_threads, n_tasks);
    if (n_threads <= 1) {
        for (std::size_t task = 0; task < n_tasks; ++task) work(task, std::size_t{0});
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_guard;
    const auto take_tasks = [&](std::size_t worker) {
        try {
            for (std::size_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < n_tasks;) work(task, worker);
        } catch (...) {
            next.store(n_tasks, std::memory_order_relaxed);
            const std::lock_guard<std::mutex> lock(failure_guard);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<Thread> threads;
    threads.reserve(n_threads - 1);
    // If the system refuses more threads, or memory for them, the existing ones do the work.
    try {
        for (std::size_t worker = 1; worker < n_threads; ++worker)
            threads.emplace_back([&take_tasks, worker] { take_tasks(worker); });
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    take_tasks(0);
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace clausewise
