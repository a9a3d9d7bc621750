"""The public names of victorpy: what they show, how they are documented and typed, and what importing them costs."""

import inspect
import json
import pickle
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from support.commands import run_process

import victorpy
from victorpy import Cleaner, CleanPage, Label, VictorError, load_config, read_document
from victorpy.outputs import OUTPUTS

ROOT = Path(victorpy.__file__).parents[1]
TEA = (
    "<title>Tea</title><ul><li><a href='/'>Home</a></ul><p>Tea is <b>hot</b>. It is made by pouring water over the "
    "cured leaves of the tea bush, and it is drunk all over the world.</p>"
)

WRONG_VALUES = {
    "clean(None)": (TypeError, "a page is bytes or text, not NoneType"),
    "clean(TEA, format=3)": (VictorError, "no output format '3'"),
    "clean(TEA, favor=3)": (VictorError, "not 3"),
    "clean(TEA, include=3)": (VictorError, "3"),
    "clean(TEA, exclude=[3])": (VictorError, "3"),
    "clean(TEA, headline=3)": (VictorError, "not 3"),
    "clean(TEA, timeout='3')": (ValueError, "timeout must be a number of seconds above 0, not '3'"),
    "clean(TEA, timeout=0)": (ValueError, "timeout must be a number of seconds above 0, not 0"),
    "Cleaner.load(3)": (VictorError, "no model '3'"),
}


@pytest.mark.parametrize("call", WRONG_VALUES)
def test_values_of_wrong_types_are_reported(call):
    kind, message = WRONG_VALUES[call]
    with pytest.raises(kind, match=message):
        eval(call, {"clean": victorpy.clean, "Cleaner": Cleaner, "TEA": TEA})


@pytest.mark.filterwarnings("default:the format")
def test_format_with_metadata_warns_if_the_page_has_none():
    page = Cleaner.load().document(TEA)
    with pytest.warns(UserWarning, match=r"markdown\(front_matter=true\) writes metadata, but the page has none"):
        page.to("markdown(front_matter=true)")


# Packages that cleaning a page needs no part of, each with a name that is in sys.modules if it was imported.
NOT_NEEDED = {
    *("asyncio", "concurrent", "multiprocessing", "sqlite3", "statistics", "importlib.metadata", "email"),
    *("catboost", "cchardet.cli", "dateparser", "matplotlib", "pandas", "pebble", "publicsuffixlist"),
    *("pyarrow", "pycrfsuite", "pyspark", "rapidfuzz", "scipy", "sklearn", "sklearn_crfsuite", "tqdm", "urwid"),
    *(
        "victorpy.annotation",
        "victorpy.description.metadata",
        "victorpy.description.record",
        "victorpy.labellers.one_page",
        "victorpy.research",
    ),
    *("victorpy.outputs.html", "victorpy.outputs.markdown"),
}


@pytest.fixture(scope="module")
def page():
    return Cleaner.load().document(TEA, url="https://tea.example/", features=True, metadata=True, layout=True)


# CleanPage


def test_a_page_has_its_text(page):
    assert page.text == victorpy.clean(TEA) == Cleaner.load().clean(TEA)
    assert page.text.startswith("Tea is hot. It is made")
    assert replace(page, labels=(Label.OTHER,) * len(page.labels)).text == ""


def test_a_page_has_no_more_than_was_asked_for():
    page = Cleaner.load().document(TEA)
    assert (page.features, page.metadata, page.layout, page.roles) == ((), None, None, ())


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_a_page_can_be_written_in_every_format(page, name):
    assert page.to(name) == Cleaner.load().clean(TEA, url="https://tea.example/", format=name)


def test_formats_take_parameters_and_mistakes_are_named(page):
    assert len(json.loads(page.to("docview(keywords=1)"))["keywords"]) == 1
    with pytest.raises(VictorError, match=r"no output format 'markdwon' \(did you mean 'markdown'"):
        page.to("markdwon")
    with pytest.raises(VictorError, match="the format 'text' has no parameters; remove width=3"):
        page.to("text(width=3)")


def test_pages_stay_plain_data(page):
    assert pickle.loads(pickle.dumps(page)) == page
    assert replace(page, confidence=None) != page


def test_representations_are_one_short_line(page):
    assert repr(page) == f"<CleanPage 'https://tea.example/', blocks=2, kept=1, confidence={page.confidence:.2f}>"
    assert repr(replace(page, confidence=None)) == "<CleanPage 'https://tea.example/', blocks=2, kept=1>"
    assert repr(page.document) == "<Document 'https://tea.example/', blocks=2>"
    assert repr(page.document.elements) == f"<Elements, count={len(page.document.elements)}>"
    assert repr(Cleaner.load("default")).startswith("<Cleaner 'default', labeller=")
    assert repr(Cleaner.load().favoring("recall")).startswith("<Cleaner 'default', ")
    assert repr(load_config("blocks")).startswith("<Config 'blocks', variables=")
    unnamed = CleanPage(read_document("<p>Tea" * 5_000, load_config("blocks")), (Label.OTHER,) * 5_000)
    assert repr(unnamed) == "<CleanPage '', blocks=5000, kept=0>"
    long = replace(unnamed.document, url="https://tea.example/" + "x" * 5_000)
    assert len(repr(long)) < 150
    assert all("\n" not in repr(thing) and len(repr(thing)) < 150 for thing in (unnamed, long, long.elements))


# A path or an address instead of a page


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("page.html", "path"),
        ("crawl/tea.example/index.HTM", "path"),
        ("C:\\pages\\tea.xhtml", "path"),
        (" notes.anno\n", "path"),
        ("https://tea.example", "address"),
        ("http://tea.example/a?b=c", "address"),
        ("file:///home/tea.txt", "address"),
        ("www.tea.example/green", "address"),
    ],
)
def test_path_or_address_instead_of_a_page_gives_a_warning(given, kind):
    with pytest.warns(
        UserWarning, match=f"looks like the {kind} of a page, but it is cleaned as text; .* first"
    ) as caught:
        text = victorpy.clean(given)
    assert text == Cleaner.load().clean(given)  # which does not warn
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "given",
    [
        *("", " ", "Tea", "and/or", "tea.", ".html", "http://", "www.", "3.5", "tea.example"),
        *(
            "<p>page.html",
            "see page.html",
            "https://tea.example is a site",
            "page.html\nhttps://tea.example",
            "x\0.htm l",
        ),
        *(b"page.html", b"https://tea.example", "x" * 5_000 + ".html"),
    ],
)
def test_pages_give_no_warning(given):
    assert victorpy.clean(given) == Cleaner.load().clean(given)  # a warning would be an error here


# Documentation and types


def public_things():
    """Yield public functions, classes and the public methods of these classes, by name."""
    for name in victorpy.__all__:
        thing = getattr(victorpy, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            yield name, thing
        if inspect.isclass(thing) and thing.__module__.startswith("victorpy"):
            for attribute, member in vars(thing).items():
                documented = inspect.isfunction(member) or isinstance(member, property | classmethod)
                if documented and not attribute.startswith("_"):
                    yield f"{name}.{attribute}", member


def test_public_names_are_documented_with_examples():
    things = dict(public_things())
    assert {"clean", "Cleaner.load", "CleanPage.to", "Document.paths", "Label.is_content"} <= things.keys()
    assert [name for name, thing in things.items() if not inspect.getdoc(thing)] == []
    examples = [
        name
        for name, thing in things.items()
        if "." not in name and not (inspect.isclass(thing) and issubclass(thing, Exception))
    ]
    examples += [name for name in things if name.startswith("Cleaner.")]
    assert [name for name in examples if ">>>" not in (inspect.getdoc(things[name]) or "")] == []
    assert "victor list formats" in (inspect.getdoc(victorpy.clean) or "")


def test_names_are_imported_when_they_are_used():
    assert set(victorpy.__all__) <= set(dir(victorpy))
    assert victorpy.features.FEATURES is not None  # modules too
    with pytest.raises(AttributeError, match="module 'victorpy' has no attribute 'claen'"):
        _ = victorpy.claen
    assert not hasattr(victorpy, "_private")
    assert {error.__name__ for error in (VictorError, *descendants(VictorError))} <= set(victorpy.__all__)


def descendants(kind):
    own = [child for child in kind.__subclasses__() if child.__module__ == "victorpy.errors"]
    return own + [error for child in own for error in descendants(child)]


def test_modules_without_their_extra_are_missing_attributes_with_a_hint():
    code = (
        "sys.modules.update(pyspark=None, py4j=None)\nimport victorpy\nassert not hasattr(victorpy, 'spark')\n"
        "try:\n    import victorpy.spark\nexcept ImportError as error:\n"
        "    print(isinstance(error, victorpy.VictorError), error)"
    )
    stdout, _ = imported_by(code)
    assert stdout.startswith("True cleaning with Spark needs PySpark: pip install ")


def test_types_are_shipped():
    assert (ROOT / "victorpy" / "py.typed").is_file()
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"]["packages"] == ["victorpy"]  # the whole folder
    assert not any("py.typed" in pattern or "victorpy" in pattern for pattern in targets["sdist"].get("exclude", ()))
    assert "only-include" not in targets["sdist"]


@pytest.mark.slow
def test_a_typed_script_passes_mypy(tmp_path):
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    script.write_text(
        "import victorpy\n"
        "cleaner = victorpy.Cleaner.load()\n"
        "page: victorpy.CleanPage = cleaner.document(b'<p>Tea', url='https://tea.example/')\n"
        "texts: list[str] = [page.text, page.to('markdown'), victorpy.clean('<p>Tea')]\n"
        "kept: list[victorpy.Block] = [b for b, l in zip(page.document.blocks, page.labels) if l.is_content]\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "script.py"]
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nmypy_path = {ROOT}\nfollow_imports = silent\n")
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "Success: no issues found in 1 source file")


# Start-up


def imported_by(code, *arguments):
    program = f"import sys\n{code}\nprint(*sys.modules, sep='\\n', file=sys.stderr)"
    ended = run_process("-c", program, *arguments, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout, set(ended.stderr.split())


def test_importing_the_package_imports_nothing_else():
    _, modules = imported_by("import victorpy")
    assert {name for name in modules if name.startswith("victorpy")} == {
        *("victorpy", "victorpy.base", "victorpy.base.version")
    }
    assert modules & {"numpy", "lxml", *NOT_NEEDED} == set()


def test_cleaning_a_page_imports_what_it_needs(tmp_path):
    stdout, modules = imported_by("import victorpy\nprint(victorpy.clean(sys.argv[1]), end='')", TEA)
    assert stdout == victorpy.clean(TEA)
    assert modules & NOT_NEEDED == set()
    assert not any(name.startswith(("victorpy.batch", "victorpy.commands")) for name in modules)


def test_the_command_imports_what_it_needs(tmp_path):
    (tmp_path / "tea.html").write_text(TEA)
    code = "from victorpy.commands import main\nassert main(['clean', sys.argv[1]]) == 0"
    stdout, modules = imported_by(code, tmp_path / "tea.html")
    assert stdout == victorpy.clean(TEA)
    assert modules & NOT_NEEDED == set()
    unused = ("victorpy.spark", "victorpy.batch.local.by_site", "victorpy.batch.site_model", "victorpy.sites.style")
    assert not {name for name in modules if name.startswith(unused)}
