/**
 * One value of a row: a slider over the feature's distribution, or a choice of categories. Below the distribution, the
 * decision at each value is shown in the colours of the classes, so that the point where it flips can be seen.
 */

import { useId } from "preact/hooks";
import { type Axis, axisOf, between, fraction, roundedWithin } from "../lib/axis";
import { colourOf } from "../lib/colours";
import type { Along } from "../lib/counterfactuals/search";
import { numberOf } from "../lib/csv";
import type { Feature, Term } from "../lib/rules";
import { describeShortly, featureName, formatCategory, formatLabel, formatNumber, grouped, knownNumber, shortNumber } from "../lib/text";
import { useStore } from "../store";
import { acceptedParts } from "./TermStrip";

interface Props {
  feature: number;
  /** Encoded; NaN where missing. */
  value: number;
  isChanged: boolean;
  /** Whether the report left the value out. */
  isLeftOut: boolean;
  isLocked: boolean;
  /** What would be decided at other values; null if no rule tests the feature. */
  along: Along | null;
  /** A term on this feature that is pointed at elsewhere. */
  lit: Term | null;
  onValue: (value: number) => void;
  onLock: () => void;
}

const N_STEPS = 200;
const NOT_HERE = "not in this report";

export function ValueField(props: Props) {
  const store = useStore();
  const id = useId();
  const about = store.original.features[props.feature];
  const { name: given, kind } = about;
  const name = featureName(about);
  return (
    <div class={`field${props.isChanged ? " is-changed" : ""}${props.lit !== null ? " is-lit" : ""}`}>
      <div class="field-head">
        <span class="field-name">
          <button type="button" class="plain lock" aria-pressed={props.isLocked} aria-label={`Lock ${name}`} title={props.isLocked ? "Locked: the smallest change keeps this value" : "Lock it, so that the smallest change keeps this value"} onClick={props.onLock}>
            <LockMark isLocked={props.isLocked} />
          </button>
          <label for={id} title={given}>
            {name}
          </label>
          {props.isChanged && <span class="badge">changed</span>}
        </span>
        {kind === "numeric" ? <NumberInput id={id} {...props} /> : <CategoryChoice id={id} {...props} />}
      </div>
      {kind === "numeric" ? <Slider {...props} name={name} /> : <CategoryStrip {...props} about={about} />}
    </div>
  );
}

function LockMark({ isLocked }: { isLocked: boolean }) {
  return (
    <svg viewBox="0 0 12 14" width="11" height="13" aria-hidden="true">
      <path class="lock-body" d="M1 6h10v7h-10z" />
      <path class="lock-arc" d={isLocked ? "M3 6V4a3 3 0 0 1 6 0v2" : "M3 6V4a3 3 0 0 1 5.6-1.6"} />
    </svg>
  );
}

function NumberInput({ id, value, isLeftOut, onValue }: Props & { id: string }) {
  const isMissing = value !== value;
  const nothing = isLeftOut ? NOT_HERE : "missing";
  const shown = isMissing ? "" : Number.isFinite(value) ? knownNumber(value) : formatNumber(value);
  const take = (text: string) => {
    const number = text.trim() === "" ? NaN : numberOf(text.trim());
    if (text.trim() === "" || number === number) onValue(number + 0);
  };
  return (
    <input
      id={id}
      class="field-number"
      inputMode="decimal"
      value={shown}
      title={isMissing ? nothing : formatNumber(value)}
      placeholder={nothing}
      onChange={(event) => {
        take(event.currentTarget.value);
        // Text that cannot be read is replaced by the current value.
        event.currentTarget.value = shown;
      }}
    />
  );
}

/** The distribution, a term that is pointed at, the value, and below them the decision at each value. */
function Distribution({ axis, along, lit, place, ticks }: { axis: Axis; along: Along | null; lit: Term | null; place: number | null; ticks: readonly number[] }) {
  const parts = lit === null ? [] : acceptedParts(lit, axis);
  return (
    <>
      <svg class="slider-bars" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        <path class="strip-bars" d={axis.bars} />
        {parts.map(([from, to]) => (
          <rect key={from} class="slider-lit" x={from} width={Math.max(0.015, to - from)} height="1" />
        ))}
        <path class="slider-ticks" d={ticks.map((cut) => `M${axis.place(cut).toFixed(4)} .88V1`).join("")} />
        {place !== null && <path class="slider-place" d={`M${place} 0V1`} />}
      </svg>
      <svg class="slider-decisions" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        {along === null && <rect class="slider-track" y="0.4" width="1" height="0.2" />}
        {along?.runs.map(({ from, to, decision }) => {
          const [left, right] = axis.kind === "categories" ? [from / axis.nSlots, to / axis.nSlots] : [axis.place(from), axis.place(to)];
          return <rect key={from} class={`decision ${colourOf(decision)}`} x={left} width={Math.max(0, right - left)} height="1" />;
        })}
      </svg>
    </>
  );
}

/** The decisions in words, for whoever does not see the colours: `no up to 47, then yes`. */
function DecisionText({ along, about }: { along: Along | null; about: Feature }) {
  const { classes } = useStore().rules.value;
  if (along === null || along.runs.length < 2) return null;
  const text = along.runs
    .slice(0, 6)
    .map(({ to, decision }) => `${formatLabel(classes[decision])}${to === Infinity ? "" : ` up to ${describeShortly(to, about)}`}`)
    .join(", then ");
  return <span class="visually-hidden">Decision: {text}</span>;
}

function Slider({ feature, value, isLeftOut, along, lit, onValue, name }: Props & { name: string }) {
  const store = useStore();
  const axis = axisOf(store, feature);
  const histogram = store.payload.histograms?.[feature] ?? null;
  const isWhole = histogram?.kind === "numeric" && histogram.is_whole;
  const [least, most] = axis.ends;
  // A small range of whole numbers has one step per number.
  const nSteps = isWhole && most - least < N_STEPS ? most - least : N_STEPS;
  const step = value === value ? Math.round(nSteps * Math.min(1, Math.max(0, fraction(value, least, most)))) : nSteps >> 1;
  // The end values lie in the middle of their bars, half a bar from the ends of the axis.
  const margin = fraction(least, axis.low, axis.high);
  const place = value === value ? Math.min(1, Math.max(0, fraction(value, axis.low, axis.high))) : null;
  const ticks = Array.from(along?.cuts ?? []).filter((cut) => cut >= axis.low && cut <= axis.high);
  return (
    <div class="slider">
      <Distribution axis={axis} along={along} lit={lit} place={place} ticks={ticks} />
      <input
        type="range"
        aria-label={`${name}, slider`}
        aria-valuetext={value === value ? formatNumber(value) : isLeftOut ? NOT_HERE : "missing"}
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
      <DecisionText along={along} about={store.original.features[feature]} />
      <div class="slider-ends quiet" aria-hidden="true">
        <span>{shortNumber(least)}</span>
        <span>{shortNumber(most)}</span>
      </div>
    </div>
  );
}

function CategoryStrip({ feature, value, along, lit, about }: Props & { about: Feature }) {
  const store = useStore();
  const axis = axisOf(store, feature);
  const isKnown = value === value && value < axis.nSlots;
  return (
    <div class="slider" title={namesOf(about).join(" · ").slice(0, 300)}>
      <Distribution axis={axis} along={along} lit={lit} place={isKnown ? (value + 0.5) / axis.nSlots : null} ticks={[]} />
    </div>
  );
}

function CategoryChoice({ id, feature, value, isLeftOut, along, onValue }: Props & { id: string }) {
  const store = useStore();
  const about = store.original.features[feature];
  const histogram = store.payload.histograms?.[feature] ?? null;
  const names = namesOf(about);
  const { classes } = store.rules.value;
  const nRows = (code: number) => (histogram === null ? "" : ` (${grouped(histogram.counts[code] ?? 0)})`);
  const isFlip = along !== null && along.runs.length > 1;
  const decided = (code: number) => (isFlip ? ` → ${formatLabel(classes[along.at(code)])}` : "");
  return (
    <select id={id} value={isLeftOut ? NOT_HERE : value !== value ? "NaN" : String(value)} onChange={(event) => onValue(Number(event.currentTarget.value))}>
      {names.map((name, code) => (
        <option key={code} value={String(code)}>
          {name}
          {nRows(code)}
          {decided(code)}
        </option>
      ))}
      {about.categories !== null && <option value={String(names.length)}>another, unknown category</option>}
      <option value="NaN">missing</option>
      {isLeftOut && (
        <option value={NOT_HERE} disabled>
          {NOT_HERE}
        </option>
      )}
    </select>
  );
}

function namesOf(feature: Feature): string[] {
  return feature.categories === null ? ["false", "true"] : feature.categories.map((category) => formatCategory(category, feature));
}
