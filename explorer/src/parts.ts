/** How rules of a kind are drawn: what views that are the same for all kinds need to be given. */

import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { AnyRule, AnyRules, New, Term } from "./lib/rules";

export interface RuleParts<R extends AnyRule = AnyRule, S extends AnyRules<R> = AnyRules<R>> {
  /** What the groups of rules are (`RuleKind.groupNames`), in the plural and as the title of a column. */
  readonly groups: string;
  readonly groupTitle: string;
  /** An example of what can be searched for. */
  readonly finding: string;
  /** Groups are marked by a shape and a colour, which is a class of the style sheet. */
  groupMark(group: number): ComponentChildren;
  groupColour(group: number): string;

  /** What a rule concludes, its title and the width of its column in px. */
  conclusion(rule: R, set: S): ComponentChildren;
  readonly conclusionTitle: string;
  conclusionWidth(set: S): number;
  /** What else is said of a rule in a list: marks before its premise, and a figure after it, such as its confidence. */
  marks(rule: R): ComponentChildren;
  figure(rule: R, set: S): string;
  /** The title of a column of these figures; null if there is none. */
  readonly figureTitle: string | null;

  /** The outputs of the network, as they are drawn and in words. */
  outputs(set: S): { readonly n: number; readonly text: string };
  /** A term over the distribution of its feature. */
  strip(term: Term, rule: New<R>): ComponentChildren;
  /** The part of the editor that says what a rule concludes. */
  says(rule: New<R>, set: S, onRule: (rule: New<R>) => void): ComponentChildren;
  /** A setting as the Compare view words it; null for the usual words. */
  setting(name: string, set: S): { readonly name: string; readonly text: string } | null;
  /** The rows on which two rule sets, over the page's features, differ. */
  readonly comparedRowsTitle: string;
  comparedRows(before: S, after: S): ComponentChildren;
}

const PartsContext = createContext<RuleParts | null>(null);
export const PartsProvider = PartsContext.Provider;

export function useParts(): RuleParts {
  const parts = useContext(PartsContext);
  if (parts === null) throw new Error("No parts around this component.");
  return parts;
}
