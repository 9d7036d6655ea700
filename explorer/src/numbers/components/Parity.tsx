/** The rules' numbers beside those of the network or the truth, one dot per row. */

import { hasBit } from "../../lib/bits";
import { counted } from "../../lib/text";
import { quantile } from "../lib/errors";
import { JUDGES } from "../lib/story";
import { short } from "../lib/text";
import { ticksBetween } from "../lib/ticks";
import { useNumberStore } from "../store";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [420, 320, 56, 12, 10, 40];
/** More dots would hide each other, and slow the page down. */
const MOST_DOTS = 4000;
/** A click selects a dot that is at most this far away, in units of the drawing. */
const REACH = 12;

export function Parity() {
  const store = useNumberStore();
  const found = store.evaluation.value;
  const judge = store.judge.value;
  const wanted = store.numbersOf(judge);
  if (found === null || wanted === null || judge === null) return null;
  const { predictions } = found;
  const name = JUDGES.get(judge)?.name ?? judge;
  const step = Math.ceil(wanted.length / MOST_DOTS);
  const rows = Array.from({ length: Math.ceil(wanted.length / step) }, (_, i) => i * step).filter((row) => Number.isFinite(predictions[row]));
  const [low, high] = endsOf(rows.flatMap((row) => [wanted[row], predictions[row]]));
  const x = (number: number) => LEFT + ((WIDTH - LEFT - RIGHT) * (clamp(number, low, high) - low)) / (high - low);
  const y = (number: number) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (clamp(number, low, high) - low)) / (high - low);
  const dots = (chosen: readonly number[]) => chosen.map((row) => `M${x(wanted[row]).toFixed(1)} ${y(predictions[row]).toFixed(1)}h0`).join("");
  const rule = store.selectedRule.value;
  const cover = rule === null ? null : found.covers[rule.place];
  const lit = cover === null ? [] : rows.filter((row) => hasBit(cover, row));
  const selection = store.selection.value;
  const own = selection?.kind === "row" && selection.row < wanted.length ? selection.row : null;
  const pick = (event: MouseEvent) => {
    const box = event.currentTarget instanceof Element ? event.currentTarget.getBoundingClientRect() : null;
    if (box === null) return;
    const [px, py] = [((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT];
    const away = (row: number) => Math.hypot(x(wanted[row]) - px, y(predictions[row]) - py);
    const nearest = rows.reduce((best, row) => (away(row) < away(best) ? row : best), rows[0]);
    if (nearest !== undefined && away(nearest) <= REACH) store.select({ kind: "row", row: nearest });
  };
  const ticks = ticksBetween(low, high, 5);
  return (
    <figure class="parity">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`The rules' number against that of ${name} for ${counted(rows.length, "row")}: on the diagonal they are equal.`} onClick={pick}>
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid-line" x1={LEFT} x2={WIDTH - RIGHT} y1={y(tick)} y2={y(tick)} />
            <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
              {short(tick)}
            </text>
            <text x={x(tick)} y={HEIGHT - BOTTOM + 15} text-anchor="middle">
              {short(tick)}
            </text>
          </g>
        ))}
        <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 6} text-anchor="middle">
          {name}
        </text>
        <text x={-(TOP + HEIGHT - BOTTOM) / 2} y={11} text-anchor="middle" transform="rotate(-90)">
          the rules
        </text>
        <line class="parity-line" x1={x(low)} y1={y(low)} x2={x(high)} y2={y(high)} />
        <path class="parity-dots" d={dots(rows)} />
        <path class="parity-dots is-lit" d={dots(lit)} />
        {own !== null && <circle class="parity-own" cx={x(wanted[own])} cy={y(predictions[own])} r="6" />}
      </svg>
      <figcaption class="quiet">
        One dot per row{step > 1 ? ` (every ${step}th row)` : ""}; on the line, both are equal. {rule === null ? "Click a dot to see its row." : `Coloured: rows on which rule ${rule.place} holds.`}
      </figcaption>
    </figure>
  );
}

/** The range to draw, without the outermost tails if these would take more than half of it. */
function endsOf(numbers: readonly number[]): [number, number] {
  const sorted = Float64Array.from(numbers).sort();
  if (sorted.length === 0) return [0, 1];
  const [least, most] = [sorted[0], sorted[sorted.length - 1]];
  const [low, high] = [quantile(sorted, 0.002), quantile(sorted, 0.998)];
  const [from, to] = high > low && high - low < (most - least) / 2 ? [low, high] : [least, most];
  const margin = (to - from) / 40 || Math.abs(from) / 2 || 1;
  return [from - margin, to + margin];
}

function clamp(number: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, number));
}
