"""Features: their values on pages worked out by hand, their coding, and features of a user's own."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engines import without_core

from victorpy.base.textformat import expand
from victorpy.cleaner import read_document
from victorpy.columns import Columns
from victorpy.config import Config, load_config, read_config
from victorpy.document import Document
from victorpy.errors import ConfigError, DataError
from victorpy.features import FEATURES, Feature, check_features, find_feature
from victorpy.model.encode import Encoder, encode, make_encoders, show_features
from victorpy.page.parse import VOID
from victorpy.page.split import Splitter

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases" / "features"


@dataclass
class Case:
    """A case of a file: its lines by the word before the colon."""

    case: str = ""
    feature: str = ""
    html: list[str] = field(default_factory=list)
    config: list[str] = field(default_factory=list)
    expect: str = ""


def read_cases(name: str) -> list[Case]:
    return list(_cases((CASES / name).read_text(encoding="utf-8").splitlines()))


def _cases(lines: list[str]) -> Iterator[Case]:
    case = Case()
    for line in [*lines, ""]:
        key, _, value = line.partition(": ")
        if key in {"html", "config"}:
            getattr(case, key).append(value)
        elif key in {"case", "feature", "expect"}:
            setattr(case, key, value)
        elif not line and case.case:
            yield case
            case = Case()
        else:
            assert not line or line.startswith("#"), f"a line of no case: {line}"


THESIS, NEIGHBOURHOOD, MORE = (read_cases(f"{name}.txt") for name in ("thesis", "neighbourhood", "more"))


def config_from(directory: Path, *lines: str) -> Config:
    path = directory / "my.conf"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_config(path)


def page(html: str, config: Config) -> Columns:
    return Columns(read_document(html, config), config)


VALUES = [("cleaneval", case) for case in THESIS] + [("crf", case) for case in NEIGHBOURHOOD + MORE]


# Values.


@pytest.mark.parametrize(("base", "case"), VALUES, ids=[f"{case.feature}: {case.case}" for _, case in VALUES])
def test_values_of_a_feature(base: str, case: Case, tmp_path: Path) -> None:
    columns = page("\n".join(case.html), config_from(tmp_path, f"include {base}", *case.config))
    feature = find_feature(case.feature)
    assert feature is not None
    expected = [float(Fraction(value)) for value in case.expect.split()]
    assert feature.column(columns, case.feature).tolist() == pytest.approx(expected, abs=1e-12)


def surprise(html: str) -> list[float]:
    feature = find_feature("letter-surprise")
    assert feature is not None
    values: list[float] = feature.column(page(html, load_config("crf")), "letter-surprise").tolist()
    return values


def test_letter_surprise_equals_a_manual_calculation() -> None:
    # Each block has the pairs ab and b-end. The other block has each pair once, and each first letter once.
    assert surprise("<p>ab</p><p>AB</p>") == pytest.approx([math.log2(16 / 1.5)] * 2)
    assert surprise("<p>ab</p>") == pytest.approx([math.log2(15 / 0.5)])
    assert surprise("") == []


def test_gibberish_and_other_languages_surprise_most() -> None:
    english = "<p>Tea is a hot drink that people in many countries like to drink in the morning.</p>"
    others = ["<p>xqzv wkjh ppfq zzxq wvbn kqjx vvbq</p>", "<p>Чай пьют во многих странах мира по утрам.</p>"]
    values = surprise(english * 2 + "<p>The drink is hot, and people like the taste of it.</p>" + "".join(others))
    assert min(values[3:]) > max(values[:3])


def test_every_feature_has_a_case_a_description_and_a_family() -> None:
    thesis = load_config("cleaneval").get("crf-features")
    assert len(thesis) == len(set(thesis)) == 46
    assert {case.feature for case in THESIS} == set(thesis)
    written = {name for name in FEATURES if FEATURES.get(name).family == "neighbourhood"}
    covered = {find_feature(case.feature) for case in NEIGHBOURHOOD}
    assert written == {found.name for found in covered if found}
    what = {"words", "link-share", "block-words", "block-share"}
    assert {f"ancestor{n}.{part}" for n in (1, 2, 3) for part in what} <= {case.feature for case in NEIGHBOURHOOD}
    assert not [name for name in FEATURES if not FEATURES.get(name).description]
    assert {"markup", "content", "document", "neighbourhood"} <= {FEATURES.get(name).family for name in FEATURES}


def test_the_reference_lists_every_feature() -> None:
    reference = (ROOT / "docs/reference/features.md").read_text(encoding="utf-8")
    listed = {name for code in re.findall(r"`([a-z{][^` ]*)`", reference) for name in expand(code)}
    families = {path.stem for path in (ROOT / "victorpy/features").glob("*.py")}
    assert {name for name in FEATURES if FEATURES.get(name).family in families} <= listed


@pytest.mark.parametrize("name", ["cleaneval", "crf"])
@pytest.mark.parametrize("html", ["", "<p></p>", "<p>--</p>", "<p>x</p>", "<pre>\n\n</pre>"])
def test_page_without_text_has_features(name: str, html: str) -> None:
    config = load_config(name)
    columns = page(html, config)
    encoders = make_encoders(config)
    for encoder in encoders:
        assert encoder.raw(columns).shape == (columns.count,)
    assert encode(Columns(columns.document, config), encoders).shape == (len(encoders), columns.count)


# Stars.


@pytest.mark.parametrize(
    ("name", "star"),
    [
        ("container.p", "container.*"),
        ("container.class-header", "container.*"),
        ("split.br", "split.*"),
        ("regexp.url", "regexp.*"),
        ("name.noise", "name.*"),
        ("ancestor2.words", "ancestor2.words"),
        ("position", "position"),
        *((name, None) for name in ("container", "container.", "positions", "", "*")),
    ],
)
def test_feature_is_found_by_its_name_or_its_star(name: str, star: str | None) -> None:
    feature = find_feature(name)
    assert (feature.name if feature else None) == star


@pytest.mark.parametrize("case", read_cases("errors.txt"), ids=lambda case: case.case)
def test_impossible_features_in_a_config_are_refused(case: Case, tmp_path: Path) -> None:
    config = config_from(tmp_path, *case.config)
    with pytest.raises(ConfigError) as caught:
        make_encoders(config)
    wanted = f"{tmp_path / 'my.conf'}:{case.expect}"
    assert str(caught.value)[: len(wanted)] == wanted


# From values to codes.


BINS = {"bins": ("0", "1")}


def coded(column: Any, bins: tuple[str, ...] = (), scale: int = 0, blocks: int | None = None) -> list[int]:
    """Encode a column of a made-up feature, on a page with one block per value by default."""
    config = load_config("cleaneval")
    count = len(column) if blocks is None else blocks
    document = read_document("".join(f"<p>block {number}</p>" for number in range(count)), config)
    given = Feature("given", "test", "", lambda page: np.asarray(column))
    return Encoder("given", given, bins, scale).codes(Columns(document, config)).tolist()


@pytest.mark.parametrize(
    ("column", "options", "codes"),
    [
        # A number gets the largest bin that is not above it.
        ([0, 0.9, 1, 1.99, 2, 4, 5, 10**9, -3], {"bins": ("0", "1", "2", "5")}, [0, 0, 1, 1, 2, 2, 3, 3, 0]),
        ([2, 2.5, 5], {"bins": ("0", "1", "2", "2.5", "5")}, [2, 3, 4]),
        ([-9.0, -5.0, -1.0, 0.0], {"bins": ("-5", "0")}, [0, 0, 0, 1]),
        # A share is rounded down to a step of the scale; 0.29 * 100 is a little less than 29.
        ([0, 0.05, 0.1, 0.29, 0.3, 0.7, 0.999, 1, 1.5, -0.1], {"scale": 10}, [0, 0, 1, 2, 3, 7, 9, 9, 9, 0]),
        *(([step / n for step in range(n)], {"scale": n}, list(range(n))) for n in (1, 3, 7, 10, 20, 49, 100)),
        # Without bins and scale a whole number is its own code.
        *((column, {}, list(map(int, column))) for column in ([3, 0, 7], [3.0, 0.0], [True, False])),
        *((np.array([1, 0], dtype), {}, [1, 0]) for dtype in (np.int8, np.uint16, np.float32, np.bool_)),
    ],
)
def test_codes_of_values(column: Any, options: dict[str, Any], codes: list[int]) -> None:
    assert coded(column, **options) == codes


@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        *(
            ([0.0, float(number)], options, rf"^feature 'given' is {number} at block 1: 'block 1'$")
            for number in ("nan", "inf", "-inf")
            for options in ({}, BINS)
        ),
        ([np.nan, 0.5], {"scale": 10}, "feature 'given' is nan at block 0"),
        ([1.0, 0.5], {}, r"'given' has fractions: set feature-given-values .* or feature-given-scale"),
        ([1, -1], {}, "feature 'given' is negative: set feature-given-values"),
        ([1.0, -1.0], {}, "feature 'given' is negative: set feature-given-values"),
        *((column, options, "'given'") for column in ([1, None], ["few", "many"]) for options in ({}, BINS)),
        *(
            (column, {"blocks": 2}, r"feature 'given' returned .* values for 2 blocks")
            for column in ([], [1], [1, 2, 3], [[1, 2], [3, 4]])
        ),
    ],
)
def test_wrong_values_are_refused_by_name(column: list[object], options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        coded(column, **options)


def test_codes_are_shown_as_their_values(tmp_path: Path) -> None:
    config = config_from(
        tmp_path,
        "crf-features: words position container.p",
        "feature-words-values: 0 2 10",
        "feature-position-scale: 4",
    )
    document = read_document("<p>one two three</p><div>one</div><p>one two</p>", config)
    encoders = make_encoders(config)
    assert list(show_features(encode(Columns(document, config), encoders), encoders)) == [
        {"words": "2", "position": "0", "container.p": "1"},
        {"words": "0", "position": "2", "container.p": "0"},
        {"words": "2", "position": "3", "container.p": "1"},
    ]


# A user's own features.

OWN = '''
import numpy as np
from victorpy.features import block_feature, feature

@feature("test-long")
def long(page):
    """1 for blocks of more than three letters."""
    return page.letters > 3

@feature("test-mentions.*")
def mentions(page, what):
    """How often the text has the given word."""
    return np.array([text.count(what) for text in page.texts])

@block_feature("test-exclaims")
def exclaims(block):
    """How many exclamation marks
    the block has."""
    return block.text.count("!")
'''


def own_config(directory: Path, module: str, *lines: str) -> Config:
    (directory / "own.py").write_text(module, encoding="utf-8")
    return config_from(directory, "feature-modules: own.py", *lines)


def shown(html: str, config: Config) -> list[list[str]]:
    document: Document = read_document(html, config)
    encoders = make_encoders(config)
    return [list(block.values()) for block in show_features(encode(Columns(document, config), encoders), encoders)]


def test_own_features_are_used_and_described_by_their_docstrings(tmp_path: Path) -> None:
    config = own_config(tmp_path, OWN, "crf-features: test-long test-mentions.tea test-exclaims container.p")
    assert shown("<p>tea!</p><div>tea for two!!</div>", config) == [["0", "1", "1", "1"], ["1", "1", "2", "0"]]
    assert FEATURES.get("test-exclaims").description == "How many exclamation marks the block has."
    assert FEATURES.get("test-exclaims").family == FEATURES.get("test-long").family == "own"
    (tmp_path / "copy").mkdir()  # the same file is imported only once
    lines = "crf-features: test-exclaims", "feature-test-exclaims-values: 0 2"
    assert shown("<p>a!</p><p>b!!!</p>", own_config(tmp_path / "copy", OWN, *lines)) == [["0"], ["2"]]


def test_file_in_the_current_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "here.py").write_text(OWN.replace("test-", "test-here-"))
    config = config_from(tmp_path / "configs", "feature-modules: here.py", "crf-features: test-here-long")
    monkeypatch.chdir(tmp_path)
    assert shown("<p>tea</p>", config) == [["0"]]
    names = ("test-here-long", "test-here-mentions.*", "test-here-exclaims")
    assert {FEATURES.get(name).family for name in names} == {"here"}


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("def broken(:\n", r"own\.py cannot be imported: SyntaxError: .*\(own\.py, line 1\)"),
        ("import no_such_module_of_tea\n", "cannot be imported: ModuleNotFoundError: .*'no_such_module_of_tea'"),
        ("1 / 0\n", "cannot be imported: ZeroDivisionError"),
        (
            "from victorpy.features import feature\n@feature('position')\ndef mine(page):\n    return page.words\n",
            "feature 'position' is registered twice",
        ),
    ],
    ids=["syntax-error", "missing-import", "exception", "name-taken"],
)
def test_a_module_that_cannot_be_imported_is_a_config_error(tmp_path: Path, module: str, message: str) -> None:
    config, before = own_config(tmp_path, module, "crf-features: position"), FEATURES.get("position")
    with pytest.raises(ConfigError, match=message) as caught:
        make_encoders(config)
    assert str(caught.value).startswith(f"{tmp_path / 'my.conf'}:1: feature-modules: ")
    assert FEATURES.get("position") is before


def test_repaired_file_can_be_imported(tmp_path: Path) -> None:
    module = OWN.replace("test-", "test-mended-")
    with pytest.raises(ConfigError, match="ZeroDivisionError"):
        make_encoders(own_config(tmp_path, module + "\n1 / 0\n", "crf-features: position"))
    config = own_config(tmp_path, module, "crf-features: test-mended-long")
    assert shown("<p>teapot</p>", config) == [["1"]]


@pytest.mark.parametrize(
    ("decorator", "value", "message"),
    [
        ("block_feature", "float('nan')", "feature 'test-wrong-1' is nan at block 0: 'tea'"),
        ("feature", "of.words / of.sentences", "feature 'test-wrong-2' is inf at block 0"),
    ],
)
def test_wrong_values_of_own_features_are_refused_by_name(
    tmp_path: Path, decorator: str, value: str, message: str
) -> None:
    name = message.split("'")[1]
    module = f"from victorpy.features import {decorator}\n@{decorator}('{name}')\ndef f(of):\n    return {value}\n"
    config = own_config(tmp_path, module, f"crf-features: {name}", f"feature-{name}-values: 0 1")
    with pytest.raises(DataError, match=message):
        shown("<p>tea</p>", config)


# Counting with arrays gives the same results as counting block by block.

# Characters of every class that counts: letters of several scripts, marks, digits, punctuation, ends, symbols, spaces.
CHARACTERS = "abAB éßŁж अि語茶あアーชำ가 012٣½ .!?…。！ ,;:()“”'-– +$€©😀 \u00a0\t\n"
TAGS = ["a", "a", "b", "span", "img", "p", "div", "li", "pre", "br", "td"]

phrases = st.sampled_from(["read more", "Tea. Tea", "3.14"])
texts = st.text(st.sampled_from(CHARACTERS), min_size=1, max_size=8) | phrases
nodes = st.recursive(
    texts, lambda inner: st.tuples(st.sampled_from(TAGS), st.lists(inner, min_size=1, max_size=3)), max_leaves=12
)
CONFIGS = {name: load_config(name) for name in ("cleaneval", "crf")}  # one for each way to cut
repeatable = settings(max_examples=200)


def feed(splitter: Splitter, children: list[object]) -> None:
    for child in children:
        if isinstance(child, str):
            splitter.text(child)
            continue
        tag, inside = child
        splitter.start(tag, {"alt": "an image"} if tag == "img" else {})
        feed(splitter, [] if tag in VOID else inside)
        splitter.end()


def columns_of(children: list[object], name: str) -> Columns:
    config = CONFIGS[name]
    splitter = Splitter(config.cuts)
    feed(splitter, [("html", [("body", children)])])
    return Columns(splitter.document(), config)


pages = st.builds(columns_of, st.lists(nodes, max_size=4), st.sampled_from(sorted(CONFIGS)))


def is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] in "LM"


def is_digit(char: str) -> bool:
    return unicodedata.category(char)[0] == "N"


def is_unspaced(char: str) -> bool:
    """Whether a character in CHARACTERS belongs to a script without spaces."""
    return char in "語茶あアーชำ"


def word_weights(text: str) -> list[float]:
    """Return the number of words that start with each character, 0.5 for scripts without spaces."""
    weights, before = [], False
    for char in text:
        wordly = (is_letter(char) or is_digit(char)) and not is_unspaced(char)
        weights.append(0.5 if is_unspaced(char) else float(wordly and not before))
        before = wordly
    return weights


def tokens_of(text: str, kind: str) -> float:
    count = 0
    for token in text.split():
        letters, digits = any(map(is_letter, token)), any(map(is_digit, token))
        if kind == {(1, 0): "alpha", (0, 1): "num", (1, 1): "mix", (0, 0): "other"}[letters, digits]:
            count += max(sum(map(is_unspaced, token)) // 2, 1)
    return count


def sentences_of(text: str) -> int:
    """Count runs of end marks without a letter or digit after them. An ideographic full stop always counts."""
    count = 0
    for run in re.finditer("[.!?…。！]+", text):
        behind = text[run.end() : run.end() + 1]
        goes_on = bool(behind) and (is_letter(behind) or is_digit(behind))
        count += not goes_on or run[0][-1] in "。！"
    return count


def in_link(columns: Columns, element: int) -> bool:
    elements = columns.document.elements
    while element >= 0 and elements.tag[element] != "a":
        element = elements.parent[element]
    return element >= 0


def count(is_counted: Callable[[str], bool]) -> Callable[[str], int]:
    return lambda text: sum(map(is_counted, text))


COUNTS: dict[str, Callable[[str], float]] = {
    "lengths": len,
    "letters": count(is_letter),
    "digits": count(is_digit),
    "white": count(str.isspace),
    "capitals": count(str.isupper),
    "punctuation": count(lambda char: unicodedata.category(char)[0] == "P"),
    "words": lambda text: sum(word_weights(text)),
    "sentences": sentences_of,
}


@pytest.mark.slow
@given(pages)
@repeatable
def test_counts_are_those_of_every_block(columns: Columns) -> None:
    for name, counted in COUNTS.items():
        assert getattr(columns, name).tolist() == [counted(text) for text in columns.texts], name
    for kind in ("alpha", "num", "mix", "other"):
        assert columns.tokens[kind].tolist() == [tokens_of(text, kind) for text in columns.texts]


@pytest.mark.slow
@given(pages)
@repeatable
def test_duplicates_are_blocks_with_the_same_letters(columns: Columns) -> None:
    contents = ["".join(filter(is_letter, text)) for text in columns.texts]
    counts = Counter(content for content in contents if content)
    assert columns.duplicates.tolist() == [counts[content] for content in contents]
    first = [counts[content] > 1 and contents.index(content) == at for at, content in enumerate(contents)]
    assert columns.first_duplicate.tolist() == first


@pytest.mark.slow
@given(pages)
@repeatable
def test_words_and_characters_in_links_are_those_of_pieces_in_links(columns: Columns) -> None:
    words, characters = [], []
    for block in columns.blocks:
        stops = [*(piece.start for piece in block.pieces[1:]), len(block.text)]
        spans = [
            (piece.start, stop)
            for piece, stop in zip(block.pieces, stops, strict=True)
            if in_link(columns, piece.element)
        ]
        weights = word_weights(block.text)
        words.append(sum(sum(weights[start:stop]) for start, stop in spans))
        characters.append(sum(stop - start for start, stop in spans))
    assert columns.link_words.tolist() == words
    assert columns.link_characters.tolist() == characters


@pytest.mark.slow
@given(pages)
@repeatable
def test_element_holds_the_blocks_that_are_wholly_in_it(columns: Columns) -> None:
    stops = columns.document.elements.stop
    for element, (first, stop) in enumerate(zip(*columns.block_range, strict=True)):
        held = [block.index for block in columns.blocks if element <= block.element < stops[element]]
        assert list(range(first, stop)) == held


@pytest.mark.parametrize(
    ("html", "tag", "held"),
    [
        ("<p>one <b>two<br>three</b> four</p>", "b", []),
        ("<p>one <b>two<br>three<br>four</b> five</p>", "b", [1]),
        ("<p><b>one</b> two</p>", "b", []),
        ("<p>one <b>two</b></p>", "b", []),
        ("<p><b>one</b></p><p>two</p>", "b", [0]),
        ("<p><b>one<br>two</b></p>", "b", [0, 1]),
        ("<p>one <b></b> two</p>", "b", []),
        ("<p>zero</p><p>one <b>two</b> three</p>", "p", [0]),
    ],
)
def test_inline_element_across_blocks_holds_only_whole_ones(html: str, tag: str, held: list[int]) -> None:
    columns = page(html, load_config("crf"))
    first, stop = columns.block_range
    element = columns.elements_with([tag])[0]
    assert list(range(first[element], stop[element])) == held
    assert columns.inside(np.array([element])).tolist() == [int(at in held) for at in range(columns.count)]


@pytest.mark.slow
@given(pages, st.sampled_from(["a", "b", "p", "div"]))
@repeatable
def test_container_is_a_tag_around_the_block(columns: Columns, tag: str) -> None:
    found = find_feature(f"container.{tag}")
    assert found is not None
    assert found.column(columns, f"container.{tag}").tolist() == [tag in block.containers for block in columns.blocks]


@pytest.mark.slow
@given(pages, st.integers(1, 12))
@repeatable
def test_sums_over_ancestors_are_sums_over_the_blocks_in_them(columns: Columns, levels: int) -> None:
    elements = columns.document.elements
    expected = []
    for block in columns.blocks:
        element = block.element
        for _ in range(levels):
            element = max(elements.parent[element], 0)
        inside = [other.index for other in columns.blocks if element <= other.element < elements.stop[element]]
        expected.append(sum(columns.words[inside]))
    assert columns.element_sum(columns.words, columns.ancestor(levels)).tolist() == expected


@pytest.mark.parametrize(
    ("style", "size"),
    [
        *(("font-size:12px", 0.75), ("font-size:6pt", 0.5), ("font-size:2rem", 2), ("font-size:1.5vw", 1.5)),
        *(("font-size:2em", 2), ("font-size:50%", 0.5), ("font-size:1ex", 0.5), ("font-size:3cm", 1)),
        *(("font-size:xx-small", 0.6), ("font-size:x-small", 0.75), ("font-size:small", 0.89), ("font-size:medium", 1)),
        *(("font-size:large", 1.2), ("font-size:x-large", 1.5), ("font-size:xx-large", 2), ("font-size:larger", 1)),
        *(("font-size:99em", 10), ("font-size:0em", 0.1), ("font-size:2em; font-size:3em", 3), ("color:red", 1)),
    ],
)
def test_font_size_of_a_block(style: str, size: float, default_config: Config) -> None:
    """Covers _SIZE, _UNITS, _RELATIVE_UNITS and _WORDS."""
    columns = page(f"<p>{'tea ' * 30}</p><p style='{style}'>cup", default_config)
    feature = find_feature("style.font-size")
    assert feature is not None
    assert feature.column(columns, "style.font-size").tolist() == [1, pytest.approx(size)]


@pytest.mark.parametrize(("tag", "size"), [("h1", 2), ("h2", 1.5), ("h3", 1.17), ("h4", 1), ("h5", 0.83), ("h6", 0.67)])
def test_font_size_of_a_heading(tag: str, size: float, default_config: Config) -> None:
    """Covers _TAGS."""
    columns = page(f"<p>{'tea ' * 30}</p><{tag}>cup", default_config)
    feature = find_feature("style.font-size")
    assert feature is not None
    assert feature.column(columns, "style.font-size").tolist() == [1, pytest.approx(size)]


@pytest.mark.parametrize(
    ("kind", "styles"),
    [
        ("hidden", ["display:none", "visibility:hidden", "visibility: collapse"]),
        ("floated", ["float:left", "FLOAT: right"]),
        ("fixed", ["position:fixed", "position: sticky"]),
        ("absolute", ["position:absolute"]),
    ],
)
def test_styles_around_a_block(kind: str, styles: list[str], default_config: Config) -> None:
    """Covers _VALUES."""
    feature = find_feature(f"style.{kind}")
    assert feature is not None
    for style in styles:
        columns = page(
            f"<div style='{style}'><p>tea<p style='{style}; top:0'>cup</div><p style='float:none'>pot", default_config
        )
        assert feature.column(columns, f"style.{kind}").tolist() == [1, 2, 0]


WITHIN = {"p": ["a"], "h3": ["Tea"], "class-header": ["Tea"], "li": ["hot"], "nav": []}


@pytest.mark.parametrize("tags", [0, 59, 60, 61, 62, 70])  # more than 64 tags do not fit into the bits of an integer
def test_blocks_within_tags_however_many_tags_a_page_has(
    tags: int, default_config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = "".join(f"<x{number}>t</x{number}>" for number in range(tags))
    html = f"<p>a</p>{others}<h3>Tea</h3><ul><li>hot</ul>"
    columns = page(html, default_config)
    found = {name: [columns.texts[block] for block in np.flatnonzero(columns.within(name))] for name in WITHIN}
    assert found == WITHIN
    assert columns.within_any("h3", "li").nonzero()[0].tolist() == [columns.count - 2, columns.count - 1]
    config = load_config("cleaneval")
    in_core = encode(page(html, config), make_encoders(config))
    without_core(monkeypatch)
    assert encode(page(html, config), make_encoders(config)).tolist() == in_core.tolist()


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"kinds": ("trees",), "evidence": ("trees",)}, ""),
        ({"kinds": ("trees",), "evidence": ()}, "kinds: trees for kinds need trees for content"),
        ({"crf-features": ("evidence",), "evidence": ("trees",)}, ""),
        ({"crf-features": ("evidence",), "evidence": ()}, "crf-features: the feature 'evidence' needs trees"),
        ({"crf-features": ("words", "words"), "crf-features-off": ("words",)}, ""),
        (
            {"crf-features": ("words",), "crf-features-off": ("word",)},
            "crf-features-off: 'word' is not in crf-features",
        ),
        ({"crf-features": ("wrds",)}, "crf-features: no feature 'wrds' (did you mean 'words'?)"),
        ({"feature-wrds-values": ("1",)}, "feature-wrds-values: there is no feature 'wrds' (did you mean 'words'?)"),
        ({"feature-wrds-scale": ("1",)}, "feature-wrds-scale: there is no feature 'wrds' (did you mean 'words'?)"),
        ({"feature-words-scale": ("1",)}, ""),
    ],
)
def test_features_of_a_config_fit_together(variables, message):
    config = load_config("blocks")
    config = replace(config, values={**config.values, **variables})
    if not message:
        check_features(config)
        return
    for check in (check_features, make_encoders):
        with pytest.raises(ConfigError, match=re.escape(message)):
            check(config)
