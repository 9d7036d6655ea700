/** The confusion table: a cell opens its rows. */

import { useRef } from "preact/hooks";
import { ClassChip, ClassMark } from "../../components/ClassMark";
import type { Confusion } from "../../lib/confusion";
import { type Cohort, JUDGES, samePlaces } from "../../lib/selection";
import { counted, formatLabel, grouped, percent } from "../../lib/text";
import type { Scalar } from "../../payload";
import { useStore } from "../../store";

interface GridProps {
  confusion: Confusion;
  cohort: Cohort;
  onChoose: (cohort: Cohort) => void;
}

/** By key, how many rows and columns the focus moves. */
const STEPS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ["ArrowDown", [1, 0]],
  ["ArrowUp", [-1, 0]],
  ["ArrowRight", [0, 1]],
  ["ArrowLeft", [0, -1]],
]);

export function CellGrid({ confusion, cohort, onChoose }: GridProps) {
  const table = useRef<HTMLTableElement>(null);
  const focus = useStore().address.param("dis.focus", "0.0");
  const { a, b, aNames, bNames, counts } = confusion;
  const isDense = bNames.length > 10;
  const within = (place: number, n: number) => Math.min(n - 1, Math.max(0, Number.isInteger(place) ? place : 0));
  const [wantedRow, wantedColumn] = focus.value.split(".").map(Number);
  // Another pair of judges may have fewer labels; one cell must stay reachable by Tab.
  const [focusRow, focusColumn] = [within(wantedRow, aNames.length), within(wantedColumn, bNames.length)];
  const focused = `${focusRow}.${focusColumn}`;
  const move = (event: KeyboardEvent) => {
    const step = STEPS.get(event.key);
    if (step === undefined) return;
    event.preventDefault();
    const target = `${within(focusRow + step[0], aNames.length)}.${within(focusColumn + step[1], bNames.length)}`;
    focus.value = target;
    table.current?.querySelector<HTMLElement>(`[data-cell="${target}"]`)?.focus();
  };
  const same = samePlaces(aNames, bNames);
  const sums = counts.map((row) => row.reduce((sum, n) => sum + n, 0));
  return (
    <div class="scroll-x" tabIndex={isDense ? 0 : -1} role="region" aria-label="Counts">
      <table class={isDense ? "confusion is-dense" : "confusion"} ref={table} onKeyDown={move}>
        <thead>
          <tr>
            <th scope="col">
              <span class="quiet">
                {JUDGES[a]} ↓ {JUDGES[b]} →
              </span>
            </th>
            {bNames.map((label, j) => (
              <th key={j} scope="col" title={formatLabel(label)}>
                <HeadLabel index={j} names={bNames} isDense={isDense} />
              </th>
            ))}
            <th scope="col" class="quiet">
              agree
            </th>
          </tr>
        </thead>
        <tbody>
          {aNames.map((_, i) => (
            <tr key={i}>
              <th scope="row">
                <ClassChip index={i} names={aNames} />
              </th>
              {bNames.map((_, j) => {
                const isChosen = cohort.kind === "cell" && cohort.i === i && cohort.j === j;
                const n = counts[i][j];
                const key = `${i}.${j}`;
                const what = `${JUDGES[a]} ${formatLabel(aNames[i])}, ${JUDGES[b].toLowerCase()} ${formatLabel(bNames[j])}: ${counted(n, "row")}`;
                return (
                  <td key={j} class={same[i] === j ? "cell-same" : n > 0 ? "cell-differs has-rows" : "cell-differs"} style={{ "--share": String(sums[i] === 0 ? 0 : n / sums[i]) }}>
                    <button
                      type="button"
                      class="plain"
                      data-cell={key}
                      aria-pressed={isChosen}
                      aria-label={what}
                      title={what}
                      tabIndex={key === focused ? 0 : -1}
                      onClick={() => {
                        focus.value = key;
                        onChoose({ kind: "cell", a, i, b, j });
                      }}
                    >
                      {n === 0 ? <span class="none">·</span> : grouped(n)}
                    </button>
                  </td>
                );
              })}
              <td class="agree">{sums[i] === 0 ? "–" : percent((counts[i][same[i]] ?? 0) / sums[i], 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function HeadLabel({ index, names, isDense }: { index: number; names: readonly Scalar[]; isDense: boolean }) {
  if (!isDense) return <ClassChip index={index} names={names} />;
  return (
    <span class="stacked">
      <ClassMark index={index} />
      <span class="chip-text">{formatLabel(names[index])}</span>
    </span>
  );
}
