/** Rules deleted, changed and added by hand, with their immediate effect on the rows of the report. */

import { Changes } from "./edit/Changes";
import { Editor } from "./edit/DraftEditor";
import { Effects } from "./edit/Effects";
import { RuleList } from "./edit/RuleList";
import "./edit.css";

export function Edit() {
  return (
    <div class="edit">
      <Effects />
      <RuleList />
      <section class="editor" aria-label="Editor">
        <Editor />
        <Changes />
      </section>
    </div>
  );
}
