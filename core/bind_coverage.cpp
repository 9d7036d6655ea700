#include "bindings.hpp"

#include <thread>

namespace clausewise {

void bind_coverage(nanobind::module_& module) {
    module.def("hardware_threads", [] { return static_cast<int>(std::thread::hardware_concurrency()); },
               "Number of hardware threads the C++ runtime sees (0 if unknown).");
}

}  // namespace clausewise
