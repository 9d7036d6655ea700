/** The votes of one row. */

import { shortNumber } from "../lib/text";
import { ClassChip } from "./ClassMark";

/** The classes with votes, most votes first. */
export function VoteBars({ scores, decision }: { scores: readonly number[]; decision: number }) {
  const largest = Math.max(...scores.map(Math.abs), 1e-12);
  const listed = scores.map((_, c) => c).filter((c) => scores[c] !== 0 || c === decision);
  listed.sort((a, b) => scores[b] - scores[a] || a - b);
  return (
    <ul class="votes">
      {listed.slice(0, 8).map((c) => (
        <li key={c}>
          <ClassChip index={c} />
          <span class="bar-box" aria-hidden="true">
            <span class={scores[c] < 0 ? "bar is-negative" : "bar"} style={{ width: `${(100 * Math.abs(scores[c])) / largest}%` }} />
          </span>
          <span class="number">{shortNumber(scores[c])}</span>
        </li>
      ))}
      {listed.length > 8 && <li class="quiet">… and {listed.length - 8} more classes</li>}
    </ul>
  );
}
