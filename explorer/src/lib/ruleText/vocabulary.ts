/** The features and classes that a rule text may name. */

import type { RuleSet } from "../rules";

export type Vocabulary = Pick<RuleSet, "features" | "classes" | "classDtype" | "voting">;
