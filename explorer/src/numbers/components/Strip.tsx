/** A term drawn over the distribution of its feature. Decorative: its text is always beside it. */

import { acceptedParts } from "../../components/TermStrip";
import { axisOf } from "../../lib/axis";
import type { Term } from "../../lib/rules";
import { useNumberStore } from "../store";

export function Strip({ term, isNegative }: { term: Term; isNegative: boolean }) {
  const axis = axisOf(useNumberStore(), term.feature);
  const parts = acceptedParts(term, axis);
  const sign = isNegative ? "is-down" : "is-up";
  return (
    <svg class="strip" viewBox="0 0 1 1" preserveAspectRatio="none" width={120} height={24} aria-hidden="true">
      <path class="strip-bars" d={axis.bars} />
      {parts.map(([from, to]) => (
        <g key={from}>
          <rect class={`strip-part ${sign}`} x={from} width={Math.max(0.015, to - from)} height="1" />
          <rect class={`strip-line ${sign}`} x={from} width={Math.max(0.015, to - from)} y="0.88" height="0.12" />
        </g>
      ))}
    </svg>
  );
}
