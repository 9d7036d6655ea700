/** Whom the rules are compared with, where both the network's and the true numbers are known. */

import { JUDGES } from "../lib/story";
import { useNumberStore } from "../store";

export function JudgeChoice() {
  const store = useNumberStore();
  if (store.network === null || store.truth === null) return null;
  return (
    <div class="controls" role="group" aria-label="Compare the rules with">
      <span>Compare the rules with</span>
      {[...JUDGES].map(([judge, { name }]) => (
        <button key={judge} type="button" class={store.judge.value === judge ? "is-on" : ""} aria-pressed={store.judge.value === judge} onClick={() => store.compareWith(judge)}>
          {name}
        </button>
      ))}
    </div>
  );
}
