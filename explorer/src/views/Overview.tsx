import { useStore } from "../store";
import { counted, percent } from "../lib/text";

export function Overview() {
  const store = useStore();
  return <p data-ready>{counted(store.rules.value.rules.length, "rule")} {percent(store.measures.value?.fidelity ?? 0)}</p>;
}
