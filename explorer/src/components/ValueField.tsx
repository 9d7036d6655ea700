/** One value of a row: a slider over the feature's distribution, or a choice of categories. */

import { useId } from "preact/hooks";
import { axisOf } from "../lib/axis";
import { numberOf } from "../lib/csv";
import type { Feature } from "../lib/rules";
import { formatLabel, formatNumber, grouped, knownNumber, shortNumber } from "../lib/text";
import { useStore } from "../store";

interface Props {
  feature: number;
  /** Encoded; NaN where missing. */
  value: number;
  isChanged: boolean;
  /** Where the decision may change, for marks on the slider. */
  thresholds: ArrayLike<number>;
  onValue: (value: number) => void;
}

const N_STEPS = 200;

export function ValueField(props: Props) {
  const store = useStore();
  const id = useId();
  const { name, kind } = store.original.features[props.feature];
  return (
    <div class={props.isChanged ? "field is-changed" : "field"}>
      <div class="field-head">
        <span class="field-name">
          <label for={id} title={name}>
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

function NumberInput({ id, value, onValue }: Props & { id: string }) {
  const isMissing = value !== value;
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
      title={isMissing ? "missing" : formatNumber(value)}
      placeholder="missing"
      onChange={(event) => {
        take(event.currentTarget.value);
        // What cannot be read gives way to the value that holds.
        event.currentTarget.value = shown;
      }}
    />
  );
}

function Slider({ feature, value, thresholds, onValue, name }: Props & { name: string }) {
  const store = useStore();
  const axis = axisOf(store, feature);
  const histogram = store.payload.histograms?.[feature] ?? null;
  const isWhole = histogram?.kind === "numeric" && histogram.is_whole;
  const width = axis.high - axis.low;
  const place = value === value ? axis.place(value) : 0.5;
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
        aria-valuetext={value === value ? formatNumber(value) : "missing"}
        min={0}
        max={N_STEPS}
        step={isWhole && width > 0 && width < N_STEPS ? N_STEPS / width : 1}
        value={Math.round(place * N_STEPS * 1e6) / 1e6}
        onInput={(event) => {
          const raw = axis.low + (width * Number(event.currentTarget.value)) / N_STEPS;
          onValue(isWhole ? Math.round(raw) : Number(raw.toPrecision(4)) + 0);
        }}
      />
      <div class="slider-ends quiet" aria-hidden="true">
        <span>{shortNumber(axis.low)}</span>
        <span>{shortNumber(axis.high)}</span>
      </div>
    </div>
  );
}

function CategoryChoice({ id, feature, value, onValue }: Props & { id: string }) {
  const store = useStore();
  const about = store.original.features[feature];
  const histogram = store.payload.histograms?.[feature] ?? null;
  const names = namesOf(about);
  const nRows = (code: number) => (histogram === null ? "" : ` (${grouped(histogram.counts[code] ?? 0)})`);
  return (
    <select id={id} value={value !== value ? "NaN" : String(value)} onChange={(event) => onValue(Number(event.currentTarget.value))}>
      {names.map((name, code) => (
        <option key={code} value={String(code)}>
          {name}
          {nRows(code)}
        </option>
      ))}
      {about.categories !== null && <option value={String(names.length)}>another, unknown category</option>}
      <option value="NaN">missing</option>
    </select>
  );
}

function namesOf(feature: Feature): string[] {
  return feature.categories === null ? ["false", "true"] : feature.categories.map(formatLabel);
}
