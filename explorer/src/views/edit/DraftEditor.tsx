/** The editor of one rule, as text and as a form. */

import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { EditPreview } from "../../components/EditPreview";
import { applied, placeholder, readingOf, type Target, withText } from "../../lib/drafts";
import { withoutRules } from "../../lib/edits";
import type { AnyRules } from "../../lib/rules";
import type { RuleTextError } from "../../lib/ruleText";
import { usePage } from "../../pageStore";
import { RuleForm } from "./RuleForm";
import { editStateOf } from "./state";

export function Editor() {
  const store = usePage();
  const isNew = store.address.param("edit.new", "");
  const found = store.selectedRule.value;
  if (isNew.value !== "") return <DraftEditor key="new" target={null} />;
  if (found !== null) return <DraftEditor key={found.rule.id} target={found} />;
  return (
    <div class="draft">
      <h2>Edit</h2>
      <p>Choose a rule to change or delete it, or write a new one.</p>
      <button type="button" onClick={() => (isNew.value = "1")}>
        Write a new rule
      </button>
    </div>
  );
}

function DraftEditor({ target }: { target: Target | null }) {
  const store = usePage();
  const state = editStateOf(store);
  const isNew = store.address.param("edit.new", "");
  const id = useId();
  const isDeleting = useSignal(false);
  const set = store.rules.value;
  const { kind } = store;
  const key = target === null ? "new" : target.rule.id;
  const asIs = target === null ? "" : kind.writeRule(target.rule, set);
  const drafts = state.drafts.value;
  const text = drafts.get(key) ?? asIs;
  const reading = readingOf(kind, text, set);
  const write = (next: string) => (state.drafts.value = withText(drafts, key, next === asIs ? null : next));
  const note = state.notes.value.get(key) ?? "";
  const writeNote = (next: string) => (state.notes.value = withText(state.notes.value, key, next === "" ? null : next));
  const rules = reading === null || "error" in reading ? [] : reading.rules;
  const next = applied(kind, set, target, rules, note, () => -1);
  const tooMany = target !== null && rules.length > 1;
  const canApply = next !== null && next !== set;
  const done = (edited: AnyRules) => {
    write(asIs);
    writeNote("");
    store.edit(edited);
    // The button is gone or disabled now; in the list, the keys move on and Ctrl + Z undoes the edit.
    document.querySelector<HTMLElement>('.edit-rules [role="grid"]')?.focus();
  };
  const apply = () => {
    const edited = canApply ? applied(kind, set, target, rules, note, () => store.newId()) : null;
    if (edited === null) return;
    done(edited);
    if (target === null) {
      isNew.value = "";
      store.selectRule(edited.rules[edited.rules.length - 1].id);
    }
  };
  return (
    <div class="draft">
      <h2>{target === null ? "New rule" : `Rule ${target.place}`}</h2>
      <label class="draft-label" for={id}>
        In the rule language
      </label>
      <textarea
        id={id}
        rows={Math.min(8, 3 + Math.floor(text.length / 60))}
        spellcheck={false}
        value={text}
        placeholder={placeholder(kind, set)}
        aria-invalid={reading !== null && "error" in reading}
        aria-describedby={`${id}-error`}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) apply();
        }}
      />
      <div id={`${id}-error`} role="status" class="draft-error">
        {reading !== null && "error" in reading && <Problem text={text} error={reading.error} />}
        {tooMany && <p>This text holds several rules; to change a rule, write exactly one. “New rule” adds several.</p>}
      </div>
      {(reading === null || "rules" in reading) && <RuleForm reading={reading} onRule={(rule) => write(kind.writeRule(rule, set))} />}
      <div class="draft-end">
        {next !== null && canApply && <EditPreview next={next} />}
        <label class="draft-label" for={`${id}-note`}>
          Reason, for the list of changes
        </label>
        <input id={`${id}-note`} value={note} placeholder="optional" onInput={(event) => writeNote(event.currentTarget.value)} />
        <p class="row-buttons draft-buttons">
          <button type="button" class="primary" disabled={!canApply} title="Ctrl + Enter in the text" onClick={apply}>
            {target === null ? "Add" : "Change the rule"}
          </button>
          {text !== asIs && (
            <button type="button" onClick={() => write(asIs)}>
              {target === null ? "Clear" : "Revert"}
            </button>
          )}
          {target !== null && (
            <>
              <button
                type="button"
                onClick={() => {
                  state.drafts.value = new Map([...drafts, ["new", text]]);
                  isNew.value = "1";
                }}
              >
                Copy as a new rule
              </button>
              <button type="button" class={isDeleting.value ? "danger is-on" : "danger"} aria-expanded={isDeleting.value} onClick={() => (isDeleting.value = !isDeleting.value)}>
                Delete the rule …
              </button>
            </>
          )}
        </p>
        {target !== null && isDeleting.value && (
          <>
            <EditPreview next={withoutRules(kind, set, [target.place], note)} title={`Without rule ${target.place}`} />
            <p class="row-buttons">
              <button
                type="button"
                class="danger"
                onClick={() => {
                  write(asIs);
                  writeNote("");
                  store.remove([target.place], note);
                  document.querySelector<HTMLElement>('main [role="grid"]')?.focus();
                }}
              >
                Delete rule {target.place}
              </button>
              <button type="button" onClick={() => (isDeleting.value = false)}>
                Keep it
              </button>
            </p>
          </>
        )}
      </div>
    </div>
  );
}

/** The error message, and the line of the text with a mark below the place. */
function Problem({ text, error }: { text: string; error: RuleTextError }) {
  const line = text.split("\n")[error.line - 1] ?? "";
  const letters = Array.from(line);
  const from = Math.max(0, error.column - 1 - 30);
  const shown = letters.slice(from, error.column + 19).join("");
  return (
    <>
      <p>
        {text.includes("\n") ? `Line ${error.line}, column` : "Column"} {error.column}: {error.problem}
          {error.problem.endsWith("?") ? "" : "."}
      </p>
      <pre aria-hidden="true">
        {`${from > 0 ? "…" : ""}${shown}\n${" ".repeat(error.column - 1 - from + (from > 0 ? 1 : 0))}▲`}
      </pre>
    </>
  );
}
