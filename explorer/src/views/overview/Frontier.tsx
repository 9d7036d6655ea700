/** Fidelity against the size of a rule set, as a chart. */

import { counted, percent, shortNumber } from "../../lib/text";
import type { FrontierEntry } from "../../payload";

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

export function Frontier({ frontier }: { frontier: FrontierEntry }) {
  const { by, budgets, fidelity, spread, knee } = frontier;
  const unit = by === "rules" ? "rule" : "condition";
  const [width, height, left, bottom, top, right] = [560, 200, 56, 34, 10, 12];
  // A mean plus or minus its deviation may lie outside [0, 1].
  const below = fidelity.map((f, i) => Math.max(0, f - spread[i]));
  const above = fidelity.map((f, i) => Math.min(1, f + spread[i]));
  const low = Math.min(...below);
  const high = Math.max(...above);
  const span = high - low || 1;
  const x = (budget: number) => left + ((width - left - right) * (budget - budgets[0])) / (budgets[budgets.length - 1] - budgets[0] || 1);
  const y = (value: number) => top + (height - top - bottom) * (1 - (value - low) / span);
  const line = budgets.map((budget, i) => `${i === 0 ? "M" : "L"}${x(budget).toFixed(1)} ${y(fidelity[i]).toFixed(1)}`).join("");
  const upper = budgets.map((budget, i) => `${x(budget).toFixed(1)} ${y(above[i]).toFixed(1)}`);
  const lower = budgets.map((budget, i) => `${x(budget).toFixed(1)} ${y(below[i]).toFixed(1)}`).reverse();
  const kneePlace = budgets.indexOf(knee);
  const ticks = [low, (low + high) / 2, high];
  const last = budgets[budgets.length - 1];
  const xTicks = apart([...new Set([budgets[0], ...[2, 4, 8, 16, 32, 64, 128, 256].filter((b) => b > budgets[0] && b < last), last])], x);
  const label = `Fidelity on held-out rows rises from ${percent(fidelity[0])} with ${counted(budgets[0], unit)} to ${percent(fidelity[fidelity.length - 1])} with ${last}; ${counted(knee, unit)} recommended (${percent(fidelity[kneePlace])}).`;
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
      </svg>
      <figcaption class="quiet">
        On held-out rows, ± one standard deviation. ● recommended: {counted(knee, unit)}, {kneePlace >= 0 ? percent(fidelity[kneePlace]) : shortNumber(NaN)}.
      </figcaption>
    </figure>
  );
}
