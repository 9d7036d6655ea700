"""Names, colours and locks that the author of a report chooses: `labels`, `colors` and `fixed`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from clausewise.data.features import Features
from clausewise.data.labels import Label, class_meant, plain_label
from clausewise.rules.ruleset import RuleSet

_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{6}")


def shown_names(labels: Mapping[Any, Any], features: Features, known: Sequence[Label] = ()) -> dict[str, Any]:
    """Return the NamesEntry of a report: for each column, category and class the name to show, or None.

    A key is a column, a category or a class (one of `known`); the name of a column may also lead to a mapping
    of its own categories. A key that is none of these raises a ValueError.
    """
    columns: list[str | None] = [None] * len(features)
    classes: list[str | None] = [None] * len(known)
    categories: list[list[str | None] | None] = [
        None if listed is None else [None] * len(listed) for listed in features.categories
    ]
    for key, name in labels.items():
        if isinstance(name, Mapping):
            _name_categories(features.index(key), name, features, categories)
            continue
        if not isinstance(name, str):
            raise TypeError(f"labels[{key!r}] is {name!r}; pass the text to show.")
        found = False
        if key in features.names:
            columns[features.index(key)] = name
            found = True
        of_class = _meant(key, known)
        if of_class is not None:
            classes[of_class] = name
            found = True
        found |= _name_category_everywhere(key, name, features, categories)
        if not found:
            of_rules = "a column, a category or a class" if known else "a column or a category"
            raise ValueError(f"labels names {key!r}, which is not {of_rules} of the rules.")
    return {"features": columns, "classes": classes, "categories": categories}


def _name_categories(
    place: int,
    names: Mapping[Any, Any],
    features: Features,
    categories: Sequence[list[str | None] | None],
) -> None:
    own, listed = categories[place], features.categories[place]
    for key, name in names.items():
        code = None if listed is None else _meant(key, listed)
        if own is None or code is None:
            raise ValueError(f"labels names {key!r}, which is not a category of {features.names[place]!r}.")
        if not isinstance(name, str):
            raise TypeError(f"labels names {key!r} {name!r}; pass the text to show.")
        own[code] = name


def _name_category_everywhere(
    key: Any, name: str, features: Features, categories: Sequence[list[str | None] | None]
) -> bool:
    found = False
    for own, listed in zip(categories, features.categories, strict=True):
        code = None if own is None or listed is None else _meant(key, listed)
        if own is not None and code is not None:
            own[code] = name
            found = True
    return found


def _meant(key: Any, listed: Sequence[Label]) -> int | None:
    return class_meant(plain_label(key), list(listed)) if len(listed) > 0 else None


def class_colours(colors: Mapping[Any, str] | Sequence[str], rules: RuleSet) -> list[str | None]:
    """Return a colour such as "#0072b2" for each class, or None for those that keep the page's."""
    chosen: list[str | None] = [None] * len(rules.labels)
    if isinstance(colors, Mapping):
        pairs = [(_class_place(label, rules), colour) for label, colour in colors.items()]
    else:
        if len(colors) != len(rules.labels):
            raise ValueError(f"colors has {len(colors)} entries for {len(rules.labels)} classes.")
        pairs = list(enumerate(colors))
    for place, colour in pairs:
        if not isinstance(colour, str) or _COLOUR.fullmatch(colour) is None:
            raise ValueError(f"colors has {colour!r}; write colours as '#rrggbb'.")
        chosen[place] = colour.lower()
    return chosen


def _class_place(label: Any, rules: RuleSet) -> int:
    place = _meant(label, rules.labels)
    if place is None:
        raise ValueError(f"colors names {label!r}, which is not a class of the rules.")
    return place


def fixed_features(fixed: Iterable[str | int], rules: RuleSet) -> list[int]:
    """Return the positions of the features that smallest changes may not touch, ascending."""
    return sorted({rules.features.index(feature) for feature in fixed})
