/** A rule's support as a bar, split into rows that agree and rows that differ. */

import type { Evidence } from "../lib/evidence";
import { grouped, percent } from "../lib/text";

/** `most` is the support that fills the bar. */
export function EvidenceBar({ evidence, most }: { evidence: Evidence | null; most: number }) {
  if (evidence === null) return <span class="quiet">not known</span>;
  const { n, nAgree, basis } = evidence;
  const who = basis === "network" ? "the network agrees" : basis === "truth" ? "the truth agrees" : "of the training rows are of its class";
  const text = n === 0 ? "0" : `${grouped(n)} · ${percent(nAgree / n, 0)}`;
  return (
    <span class="evidence" title={`${grouped(n)} rows; ${who} on ${grouped(nAgree)}, differs on ${grouped(n - nAgree)}`}>
      <span class="evidence-bar" aria-hidden="true">
        <span class="evidence-agrees" style={{ width: `${(100 * nAgree) / Math.max(1, most)}%` }} />
        <span class="evidence-differs" style={{ width: `${(100 * (n - nAgree)) / Math.max(1, most)}%` }} />
      </span>
      <span class="evidence-text">{text}</span>
    </span>
  );
}
