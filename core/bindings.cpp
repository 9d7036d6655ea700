// The Python module clausewise._core. Each stage binds itself in a file of its own.
#include <nanobind/nanobind.h>

#include "bindings.hpp"

NB_MODULE(_core, module) {
    module.doc() = "Compiled kernels of clausewise. Everything here is private; use the clausewise package.";
    clausewise::bind_boxes(module);
    clausewise::bind_compact(module);
    clausewise::bind_coverage(module);
    clausewise::bind_induction(module);
}
