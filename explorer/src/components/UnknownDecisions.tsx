/** The note that decisions are not known. */

import { useStore } from "../store";

/** Shown where rules test columns that the report left out; such rules are treated as not firing. */
export function UnknownDecisions() {
  const why = useStore().whyUnknown.value;
  return why === null ? null : <p role="status">The decisions of the edited rules are not known here: {why}. Rules that test it are ignored.</p>;
}
