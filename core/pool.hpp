// Threads for the kernels: short-lived, so that nothing survives a fork, an exception or an interrupt.
//
// Starting a std::thread costs some 20 microseconds; the kernels only ask for threads when a call takes
// milliseconds. In exchange there is no global pool to dead-lock after fork() and no second OpenMP runtime
// beside the one that torch brings.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace clausewise {

// Calls work(task, worker) for every task in [0, n_tasks), on up to n_threads threads. Tasks are handed out
// one at a time, so the order in which they run is not defined; results must go to places owned by the task.
// `worker` < n_threads tells which scratch space may be used. The first exception is rethrown at the end.
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
    std::vector<std::thread> threads;
    threads.reserve(n_threads - 1);
    // Where the system grants no more threads, those that there are do the work.
    try {
        for (std::size_t worker = 1; worker < n_threads; ++worker) threads.emplace_back(take_tasks, worker);
    } catch (const std::system_error&) {
    }
    take_tasks(0);
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace clausewise
