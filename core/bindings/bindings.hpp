// One function per binding file, called once by module.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace clausewise::bindings {

void bind_boxes(nanobind::module_& module);
void bind_c50(nanobind::module_& module);
void bind_cart(nanobind::module_& module);
void bind_compact(nanobind::module_& module);
void bind_counterfactuals(nanobind::module_& module);
void bind_coverage(nanobind::module_& module);
void bind_induction(nanobind::module_& module);
void bind_rows(nanobind::module_& module);

}  // namespace clausewise::bindings
