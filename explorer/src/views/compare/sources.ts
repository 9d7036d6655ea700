/** The rule sets that can be chosen: those of the report, those that came with it, and files that were opened. */

import { signal, type Signal } from "@preact/signals";
import { MAX_FILE_BYTES } from "../../lib/checks";
import { overOwnFeatures } from "../../lib/compare";
import type { RuleKind } from "../../lib/kind";
import { whyRulesUnknown } from "../../lib/leftOut";
import { perStore } from "../../lib/perStore";
import type { AnyRules } from "../../lib/rules";
import { grouped } from "../../lib/text";
import type { PageStore } from "../../pageStore";

/** A rule set that can be chosen. */
export interface Source {
  /** In the address. */
  id: string;
  title: string;
  set: AnyRules;
}

interface CompareState {
  embedded: readonly Source[];
  opened: Signal<readonly Source[]>;
}

export const compareStateOf = perStore(
  (store: PageStore): CompareState => ({
    embedded: (store.payload.compare ?? []).map(({ title, rules }, i) => ({ id: `embedded.${i}`, title, set: store.kind.readFile(rules) })),
    opened: signal<readonly Source[]>([]),
  }),
);

export function sourcesOf(store: PageStore, state: CompareState): Source[] {
  return [
    { id: "made", title: "As in the report", set: store.original },
    { id: "now", title: store.isEdited.value ? "With the edits" : "With the edits (none yet)", set: store.rules.value },
    ...state.embedded,
    ...state.opened.value,
  ];
}

export async function opened(kind: RuleKind, file: File): Promise<AnyRules> {
  if (file.size > MAX_FILE_BYTES) throw new Error(`the file has ${grouped(Math.round(file.size / 2 ** 20))} MB; rule files may have at most ${MAX_FILE_BYTES / 2 ** 20} MB`);
  return kind.openFile(await file.text());
}

/** The rules over the page's features, on the rows of which they can be evaluated; or a text that says why they cannot. */
export function ownRules(store: PageStore, set: AnyRules): AnyRules | string {
  const { table } = store;
  if (table === null) return "the report has no rows";
  if (set.features === store.original.features) return whyRulesUnknown(set, table) ?? set;
  return overOwnFeatures(store.kind, set, store.original, table);
}
