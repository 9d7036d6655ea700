import { useStore } from "../store";
import { counted } from "../lib/text";

export function Overview() {
  const store = useStore();
  return <p>{counted(store.rules.value.rules.length, "rule")}</p>;
}
