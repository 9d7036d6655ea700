/** Both rule sets side by side: how good and how large they are, and on how many rows they differ. */

import type { Comparison } from "../../lib/compare";
import { count, type Figure, figureText } from "../../lib/figures";
import type { AnyRules } from "../../lib/rules";
import { counted, formatName, grouped, percent } from "../../lib/text";
import { usePage } from "../../pageStore";
import { useParts } from "../../parts";
import type { Source } from "./sources";

interface SummaryProps {
  comparison: Comparison;
  before: Source;
  after: Source;
  /** Both over the page's features, or why they cannot be. */
  own: readonly (AnyRules | string)[];
}

export function Summary({ comparison, before, after, own }: SummaryProps) {
  const store = usePage();
  const { table, kind } = store;
  const { added, removed, changed, nSame, settings } = comparison;
  const isSame = added.length + removed.length + changed.length + settings.length === 0;
  const isOther = nSame + changed.length < Math.min(added.length, removed.length);
  const figures = own.map((set, i): readonly Figure[] => [
    ...(typeof set === "string" ? [] : store.figuresOf(set)),
    count("rules", [before, after][i].set.rules.length),
    count("reading cost", kind.readingCost([before, after][i].set)),
  ]);
  const names = [...new Set(figures.flatMap((one) => one.map((figure) => figure.name)))];
  // Sets whose figures are unknown have only the last of them, which come last.
  names.sort((a, b) => Number(isSize(a)) - Number(isSize(b)));
  const [old, newer] = own;
  const shift = typeof old === "string" || typeof newer === "string" ? null : store.shiftBetween(old, newer);
  return (
    <section aria-label="Summary" class="compare-summary">
      <p role="status">
        <strong>{grouped(added.length)}</strong> added, <strong>{grouped(removed.length)}</strong> removed, <strong>{grouped(changed.length)}</strong> changed, {counted(nSame, "rule")} unchanged.
        {isSame && " No differences: edit rules or open a second rule file."}
        {isOther && " These are different rule sets, so each rule is shown beside the nearest one of the other."}
      </p>
      {!isSame && (
        <table class="both">
          <thead>
            <tr>
              <th scope="col">
                {table !== null && <span class="quiet">on the {grouped(table.nRows)} rows in this page</span>}
              </th>
              <th scope="col">{formatName(before.title)}</th>
              <th scope="col">{formatName(after.title)}</th>
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {figures.map((one, i) => {
                  const figure = one.find((other) => other.name === name);
                  return (
                    <td key={i}>
                      {figure === undefined ? "not known" : figureText(figure)} {figure?.interval !== undefined && <span class="quiet">({figure.interval})</span>}
                    </td>
                  );
                })}
              </tr>
            ))}
            {shift !== null && table !== null && (
              <tr>
                <th scope="row">{kind.verb[0]} differently</th>
                <td colSpan={2}>
                  on {counted(shift.nRows, "row")} ({percent(table.nRows === 0 ? 0 : shift.nRows / table.nRows, 2)}){shift.note}
                </td>
              </tr>
            )}
          </tbody>
        </table>
      )}
      {settings.length > 0 && <Settings comparison={comparison} before={before.set} after={after.set} />}
    </section>
  );
}

function isSize(name: string): boolean {
  return name === "rules" || name === "reading cost";
}

function Settings({ comparison: { settings }, before, after }: { comparison: Comparison; before: AnyRules; after: AnyRules }) {
  const parts = useParts();
  const shown = settings.map((one) => {
    const [old, newer] = [parts.setting(one.name, before), parts.setting(one.name, after)];
    return { name: newer?.name ?? one.name, before: old?.text ?? one.before, after: newer?.text ?? one.after };
  });
  return (
    <details class="compare-settings">
      <summary>
        {counted(settings.length, "setting")} differ: {shown.map((one) => one.name).join(", ")}
      </summary>
      <dl class="facts">
        {shown.map((one) => (
          <div key={one.name}>
            <dt>{one.name}</dt>
            <dd>
              <span class="quiet">{one.before} →</span> {one.after}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
