/** Both rule sets side by side: how faithful and how large they are, and on how many rows they differ. */

import { flipsOf, type Comparison } from "../../lib/compare";
import { relabelled } from "../../lib/differences";
import type { Evaluation } from "../../lib/evaluate";
import { wilson } from "../../lib/intervals";
import { measuresOf } from "../../lib/measures";
import { readingCost } from "../../lib/readingCost";
import type { RuleSet } from "../../lib/rules";
import { intervalText } from "../../lib/story";
import { counted, formatLabel, formatName, grouped, percent, shortNumber } from "../../lib/text";
import { useStore } from "../../store";
import type { Source } from "./sources";

interface SummaryProps {
  comparison: Comparison;
  before: Source;
  after: Source;
  answers: readonly (Evaluation | string)[];
}

export function Summary({ comparison, before, after, answers }: SummaryProps) {
  const { table, original } = useStore();
  const { added, removed, changed, nSame, settings } = comparison;
  const nDifferent = added.length + removed.length + changed.length;
  const isSame = nDifferent + settings.length === 0;
  const isOther = nSame + changed.length < Math.min(added.length, removed.length);
  const [old, newer] = answers;
  const measures = answers.map((answer) => (table === null || typeof answer === "string" ? null : measuresOf(relabelled(answer, original), table)));
  const shares = (["fidelity", "accuracy", "coverage"] as const).filter((name) => measures.some((one) => one?.[name] != null));
  const flips = typeof old === "string" || typeof newer === "string" ? null : flipsOf(old, newer);
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
            {shares.map((name) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {measures.map((one, i) => {
                  const part = one?.[name];
                  return (
                    <td key={i}>
                      {part == null ? "not known" : percent(part, 2)} {part != null && table !== null && name !== "coverage" && <span class="quiet">({intervalText(wilson(Math.round(part * table.nRows), table.nRows))})</span>}
                    </td>
                  );
                })}
              </tr>
            ))}
            <tr>
              <th scope="row">rules</th>
              <td>{grouped(before.set.rules.length)}</td>
              <td>{grouped(after.set.rules.length)}</td>
            </tr>
            <tr>
              <th scope="row">reading cost</th>
              <td>{grouped(readingCost(before.set))}</td>
              <td>{grouped(readingCost(after.set))}</td>
            </tr>
            {flips !== null && table !== null && (
              <tr>
                <th scope="row">decide differently</th>
                <td colSpan={2}>
                  on {counted(flips.rows.length, "row")} ({percent(table.nRows === 0 ? 0 : flips.rows.length / table.nRows, 2)})
                </td>
              </tr>
            )}
          </tbody>
        </table>
      )}
      {settings.length > 0 && (
        <details class="compare-settings">
          <summary>{counted(settings.length, "setting")} differ: {settings.map((one) => NAMES.get(one.name) ?? one.name).join(", ")}</summary>
          <dl class="facts">
            {settings.map((one) => (
              <div key={one.name}>
                <dt>{NAMES.get(one.name) ?? one.name}</dt>
                <dd>
                  <span class="quiet">{one.name === "base" ? baseText(before.set) : one.before} →</span> {one.name === "base" ? baseText(after.set) : one.after}
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </section>
  );
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ["base", "base votes"],
  ["scale", "votes per unit of log-odds"],
  ["default", "default class"],
]);

/** `no 4.34, yes 0`: base votes with the classes they are for. */
function baseText(set: RuleSet): string {
  return set.classes.map((label, c) => `${formatLabel(label)} ${shortNumber(set.base[c])}`).join(", ");
}
