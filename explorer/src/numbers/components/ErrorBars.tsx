/** How the errors are distributed: how often the rules say too little or too much, and by how much. */

import { counted, grouped, percent } from "../../lib/text";
import { barsOf } from "../lib/errors";
import { JUDGES } from "../lib/story";
import { short, shortSigned } from "../lib/text";
import { ticksBetween } from "../lib/ticks";
import { useNumberStore } from "../store";

const [WIDTH, HEIGHT, SIDE, TOP, BOTTOM] = [420, 200, 14, 8, 38];
const N_BARS = 31;

export function ErrorBars() {
  const store = useNumberStore();
  const errors = store.errors.value;
  const judge = store.judge.value;
  if (errors === null || judge === null || errors.length === 0) return null;
  const name = JUDGES.get(judge)?.name ?? judge;
  const sizes = errors.map(Math.abs).sort();
  const most = sizes[Math.floor(0.9 * (sizes.length - 1))];
  const bars = barsOf(errors, N_BARS);
  // Centred on 0, so that too little and too much are easily compared.
  const reach = Math.max(Math.abs(bars.low), Math.abs(bars.high));
  const x = (error: number) => SIDE + ((WIDTH - 2 * SIDE) * (error + reach)) / (2 * reach);
  const largest = Math.max(...bars.counts, 1);
  const width = (bars.high - bars.low) / N_BARS;
  const nAbove = errors.filter((error) => error > 0).length;
  return (
    <figure class="parity">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Rules minus ${name}: between ${short(bars.low)} and ${short(bars.high)} on 98 % of ${counted(errors.length, "row")}.`}>
        {bars.counts.map((count, i) => {
          const [from, to] = [bars.low + i * width, bars.low + (i + 1) * width];
          const height = ((HEIGHT - TOP - BOTTOM) * count) / largest;
          return (
            <rect key={i} class={to <= 0 ? "error-bar is-down" : from >= 0 ? "error-bar is-up" : "error-bar"} x={x(from) + 0.5} width={Math.max(1, x(to) - x(from) - 1)} y={HEIGHT - BOTTOM - height} height={height}>
              <title>{`${short(from)} to ${short(to)}: ${counted(count, "row")}`}</title>
            </rect>
          );
        })}
        <line class="error-zero" x1={x(0)} x2={x(0)} y1={TOP} y2={HEIGHT - BOTTOM + 3} />
        {ticksBetween(-reach, reach, 5).map((tick) => (
          <text key={tick} x={x(tick)} y={HEIGHT - BOTTOM + 15} text-anchor="middle">
            {tick === 0 ? "0" : shortSigned(tick)}
          </text>
        ))}
        <text x={WIDTH / 2} y={HEIGHT - 6} text-anchor="middle">
          rules − {name}
        </text>
      </svg>
      <figcaption class="quiet">
        Nine of ten rows are off by at most {short(Number(most.toPrecision(3)))}; the rules say too much on {percent(nAbove / errors.length, 0)} of {grouped(errors.length)} rows in this page.
      </figcaption>
    </figure>
  );
}
