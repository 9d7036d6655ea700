/** Print, copy a link, save the rules, or save the whole page with its edits. */

import { useSignal } from "@preact/signals";
import { editsOf } from "./lib/kept";
import { copyText, download, fileName, pageWith, ruleFileText } from "./lib/save";
import { type PageStore, usePage } from "./pageStore";

export function Share() {
  const store = usePage();
  const said = useSignal("");
  const say = (text: string) => {
    said.value = text;
    setTimeout(() => (said.value = ""), 4000);
  };
  const copyLink = () => void copyText(window.location.href).then((done) => say(done ? "Link copied." : "Copy the address of the page instead."));
  return (
    <span class="share">
      <span role="status">{said.value}</span>
      {!isEmbedded() && (
        <>
          <button type="button" onClick={() => window.print()} title="The headline, all rules in full and all changes">
            Print
          </button>
          <button type="button" onClick={copyLink} title="A link to what is shown now">
            Copy link
          </button>
        </>
      )}
      <button
        type="button"
        onClick={() => {
          saveRules(store);
          say("Rules saved.");
        }}
        title={`A rule file, which ${store.kind.loader}.load reads`}
      >
        Save rules
      </button>
      {store.payload.served === undefined && (
        <button
          type="button"
          onClick={() => {
            savePage(store);
            say("Page saved.");
          }}
          title="This page as one file, with all edits"
        >
          Save page
        </button>
      )}
    </span>
  );
}

/** Inside a notebook's frame the page has no address of its own and may not print. */
function isEmbedded(): boolean {
  return window.location.protocol === "about:";
}

export function saveRules(store: PageStore): void {
  download(`${fileName(store.payload.title, "rules")}.json`, ruleFileText(store.kind.writeFile(store.rules.value)), "application/json");
  store.saved = store.rules.value;
}

function savePage(store: PageStore): void {
  const { edits: _, ...payload } = store.payload;
  const next = store.isEdited.value ? { ...payload, edits: editsOf(store.kind, store.rules.value) } : payload;
  download(`${fileName(store.payload.title, "report")}.html`, pageWith(document, JSON.stringify(next)), "text/html");
  store.saved = store.rules.value;
}
