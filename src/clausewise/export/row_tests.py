"""Tests of single values of a row, of which the premises of exported rules consist."""

from dataclasses import dataclass

from clausewise.data.table import Category


@dataclass(frozen=True)
class Above:
    """The number is greater than `bound`, which is finite."""

    feature: int
    bound: float


@dataclass(frozen=True)
class AtMost:
    """The number is at most `bound`, which is finite; −inf passes."""

    feature: int
    bound: float


@dataclass(frozen=True)
class Known:
    """The number is not missing."""

    feature: int


@dataclass(frozen=True)
class Missing:
    """The number or category is missing. An unknown category is not."""

    feature: int


@dataclass(frozen=True)
class OneOf:
    """The category is one of `values`: at least one, in the order of the feature's categories."""

    feature: int
    values: tuple[Category, ...]


Test = Above | AtMost | Known | Missing | OneOf
"""A condition on one value of a row. Missing values satisfy only `Missing`, unknown categories none."""
