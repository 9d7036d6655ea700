/**
 * The values of the row, to be changed. Over the distribution of each feature, a curve shows what the rules would predict
 * at other values; all curves have one scale, so that a flat one means little.
 */

import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { acceptedParts } from "../../components/TermStrip";
import { type Axis, axisOf, between, fraction, middleOf, roundedWithin } from "../../lib/axis";
import { numberOf } from "../../lib/csv";
import type { RowDraft } from "../../lib/rowDraft";
import type { Feature, Term } from "../../lib/rules";
import { counted, featureName, formatCategory, formatNumber, knownNumber } from "../../lib/text";
import { type CurvePart, curveOf, predictionsOf } from "../lib/curves";
import { responseName, short } from "../lib/text";
import { type NumberStore, useNumberStore } from "../store";

const FIELDS_AT_ONCE = 12;
const N_STEPS = 200;
/** The curve leaves some room above, and below for the handle of the slider. */
const [TOP, BOTTOM] = [0.06, 0.74];

/** What the rules predict along one feature. */
interface Along {
  curve: CurvePart[];
  categories: number[];
  missing: number;
}

function alongOf(store: NumberStore, values: readonly number[], feature: number): Along {
  const set = store.rules.value;
  const { ends } = axisOf(store, feature);
  const curve = set.features[feature].kind === "numeric" ? curveOf(set, values, feature, ends[0], ends[1]) : [];
  return { curve, ...predictionsOf(set, values, feature) };
}

export function Fields({ draft, lit }: { draft: RowDraft; lit: ReadonlySignal<number | null> }) {
  const store = useNumberStore();
  const nShown = useSignal(FIELDS_AT_ONCE);
  const set = store.rules.value;
  const along = useComputed(() => new Map(store.used.value.map((feature) => [feature, alongOf(store, draft.values.value, feature)]))).value;
  const all = [...along.values()].flatMap(({ curve, categories }) => [...curve.flatMap((part) => [part.start, part.end]), ...categories]).filter(Number.isFinite);
  const [low, high] = all.length === 0 ? [0, 1] : [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
  // Those that make most of a difference come first, but not while the values change.
  const listed = useComputed(() => {
    const values = draft.baseValues.value;
    const span = ({ curve, categories }: Along): number => {
      const numbers = [...curve.flatMap((part) => [part.start, part.end]), ...categories];
      return Math.max(...numbers) - Math.min(...numbers);
    };
    const spans = new Map(store.used.value.map((feature) => [feature, span(alongOf(store, values, feature))]));
    return [...store.used.value].sort((a, b) => (spans.get(b) ?? 0) - (spans.get(a) ?? 0) || a - b);
  }).value;
  const rule = lit.value === null ? store.selectedRule.value?.rule : set.rules.find((other) => other.id === lit.value);
  const nUnused = set.features.length - store.used.value.length;
  return (
    <>
      <div class="fields">
        {listed.slice(0, nShown.value).map((feature) => {
          const found = along.get(feature);
          return found === undefined ? null : (
            <Field
              key={feature}
              feature={feature}
              value={draft.values.value[feature]}
              isChanged={draft.changed.value.has(feature)}
              along={found}
              scale={[low, high]}
              lit={rule?.terms.find((term) => term.feature === feature) ?? null}
              onValue={(value) => draft.setValues(new Map([[feature, value]]))}
            />
          );
        })}
      </div>
      {listed.length > nShown.value && (
        <p>
          <button type="button" onClick={() => (nShown.value = listed.length)}>
            Show the other {listed.length - nShown.value}
          </button>
        </p>
      )}
      <p class="quiet">
        The line shows {responseName(set)} at other values of a feature, from {short(Number(low.toPrecision(4)))} (bottom) to {short(Number(high.toPrecision(4)))} (top) in every field; grey: how often the values occur.
        {nUnused > 0 && ` ${counted(nUnused, "other feature")} ${nUnused === 1 ? "is" : "are"} not used by the rules.`}
      </p>
    </>
  );
}

interface Props {
  feature: number;
  /** Encoded; NaN where missing. */
  value: number;
  isChanged: boolean;
  along: Along;
  scale: readonly [number, number];
  /** A term on this feature that is pointed at elsewhere. */
  lit: Term | null;
  onValue: (value: number) => void;
}

function Field(props: Props) {
  const store = useNumberStore();
  const id = useId();
  const about = store.original.features[props.feature];
  const name = featureName(about);
  const isNumeric = about.kind === "numeric";
  return (
    <div class={`field${props.isChanged ? " is-changed" : ""}${props.lit !== null ? " is-lit" : ""}`}>
      <div class="field-head">
        <span class="field-name">
          <label for={id} title={about.name}>
            {name}
          </label>
          {props.isChanged && <span class="badge">changed</span>}
        </span>
        {isNumeric ? <NumberInput id={id} {...props} /> : <Choice id={id} about={about} {...props} />}
      </div>
      <div class="slider">
        <Curve {...props} />
        {isNumeric && <Slider {...props} name={name} />}
      </div>
    </div>
  );
}

function NumberInput({ id, value, onValue }: Props & { id: string }) {
  const shown = value !== value ? "" : Number.isFinite(value) ? knownNumber(value) : formatNumber(value);
  return (
    <input
      id={id}
      class="field-number"
      inputMode="decimal"
      value={shown}
      title={value !== value ? "missing" : formatNumber(value)}
      placeholder="missing"
      onChange={(event) => {
        const text = event.currentTarget.value.trim();
        const number = text === "" ? NaN : numberOf(text);
        if (text === "" || number === number) onValue(number + 0);
        // Text that cannot be read is replaced by the current value.
        event.currentTarget.value = shown;
      }}
    />
  );
}

function Choice({ id, about, value, along, onValue }: Props & { id: string; about: Feature }) {
  const names = about.categories === null ? ["false", "true"] : about.categories.map((category) => formatCategory(category, about));
  const said = (number: number) => ` → ${short(Number(number.toPrecision(4)))}`;
  return (
    <select id={id} value={value !== value ? "NaN" : String(value)} onChange={(event) => onValue(Number(event.currentTarget.value))}>
      {names.map((name, code) => (
        <option key={code} value={String(code)}>
          {name}
          {said(along.categories[code])}
        </option>
      ))}
      {about.categories !== null && <option value={String(names.length)}>another, unknown category</option>}
      <option value="NaN">missing{said(along.missing)}</option>
    </select>
  );
}

function Slider({ feature, value, along, onValue, name }: Props & { name: string }) {
  const store = useNumberStore();
  const axis = axisOf(store, feature);
  const histogram = store.payload.histograms?.[feature] ?? null;
  const isWhole = histogram?.kind === "numeric" && histogram.is_whole;
  const [least, most] = axis.ends;
  // A small range of whole numbers has one step per number.
  const nSteps = isWhole && most - least < N_STEPS ? most - least : N_STEPS;
  const isMissing = value !== value;
  const step = isMissing ? nSteps >> 1 : Math.round(nSteps * Math.min(1, Math.max(0, fraction(value, least, most))));
  // The end values lie in the middle of their bars, half a bar from the ends of the axis.
  const margin = fraction(least, axis.low, axis.high);
  return (
    <>
      <input
        type="range"
        class={isMissing ? "is-missing" : ""}
        aria-label={`${name}, slider`}
        aria-valuetext={isMissing ? "missing" : formatNumber(value)}
        min={0}
        max={nSteps}
        step={1}
        value={step}
        style={margin > 0 ? { width: `calc(${100 * (1 - 2 * margin)}% + 16px)`, marginLeft: `calc(${100 * margin}% - 8px)` } : {}}
        onInput={(event) => {
          const raw = between(least, most, nSteps === 0 ? 0 : Number(event.currentTarget.value) / nSteps);
          onValue(isWhole ? Math.round(raw) + 0 : roundedWithin(raw, least, most));
        }}
      />
      <div class="slider-ends quiet">
        <span aria-hidden="true">{short(least)}</span>
        <button type="button" class="plain as-missing" aria-pressed={isMissing} title={`Without a value: ${short(Number(along.missing.toPrecision(4)))}`} onClick={() => onValue(isMissing ? middleOf(store, feature) : NaN)}>
          {isMissing ? "missing" : "set missing"}
        </button>
        <span aria-hidden="true">{short(most)}</span>
      </div>
    </>
  );
}

/** The distribution, and the prediction at each value; decorative beside the number, of which it is the picture. */
function Curve({ feature, value, along, scale, lit }: Props) {
  const store = useNumberStore();
  const axis = axisOf(store, feature);
  const [low, high] = scale;
  const y = (number: number) => (high > low ? BOTTOM - ((BOTTOM - TOP) * (number - low)) / (high - low) : 0.5);
  const place = placeOf(axis, value);
  const parts = lit === null ? [] : acceptedParts(lit, axis);
  const path =
    axis.kind === "categories"
      ? along.categories.map((number, code) => `M${((code + 0.1) / axis.nSlots).toFixed(4)} ${y(number).toFixed(4)}h${(0.8 / axis.nSlots).toFixed(4)}`).join("")
      : along.curve.map((part, i) => `${i === 0 ? "M" : "L"}${axis.place(part.from).toFixed(4)} ${y(part.start).toFixed(4)}L${axis.place(part.to).toFixed(4)} ${y(part.end).toFixed(4)}`).join("");
  return (
    <svg class="curve-box" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
      <path class="strip-bars" d={axis.bars} />
      {parts.map(([from, to]) => (
        <rect key={from} class="slider-lit" x={from} width={Math.max(0.015, to - from)} height="1" />
      ))}
      {place !== null && <path class="slider-place" d={`M${place} 0V1`} />}
      <path class="value-curve" d={path} />
    </svg>
  );
}

/** Where the value lies on its axis; null if it is missing or unknown. */
function placeOf(axis: Axis, value: number): number | null {
  if (value !== value) return null;
  if (axis.kind === "categories") return value < axis.nSlots ? (value + 0.5) / axis.nSlots : null;
  return Math.min(1, Math.max(0, fraction(value, axis.low, axis.high)));
}
