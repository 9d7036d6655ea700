/** One value of a row: a slider over the feature's distribution, or a choice of categories. */

import { useId } from "preact/hooks";
import { axisOf, between, fraction, roundedWithin } from "../lib/axis";
import { numberOf } from "../lib/csv";
import type { Feature } from "../lib/rules";
import { formatLabel, formatName, formatNumber, grouped, knownNumber, shortNumber } from "../lib/text";
import { useStore } from "../store";

interface Props {
  feature: number;
  /** Encoded; NaN where missing. */
  value: number;
  isChanged: boolean;
  /** Whether the report left the value out. */
  isLeftOut: boolean;
  /** Where the decision may change, for marks on the slider. */
  thresholds: ArrayLike<number>;
  onValue: (value: number) => void;
}

const N_STEPS = 200;
const NOT_HERE = "not in this report";

export function ValueField(props: Props) {
  const store = useStore();
  const id = useId();
  const { name: given, kind } = store.original.features[props.feature];
  const name = formatName(given);
  return (
    <div class={props.isChanged ? "field is-changed" : "field"}>
      <div class="field-head">
        <span class="field-name">
          <label for={id} title={given}>
            {name}
          </label>
          {props.isChanged && <span class="badge">changed</span>}
        </span>
        {kind === "numeric" ? <NumberInput id={id} {...props} /> : <CategoryChoice id={id} {...props} />}
      </div>
      {kind === "numeric" && <Slider {...props} name={name} />}
    </div>
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

function Slider({ feature, value, isLeftOut, thresholds, onValue, name }: Props & { name: string }) {
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
  const place = value === value ? Math.min(1, Math.max(0, fraction(value, axis.low, axis.high))) : 0.5;
  const ticks = Array.from(thresholds).filter((cut) => cut >= axis.low && cut <= axis.high);
  return (
    <div class="slider">
      <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        <path class="strip-bars" d={axis.bars} />
        <path class="slider-ticks" d={ticks.map((cut) => `M${axis.place(cut).toFixed(4)} .88V1`).join("")} />
        {value === value && <path class="slider-place" d={`M${place} 0V1`} />}
      </svg>
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
      <div class="slider-ends quiet" aria-hidden="true">
        <span>{shortNumber(least)}</span>
        <span>{shortNumber(most)}</span>
      </div>
    </div>
  );
}

function CategoryChoice({ id, feature, value, isLeftOut, onValue }: Props & { id: string }) {
  const store = useStore();
  const about = store.original.features[feature];
  const histogram = store.payload.histograms?.[feature] ?? null;
  const names = namesOf(about);
  const nRows = (code: number) => (histogram === null ? "" : ` (${grouped(histogram.counts[code] ?? 0)})`);
  return (
    <select id={id} value={isLeftOut ? NOT_HERE : value !== value ? "NaN" : String(value)} onChange={(event) => onValue(Number(event.currentTarget.value))}>
      {names.map((name, code) => (
        <option key={code} value={String(code)}>
          {name}
          {nRows(code)}
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
  return feature.categories === null ? ["false", "true"] : feature.categories.map(formatLabel);
}
