// How a long computation is cancelled from outside.
#pragma once

#include <atomic>
#include <exception>

namespace clausewise {

struct Cancelled : std::exception {
    const char* what() const noexcept override { return "the computation was cancelled"; }
};

struct CancelToken {
    std::atomic<bool> cancelled{false};
    void check() const {
        if (cancelled.load(std::memory_order_relaxed)) throw Cancelled{};
    }
};

}  // namespace clausewise
