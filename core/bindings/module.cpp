// The Python module clausewise._core. Each subsystem has a binding file of its own.
#include <nanobind/nanobind.h>

#include "bindings/bindings.hpp"

NB_MODULE(_core, module) {
    // Python exits without freeing objects that modules and exceptions still hold, which nanobind would report as
    // leaks. The sanitizers look for real ones.
    nanobind::set_leak_warnings(false);
    module.doc() = "Compiled kernels of clausewise. Everything here is private; use the clausewise package.";
    clausewise::bindings::bind_boxes(module);
    clausewise::bindings::bind_compact(module);
    clausewise::bindings::bind_counterfactuals(module);
    clausewise::bindings::bind_coverage(module);
    clausewise::bindings::bind_induction(module);  // before the inducers, whose signatures name its Matrix
    clausewise::bindings::bind_c50(module);
    clausewise::bindings::bind_cart(module);
    clausewise::bindings::bind_rows(module);
}
