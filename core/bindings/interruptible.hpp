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
#include <system_error>
#include <thread>

#include "base/cancel.hpp"
#include "base/parallel.hpp"

namespace clausewise::bindings {

namespace nb = nanobind;

using ProgressCallback = std::optional<std::function<void(std::size_t, std::size_t)>>;

inline constexpr std::chrono::milliseconds kPollInterval{50};

// Runs the job on the calling thread, where the checks of the job itself poll for signals and report progress.
template <class Report, class Job>
void run_on_this_thread(CancelToken& cancel, const Report& report, Job&& job) {
    auto last = std::chrono::steady_clock::now();
    cancel.poller = std::this_thread::get_id();
    cancel.poll = [&] {
        const auto now = std::chrono::steady_clock::now();
        if (now - last < kPollInterval) return;
        last = now;
        report();
    };
    job();
    report();
}

// Runs the job on another thread while the calling one polls for signals: an interrupt (Ctrl-C) cancels the job, and
// progress is reported on the thread that Python called from. Where the system refuses another thread (a limit on
// processes or memory), the job runs on the calling one.
template <class Job>
void run_interruptible(CancelToken& cancel, const std::atomic<std::size_t>& n_done, std::size_t n_total,
                       const ProgressCallback& progress, Job&& job) {
    std::mutex guard;
    std::condition_variable finished;
    bool is_finished = false;
    std::exception_ptr failure;
    nb::gil_scoped_release release;
    std::size_t n_reported = 0;
    const auto report = [&] {
        const std::size_t n_now = n_done;
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (progress && n_now != n_reported) (*progress)(n_reported = n_now, n_total);
    };
    std::optional<Thread> worker;
    try {
        worker.emplace([&] {
            try {
                job();
            } catch (...) {
                failure = std::current_exception();
            }
            const std::lock_guard<std::mutex> lock(guard);
            is_finished = true;
            finished.notify_one();
        });
    } catch (const std::system_error&) {
        run_on_this_thread(cancel, report, job);
        return;
    }
    std::exception_ptr interruption;
    std::unique_lock<std::mutex> lock(guard);
    while (!finished.wait_for(lock, kPollInterval, [&] { return is_finished; })) {
        if (cancel.cancelled) continue;
        lock.unlock();
        try {
            report();
        } catch (...) {
            interruption = std::current_exception();
            cancel.cancelled = true;
        }
        lock.lock();
    }
    lock.unlock();
    worker->join();
    if (interruption) std::rethrow_exception(interruption);
    if (failure) std::rethrow_exception(failure);
    report();
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
