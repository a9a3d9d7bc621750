"""Names with parameters, registries, shipped files, plain data, scores and text for terminals."""

import io
import sys
import warnings
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np
import pytest

from victorpy.base import resources
from victorpy.base.arrays import checked, open_arrays, read_array
from victorpy.base.parameters import AUTO, check_count, check_range, parse_settings, split_name, split_names
from victorpy.base.plain import Inside, from_json, to_json
from victorpy.base.registry import Registry
from victorpy.base.score import Score
from victorpy.base.terminal import SafeStream
from victorpy.base.textformat import Line, LineReader, expand, strip_comment, tokens
from victorpy.base.unicode import count_words, xml_text
from victorpy.base.words import (
    aligned_words,
    icu_words,
    is_gibberish,
    paired_words,
    simple_words,
    words_and_signs,
)
from victorpy.errors import ConfigError, DataError, VictorError, plural, suggest, visible

# Names with parameters.


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("crf", [("crf", [])]),
        ("a, b ,c", [("a", []), ("b", []), ("c", [])]),
        ("sst( t=0.4 ,gamma=0.9),b()", [("sst", ["t=0.4", "gamma=0.9"]), ("b", [])]),
        ("a (x=1,,y=2)", [("a", ["x=1", "y=2"])]),
    ],
)
def test_names_are_split_at_commas_outside_parentheses(names, expected):
    assert split_names(names) == expected


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("method", "names separated by commas, with parameters as in 'sst(t=0.4)'"),
        ("format", "a name, with parameters as in 'docview(keywords=5)'"),
    ],
)
@pytest.mark.parametrize("name", ["", "(a)", "a(b", "a)", "a(b)c", "a((b))"])
def test_names_that_cannot_be_split_are_refused(kind, advice, name):
    with pytest.raises(ConfigError) as caught:
        split_name(name, kind)
    assert str(caught.value) == f"{name!r} is not a {kind}; give {advice}"


def test_names_are_names_of_methods_unless_they_are_of_formats():
    for split, name in ((split_names, "a(b"), (split_name, "a(b")):
        with pytest.raises(ConfigError, match="is not a method; give names separated"):
            split(name)


def make(flag: bool = False, share: float = 0.5, count: int = 3, name: str = "tea", t: float | str = AUTO, free=None):
    """Take parameters of all types."""


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        *((f"flag={word}", True) for word in ("true", "YES", "True")),
        *((f"flag={word}", False) for word in ("false", "no", "No")),
        *(("share=1", 1.0), ("count=7", 7), ("name=x=y", "x=y"), ("t=auto", "auto"), ("t=0.4", 0.4), ("free=2", 2.0)),
    ],
)
def test_settings_have_the_types_of_defaults(setting, expected):
    ((name, value),) = parse_settings("m", make, [setting]).items()
    assert (name, value, type(value)) == (setting.partition("=")[0], expected, type(expected))


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("flag=1", "m: flag=1: expected yes or no"),
        ("share=x", "m: share=x: expected a value like 0.5"),
        ("count=1.5", "m: count=1.5: expected a value like 3"),
        ("t=x", "m: t=x: expected auto or a number"),
        ("shar=1", "m: 'shar=1' is not a parameter (did you mean 'share'?); parameters: flag=False, share=0.5, "),
        ("share", "m: 'share' is not a parameter; use NAME=VALUE; parameters: flag=False"),
    ],
)
def test_wrong_settings_are_explained(setting, problem):
    with pytest.raises(ConfigError) as caught:
        parse_settings("m", make, [setting])
    assert str(caught.value).startswith(problem)


def test_function_without_parameters_takes_no_settings():
    assert parse_settings("m", lambda: None, []) == {}
    with pytest.raises(ConfigError, match="'a=1' is not a parameter; parameters: none"):
        parse_settings("m", lambda: None, ["a=1"])


def test_ranges_without_an_upper_end():
    check_range("m", 1, x=1, y=inf, z=1e300)
    for value in (0.99, -inf, True):
        with pytest.raises(ConfigError, match=f"m: x={value}: expected a number from 1 or more"):
            check_range("m", 1, x=value)
    with pytest.raises(ConfigError, match=r"m: x=3.5: expected a number from 1 to 2.5"):
        check_range("m", 1, 2.5, x=3.5)
    with pytest.raises(ConfigError, match="m: x=0: expected a whole number, 1 or more"):
        check_count("m", 1, y=1, x=0)


# Registries.


@pytest.fixture
def things(tmp_path, monkeypatch):
    """A registry with things in three modules; one of them builds its name."""
    home = tmp_path / "victorpy_test_home"
    home.mkdir()
    (home / "__init__.py").write_text(
        "from victorpy.base.registry import Registry\nTHINGS = Registry('thing', 'victorpy_test_home')\n"
    )
    (home / "tea.py").write_text('from victorpy_test_home import THINGS\nTHINGS.add("tea", 1)\n')
    (home / "cup.py").write_text('from victorpy_test_home import THINGS\nTHINGS.register("cup")(2)  # not "tea"\n')
    (home / "pot.py").write_text("from victorpy_test_home import THINGS\nTHINGS.add('po' + 't', 3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from victorpy_test_home import THINGS

    yield THINGS
    for name in [name for name in sys.modules if name.startswith("victorpy_test_home")]:
        del sys.modules[name]


def imported():
    return sorted(name.partition(".")[2] for name in sys.modules if name.startswith("victorpy_test_home."))


def test_a_name_imports_only_the_module_that_registers_it(things):
    assert things.get("tea") == 1
    assert imported() == ["tea"]
    assert things.get("cup") == 2
    assert imported() == ["cup", "tea"]


def test_a_name_that_is_built_imports_all_modules(things):
    assert "pot" in things
    assert imported() == ["cup", "pot", "tea"]
    assert list(things) == ["cup", "pot", "tea"]


def test_a_name_that_is_only_mentioned_is_found(things):
    things._homes = ("victorpy_test_home.cup",)
    assert "tea" not in things
    assert things.get("cup") == 2


def test_listing_imports_everything(things):
    assert list(things) == ["cup", "pot", "tea"]
    assert imported() == ["cup", "pot", "tea"]


def test_wrong_and_taken_names(things):
    with pytest.raises(VictorError, match=r"no thing 'teas' \(did you mean 'tea'\?\); choose from cup, pot, tea$"):
        things.get("teas")
    with pytest.raises(VictorError, match="thing 'tea' is registered twice"):
        things.add("tea", 4)
    things.remove("tea")
    assert "tea" not in things
    things.add("tea", 4)
    assert things.get("tea") == 4


def test_registry_without_homes():
    things = Registry("thing")
    things.add("b", 1)
    assert things.register("a")(2) == 2
    assert ("a" in things, "c" in things, list(things)) == (True, False, ["a", "b"])


# Shipped files.


def test_shipped_files_have_priority_and_local_ones_need_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = resources.shipped("configs") / "blocks.conf"
    assert own.is_file()
    assert resources.find("blocks", "configs", ".conf") == own
    assert resources.find("nothing", "configs", ".conf") is None
    assert resources.find("./blocks", "configs", ".conf") is None
    beside = tmp_path / "there"
    beside.mkdir()
    (beside / "blocks.conf").touch()
    (beside / "tea").touch()
    (beside / "cup.conf").touch()
    (tmp_path / "tea").touch()
    (tmp_path / "pot").touch()
    with pytest.warns(
        UserWarning, match="'blocks' is the shipped file .*; write './blocks' to use .*there/blocks.conf"
    ):
        assert resources.find("blocks", "configs", ".conf", beside=beside) == own
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resources.find("./blocks", "configs", ".conf", beside=beside) == beside / "./blocks.conf"
        assert resources.find("tea", "configs", ".conf", beside=beside) == beside / "tea"
        assert resources.find("cup", "configs", ".conf", beside=beside) == beside / "cup.conf"
        assert resources.find("pot", "configs", ".conf", beside=beside) == Path("pot")
        assert resources.find("cup", "configs", ".conf") is None
        assert resources.find("blocks", "configs", ".conf", beside=own.parent) == own


def test_names_of_shipped_files_are_sorted():
    names = resources.names("configs", ".conf")
    assert {"blocks", "cleaneval", "default"} <= {*names}
    assert names == sorted(names)
    assert not any(name.endswith(".conf") for name in names)


# Plain data.


@dataclass
class Place:
    """A place inside a directory."""

    file: Inside
    count: int = 0


@pytest.mark.parametrize("name", ["a", "a/b", "a/.b", "..a/b..", "a..b", "", "C"])
def test_names_inside_a_directory(name):
    place = Place(name, 2)
    assert from_json(to_json(place), Place, "x") == place


@pytest.mark.parametrize("name", ["..", "../a", "a/..", "a/../b", "/a", "\\a", "C:a", "a\\..\\b", "..\\a"])
def test_names_that_lead_outside_of_a_directory(name):
    with pytest.raises(DataError, match=r"x\.json: damaged: Expected `str` matching"):
        from_json(to_json({"file": name}), Place, "x.json")


@pytest.mark.parametrize("content", [b"{", b"[" * 100_000, b"\xff", b"[1]", b'{"count": 1}'])
def test_damaged_data(content):
    with pytest.raises(DataError, match="x: damaged: "):
        from_json(content, Place, "x")


def test_paths_are_written_as_text():
    assert to_json((Path("a/b"), 1, {"x": None})) == b'["a/b", 1, {"x": null}]'


# Scores.


@pytest.mark.parametrize(
    ("counts", "shares"),
    [
        ((0, 0, 0), (1, 1, 1)),
        ((0, 2, 0), (0, 0, 0)),
        ((0, 0, 2), (0, 0, 0)),
        ((1, 2, 4), (0.5, 0.25, 1 / 3)),
        ((3, 3, 3), (1, 1, 1)),
    ],
)
def test_precision_recall_and_f1(counts, shares):
    score = Score(*counts)
    assert tuple(score) == pytest.approx(shares)
    assert score.shares() == dict(zip(("precision", "recall", "f1"), score, strict=True))
    assert Score.pool([score, Score(1, 2, 3)]) == Score(counts[0] + 1, counts[1] + 2, counts[2] + 3)


# Text for terminals.


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\r50 %\r", "\r50 %\r"),
        ("\r\r", "\r\r"),
        ("\r", "\r"),
        ("", ""),
        ("a\rb", "a⟨U+000D⟩b"),
        ("\ra\x07\r\r", "\ra⟨U+0007⟩\r\r"),
        ("a\n\tb\n", "a\n\tb\n"),
        ("a", "a"),
    ],
)
def test_carriage_returns_are_kept_at_the_ends(text, shown):
    written = io.StringIO(newline="")
    stream = SafeStream(written)
    assert stream.write(text) == len(text)
    assert written.getvalue() == shown
    assert not stream.isatty()


@pytest.mark.parametrize(
    ("char", "is_shown"),
    [
        *((char, False) for char in "\x1f\x7f\x80\x9f\u061c\u200e\u200f\u2028\u202e\u2066\u2069\ud800\udfff\n\t"),
        *((char, True) for char in "\x20\xa0\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u206a\ue000"),
    ],
)
def test_control_characters_and_their_neighbours(char, is_shown):
    assert visible(f"ä{char}") == (f"ä{char}" if is_shown else f"ä⟨U+{ord(char):04X}⟩")
    assert visible(f"a{char}") == visible(f"ä{char}").replace("ä", "a")
    assert visible(char, keep_lines=True) == (char if is_shown or char in "\n\t" else f"⟨U+{ord(char):04X}⟩")


def test_counts_with_nouns_and_suggestions():
    assert [plural(count, "page") for count in (0, 1, 2, 1000)] == ["0 pages", "1 page", "2 pages", "1,000 pages"]
    assert suggest("abcdefghij", ["abcdefxxxx", "abcdefgxxx"]) == " (did you mean 'abcdefgxxx'?)"
    assert suggest("abcdefghij", ["abcdefxxxx"]) == " (did you mean 'abcdefxxxx'?)"  # exactly three fifths are equal
    assert suggest("abcdefghij", ["abcdexxxxx"]) == ""
    assert suggest(5, ["5"]) == " (did you mean '5'?)"


# Syntax of configs.


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("# x", ""),
        ("a # b", "a"),
        ("a# b", "a# b"),
        ("a \t#b", "a"),
        ("'#' # b", "'#'"),
        ("a '# \"' # b", "a '# \"'"),
        ('"#"  ', '"#"'),
        ("a  ", "a"),
    ],
)
def test_comments(line, left):
    assert strip_comment(line) == left


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", [("a", False), ("b", False)]),
        ("'a b' \"c'd\"", [("a b", True), ("c'd", True)]),
        ("''", [("", True)]),
        ("{a, b}c", [("{a, b}c", False)]),
        ("a{", [("a{", False)]),
        ("a'b'", [("a", False), ("b", True)]),
        ("", []),
    ],
)
def test_values_of_a_line(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize("text", ["'a", 'a "', "a'b", "'a' \"b'"])
def test_quotes_are_closed(text):
    with pytest.raises(ValueError, match="a quote is not closed in"):
        tokens(f" {text} ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a{b,c}{d,e}", ["abd", "abe", "acd", "ace"]),
        ("{a,a}", ["a"]),
        ("{ a , b }", ["a", "b"]),
        ("{-1..1}", ["-1", "0", "1"]),
        ("{ 1..2 }", ["1", "2"]),
        ("{1..-1}", ["1", "0", "-1"]),
        ("{a..b}", ["a..b"]),
        ("{}", [""]),
        ("{a{b,c}}", ["ab", "ac"]),
        ("a}{", ["a}{"]),
        ("{1234567890..1234567891}", ["1234567890..1234567891"]),
    ],
)
def test_expansion_of_braces(text, expected):
    assert [*dict.fromkeys(expand(text))] == expected


@pytest.mark.parametrize(
    ("length", "braces", "fits"),
    [(49_997, "{a,b}", True), (49_998, "{a,b}", False), (49_997, "{a,bc}", True), (49_997, "{a,bcd}", False)],
)
def test_expansions_have_up_to_100_000_characters(length, braces, fits):
    text = "x" * length + braces
    if fits:
        assert [len(value) for value in expand(text)] == [length + 1, length + len(braces) - 4]
    else:
        with pytest.raises(ValueError, match="braces expand to more than 10,000 values or to long ones"):
            expand(text)


def lines_of(path):
    return list(LineReader("configs", ".conf", ConfigError, may_include=True).read(path))


def test_lines_of_a_config_and_of_the_files_that_it_includes(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.conf").write_bytes(b"\xef\xbb\xbfx: 1  # one\r\ninclude deep/b\ninclude deep/b\ny: 2")
    (tmp_path / "deep" / "b.conf").write_text("z: 3\n")
    first, second = tmp_path / "a.conf", tmp_path / "deep" / "b.conf"
    assert lines_of(first) == [
        Line(f"{first}:1", "x: 1", "x: 1  # one", False),
        Line(f"{second}:1", "z: 3", "z: 3", False),
        Line(f"{second}:2", "", "", False),
        Line(f"{first}:4", "y: 2", "y: 2", False),
    ]
    (tmp_path / "deep" / "c.conf").write_text("include ../a.conf\n")
    assert [line.foreign for line in lines_of(tmp_path / "deep" / "c.conf")] == [True, False, False, True, False]


@pytest.mark.parametrize(
    ("included", "may_include", "problem"),
    [
        ("include blocks", False, "a file of a model cannot include other files"),
        ("include blocksx", True, "no config 'blocksx' to include (did you mean 'blocks'?)"),
        ("include a.conf", True, "'a.conf' includes itself"),
        ("include b.conf", True, "'b.conf' includes itself"),
    ],
)
def test_lines_that_cannot_be_included(tmp_path, included, may_include, problem):
    (tmp_path / "a.conf").write_text(f"\n{included}")
    (tmp_path / "b.conf").write_text("include b.conf")
    file, line = ("b", 1) if "b.conf" in included else ("a", 2)
    with pytest.raises(ConfigError) as caught:
        list(LineReader("configs", ".conf", ConfigError, may_include=may_include).read(tmp_path / "a.conf"))
    assert str(caught.value) == f"{tmp_path / file}.conf:{line}: {problem}"


@pytest.mark.parametrize(("size", "fits"), [(1_000_000, True), (1_000_001, False)])
def test_configs_have_up_to_a_megabyte_with_included_files(tmp_path, size, fits):
    (tmp_path / "b.conf").write_text("#" * 500_000)
    (tmp_path / "a.conf").write_text("include b".ljust(size - 500_000, "\n"))
    if fits:
        assert lines_of(tmp_path / "a.conf")
    else:
        with pytest.raises(ConfigError, match=r"a.conf:1: cannot be read: .*larger than"):
            lines_of(tmp_path / "a.conf")


def test_line_that_is_not_utf8_is_named(tmp_path):
    (tmp_path / "a.conf").write_bytes(b"x: 1\n\ny: \xff\n")
    with pytest.raises(ConfigError, match=r"a\.conf:3: cannot be read: the file is not UTF-8"):
        lines_of(tmp_path / "a.conf")


# Words.


@pytest.mark.parametrize(
    ("text", "simple", "aligned", "paired", "signs"),
    [
        ("Tea's 1.5!", "tea s 1 5", "tea s 1 5", "tea s 1.5", "tea ' s 1 . 5 !"),
        ("1,000.50 x,5", "1 000 50 x 5", "1 000 50 x 5", "1,000.50 x,5", "1 , 000 . 50 x , 5"),
        ("茶", "茶", "茶", "茶", "茶"),
        ("茶饮", "茶饮", "茶 饮", "茶饮", "茶饮"),
        ("茶饮料a", "茶饮料a", "茶 饮 料 a", "茶饮 饮料 a", "茶饮料a"),
        ("Straße »»x", "straße x", "straße x", "straße x", "strasse »» x"),
    ],
)
def test_words(text, simple, aligned, paired, signs):
    assert simple_words(text) == simple.split()
    assert aligned_words(text) == aligned.split()
    assert paired_words(text) == paired.split()
    assert words_and_signs(text) == signs.split()


@pytest.mark.parametrize("char", "กໝ\u1000႙ក៩ぁヿ㐀鿿豈龎𠀀")
def test_letters_of_scripts_without_spaces_are_words(char):
    assert aligned_words(f"{char}{char}a") == [char, char, "a"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("茶", 0.5), ("a1 ½", 2), ("don't", 2), ("", 0), (" a ", 1), ("茶a茶", 2), ("a" * 99, 1), ("-", 0)],
)
def test_number_of_words(text, words):
    assert count_words([text]) == [words]
    assert count_words(["x y", text, "z"]) == [2, words, 1]


def test_foreign_words_in_japanese_stay_whole():
    pytest.importorskip("icu4py")
    assert icu_words("コンピューターサイエンスを学ぶ、データベースシステム サーバー") == [
        *("コンピューターサイエンス", "を", "学ぶ", "データベースシステム", "サーバー"),
    ]


def test_no_texts_have_no_words():
    assert count_words([]) == []


def test_first_1500_characters_decide_on_gibberish():
    assert is_gibberish("bcdf " * 300 + "a" * 10_000)
    assert is_gibberish("a" + "b" * 1499 + "a" * 5000)
    start = "a" * 344 + "b" * 1155  # with one more vowel, 23 % of 1,500 letters
    assert is_gibberish(f"{start}b")
    assert not is_gibberish(f"{start}a")
    assert not is_gibberish(f"{start}abb")
    assert not is_gibberish("äöü" * 40)


@pytest.mark.parametrize("char", "\t\n\r \ud7ff\ue000\ufffd\U00010000\U0010ffff")
def test_characters_of_xml(char):
    assert xml_text(f"a{char}b") == f"a{char}b"


@pytest.mark.parametrize("char", "\x00\x08\x0b\x0c\x0e\x1f\ud800\udfff\ufffe\uffff")
def test_characters_that_xml_does_not_allow(char):
    assert xml_text(f"a{char}b") == "ab"


# Arrays.


@pytest.mark.parametrize("value", [1e6, -1e6])
def test_weights_are_at_most_a_million(value):
    assert checked(np.array([value]), np.float32, "weights").dtype == np.float32
    for wrong in (value * 1.001, np.nan, np.inf):
        with pytest.raises(ValueError, match=r"its weights are not all numbers from -1e.06 to 1e.06"):
            checked(np.array([wrong]), np.float32, "weights")


def test_arrays_have_the_kind_of_number_that_is_wanted():
    assert checked(np.array([[1, 2], [3, 4]], dtype=np.uint8).T, np.int64, "counts").flags.c_contiguous
    for array, dtype in ((np.array([1.0]), np.int32), (np.array([1]), np.float32), (np.array(["a"]), np.int8)):
        with pytest.raises(ValueError, match=f"its counts have the type {array.dtype}, not {np.dtype(dtype)}"):
            checked(array, dtype, "counts")


def test_arrays_of_both_versions_are_read_one_by_one(tmp_path):
    with (tmp_path / "a.npy").open("wb") as file:
        for version in ((1, 0), (2, 0), (1, 0)):
            np.lib.format.write_array(file, np.arange(3), version=version)
        np.lib.format.write_array(file, np.arange(3), version=(3, 0))
    arrays = open_arrays(tmp_path / "a.npy")
    assert [read_array(arrays, "numbers").tolist() for _ in range(3)] == [[0, 1, 2]] * 3
    with pytest.raises(ValueError, match="its numbers are not numpy arrays"):
        read_array(arrays, "numbers")
