/**
 * The state of the page in its address: `#view=rules&sel=rule.12&rules.q=age`, so that a link (in the same file)
 * restores what was shown. Where the address cannot be set (inside a notebook's frame) the state still works.
 */

import { batch, effect, type Signal, signal } from "@preact/signals";

const WRITE_DELAY = 150;

export class Address {
  private readonly params = new Map<string, { value: Signal<string>; fallback: string; isStep: boolean }>();
  private isReading = false;
  private pending: number | null = null;
  private isStepNext = false;

  constructor(private readonly window: Window) {
    window.addEventListener("hashchange", () => this.read());
    window.addEventListener("popstate", () => this.read());
  }

  /** A text that is kept in the address unless it is the fallback. If `isStep`, the browser's Back undoes a change. */
  param(name: string, fallback = "", isStep = false): Signal<string> {
    const known = this.params.get(name);
    if (known !== undefined) return known.value;
    const value = signal(new URLSearchParams(this.window.location.hash.slice(1)).get(name) ?? fallback);
    this.params.set(name, { value, fallback, isStep });
    let isFirst = true;
    effect(() => {
      value.value; // subscribes this effect
      if (!isFirst && !this.isReading) this.schedule(isStep || this.isStepNext);
      isFirst = false;
    });
    return value;
  }

  /** Make changes that the browser's Back undoes in one step; nested steps are part of it. */
  step(change: () => void): void {
    // Changes that are not written yet belong to the state before the step.
    if (this.pending !== null) this.writeNow();
    const isInside = this.isStepNext;
    this.isStepNext = true;
    batch(change);
    this.isStepNext = isInside;
  }

  /** The parameters as they are now. */
  private hash(): string {
    const current = new URLSearchParams();
    for (const [name, { value, fallback }] of this.params) {
      const text = value.peek();
      if (text !== fallback) current.set(name, text);
    }
    return `#${current.toString()}`;
  }

  /** Steps are written at once, other changes after a moment, because browsers refuse frequent changes. */
  private schedule(isStep: boolean): void {
    if (this.pending !== null) this.window.clearTimeout(this.pending);
    this.pending = null;
    if (isStep) this.write(true);
    else this.pending = this.window.setTimeout(() => this.writeNow(), WRITE_DELAY);
  }

  private writeNow(): void {
    if (this.pending !== null) this.window.clearTimeout(this.pending);
    this.pending = null;
    this.write(false);
  }

  private read(): void {
    const found = new URLSearchParams(this.window.location.hash.slice(1));
    this.isReading = true;
    batch(() => {
      for (const [name, { value, fallback }] of this.params) value.value = found.get(name) ?? fallback;
    });
    this.isReading = false;
  }

  private write(isStep: boolean): void {
    const hash = this.hash();
    if (hash === this.window.location.hash || (hash === "#" && this.window.location.hash === "")) return;
    try {
      this.window.history[isStep ? "pushState" : "replaceState"](null, "", hash);
    } catch {
      // The frame has no address of its own.
    }
  }
}
