"""Templates: the meaning of lines, positions outside the page, and errors in lines."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from support.cases import read_cases

from victorpy.base import resources
from victorpy.config import load_config, read_config
from victorpy.errors import ConfigError, TemplateError
from victorpy.features import Feature
from victorpy.model.crf.tables import Layout
from victorpy.model.crf.training import CRF, AttributeNames, train
from victorpy.model.encode import Encoder
from victorpy.model.template import Template, attribute, load_template, read_template

ERRORS = Path(__file__).parents[1] / "cases" / "template-errors"
FEATURES = ("words", "position", "container.p", "container.a")
WORDS, POSITION, P, A = range(4)


def read(directory: Path, text: str, features: Sequence[str] | None = FEATURES, **others: str) -> Template:
    """Read a template that may include others, which are given by name."""
    for name, content in {"my": text, **others}.items():
        (directory / f"{name}.tpl").write_text(content, encoding="utf-8")
    return read_template(directory / "my.tpl", features)


def references(template: Template) -> list[list[tuple[int, int]]]:
    return [[tuple(reference) for reference in line] for line in template.lines]


def encoders(*names: str) -> list[Encoder]:
    """Encoders that show a code as it is."""
    return [Encoder(name, Feature(name, "test", "", np.array)) for name in names]


def attributes(template: Template, table: list[list[int]]) -> list[list[str]]:
    """Return the attribute names of a page with these codes, one row per feature."""
    codes = np.array(table)
    layout = Layout(template, codes.max(axis=1) + 1)
    return AttributeNames(layout, encoders(*template.features)).of(codes)


@pytest.mark.parametrize("path", sorted(ERRORS.glob("*.tpl")), ids=lambda path: path.stem)
def test_an_error_gives_the_line_and_the_reason(path: Path) -> None:
    expected = path.read_text().splitlines()[0].removeprefix("# expect ")
    with pytest.raises(TemplateError) as caught:
        read_template(path, FEATURES)
    wanted = f"{ERRORS}/{expected}"
    assert str(caught.value)[: len(wanted)] == wanted


@pytest.mark.parametrize(("line", "expected"), read_cases("template.json", "lines"))
def test_line_names_features_of_blocks(tmp_path: Path, line: str, expected: list[list[tuple[int, int]]]) -> None:
    assert references(read(tmp_path, line)) == [[tuple(reference) for reference in line] for line in expected]


@pytest.mark.parametrize(("line", "bigrams"), [("B", True), ("B # label pairs", True), ("# B", False), ("", False)])
def test_b_asks_for_weights_of_label_pairs(tmp_path: Path, line: str, bigrams: bool) -> None:
    assert read(tmp_path, f"%x[0,words]\n{line}\n").bigrams is bigrams


def test_reach_and_text_of_a_template(tmp_path: Path) -> None:
    assert read(tmp_path, "%x[0,words]").reach == 0
    assert read(tmp_path, "%x[1,words]\n%x[0,words]%x[-3,position]").reach == 3
    text = "# why\n%x[{0,1},words]\n\nB\n"
    assert read(tmp_path, text).text == text


@pytest.mark.parametrize("content", [None, b"%x[0,words] # caf\xe9\n"], ids=["missing", "latin1"])
def test_unreadable_template_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "my.tpl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TemplateError, match=r"my\.tpl.*: cannot be read"):
        read_template(path, FEATURES)
    (tmp_path / "other.tpl").write_text("include my\n")
    with pytest.raises(TemplateError, match=r"my\.tpl.*: cannot be read" if content else "no template 'my'"):
        read_template(tmp_path / "other.tpl", FEATURES)


# Templates that include others.


def test_include_is_replaced_by_the_lines_of_the_file(tmp_path: Path) -> None:
    template = read(tmp_path, "%x[0,words]\ninclude tea # its lines\n%x[2,words]\n", tea="%x[1,position]\nB\n")
    assert references(template) == [[(0, WORDS)], [(1, POSITION)], [(2, WORDS)]]
    assert template.bigrams
    assert "include" not in template.text
    assert "%x[1,position]" in template.text


def test_text_of_a_template_needs_no_included_files(tmp_path: Path) -> None:
    template = read(tmp_path, "include tea\n%x[0,words]\n", tea="# of tea\n%x[{1,2},position]\nB")
    (tmp_path / "other").mkdir()
    again = read(tmp_path / "other", template.text)
    assert (again.lines, again.bigrams) == (template.lines, template.bigrams)


def test_included_templates_include_others_and_lines_count_once(tmp_path: Path) -> None:
    b = "include c\n%x[0,words]\n%x[1,words]\n"
    template = read(tmp_path, "include a\ninclude b\n", a="include c\n%x[0,words]\n", b=b, c="%x[0,position]\n")
    assert references(template) == [[(0, POSITION)], [(0, WORDS)], [(1, WORDS)]]


def test_features_are_those_of_included_templates_if_none_are_given(tmp_path: Path) -> None:
    assert read(tmp_path, "include a\n%x[0,words]\n", None, a="%x[0,position]\n").features == ("position", "words")
    evidence = resources.find("evidence", "templates", ".tpl")  # a shipped template, included by its name
    assert evidence is not None
    expected = (*read_template(evidence, None).features, "site.entropy")
    assert read(tmp_path, "include evidence\n%x[0,site.entropy]\n", None).features == expected


@pytest.mark.parametrize(("templates", "expected"), read_cases("template.json", "include-errors"))
def test_errors_of_included_templates_name_the_file(tmp_path: Path, templates: dict[str, str], expected: str) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(TemplateError) as caught:
        read(tmp_path, templates.pop("my"), **templates)
    wanted = expected.format(**{name: tmp_path / f"{name}.tpl" for name in ("my", "a", "b")})
    assert str(caught.value)[: len(wanted)] == wanted


# The template of a config.


@pytest.mark.parametrize("name", ["cleaneval", "default"])
def test_a_shipped_template_uses_only_features_of_its_config(name: str) -> None:
    config = load_config(name)
    template = load_template(config)
    assert template.bigrams
    used = {template.features[reference.feature] for line in template.lines for reference in line}
    assert used == set(config.get("crf-features"))


@pytest.mark.parametrize(
    ("name", "line"), [("tea", "crf-template: tea\n"), ("my", "")], ids=["by name", "as the config"]
)
def test_template_beside_the_config_is_found(tmp_path: Path, name: str, line: str) -> None:
    (tmp_path / f"{name}.tpl").write_text("%x[1,position]\n")
    (tmp_path / "my.conf").write_text(f"crf-features: position\n{line}")
    assert references(load_template(read_config(tmp_path / "my.conf"))) == [[(1, 0)]]


def test_a_missing_template_is_a_config_error(tmp_path: Path) -> None:
    (tmp_path / "my.conf").write_text("crf-features: position\ncrf-template: cleanevil\n")
    with pytest.raises(ConfigError) as caught:
        load_template(read_config(tmp_path / "my.conf"))
    place = f"{tmp_path / 'my.conf'}:2: crf-template: "
    assert str(caught.value).startswith(f"{place}no template 'cleanevil' (did you mean 'cleaneval'?)")
    assert all(name in str(caught.value) for name in resources.names("templates", ".tpl"))


# What the attributes of blocks are.


def test_an_attribute_is_named_by_feature_offset_and_value(tmp_path: Path) -> None:
    found = attributes(read(tmp_path, "%x[0,words]\n%x[0,position]%x[0,container.p]"), [[4, 0], [1, 2], [0, 1], [0, 0]])
    assert found == [["words[0]=4", "position[0]=1|container.p[0]=0"], ["words[0]=0", "position[0]=2|container.p[0]=1"]]


def test_blocks_outside_the_page_have_values_of_their_own(tmp_path: Path) -> None:
    template = read(tmp_path, "%x[-2,words]\n%x[-1,words]\n%x[1,words]\n%x[2,words]")
    assert attributes(template, [[7, 8, 9]] * 4) == [
        ["words[-2]=_B-2", "words[-1]=_B-1", "words[1]=8", "words[2]=9"],
        ["words[-2]=_B-1", "words[-1]=7", "words[1]=9", "words[2]=_B+1"],
        ["words[-2]=7", "words[-1]=8", "words[1]=_B+1", "words[2]=_B+2"],
    ]
    template = read(tmp_path, "%x[-1,words]%x[0,words]%x[1,words]\n%x[3,words]")
    assert attributes(template, [[5]] * 4) == [["words[-1]=_B-1|words[0]=5|words[1]=_B+1", "words[3]=_B+3"]]


def test_bins_are_shown_as_their_values(tmp_path: Path) -> None:
    template = read(tmp_path, "%x[0,words]\n", ["words"])
    binned = Encoder("words", Feature("words", "test", "", np.array), bins=("0", "2.5", "10"))
    assert attribute(template.lines[0], [2], [binned], template.reach) == "words[0]=10"


def test_a_line_with_too_many_combinations_is_refused(tmp_path: Path) -> None:
    template = read(tmp_path, "%x[0,words]%x[0,position]%x[1,words]")
    with pytest.raises(TemplateError, match="words, position, words have 1,367,631 combinations"):
        Layout(template, [108, 108, 2, 2])


# With and without B.

# The feature reveals the label of a quarter of the blocks; for the others only the previous label does.
CODES = [1, 0, 0, 0, 2, 0, 0, 0] * 6
LABELS = (["paragraph"] * 4 + ["other"] * 4) * 6


def trained_transitions(directory: Path, text: str) -> np.ndarray:
    template = read(directory, text, ["sign"])
    return train([(np.array([CODES]), LABELS)], encoders("sign"), template, CRF(c1=0, c2=0.1)).transitions


def test_previous_label_counts_only_with_b(tmp_path: Path) -> None:
    transitions = trained_transitions(tmp_path, "%x[0,sign]\nB\n")
    assert transitions[0, 0] > transitions[0, 1]
    assert transitions[1, 1] > transitions[1, 0]
    assert not trained_transitions(tmp_path, "%x[0,sign]\n").any()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("%x[100,a]", ""),
        ("%x[-100,a]", ""),
        ("%x[101,a]", "reaches at most 100 blocks away, not 101"),
        ("%x[-101,a]", "reaches at most 100 blocks away, not -101"),
        ("/".join(["%x[0,a]"] * 20), ""),
        ("/".join(["%x[0,a]"] * 21), "at most 20 references, not 21"),
        ("%x[{1..3},a]", ""),
        ("%x[{1..3},a]\n%x[3,a]", ""),  # a line counts once
        ("%x[{1..3},a]\n%x[4,a]", "more than 3 lines"),
    ],
)
def test_limits_of_a_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str) -> None:
    monkeypatch.setattr("victorpy.model.template.MOST_LINES", 3)
    if reason:
        with pytest.raises(TemplateError, match=reason):
            read(tmp_path, text, features=None)
    else:
        assert len(read(tmp_path, text, features=None).lines) in {1, 3}


def test_a_line_has_at_most_a_million_combinations(tmp_path: Path) -> None:
    template = read(tmp_path, "%x[0,words]%x[0,position]")  # each feature has one more code, for all other values
    assert Layout(template, [999, 999, 2, 2]).bases.tolist() == [0, 1_000_000]
    with pytest.raises(TemplateError, match="words, position have 1,001,000 combinations: use fewer bins"):
        Layout(template, [1_000, 999, 2, 2])
