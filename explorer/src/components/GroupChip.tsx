/** The mark and the name of a group of rules: a class, or whether they add or take away. */

import { usePage } from "../pageStore";
import { useParts } from "../parts";

export function GroupChip({ group }: { group: number }) {
  const { kind, rules } = usePage();
  const name = kind.groupNames(rules.value)[group];
  return (
    <span class="chip" title={name}>
      {useParts().groupMark(group)}
      <span class="chip-text">{name}</span>
    </span>
  );
}

/** The width in px of a table's column that holds chips with these texts. */
export function widthOfChips(texts: readonly string[]): number {
  const longest = Math.max(...texts.map((text) => text.length));
  return Math.min(180, Math.max(84, Math.ceil(46 + 8.5 * longest)));
}
