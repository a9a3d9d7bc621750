"""Exact limits of numbers and names in configs and parameters."""

from pathlib import Path

import pytest

from victorpy.base.parameters import check_count, check_range
from victorpy.base.textformat import MOST_EXPANSIONS, expand
from victorpy.base.variables import VARIABLES, kind_of
from victorpy.config import read_config
from victorpy.errors import ConfigError


@pytest.mark.parametrize(
    ("variable", "valid", "wrong"),
    [
        ("feature-*-scale", ["1", "70"], ["0", "1.5", "-1", "tea"]),
        ("crf-param-*", ["0", "1e9"], ["-0.1", "inf", "nan"]),
        ("evidence-layers", ["1", "5"], ["0", "6"]),
        ("evidence-folds", ["2", "50"], ["1", "51"]),
        ("evidence-forests", ["1", "20"], ["0", "21"]),
        ("evidence-blocks", ["1", "2.5"], ["0.9"]),
        ("evidence-param-*", ["0"], ["-0.1"]),
        ("kinds-param-*", ["0"], ["-0.1"]),
        *((name, ["0", "1"], ["-0.01", "1.01"]) for name in ("kinds-share", "kinds-content-share", "empty-below")),
        *((name, ["0", "1"], ["-0.01", "1.01"]) for name in ("heading-least", "threshold")),
        ("feature-*-values", ["0 1 2.5", "-1"], ["1 0", "1 1", "0 inf", "tea"]),
        ("labels", ["other paragraph"], ["other", "paragraph header", "other other", "other tea"]),
        ("split", ["every", "block"], ["some", "every block"]),
        ("regexp-*", ["a|b"], ["("]),
        ("crf-template", ["a.tpl"], ["a.tpl b.tpl"]),
    ],
)
def test_values_of_a_variable(variable: str, valid: list[str], wrong: list[str]) -> None:
    check = VARIABLES[variable].check
    assert [check(tuple(values.split())) for values in valid] == [""] * len(valid)
    assert all(check(tuple(values.split())) for values in wrong)


@pytest.mark.parametrize(
    ("setting", "replaces"),
    [("split: every\nsplit: block", True), ("threshold: 0.1\nthreshold: 0.2", True), ("class-a: b\nclass-a: c", False)],
)
def test_setting_a_single_value_again_replaces_it(tmp_path: Path, setting: str, replaces: bool) -> None:
    (tmp_path / "my.conf").write_text(setting)
    (values,) = read_config(tmp_path / "my.conf").values.values()
    assert len(values) == (1 if replaces else 2)


def test_star_stands_for_at_least_one_character() -> None:
    names = ("class-a", "class-", "feature-x-values", "feature--values", "feature-values", "class-*", "split")
    kinds = ["class-*", None, "feature-*-values", None, None, None, "split"]
    assert [kind_of(name) for name in names] == kinds


def test_ranges_include_their_ends() -> None:
    check_range("tea", 0, 1, low=0, high=1.0)
    check_count("tea", 2, cups=2)
    for value in (-0.01, 1.01, True, "1", float("nan")):
        with pytest.raises(ConfigError, match="expected a number from 0 to 1"):
            check_range("tea", 0, 1, strength=value)  # type: ignore[arg-type]
    for value in (1, 2.0, True):
        with pytest.raises(ConfigError, match="expected a whole number, 2 or more"):
            check_count("tea", 2, cups=value)  # type: ignore[arg-type]


def test_braces_have_up_to_ten_thousand_values() -> None:
    assert len(expand(f"{{1..{MOST_EXPANSIONS}}}")) == MOST_EXPANSIONS
    assert expand("{3..1}") == ["3", "2", "1"]
    assert expand("{2..2}") == ["2"]
    for braces, reason in (
        (f"{{0..{MOST_EXPANSIONS}}}", "braces expand to more than"),
        (f"{{0..{MOST_EXPANSIONS + 1}}}", "a range has more than"),
        ("{0..1000}{0..9}", "braces expand to more than"),
    ):
        with pytest.raises(ValueError, match=reason):
            expand(braces)
