/** Rules deleted, changed and added by hand, with their immediate effect on the rows of the report. */

import type { ComponentChildren } from "preact";
import type { Figure } from "../../lib/figures";
import { Changes } from "./Changes";
import { Editor } from "./DraftEditor";
import { Effects } from "./Effects";
import "../edit.css";

/** `ofAll` are the figures of the original rules on all rows given; `children`, the list of rules. */
export function EditPage({ ofAll, children }: { ofAll: readonly Figure[]; children: ComponentChildren }) {
  return (
    <div class="edit">
      <Effects ofAll={ofAll} />
      <section class="edit-rules" aria-label="Rules">
        {children}
      </section>
      <section class="editor" aria-label="Editor">
        <Editor />
        <Changes />
      </section>
    </div>
  );
}
