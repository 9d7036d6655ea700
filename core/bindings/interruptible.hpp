// Runs long work so that it can be interrupted from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

#include "base/cancel.hpp"
#include "base/parallel.hpp"

namespace clausewise::bindings {

namespace nb = nanobind;

using ProgressCallback = std::optional<std::function<void(std::size_t, std::size_t)>>;

// Runs the job on another thread while the calling one polls for signals every 50 ms: an interrupt (Ctrl-C) cancels the
// job, and progress is reported on the thread that Python called from.
template <class Job>
void run_interruptible(CancelToken& cancel, const std::atomic<std::size_t>& n_done, std::size_t n_total,
                       const ProgressCallback& progress, Job&& job) {
    std::mutex guard;
    std::condition_variable finished;
    bool is_finished = false;
    std::exception_ptr failure;
    nb::gil_scoped_release release;
    Thread worker([&] {
        try {
            job();
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard<std::mutex> lock(guard);
        is_finished = true;
        finished.notify_one();
    });
    std::exception_ptr interruption;
    std::size_t n_reported = 0;
    const auto report = [&](std::size_t n_now) {
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress && n_now != n_reported) (*progress)(n_reported = n_now, n_total);
    };
    std::unique_lock<std::mutex> lock(guard);
    while (!finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return is_finished; })) {
        if (cancel.cancelled) continue;
        lock.unlock();
        try {
            report(n_done);
        } catch (...) {
            interruption = std::current_exception();
            cancel.cancelled = true;
        }
        lock.lock();
    }
    lock.unlock();
    worker.join();
    if (interruption) std::rethrow_exception(interruption);
    if (failure) std::rethrow_exception(failure);
    report(n_done);
}

// The same for work that reports no progress: job(cancel). Short work, of a few milliseconds, runs on the calling
// thread, as starting another one would take as long.
template <class Job>
void run_interruptible(bool is_short, Job&& job) {
    CancelToken cancel;
    if (is_short) {
        const nb::gil_scoped_release unlocked;
        job(cancel);
        return;
    }
    const std::atomic<std::size_t> n_done{0};
    run_interruptible(cancel, n_done, 1, std::nullopt, [&] { job(cancel); });
}

}  // namespace clausewise::bindings
