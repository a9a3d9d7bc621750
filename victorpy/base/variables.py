"""The variables of a config file and their valid values. docs/reference/config.md explains them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from math import inf
from typing import NamedTuple

from victorpy.document import Label
from victorpy.errors import suggest

FAVORS = ("precision", "balanced", "recall")
"""Values of `favor`: keep less noise, balance both kinds of mistakes, or lose less content."""

Check = Callable[[tuple[str, ...]], str]
"""A function that describes what is wrong with some values. Returns an empty string if they are valid."""


def _anything(values: tuple[str, ...]) -> str:
    return ""


def _one_of(*choices: str) -> Check:
    def check(values: tuple[str, ...]) -> str:
        if len(values) == 1 and values[0] in choices:
            return ""
        return f"must be one of {', '.join(choices)}{suggest(' '.join(values), choices)}"

    return check


def _one_value(values: tuple[str, ...]) -> str:
    return "" if len(values) == 1 else "must be one value"


def _number(low: float, high: float = inf, whole: bool = False) -> Check:
    kind = "a whole number" if whole else "a number"
    problem = f"must be {kind} from {low:g}" + ("" if high == inf else f" to {high:,}")

    def check(values: tuple[str, ...]) -> str:
        try:
            (value,) = map(int if whole else float, values)
            return "" if low <= value <= high and math.isfinite(value) else problem
        except (ValueError, OverflowError):
            return problem

    return check


def _bins(values: tuple[str, ...]) -> str:
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return "must be numbers"
    if not all(map(math.isfinite, numbers)):
        return "must be finite numbers"
    return "" if numbers == sorted(set(numbers)) else "must be different numbers in ascending order"


def _labels(values: tuple[str, ...]) -> str:
    unknown = [value for value in values if value not in [*Label]]
    if unknown:
        return f"must be some of {', '.join(Label)}{suggest(unknown[0], Label)}"
    if len(set(values)) < len(values):
        return "must be different labels"
    return "" if Label.OTHER in values and len(values) > 1 else "must include 'other' and another label"


def _regexps(values: tuple[str, ...]) -> str:
    for value in values:
        try:
            re.compile(value)
        except (re.error, RecursionError, OverflowError) as error:
            return f"must be regular expressions (in {value[:100]!r}: {error})"
    return ""


class Variable(NamedTuple):
    """The valid values of a variable, and the effect of setting it again."""

    check: Check
    single: bool = False
    """Whether the variable has one value. Setting it again replaces a single value and extends a list."""
    line_by_line: bool = False  # whether each line is checked separately, so that an error names the right line


VARIABLES: dict[str, Variable] = {
    "labels": Variable(_labels),
    "split": Variable(_one_of("every", "block"), single=True),
    "tag-delete": Variable(_anything),
    "attribute-keep": Variable(_anything),
    "style-sheets": Variable(_one_of("ignore", "inline"), single=True),
    "style-files": Variable(_anything),
    "class-*": Variable(_anything),
    "feature-modules": Variable(_anything),
    "crf-features": Variable(_anything),
    "crf-features-off": Variable(_anything),
    "feature-*-values": Variable(_bins, line_by_line=True),
    "feature-*-scale": Variable(_number(1, 1_000_000, whole=True), single=True),
    "regexp-*": Variable(_regexps, line_by_line=True),
    "name-*": Variable(_regexps, line_by_line=True),
    "bullet": Variable(_regexps, line_by_line=True),
    "crf-template": Variable(_one_value, single=True),
    "crf-algorithm": Variable(_one_of("lbfgs", "l2sgd", "ap", "pa", "arow"), single=True),
    "crf-param-*": Variable(_number(0), single=True),
    "evidence": Variable(_one_of("trees"), single=True),
    "evidence-learner": Variable(_one_of("catboost", "lightgbm", "catboost+lightgbm"), single=True),
    "evidence-template": Variable(_one_value, single=True),
    "evidence-layers": Variable(_number(1, 5, whole=True), single=True),
    "evidence-folds": Variable(_number(2, 50, whole=True), single=True),
    "evidence-forests": Variable(_number(1, 20, whole=True), single=True),
    "evidence-net": Variable(_number(1, 256, whole=True), single=True),
    "evidence-blocks": Variable(_number(1), single=True),
    "evidence-param-*": Variable(_number(0), single=True),
    "kinds": Variable(_one_of("trees"), single=True),
    "kinds-template": Variable(_one_value, single=True),
    "kinds-share": Variable(_number(0, 1), single=True),
    "kinds-content-share": Variable(_number(0, 1), single=True),
    "kinds-param-*": Variable(_number(0), single=True),
    "decode": Variable(_one_of("viterbi", "marginal", "label", "expected"), single=True),
    "favor": Variable(_one_of(*FAVORS), single=True),
    "empty-below": Variable(_number(0, 1), single=True),
    "heading-least": Variable(_number(0, 1), single=True),
    "threshold": Variable(_number(0, 1), single=True),
    "annotate-key-*": Variable(_anything, single=True),
}


def kind_of(variable: str) -> str | None:
    """Return the key in VARIABLES that a name matches, or None.

    >>> kind_of("class-header"), kind_of("clas-header")
    ('class-*', None)
    """
    if variable in VARIABLES:
        return variable if "*" not in variable else None
    for pattern in VARIABLES:
        head, star, tail = pattern.partition("*")
        if star and variable.startswith(head) and variable.endswith(tail) and len(variable) > len(head + tail):
            return pattern
    return None
