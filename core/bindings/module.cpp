// The Python module clausewise._core. Each stage binds itself in a file of its own.
#include <nanobind/nanobind.h>

#include "bindings/bindings.hpp"

NB_MODULE(_core, module) {
    // Python ends without freeing what modules and exceptions still hold; a user who made a rule set in one would be
    // told of leaks that are none. The sanitizers look for real ones.
    nanobind::set_leak_warnings(false);
    module.doc() = "Compiled kernels of clausewise. Everything here is private; use the clausewise package.";
    clausewise::bindings::bind_boxes(module);
    clausewise::bindings::bind_compact(module);
    clausewise::bindings::bind_coverage(module);
    clausewise::bindings::bind_induction(module);  // before what takes its matrices
    clausewise::bindings::bind_c50(module);
    clausewise::bindings::bind_cart(module);
}
