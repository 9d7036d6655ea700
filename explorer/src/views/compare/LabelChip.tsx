/** Class chips for two rule sets whose classes may differ. */

import { ClassChip } from "../../components/ClassMark";
import type { Scalar } from "../../payload";

/** A class of either rule set, marked as in the report if the report has it. */
export function chipOf(names: Scalar[], label: Scalar) {
  if (!names.includes(label)) names.push(label);
  return <ClassChip index={names.indexOf(label)} names={names} />;
}
