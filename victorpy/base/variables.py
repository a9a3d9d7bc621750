"""The variables of a configuration: what each may hold and what it is for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from victorpy.document import Label
from victorpy.errors import suggest

FAVORS = ("precision", "balanced", "recall")
"""Which mistakes a cleaner may be told to be wary of: noise that is kept, both, content that is lost."""

Check = Callable[[tuple[str, ...]], str]
"""Looks at a variable's values and says what is wrong with them, or nothing."""


def _words(values: tuple[str, ...]) -> str:
    return ""


def _one_of(*choices: str) -> Check:
    def check(values: tuple[str, ...]) -> str:
        if len(values) == 1 and values[0] in choices:
            return ""
        return f"must be one of {', '.join(choices)}{suggest(' '.join(values), choices)}"

    return check


def _one_word(values: tuple[str, ...]) -> str:
    return "" if len(values) == 1 else "takes exactly one value"


def _number(low: float, high: float = float("inf"), whole: bool = False) -> Check:
    def check(values: tuple[str, ...]) -> str:
        kind = "a whole number" if whole else "a number"
        wanted = f"must be {kind}"
        wanted += "" if low == float("-inf") else f" from {low:g}"
        wanted += "" if high == float("inf") else f" to {high:g}"
        try:
            (value,) = map(int if whole else float, values)
        except ValueError:
            return wanted
        return "" if low <= value <= high and math.isfinite(value) else wanted

    return check


def _bins(values: tuple[str, ...]) -> str:
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return "must be numbers"
    if not numbers or any(not abs(number) < float("inf") for number in numbers):
        return "must be finite numbers"
    return "" if numbers == sorted(set(numbers)) else "must be ascending numbers, each once"


def _labels(values: tuple[str, ...]) -> str:
    known = [str(label) for label in Label]
    unknown = [value for value in values if value not in known]
    if unknown:
        return f"knows no label {unknown[0]!r}{suggest(unknown[0], known)}; there are {', '.join(known)}"
    if len(set(values)) < len(values):
        return "must name each label once"
    return "" if Label.OTHER in values and len(values) > 1 else "must hold 'other' and at least one more label"


def _regexps(values: tuple[str, ...]) -> str:
    for value in values:
        try:
            re.compile(value)
        except re.error as error:
            return f"has a bad regular expression {value!r}: {error}"
    return ""


class Variable(NamedTuple):
    """What a variable may hold and what it is for."""

    check: Check
    purpose: str
    single: bool = False
    """A single value is replaced when it is given again; lists are appended to."""
    line_by_line: bool = False
    """Whether a list can be checked before it is whole, so that an error names the line at fault."""


VARIABLES: dict[str, Variable] = {
    "labels": Variable(_labels, "the labels that a model tells apart"),
    "split": Variable(
        _one_of("every", "block"),
        "where text is cut: at every tag, or at block-level tags and <br>",
        single=True,
    ),
    "tag-delete": Variable(_words, "elements that are removed with all that is in them"),
    "attribute-keep": Variable(_words, "attributes that elements keep, for features, annotations and outputs"),
    "class-*": Variable(_words, "a group of similar elements"),
    "feature-modules": Variable(_words, "Python files with features of your own"),
    "crf-features": Variable(_words, "the features that are computed, in order"),
    "crf-features-off": Variable(
        _words, "features that are left out again, with the template lines that refer to them"
    ),
    "feature-*-values": Variable(
        _bins, "bins: a number becomes the largest of these that is less than or equal to it", line_by_line=True
    ),
    "feature-*-scale": Variable(
        _number(1, whole=True), "a share from 0 to 1 becomes one of this many steps", single=True
    ),
    "regexp-*": Variable(
        _regexps,
        "patterns of the feature regexp.*: its value is the number of the first that matches",
        line_by_line=True,
    ),
    "name-*": Variable(
        _regexps,
        "patterns of the feature name.*: it counts elements whose class, id or role matches",
        line_by_line=True,
    ),
    "bullet": Variable(
        _regexps, "patterns of the feature bullet: every combination of matches is a value", line_by_line=True
    ),
    "crf-template": Variable(_one_word, "the template: a name of templates/ or a path", single=True),
    "crf-algorithm": Variable(
        _one_of("lbfgs", "l2sgd", "ap", "pa", "arow"), "crfsuite's training algorithm", single=True
    ),
    "crf-param-*": Variable(
        _number(0),
        "a parameter of the training algorithm, such as c1 or max_iterations",
        single=True,
    ),
    "evidence": Variable(_one_of("trees"), "what judges blocks before the CRF: boosted trees, in layers", single=True),
    "evidence-template": Variable(
        _one_word, "the template of the numbers that trees decide by: a name of templates/ or a path", single=True
    ),
    "evidence-layers": Variable(
        _number(1, 5, whole=True), "how many layers of trees there are, each with the one before in sight", single=True
    ),
    "evidence-folds": Variable(
        _number(2, 50, whole=True), "in how many parts, by site, the pages are judged in training", single=True
    ),
    "evidence-forests": Variable(
        _number(1, 20, whole=True),
        "of how many forests, grown from different seeds, a layer is the average",
        single=True,
    ),
    "evidence-blocks": Variable(
        _number(1), "about how many blocks of a page at most each forest learns from", single=True
    ),
    "evidence-param-*": Variable(
        _number(0), "a parameter of CatBoost, such as iterations, depth or learning_rate", single=True
    ),
    "kinds": Variable(
        _one_of("trees"),
        "what tells kinds of content beside the CRF: boosted trees; needs evidence: trees",
        single=True,
    ),
    "kinds-template": Variable(
        _one_word, "the template of the numbers that those trees decide by: a name of templates/ or a path", single=True
    ),
    "kinds-share": Variable(
        _number(0, 1), "how much the trees' word counts beside the CRF's, from 0 (nothing) to 1 (alone)", single=True
    ),
    "kinds-content-share": Variable(
        _number(0, 1),
        "with decode: label, how much trees that count each block the same have to say on what is content, beside "
        "those of evidence, which count words",
        single=True,
    ),
    "kinds-param-*": Variable(
        _number(0), "a parameter of CatBoost for the trees of kinds, such as iterations or depth", single=True
    ),
    "decode": Variable(
        _one_of("viterbi", "marginal", "label", "expected"),
        "the best label sequence, what is content by its own probability, each block's most probable label, or what "
        "gives the highest expected F1 of the page",
        single=True,
    ),
    "favor": Variable(
        _one_of(*FAVORS),
        "with decode: expected, which mistakes weigh more: noise that is kept, neither, or content that is lost",
        single=True,
    ),
    "empty-below": Variable(
        _number(0, 1),
        "with decode: expected, a page whose expected F1 is lower is taken to have no content",
        single=True,
    ),
    "heading-least": Variable(
        _number(0, 1),
        "with decode: expected, how probable a heading must be that stands right above text that is kept, to stay too",
        single=True,
    ),
    "threshold": Variable(
        _number(0, 1),
        "with decode: marginal, how probable content must be, as a share of the page's most probable block",
        single=True,
    ),
    "annotate-key-*": Variable(
        _words, "the key or keys of an action of victor annotate, instead of those that it has", single=True
    ),
}


def kind_of(variable: str) -> str | None:
    """Find the entry of VARIABLES that a name belongs to.

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
