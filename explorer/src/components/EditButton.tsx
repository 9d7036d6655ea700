/** Opens the selected rule in the editor. */

import { usePage } from "../pageStore";

export function EditButton() {
  const store = usePage();
  return (
    <button
      type="button"
      onClick={() =>
        store.address.step(() => {
          store.address.param("edit.new").value = "";
          store.show("edit");
        })
      }
    >
      Edit it
    </button>
  );
}
