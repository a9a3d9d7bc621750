"""Templates: what a line means, what lies outside the page, and what is said of a wrong line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from victorpy import resources
from victorpy.config import load_config, read_config
from victorpy.crf.tables import Layout
from victorpy.crf.training import _AttributeNames, train
from victorpy.encode import Encoder
from victorpy.errors import ConfigError, TemplateError
from victorpy.features import Feature
from victorpy.template import Template, attribute, load_template, read_template

ERRORS = Path(__file__).parent / "cases" / "template-errors"
FEATURES = ("words", "position", "container.p", "container.a")
WORDS, POSITION, P, A = range(4)


def read(directory: Path, text: str) -> Template:
    path = directory / "my.tpl"
    path.write_text(text, encoding="utf-8")
    return read_template(path, FEATURES)


def references(template: Template) -> list[list[tuple[int, int]]]:
    return [[tuple(reference) for reference in line] for line in template.lines]


def encoders(*names: str) -> list[Encoder]:
    """Encoders that show a code as it is."""
    return [Encoder(name, Feature(name, "test", "", np.array)) for name in names]


def attributes(template: Template, table: list[list[int]]) -> list[list[str]]:
    """Name the attributes of a page with these codes, a row a feature."""
    codes = np.array(table)
    layout = Layout(template, codes.max(axis=1) + 1)
    return _AttributeNames(layout, encoders(*template.features)).of(codes)


@pytest.mark.parametrize("path", sorted(ERRORS.glob("*.tpl")), ids=lambda path: path.stem)
def test_an_error_says_where_and_what(path: Path) -> None:
    expected = path.read_text().splitlines()[0].removeprefix("# expect ")
    with pytest.raises(TemplateError) as caught:
        read_template(path, FEATURES)
    wanted = f"{ERRORS}/{expected}"
    assert str(caught.value)[: len(wanted)] == wanted


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%x[0,words]", [[(0, WORDS)]]),
        ("%x[-2,position]", [[(-2, POSITION)]]),
        ("%x[+1,words]", [[(1, WORDS)]]),
        ("%x[ 1 , container.p ]", [[(1, P)]]),
        ("  %x[0,words]  # a comment", [[(0, WORDS)]]),
        ("U07:%x[0,words]", [[(0, WORDS)]]),
        ("link-words: %x[0,words]", [[(0, WORDS)]]),
        ("%x[0,words]%x[1,container.a]", [[(0, WORDS), (1, A)]]),
        ("%x[0,words]/%x[1,container.a]/%x[2,words]", [[(0, WORDS), (1, A), (2, WORDS)]]),
        ("%x[0,words] %x[1,container.a]", [[(0, WORDS), (1, A)]]),
        ("%x[0,container.{a,p}]", [[(0, A)], [(0, P)]]),
        ("%x[{-1,1},words]", [[(-1, WORDS)], [(1, WORDS)]]),
        ("%x[{-1..1},words]", [[(-1, WORDS)], [(0, WORDS)], [(1, WORDS)]]),
        ("%x[{0,1},container.{p,a}]", [[(0, P)], [(0, A)], [(1, P)], [(1, A)]]),
        ("%x[0,{words,position}]%x[1,words]", [[(0, WORDS), (1, WORDS)], [(0, POSITION), (1, WORDS)]]),
        ("%x[0,words]\n%x[{0,1},words]", [[(0, WORDS)], [(1, WORDS)]]),
    ],
)
def test_a_line_names_features_of_blocks(tmp_path: Path, line: str, expected: list[list[tuple[int, int]]]) -> None:
    assert references(read(tmp_path, line)) == expected


@pytest.mark.parametrize(("line", "bigrams"), [("B", True), ("B # label pairs", True), ("# B", False), ("", False)])
def test_b_asks_for_weights_of_label_pairs(tmp_path: Path, line: str, bigrams: bool) -> None:
    assert read(tmp_path, f"%x[0,words]\n{line}\n").bigrams is bigrams


def test_the_reach_is_that_of_the_farthest_reference(tmp_path: Path) -> None:
    assert read(tmp_path, "%x[0,words]").reach == 0
    assert read(tmp_path, "%x[1,words]\n%x[0,words]%x[-3,position]").reach == 3


def test_a_template_keeps_its_text(tmp_path: Path) -> None:
    text = "# why\n%x[{0,1},words]\n\nB\n"
    assert read(tmp_path, text).text == text


@pytest.mark.parametrize("content", [None, b"%x[0,words] # caf\xe9\n"], ids=["missing", "latin1"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "my.tpl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TemplateError, match=r"my\.tpl.*: cannot be read"):
        read_template(path, FEATURES)


# Templates that include others.


def write(directory: Path, **templates: str) -> Path:
    """Write templates by name; the first is the one to read."""
    for name, text in templates.items():
        (directory / f"{name}.tpl").write_text(text, encoding="utf-8")
    return directory / f"{next(iter(templates))}.tpl"


def test_a_template_takes_in_another_where_it_names_it(tmp_path: Path) -> None:
    path = write(tmp_path, my="%x[0,words]\ninclude tea # its lines\n%x[2,words]\n", tea="%x[1,position]\nB\n")
    template = read_template(path, FEATURES)
    assert references(template) == [[(0, WORDS)], [(1, POSITION)], [(2, WORDS)]]
    assert template.bigrams
    assert "include" not in template.text
    assert "%x[1,position]" in template.text


def test_the_text_of_a_template_reads_as_the_same_template_by_itself(tmp_path: Path) -> None:
    path = write(tmp_path, my="include tea\n%x[0,words]\n", tea="# of tea\n%x[{1,2},position]\nB")
    template = read_template(path, FEATURES)
    (tmp_path / "other").mkdir()
    again = read_template(write(tmp_path / "other", alone=template.text), FEATURES)
    assert (again.lines, again.bigrams) == (template.lines, template.bigrams)


def test_included_templates_include_others_and_lines_count_once(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        my="include a\ninclude b\n",
        a="include c\n%x[0,words]\n",
        b="include c\n%x[0,words]\n%x[1,words]\n",
        c="%x[0,position]\n",
    )
    assert references(read_template(path, FEATURES)) == [[(0, POSITION)], [(0, WORDS)], [(1, WORDS)]]


def test_without_features_those_of_included_templates_are_taken_as_they_come(tmp_path: Path) -> None:
    path = write(tmp_path, my="include a\n%x[0,words]\n", a="%x[0,position]\n")
    assert read_template(path, None).features == ("position", "words")


def test_a_shipped_template_is_included_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, my="include evidence\n%x[0,site.entropy]\n")
    evidence = resources.find("evidence", "templates", ".tpl")
    assert evidence is not None
    expected = read_template(evidence, None).features
    assert read_template(path, None).features == (*expected, "site.entropy")


@pytest.mark.parametrize(
    ("templates", "expected"),
    [
        ({"my": "# a\n\ninclude tae\n", "tea": "B"}, "{my}:3: no template 'tae' to include"),
        ({"my": "include evidense\n"}, "{my}:1: no template 'evidense' to include (did you mean 'evidence'?)"),
        ({"my": "include my\n"}, "{my}:1: 'my' includes itself"),
        ({"my": "%x[0,words]\ninclude a\n", "a": "\n\ninclude my\n"}, "{a}:3: 'my' includes itself"),
        ({"my": "include a\n", "a": "include b\n", "b": "include a\n"}, "{b}:1: 'a' includes itself"),
        ({"my": "include ./my.tpl\n"}, "{my}:1: './my.tpl' includes itself"),
        ({"my": "include a\n", "a": "%x[0,words]\n%x[0,wrods]\n"}, "{a}:2: the feature 'wrods' is not in"),
        ({"my": "%x[0,words]\ninclude a\nplain\n", "a": "%x[0,words]\n\n\n"}, "{my}:3: expected %x[OFFSET,NAME]"),
        ({"my": "include a\n", "a": "# nothing\nB\n"}, "{my}: there is no %x[OFFSET,NAME] line in it"),
        ({"my": "include\n"}, "{my}:1: expected %x[OFFSET,NAME] ... or B, found 'include'"),
        ({"my": "include a b\n"}, "{my}:1: expected %x[OFFSET,NAME] ... or B, found 'include a b'"),
        ({"my": "include a\n", "a": "%x[0,{words]\n"}, "{a}:1: "),
    ],
)
def test_errors_of_included_templates_say_in_which_file(
    tmp_path: Path, templates: dict[str, str], expected: str
) -> None:
    path = write(tmp_path, **templates)
    with pytest.raises(TemplateError) as caught:
        read_template(path, FEATURES)
    wanted = expected.format(**{name: tmp_path / f"{name}.tpl" for name in ("my", "a", "b")})
    assert str(caught.value)[: len(wanted)] == wanted


def test_a_template_is_itself_by_any_path(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    path = write(tmp_path, my="%x[0,words]\ninclude other/../my\n")
    with pytest.raises(TemplateError, match=r"my\.tpl:2: 'other/\.\./my' includes itself"):
        read_template(path, FEATURES)


def test_an_included_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, my="include a\n")
    (tmp_path / "a.tpl").write_bytes(b"%x[0,words] # caf\xe9\n")
    with pytest.raises(TemplateError, match=r"a\.tpl.*: cannot be read"):
        read_template(path, FEATURES)


# Which template a config means.


@pytest.mark.parametrize("name", ["cleaneval", "default"])
def test_a_shipped_template_uses_only_features_of_its_config(name: str) -> None:
    config = load_config(name)
    template = load_template(config)
    assert template.bigrams
    used = {template.features[reference.feature] for line in template.lines for reference in line}
    assert used == set(config.get("crf-features"))


def test_a_template_beside_the_config_is_found(tmp_path: Path) -> None:
    (tmp_path / "tea.tpl").write_text("%x[0,position]\n")
    (tmp_path / "my.conf").write_text("crf-features: position\ncrf-template: tea\n")
    assert references(load_template(read_config(tmp_path / "my.conf"))) == [[(0, 0)]]


def test_without_a_name_the_template_is_called_as_the_config(tmp_path: Path) -> None:
    (tmp_path / "my.tpl").write_text("%x[1,position]\n")
    (tmp_path / "my.conf").write_text("crf-features: position\n")
    assert references(load_template(read_config(tmp_path / "my.conf"))) == [[(1, 0)]]


def test_a_template_that_is_not_there_is_an_error_of_the_config(tmp_path: Path) -> None:
    (tmp_path / "my.conf").write_text("crf-features: position\ncrf-template: cleanevil\n")
    with pytest.raises(ConfigError) as caught:
        load_template(read_config(tmp_path / "my.conf"))
    place = f"{tmp_path / 'my.conf'}:2: crf-template: "
    assert str(caught.value).startswith(f"{place}no template 'cleanevil' (did you mean 'cleaneval'?)")
    assert all(name in str(caught.value) for name in resources.names("templates", ".tpl"))


# What the attributes of blocks are.


def test_an_attribute_is_named_by_feature_offset_and_value(tmp_path: Path) -> None:
    found = attributes(read(tmp_path, "%x[0,words]\n%x[0,position]%x[0,container.p]"), [[4, 0], [1, 2], [0, 1], [0, 0]])
    assert found == [
        ["words[0]=4", "position[0]=1|container.p[0]=0"],
        ["words[0]=0", "position[0]=2|container.p[0]=1"],
    ]


def test_blocks_outside_the_page_have_values_of_their_own(tmp_path: Path) -> None:
    template = read(tmp_path, "%x[-2,words]\n%x[-1,words]\n%x[1,words]\n%x[2,words]")
    assert attributes(template, [[7, 8, 9]] * 4) == [
        ["words[-2]=_B-2", "words[-1]=_B-1", "words[1]=8", "words[2]=9"],
        ["words[-2]=_B-1", "words[-1]=7", "words[1]=9", "words[2]=_B+1"],
        ["words[-2]=7", "words[-1]=8", "words[1]=_B+1", "words[2]=_B+2"],
    ]


def test_a_page_of_one_block_has_only_the_outside_around_it(tmp_path: Path) -> None:
    template = read(tmp_path, "%x[-1,words]%x[0,words]%x[1,words]\n%x[3,words]")
    assert attributes(template, [[5]] * 4) == [["words[-1]=_B-1|words[0]=5|words[1]=_B+1", "words[3]=_B+3"]]


def test_a_value_is_never_taken_for_the_outside(tmp_path: Path) -> None:
    template = read(tmp_path, "%x[-1,words]\n%x[1,words]")
    names = {name for block in attributes(template, [[0, 1, 2, 3]] * 4) for name in block}
    assert len(names) == 2 * 3 + 2  # three neighbours on each side, and the outside of either


def test_bins_are_shown_as_the_values_that_they_are(tmp_path: Path) -> None:
    template = read_template_of_words(tmp_path)
    binned = Encoder("words", Feature("words", "test", "", np.array), bins=("0", "2.5", "10"))
    assert attribute(template.lines[0], [2], [binned], template.reach) == "words[0]=10"


def read_template_of_words(directory: Path) -> Template:
    path = directory / "words.tpl"
    path.write_text("%x[0,words]\n")
    return read_template(path, ["words"])


def test_a_line_with_too_many_combinations_is_refused(tmp_path: Path) -> None:
    template = read(tmp_path, "%x[0,words]%x[0,position]%x[1,words]")
    with pytest.raises(TemplateError, match="words, position, words have 1,367,631 combinations"):
        Layout(template, [108, 108, 2, 2])


# With and without B.

# "On" and "off" are told by the feature alone in half of the blocks; elsewhere only the label before tells.
CODES = [1, 0, 0, 0, 2, 0, 0, 0] * 6
LABELS = (["paragraph"] * 4 + ["other"] * 4) * 6


def trained_transitions(directory: Path, text: str) -> np.ndarray:
    path = directory / "my.tpl"
    path.write_text(text)
    template = read_template(path, ["sign"])
    return train([(np.array([CODES]), LABELS)], encoders("sign"), template, {"c1": 0, "c2": 0.1}).tables.transitions


def test_with_b_the_label_before_counts(tmp_path: Path) -> None:
    transitions = trained_transitions(tmp_path, "%x[0,sign]\nB\n")
    assert transitions[0, 0] > transitions[0, 1]
    assert transitions[1, 1] > transitions[1, 0]


def test_without_b_every_block_is_labelled_alone(tmp_path: Path) -> None:
    assert not trained_transitions(tmp_path, "%x[0,sign]\n").any()
