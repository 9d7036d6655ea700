/** The note that decisions are not known. */

import { useStore } from "../store";

/** Says so where rules test what the report left out: they are taken not to fire. */
export function UnknownDecisions() {
  const why = useStore().whyUnknown.value;
  return why === null ? null : <p role="status">What the edited rules decide is not known here: {why}. Rules that test it are left aside.</p>;
}
