/** A term drawn over the distribution of its feature, with the accepted range highlighted. */

import { type Axis, axisOf } from "../lib/axis";
import { colourOf } from "../lib/colours";
import type { Term } from "../lib/rules";
import { useStore } from "../store";

interface Props {
  term: Term | null;
  feature?: number;
  classIndex: number | null;
  width?: number;
  height?: number;
}

/** Decorative: the term's text is always beside it. */
export function TermStrip({ term, feature, classIndex, width = 120, height = 24 }: Props) {
  const store = useStore();
  const place = feature ?? term?.feature ?? 0;
  const axis = axisOf(store, place);
  const accepted = term === null ? [] : acceptedParts(term, axis);
  return (
    <svg class="strip" viewBox="0 0 1 1" preserveAspectRatio="none" width={width} height={height} aria-hidden="true">
      <rect class="strip-back" width="1" height="1" />
      <path class="strip-bars" d={axis.bars} />
      {accepted.map(([from, to]) => (
        <rect key={from} class={`strip-part ${classIndex === null ? "" : colourOf(classIndex)}`} x={from} width={Math.max(0.015, to - from)} height="1" />
      ))}
      {accepted.map(([from, to]) => (
        <rect key={from} class={`strip-line ${classIndex === null ? "" : colourOf(classIndex)}`} x={from} width={Math.max(0.015, to - from)} y="0.88" height="0.12" />
      ))}
    </svg>
  );
}

/** The parts of the axis that satisfy a term, as fractions of its length. */
export function acceptedParts(term: Term, axis: Axis): [number, number][] {
  if (term.missing) return [];
  if (term.codes !== null) return term.codes.map((code) => [code / axis.nSlots, (code + 1) / axis.nSlots]);
  if (axis.kind === "categories") {
    // A binary feature: two slots, for 0 and for 1.
    const parts: [number, number][] = [];
    for (const value of [0, 1]) {
      if (value <= term.high && value > term.low) parts.push([value / 2, (value + 1) / 2]);
    }
    return parts;
  }
  if (term.low >= term.high) return [];
  return [[axis.place(term.low), axis.place(term.high)]];
}
