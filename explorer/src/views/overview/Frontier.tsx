/** Fidelity against the size of a rule set, as a chart. */

import { readingCost } from "../../lib/readingCost";
import { agreementBetween } from "../../lib/story";
import { counted, percent } from "../../lib/text";
import type { FrontierEntry } from "../../payload";
import { type Store, useStore } from "../../store";

/** The last number and, from it downwards, those whose labels do not overlap the previous one. */
function apart(numbers: readonly number[], x: (number: number) => number): number[] {
  const kept: number[] = [];
  for (const number of [...numbers].reverse()) {
    const next = kept[0];
    // About 6.5 units per digit, and a gap.
    const room = next === undefined ? 0 : 3.3 * (String(number).length + String(next).length) + 8;
    if (next === undefined || x(next) - x(number) >= room) kept.unshift(number);
  }
  return kept;
}

/** This rule set as a point of the chart: its size, and its fidelity on the rows of the report; null if that is unknown. */
function ownPoint(store: Store, by: FrontierEntry["by"]): { size: number; fidelity: number } | null {
  const found = store.whyUnknown.value === null ? agreementBetween(store, "network", "rules") : null;
  const set = store.rules.value;
  return found === null ? null : { size: by === "rules" ? set.rules.length : readingCost(set), fidelity: found.part };
}

/** What the recommended size means: beyond it, more to read brings little; or it is the largest that was tried. */
function kneeText({ knee, budgets, fidelity }: Pick<FrontierEntry, "knee" | "budgets" | "fidelity">, unit: string): string {
  const place = budgets.indexOf(knee);
  const size = counted(knee, unit);
  const reached = place >= 0 ? ` (${percent(fidelity[place])})` : "";
  return place === budgets.length - 1 ? `${size}${reached}: the largest size tried.` : `From ${size} on${reached}, more adds little.`;
}

export function Frontier({ frontier }: { frontier: FrontierEntry }) {
  return <FrontierChart frontier={frontier} own={ownPoint(useStore(), frontier.by)} what="Fidelity" />;
}

interface ChartProps {
  frontier: Pick<FrontierEntry, "by" | "budgets" | "fidelity" | "spread" | "knee">;
  own: { size: number; fidelity: number } | null;
  /** What is measured. */
  what: string;
}

export function FrontierChart({ frontier, own, what }: ChartProps) {
  const { by, budgets, fidelity, spread, knee } = frontier;
  const unit = by === "rules" ? "rule" : "condition";
  // On a narrow screen the same letters take more of the width.
  const isNarrow = window.matchMedia("(max-width: 760px)").matches;
  const [width, height, left, bottom, top, right] = [isNarrow ? 350 : 560, 200, 56, 34, 10, 12];
  // A mean plus or minus its deviation may lie outside [0, 1].
  const below = fidelity.map((f, i) => Math.max(Math.min(0, f), f - spread[i]));
  const above = fidelity.map((f, i) => Math.min(1, f + spread[i]));
  const low = Math.min(...below, own?.fidelity ?? 1);
  const high = Math.max(...above, own?.fidelity ?? 0);
  const [least, most] = [Math.min(budgets[0], own?.size ?? Infinity), Math.max(budgets[budgets.length - 1], own?.size ?? 0)];
  const span = high - low || 1;
  const x = (budget: number) => left + ((width - left - right) * (budget - least)) / (most - least || 1);
  const y = (value: number) => top + (height - top - bottom) * (1 - (value - low) / span);
  const line = budgets.map((budget, i) => `${i === 0 ? "M" : "L"}${x(budget).toFixed(1)} ${y(fidelity[i]).toFixed(1)}`).join("");
  const upper = budgets.map((budget, i) => `${x(budget).toFixed(1)} ${y(above[i]).toFixed(1)}`);
  const lower = budgets.map((budget, i) => `${x(budget).toFixed(1)} ${y(below[i]).toFixed(1)}`).reverse();
  const kneePlace = budgets.indexOf(knee);
  const ticks = [low, (low + high) / 2, high];
  const last = budgets[budgets.length - 1];
  const xTicks = apart([...new Set([budgets[0], ...[2, 4, 8, 16, 32, 64, 128, 256].filter((b) => b > budgets[0] && b < last), last])], x);
  const label = `${what} on held-out rows rises from ${percent(fidelity[0])} with ${counted(budgets[0], unit)} to ${percent(fidelity[fidelity.length - 1])} with ${last}. ${kneeText(frontier, unit)}${own === null ? "" : ` This rule set: ${counted(own.size, unit)}, ${percent(own.fidelity)}.`}`;
  return (
    <figure class="frontier">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid-line" x1={left} x2={width - right} y1={y(tick)} y2={y(tick)} />
            <text x={left - 6} y={y(tick) + 4} text-anchor="end">{percent(tick)}</text>
          </g>
        ))}
        {xTicks.map((tick) => (
          <text key={tick} x={x(tick)} y={height - bottom + 16} text-anchor="middle">{tick}</text>
        ))}
        <text x={(left + width - right) / 2} y={height - 2} text-anchor="middle">{by === "rules" ? "rules" : "conditions to read"}</text>
        <path class="band" d={`M${[...upper, ...lower].join("L")}z`} />
        <path class="curve" d={line} />
        {kneePlace >= 0 && <circle class="knee" cx={x(knee)} cy={y(fidelity[kneePlace])} r="4.5" />}
        {own !== null && <path class="own-point" d={`M${x(own.size)} ${y(own.fidelity) - 7}l7 7l-7 7l-7 -7z`} />}
      </svg>
      <figcaption class="quiet">
        {own !== null && (
          <>
            <strong>
              ◆ this rule set: {counted(own.size, unit)}, {percent(own.fidelity)}
            </strong>{" "}
            on the rows of this report.{" "}
          </>
        )}
        The curve: rule sets of other sizes on rows held out when the rules were made, ± one standard deviation. ● {kneeText(frontier, unit)}
      </figcaption>
    </figure>
  );
}
