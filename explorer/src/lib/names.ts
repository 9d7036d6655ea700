/**
 * Names that the author of the report chose for columns, categories and classes (`report(labels=…)`). They are only shown:
 * rule texts and rule files keep the names in the data. A page shows one report, so they are set once, when it starts.
 */

import type { FeatureEntry, NamesEntry, Scalar } from "../payload";

const features = new Map<string, string>();
const classes = new Map<Scalar, string>();
const categories = new Map<string, Map<Scalar, string>>();

interface Named {
  names?: NamesEntry;
  rules: { features: readonly FeatureEntry[]; classes?: readonly Scalar[] };
}

export function setNames({ names, rules }: Named): void {
  if (names === undefined) return;
  rules.features.forEach((feature, place) => {
    const name = names.features[place];
    if (name != null) features.set(feature.name, name);
    const own = new Map<Scalar, string>();
    (feature.categories ?? []).forEach((category, code) => {
      const shown = names.categories[place]?.[code];
      if (shown != null) own.set(category, shown);
    });
    if (own.size > 0) categories.set(feature.name, own);
  });
  rules.classes?.forEach((label, place) => {
    const name = names.classes[place];
    if (name != null) classes.set(label, name);
  });
}

export function chosenFeatureName(name: string): string | undefined {
  return features.get(name);
}

export function chosenClassName(label: Scalar): string | undefined {
  return classes.get(label);
}

export function chosenCategoryName(category: Scalar, feature: string): string | undefined {
  return categories.get(feature)?.get(category);
}
