/** The network, layer by layer: the units that clauses test, and how many clauses and rules come from each. */

import { type LayerUse, isFromSearch, layerName, type UnitUse, unitsOf } from "../../lib/origin";
import { counted, grouped } from "../../lib/text";
import { usePage } from "../../pageStore";
import { useParts } from "../../parts";

const [WIDTH, HEIGHT, TOP, BOTTOM] = [190, 210, 24, 40];
const MOST_UNITS = 9;

interface Props {
  layers: readonly LayerUse[];
  current: LayerUse;
  onChoose: (name: string) => void;
}

/** Decorative for the keyboard: the list of layers beside it has the same buttons. */
export function NetworkDrawing({ layers, current, onChoose }: Props) {
  const set = usePage().rules.value;
  const outputs = useParts().outputs(set);
  const drawn = layers.filter((layer) => layer.name !== "" && !isFromSearch(layer.name)).map((layer) => ({ layer, units: unitsOf(layer) }));
  if (drawn.length === 0 || drawn.length > 12 || drawn.every(({ units }) => units.length === 0)) return null;
  const most = Math.max(1, ...drawn.flatMap(({ units }) => units.map((unit) => unit.nRules)));
  const tested = new Set(set.rules.flatMap((rule) => rule.terms.map((term) => term.feature))).size;
  const x = (column: number) => (column + 0.5) * WIDTH;
  const ends = [ys(4), ...drawn.map(({ units }) => ys(Math.min(units.length, MOST_UNITS))), ys(Math.min(outputs.n, MOST_UNITS))];
  const label = drawn.map(({ layer, units }) => `${layerName(layer.name)}: ${counted(units.length, "unit")}, ${counted(layer.clauses.length, "clause")}, ${counted(layer.places.length, "rule")}`).join("; ");
  return (
    <div class="drawing" role="region" aria-label="The network" tabIndex={0}>
      <svg width={WIDTH * (drawn.length + 2)} height={HEIGHT} role="img" aria-label={label}>
        {ends.slice(0, -1).flatMap((from, column) => from.flatMap((y1) => ends[column + 1].map((y2) => <line key={`${column}.${y1}.${y2}`} class="edge" x1={x(column)} x2={x(column + 1)} y1={y1} y2={y2} />)))}
        <Column at={x(0)} name="inputs" text={`${grouped(tested)} of ${grouped(set.features.length)} tested`} ys={ends[0]} />
        {drawn.map(({ layer, units }, i) => (
          <g key={layer.name} class={layer === current ? "column is-current" : "column"} onClick={() => onChoose(layer.name)}>
            <rect class="column-back" x={x(i + 1) - WIDTH / 2 + 8} y="2" width={WIDTH - 16} height={HEIGHT - 4} rx="4" fill-opacity="0.5" />
            <text class="name" x={x(i + 1)} y="16" text-anchor="middle">
              {shortened(layerName(layer.name))}
            </text>
            <Units at={x(i + 1)} units={units} most={most} />
            <text class="count" x={x(i + 1)} y={HEIGHT - 24} text-anchor="middle">
              {units.length > MOST_UNITS ? `${MOST_UNITS} of ${units.length} units drawn` : counted(units.length, "unit")}
            </text>
            <text x={x(i + 1)} y={HEIGHT - 9} text-anchor="middle">
              {counted(layer.clauses.length, "clause")} → {counted(layer.places.length, "rule")}
            </text>
          </g>
        ))}
        <Column at={x(drawn.length + 1)} name="outputs" text={outputs.text} ys={ends[ends.length - 1]} />
      </svg>
    </div>
  );
}

function ys(n: number): number[] {
  const height = HEIGHT - TOP - BOTTOM;
  return Array.from({ length: n }, (_, i) => TOP + (height * (i + 0.5)) / n);
}

function Column({ at, name, text, ys: places }: { at: number; name: string; text: string; ys: readonly number[] }) {
  return (
    <g>
      <text class="name" x={at} y="16" text-anchor="middle">
        {name}
      </text>
      {places.map((y) => (
        <circle key={y} class="unit" cx={at} cy={y} r="4" />
      ))}
      <text class="count" x={at} y={HEIGHT - 9} text-anchor="middle">
        {text}
      </text>
    </g>
  );
}

/** The units with most rules, as circles whose areas are the numbers of rules. */
function Units({ at, units, most }: { at: number; units: readonly UnitUse[]; most: number }) {
  const shown = [...units]
    .sort((a, b) => b.nRules - a.nRules || a.unit - b.unit)
    .slice(0, MOST_UNITS)
    .sort((a, b) => a.unit - b.unit);
  const places = ys(shown.length);
  return (
    <>
      {shown.map(({ unit, nClauses, nRules }, i) => (
        <g key={unit}>
          <title>
            unit {unit}: {counted(nClauses, "clause")}, {counted(nRules, "rule")}
          </title>
          <circle class="unit" cx={at} cy={places[i]} r={3 + 5 * Math.sqrt(nRules / most)} />
          <text x={at + 12} y={places[i] + 4}>
            [{unit}] {grouped(nRules)}
          </text>
        </g>
      ))}
    </>
  );
}

function shortened(name: string): string {
  return name.length > 24 ? `${name.slice(0, 23)}…` : name;
}
