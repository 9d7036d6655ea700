// How a long computation is cancelled from outside.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>

namespace clausewise {

struct Cancelled : std::exception {
    const char* what() const noexcept override { return "the computation was cancelled"; }
};

struct CancelToken {
    std::atomic<bool> cancelled{false};
    // Set before the work starts, if no other thread can watch it: called by the checks on the thread of `poller`, and
    // may throw.
    std::function<void()> poll;
    std::thread::id poller;

    void check() const {
        if (cancelled.load(std::memory_order_relaxed)) throw Cancelled{};
        if (poll && std::this_thread::get_id() == poller) poll();
    }
};

}  // namespace clausewise
