"""Config files: values, expansion, includes and error messages."""

from pathlib import Path

import pytest
from support.cases import read_cases

from victorpy.base import resources
from victorpy.base.textformat import expand, strip_comment
from victorpy.base.variables import VARIABLES
from victorpy.config import OUTPUT_ATTRIBUTES, Config, load_config, read_config
from victorpy.document import Label
from victorpy.errors import ConfigError

ERRORS = Path(__file__).parent / "cases" / "config-errors"


def read(directory: Path, text: str, name: str = "my.conf", **others: str) -> Config:
    """Read a config that may include others, which are given by name."""
    for other, content in {name.removesuffix(".conf"): text, **others}.items():
        path = directory / f"{other}.conf"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return read_config(directory / name)


# Errors start with FILE:LINE.


@pytest.mark.parametrize("path", sorted(ERRORS.glob("*.conf")), ids=lambda path: path.stem)
def test_an_error_gives_the_line_and_the_reason(path: Path) -> None:
    first = path.read_bytes().splitlines()[0].decode()
    expected = first.removeprefix("# expect ")
    assert expected != first, "a case begins with '# expect FILE:LINE: message part'"
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    wanted = f"{ERRORS}/{expected}"
    assert str(caught.value)[: len(wanted)] == wanted


def test_missing_file_and_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.conf: cannot be read: .*No such file"):
        read_config(tmp_path / "nothing.conf")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path)


def test_an_unknown_config_is_reported_with_a_suggestion() -> None:
    with pytest.raises(ConfigError, match=r"no config 'clean-eval' \(did you mean 'cleaneval'\?\)") as caught:
        load_config("clean-eval")
    assert all(name in str(caught.value) for name in resources.names("configs", ".conf"))


def test_error_of_a_variable_names_its_line_or_the_config(tmp_path: Path) -> None:
    config = read(tmp_path, "split: every\ncrf-template: tea\n")
    assert str(config.error("crf-template", "is odd")) == f"{tmp_path / 'my.conf'}:2: crf-template: is odd"
    assert str(config.error("decode", "is missing")) == "my: decode: is missing"


# Lists, single values, comments, quotes.


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("class-list: ul ol\nsplit: every\nclass-list: li", "class-list", ("ul", "ol", "li")),  # lists are appended to
        ("class-list: ul ol\nclass-list:", "class-list", ()),  # nothing after the colon empties a list
        ("class-list: ul ol\nclass-list:  # away with them\nclass-list: dl", "class-list", ("dl",)),
        ("split: every\nsplit: block", "split", ("block",)),  # single values are replaced
        ("threshold: 0.5\nthreshold: 0.25", "threshold", ("0.25",)),
        ("split: nowhere\nsplit: block", "split", ("block",)),  # a bad value that is replaced does no harm
        ("crf-features: position split.{p,br} {div,td}-group.word-ratio", "crf-features",
         ("position", "split.p", "split.br", "div-group.word-ratio", "td-group.word-ratio")),
        ("class-a: x\nclass-b: y z\nclass-c: $class-{a,b}", "class-c", ("x", "y", "z")),  # references in braces
        ("class-a:\nclass-b: p $class-a", "class-b", ("p",)),  # a reference to an empty list
    ],
)  # fmt: skip
def test_values_of_a_variable(tmp_path: Path, text: str, name: str, values: tuple[str, ...]) -> None:
    assert read(tmp_path, f"{text}\n").get(name) == values


def test_unset_value_has_a_default(tmp_path: Path) -> None:
    config = read(tmp_path, "split:\n")
    assert config.get("class-list") == ()
    assert config.one("split", "every") == config.one("decode", "every") == "every"


@pytest.mark.parametrize(("line", "left"), read_cases("config.json", "comments"))
def test_comment_starts_at_a_hash_after_white_space_outside_quotes(line: str, left: str) -> None:
    assert strip_comment(line) == left


@pytest.mark.parametrize(("written", "values"), read_cases("config.json", "quotes"))
def test_quoted_values_are_taken_literally(tmp_path: Path, written: str, values: tuple[str, ...]) -> None:
    assert read(tmp_path, f"tag-delete: {written}\n").get("tag-delete") == tuple(values)


# Braces and references.


@pytest.mark.parametrize(("written", "expanded"), read_cases("config.json", "braces"))
def test_braces_expand(written: str, expanded: str) -> None:
    assert expand(written) == expanded.split()


def test_braces_in_names_set_each_variable(tmp_path: Path) -> None:
    config = read(tmp_path, "feature-split.{p,br}-values: 0 {1..3}\nclass-{bold,italic}: b\nclass-bold: strong\n")
    assert config.values == {
        "feature-split.p-values": ("0", "1", "2", "3"),
        "feature-split.br-values": ("0", "1", "2", "3"),
        "class-bold": ("b", "strong"),
        "class-italic": ("b",),
    }


def test_reference_is_replaced_by_the_values_up_to_its_line(tmp_path: Path) -> None:
    config = read(
        tmp_path, "class-bold: b strong\nclass-inline: a $class-bold u\nclass-bold: big\nclass-all: $class-inline\n"
    )
    assert config.get("class-inline") == config.get("class-all") == ("a", "b", "strong", "u")


# Includes.


def test_include_is_replaced_by_the_lines_of_the_file(tmp_path: Path) -> None:
    text = "split: every\nclass-list: ul\ninclude other\nclass-list: li\n"
    config = read(tmp_path, text, other="split: block\nclass-list: ol\n")
    assert config.get("split") == ("block",)
    assert config.get("class-list") == ("ul", "ol", "li")


def test_a_shipped_config_can_be_included_from_anywhere(tmp_path: Path) -> None:
    config = read(tmp_path, "include base # the shipped one\nclass-header:\nclass-header: h1\n")
    assert config.get("class-header") == ("h1",)
    assert config.get("class-list") == load_config("base").get("class-list")


def test_shipped_names_win_over_local_files_which_need_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert dict(read(tmp_path, "include ./base\n", base="class-mine: x\n").values) == {"class-mine": ("x",)}
    with pytest.warns(UserWarning, match=r"'base' is the shipped file .*write '\./base' to use"):
        assert read(tmp_path, "include base\n").get("class-mine") == ()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blocks").write_text("feature-modules: evil.py\n")
    with pytest.warns(UserWarning, match=r"'\./blocks'"):
        assert load_config("blocks").get("feature-modules") == ()
    assert load_config("./blocks").get("feature-modules") == ("evil.py",)


def test_includes_are_found_beside_the_file(tmp_path: Path) -> None:
    others = {"deep/one": "include two\n", "deep/two": "class-two: x\n"}
    assert read(tmp_path, "include deep/one\n", **others).get("class-two") == ("x",)


def test_place_of_an_included_value_is_in_the_included_file(tmp_path: Path) -> None:
    config = read(tmp_path, "include other\nthreshold: 0.5\n", other="\nsplit: block\n")
    assert config.places == {"split": f"{tmp_path / 'other.conf'}:2", "threshold": f"{tmp_path / 'my.conf'}:2"}


def test_file_may_be_included_in_two_branches(tmp_path: Path) -> None:
    others = {"shared": "split: block\n", "one": "include shared\n"}
    assert read(tmp_path, "include one\ninclude shared\n", **others).one("split", "") == "block"


# Reading values.


def test_family_returns_variables_by_the_part_between_prefix_and_suffix(tmp_path: Path) -> None:
    config = read(tmp_path, "feature-words-values: 0 1\nfeature-a-b-values: 0\nfeature-words-scale: 3\n")
    assert config.family("feature-", "-values") == {"words": ("0", "1"), "a-b": ("0",)}
    assert config.family("crf-param-") == {}
    assert read(tmp_path, "class-a: x\n").family("class-", "a") == {}


def test_labels_default_to_all_labels(tmp_path: Path) -> None:
    assert read(tmp_path, "split: every\n").labels == tuple(Label)
    assert read(tmp_path, "labels: other header\n").labels == (Label.OTHER, Label.HEADER)


def test_cuts_follow_the_config(tmp_path: Path) -> None:
    cuts = read(tmp_path, "split: block\nclass-block: p div\nattribute-keep: id\n").cuts
    assert not cuts.every
    assert cuts.block_level == {"p", "div", "br"}
    assert cuts.attributes == {"id", *OUTPUT_ATTRIBUTES}
    assert read(tmp_path, "class-block: p\n").cuts.every


@pytest.mark.parametrize("name", resources.names("configs", ".conf"))
def test_a_shipped_config_written_out_reads_back_the_same(tmp_path: Path, name: str) -> None:
    config = load_config(name)
    again = read(tmp_path, config.text(), f"{name}.conf")
    assert dict(again.values) == dict(config.values)
    assert list(again.values) == list(config.values)
    assert again.text() == config.text()


def test_awkward_values_written_out_read_back_the_same(tmp_path: Path) -> None:
    text = """tag-delete: "" "a b" "it's" 'say "x"' "#" "$tag-delete" "{a,b}" '{' a:b\nclass-none:\n"""
    config = read(tmp_path, text)
    again = read(tmp_path, config.text(), "again.conf")
    assert dict(again.values) == dict(config.values)
    assert again.get("tag-delete") == ("", "a b", "it's", 'say "x"', "#", "$tag-delete", "{a,b}", "{", "a:b")


def test_every_variable_is_documented() -> None:
    reference = (Path(__file__).parents[1] / "docs/reference/config.md").read_text(encoding="utf-8")
    assert not [name for name in VARIABLES if f"`{name.replace('*', 'X')}`" not in reference]
