/**
 * Colours of classes: the page's eight, or those that the author of the report chose (`report(colors=…)`). A chosen colour
 * is made lighter or darker until it stands out from the background of each theme.
 */

import type { Payload } from "../payload";

const N_COLOURS = 8;
/** Backgrounds of the light and the dark theme, and the least contrast of marks. */
const BACKGROUNDS = [0xffffff, 0x20252b] as const;
const LEAST_CONTRAST = 3.1;

const chosen = new Set<number>();

/** The CSS class that sets a class's colour as `--class`. */
export function colourOf(classIndex: number): string {
  return chosen.has(classIndex) ? `own-${classIndex}` : `class-${classIndex % N_COLOURS}`;
}

export function setColours({ colors }: Payload, page: Document): void {
  if (colors === undefined) return;
  const rules: string[] = [];
  colors.forEach((colour, c) => {
    if (colour === null) return;
    chosen.add(c);
    const given = Number.parseInt(colour.slice(1), 16);
    const [light, dark] = BACKGROUNDS.map((back) => hex(readable(given, back)));
    rules.push(`.own-${c}{--class:${light}} :root[data-theme="dark"] .own-${c}{--class:${dark}}`);
  });
  // A sheet made by the page's own script; the policy of the page only allows its one style element.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules.join("\n"));
  page.adoptedStyleSheets = [...page.adoptedStyleSheets, sheet];
}

function hex(colour: number): string {
  return `#${colour.toString(16).padStart(6, "0")}`;
}

/** The colour, mixed with black or white in steps until it has enough contrast. */
function readable(colour: number, back: number): number {
  const towards = luminance(back) > 0.5 ? 0x000000 : 0xffffff;
  for (let part = 0; part <= 1; part += 0.05) {
    const mixed = mix(colour, towards, part);
    if (contrast(mixed, back) >= LEAST_CONTRAST) return mixed;
  }
  return towards;
}

function channels(colour: number): readonly number[] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

function mix(a: number, b: number, part: number): number {
  const other = channels(b);
  return channels(a).reduce((sum, channel, i) => sum * 256 + Math.round(channel * (1 - part) + other[i] * part), 0);
}

function luminance(colour: number): number {
  const [r, g, b] = channels(colour).map((channel) => (channel / 255 <= 0.04045 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: number, b: number): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
