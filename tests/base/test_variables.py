"""Every variable of a config: the values that it takes, and what happens if it is set twice."""

from pathlib import Path

import pytest

from victorpy.base.variables import FAVORS, VARIABLES, kind_of
from victorpy.config import OUTPUT_ATTRIBUTES, USES, Config, load_config, read_config
from victorpy.errors import ConfigError

ANY = "a 'b c' 1 -1 ('"
SHARE, SHARE_WRONG = "0 0.5 1", "-0.01 1.01 nan tea"
COUNT_WRONG = "0 -1 1.5 tea"

SINGLE = [
    ("split", "every block", "paragraph"),
    ("style-sheets", "ignore inline", "every"),
    ("crf-template", "crf", ""),
    ("crf-algorithm", "lbfgs l2sgd ap pa arow", "sgd"),
    ("crf-param-c1", "0 0.5 1e9", "-0.1 inf nan tea"),
    ("feature-x-scale", "1 1000000", f"{COUNT_WRONG} 1000001"),
    ("evidence", "trees", "forest"),
    ("evidence-learner", "catboost lightgbm catboost+lightgbm", "xgboost"),
    ("evidence-template", "evidence", ""),
    ("evidence-layers", "1 5", f"{COUNT_WRONG} 6"),
    ("evidence-folds", "2 50", f"{COUNT_WRONG} 1 51"),
    ("evidence-forests", "1 20", f"{COUNT_WRONG} 21"),
    ("evidence-net", "1 256", f"{COUNT_WRONG} 257"),
    ("evidence-blocks", "1 1.5 1e9", "0.99 -1 inf tea"),
    ("evidence-param-depth", "0 8", "-0.1 inf tea"),
    ("kinds", "trees", "forest"),
    ("kinds-template", "kinds", ""),
    ("kinds-share", SHARE, SHARE_WRONG),
    ("kinds-content-share", SHARE, SHARE_WRONG),
    ("kinds-param-depth", "0 8", "-0.1 inf tea"),
    ("decode", "viterbi marginal label expected", "best"),
    ("favor", "precision balanced recall", "both"),
    ("empty-below", SHARE, SHARE_WRONG),
    ("heading-least", SHARE, SHARE_WRONG),
    ("threshold", SHARE, SHARE_WRONG),
    ("annotate-key-down", "j ctrl-j", ""),
]
LISTS = [
    *((name, "a 1 -1") for name in ("tag-delete", "attribute-keep", "style-files", "class-x", "feature-modules")),
    *((name, "a 1 -1") for name in ("crf-features", "crf-features-off")),
    ("feature-x-values", "-1 0 2.5"),
    ("labels", "other header paragraph list continuation"),
    *((name, "a|b \\d+") for name in ("regexp-x", "name-x", "bullet")),
]


def read(folder: Path, *lines: str) -> Config:
    (folder / "my.conf").write_text("".join(f"{line}\n" for line in lines))
    return read_config(folder / "my.conf")


def test_the_tables_have_all_variables() -> None:
    assert {kind_of(name) for name, *_ in (*SINGLE, *LISTS)} == VARIABLES.keys()
    assert FAVORS == ("precision", "balanced", "recall")


def test_variables_with_one_value(tmp_path: Path) -> None:
    for name, valid, wrong in SINGLE:
        assert VARIABLES[kind_of(name)].single
        values = valid.split()
        for value in values:
            assert read(tmp_path, f"{name}: {value}").get(name) == (value,)
        assert read(tmp_path, f"{name}: {values[0]}", f"{name}: {values[-1]}").get(name) == (values[-1],)
        for value in wrong.split():
            with pytest.raises(ConfigError, match=rf"my\.conf:1: {name}: must be .*, not '{value}"):
                read(tmp_path, f"{name}: {value}")
        if not name.startswith("annotate-key"):
            with pytest.raises(ConfigError, match=rf"my\.conf:1: {name}: must be "):
                read(tmp_path, f"{name}: {values[0]} {values[0]}")


def test_variables_with_several_values(tmp_path: Path) -> None:
    for name, values in LISTS:
        assert not VARIABLES[kind_of(name)].single
        first, *rest = values.split()
        assert read(tmp_path, f"{name}: {first}", f"{name}: {' '.join(rest)}").get(name) == (first, *rest)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["feature-x-values: 1", "feature-x-values: 2 2"], "2: feature-x-values: must be different numbers in asc"),
        (["feature-x-values: 1 2", "feature-x-values: 2"], "2: feature-x-values: must be different numbers in asc"),
        (["feature-x-values: 1", "feature-x-values: inf"], "2: feature-x-values: must be finite numbers"),
        (["feature-x-values: 1 tea"], "1: feature-x-values: must be numbers, not '1 tea'"),
        (["labels: other", "labels: other"], "2: labels: must be different labels"),
        (["labels: other"], "1: labels: must include 'other' and another label"),
        (["labels: header list"], "1: labels: must include 'other' and another label"),
        (["labels: other hedaer"], "1: labels: must be some of header, paragraph, list, continuation, other"),
        (["regexp-x: a", "regexp-x: ( b"], "2: regexp-x: must be regular expressions (in '(': missing"),
        (["name-x: a", "name-x: ("], "2: name-x: must be regular expressions"),
        (["bullet: a", "bullet: ("], "2: bullet: must be regular expressions"),
        (["decode: best"], "1: decode: must be one of viterbi, marginal, label, expected, not 'best'"),
        (["decode: expcted"], "(did you mean 'expected'?)"),
        (["threshold: 2"], "must be a number from 0 to 1, not '2'"),
        (["feature-x-scale: 0"], "must be a whole number from 1 to 1,000,000, not '0'"),
        (["crf-param-c1: -1"], "must be a number from 0, not '-1'"),
        (["crf-template: a b"], "crf-template: must be one value, not 'a b'"),
    ],
)
def test_wrong_values_are_explained(tmp_path: Path, lines: list[str], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, *lines)
    assert problem in str(caught.value)


@pytest.mark.parametrize(("length", "shown"), [(99, f"{'x' * 99}("), (100, "x" * 100)])
def test_a_hundred_characters_of_a_regular_expression_are_shown(tmp_path: Path, length: int, shown: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, f"bullet: {'x' * length}(")
    assert f"(in {shown!r}: " in str(caught.value)


FREE = [
    *("decode", "threshold", "favor", "empty-below", "heading-least", "kinds-share", "kinds-content-share"),
    *("crf-param-c1", "crf-algorithm", "crf-template", "feature-modules", "style-files", "annotate-key-down"),
    *("evidence-learner", "evidence-param-depth", "evidence-folds", "evidence-forests", "evidence-blocks"),
    *("evidence-template", "kinds-param-depth", "kinds-template"),
]
FIXED = [
    *("labels", "split", "tag-delete", "attribute-keep", "class-block", "crf-features", "crf-features-off", "evidence"),
    *("evidence-layers", "evidence-net", "kinds", "feature-x-values", "style-sheets", "bullet"),
]


def test_differences_are_those_that_need_another_model() -> None:
    one = Config("a", {"split": ("every",)})
    for name in [*FREE, *FIXED]:
        other = Config("b", {"split": ("every",), name: ("x",)})
        assert one.differences(other) == other.differences(one) == [name] * (name in FIXED)
    assert one.differences(one) == []
    assert tuple(FREE[:7]) == USES


def test_twenty_thousand_values_are_the_most(tmp_path: Path) -> None:
    values = [f"tag-delete: {'a ' * 9_999}", f"class-a: {'b ' * 9_998}"]  # a variable counts like a value
    assert len(read(tmp_path, *values, "class-b:").get("class-a")) == 9_998
    with pytest.raises(ConfigError, match=r"my\.conf:3: the config sets more than 20,000 values"):
        read(tmp_path, *values, "class-b: c")
    with pytest.raises(ConfigError, match=r"my\.conf:1: tag-delete: more than 20,000 values"):
        read(tmp_path, f"tag-delete: {'a ' * 20_001}")


def test_attributes_of_formats_are_kept_whatever_the_config_says() -> None:
    config = Config("a", {"split": ("block",), "class-block": ("p",), "attribute-keep": ("class",)})
    assert config.cuts.attributes == OUTPUT_ATTRIBUTES | {"class"}
    assert config.cuts.breaking == {"p", "/p", "br", "/br"}
    assert not config.cuts.every
    assert Config("a", {}).cuts.every


@pytest.mark.parametrize("value", ["a b", "a#", "$a", "it's", 'say "x"', "{a}", "", "plain", "a\u00a0b"])
def test_config_written_out_reads_back(tmp_path: Path, value: str) -> None:
    config = Config("my", {"tag-delete": (value, "x"), "class-a": ()})
    assert read(tmp_path, config.text()).values == config.values


def test_family_of_variables() -> None:
    config = Config("a", {"class-a": ("1",), "class-": ("2",), "feature-x-values": ("3",), "feature--values": ("4",)})
    assert config.family("class-") == {"a": ("1",)}
    assert config.family("feature-", "-values") == {"x": ("3",)}
    assert repr(config) == "<Config 'a', variables=4>"


def test_config_of_a_person_may_run_code(tmp_path: Path) -> None:
    assert read(tmp_path, "split: block").allow_code
    assert read_config(tmp_path / "my.conf").digests is None
    assert not read_config(tmp_path / "my.conf", {"my.conf": ""}, allow_code=False).allow_code


def test_files_are_found_beside_the_config_or_in_the_current_directory(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("deep/a.css", "a.css", "b.css"):
        (tmp_path / name).touch()
    config = Config("my", {"style-files": ("a.css", "b.css")}, directory=tmp_path / "deep")
    assert config.files("style-files") == [tmp_path / "deep" / "a.css", Path("b.css")]
    assert Config("my", config.values).files("style-files") == [Path("a.css"), Path("b.css")]
    assert config.files("feature-modules") == []
    missing = Config("my", {"style-files": ("c.css",)}, {"style-files": "my.conf:7"}, tmp_path)
    with pytest.raises(ConfigError, match=r"my\.conf:7: style-files: no file 'c\.css' beside the config or in the c"):
        missing.files("style-files")
    of_model = Config("my", {"style-files": ("a.css",)}, directory=tmp_path, digests={"b.css": ""})
    with pytest.raises(ConfigError, match=r"my: style-files: 'a.css' is not a file of the model"):
        of_model.files("style-files")
    assert Config("my", {"style-files": ("b.css",)}, directory=tmp_path, digests={"b.css": ""}).files(
        "style-files"
    ) == [tmp_path / "b.css"]


def test_templates_are_shipped_or_beside_the_config(tmp_path: Path) -> None:
    shipped = load_config("default").template("evidence-template", "evidence")
    assert shipped.name == "evidence.tpl"
    (tmp_path / "mine.tpl").touch()
    config = Config("my", {"crf-template": ("mine",)}, directory=tmp_path)
    assert config.template("crf-template", "crf") == tmp_path / "mine.tpl"
    assert config.template("kinds-template", "evidence").samefile(shipped)
    with pytest.raises(ConfigError, match=r"my: kinds-template: no template 'evidenc' \(did you mean 'evidence'\?\)"):
        config.template("kinds-template", "evidenc")
    of_model = Config("my", {}, directory=tmp_path, digests={"a.tpl": ""})
    assert of_model.template("crf-template", "a.tpl") == tmp_path / "a.tpl"
    with pytest.raises(ConfigError, match="'evidence' is not a file of the model"):
        of_model.template("crf-template", "evidence")
