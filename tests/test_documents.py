"""Documents, the limits of cleaning a page, and methods by name."""

import math
import warnings
from dataclasses import replace

import pytest

import victorpy
from victorpy import Cleaner, Label, load_config, read_document
from victorpy.cleaner import _default_cleaner, detect_language, lacks_text, needs_metadata
from victorpy.document import Block, Document, Elements, Labelling, Piece, Role
from victorpy.errors import ConfigError, ModelError, VictorError
from victorpy.methods import Method, find_method, load_method, load_methods, method_names
from victorpy.model.parts import Parts
from victorpy.outputs import CleanPage
from victorpy.outputs.base import find_output
from victorpy.peers import PEERS, cpu_seconds, is_peer, load_peer, show_peer, versions

BLOCKS = load_config("blocks")

# Documents.


def test_names_of_labels_and_roles_are_stored_in_files():
    assert [str(label) for label in Label] == ["header", "paragraph", "list", "continuation", "other"]
    assert [str(role) for role in Role] == [
        *("headline", "subtitle", "byline", "body", "caption", "table", "code", "facts", "note", "comment", "related"),
        *("tags", "navigation", "legal", "other"),
    ]


@pytest.mark.parametrize(
    ("spans", "text", "starts"),
    [
        (((0, 24),), "Log in. Tea is hot. Bye.", [0, 14, 18]),
        (((0, 7),), "Log in.", [0]),
        (((8, 19),), "Tea is hot.", [0, 6, 10]),
        (((0, 7), (8, 19)), "Log in. Tea is hot.", [0, 7, 14, 18]),
        (((0, 3), (3, 6)), "Log in", [0, 3]),  # nothing is between them
        (((15, 18), (18, 19)), "hot.", [0, 3]),
        (((0, 0), (5, 6)), "n", [0]),
    ],
)
def test_kept_stretches_of_a_block(spans, text, starts):
    block = read_document("<p>Log in. Tea is <b>hot</b>. Bye.", BLOCKS).blocks[0]
    kept = block.keeping(spans)
    assert (kept.text, [piece.start for piece in kept.pieces]) == (text, starts)
    assert "".join(part for _, part in kept.each_piece()) == text


def test_elements_around_elements():
    elements = read_document("<table><tr><td><table><tr><td>x</table><p>y</table>", BLOCKS).elements
    tables = [number for number, tag in enumerate(elements.tag) if tag == "table"]
    cells = [number for number, tag in enumerate(elements.tag) if tag == "td"]
    assert elements.innermost(["table"])[0] == -1
    assert [elements.innermost(["table"])[number] for number in (*tables, *cells)] == [*tables, *tables]
    assert elements.ancestor(cells[1], ["table", "td"]) == cells[1]
    assert elements.ancestor(cells[1], ["body"]) == 1
    assert elements.ancestor(0, ["html"]) == 0
    assert elements.ancestor(cells[1], ["p"]) == elements.ancestor(-1, ["p"]) == -1
    assert (len(elements), repr(elements)) == (len(elements.tag), f"<Elements, count={len(elements.tag)}>")


def plain(document):
    """The same page without arrays of the native core."""
    elements = document.elements
    fields = ("tag", "parent", "attributes", "stop", "first_block", "stop_block")
    made = Elements(*(getattr(elements, name) for name in fields))
    return Document(document.blocks, made, document.url, document.title, document.source, base=document.base)


PAGE = (
    "<title>T</title><base href=/b/><div class='Menu x' id=A>one</div><p class=menu>two<p class=Menü>three<img class=x>"
)


@pytest.mark.parametrize("of", [lambda document: document, plain])
def test_elements_are_found_by_attributes(of):
    document = of(read_document(PAGE, BLOCKS, "http://tea.example/a"))
    numbers = range(len(document.elements))
    tags = document.elements.tag
    assert [tags[number] for number in document.mentioning(numbers, "class", ["menu"])] == ["div", "p"]
    assert document.mentioning(numbers, "class", ["Menu"]) == []
    assert document.mentioning([], "class", ["menu"]) == []
    assert {value: [tags[n] for n in found] for value, found in document.elements_by("class").items()} == {
        **{"Menu x": ["div"], "menu": ["p"], "Menü": ["p"]},
        **({"x": ["img"]} if "class" in document.elements.attributes[-1] else {}),
    }
    assert document.has_tag("div")
    assert not document.has_tag("table")
    assert document.attributes_of(-1) == {}
    assert document.attributes_of(tags.index("div")).get("id") == "A"
    import re

    assert [tags[n] for n in document.elements_named(re.compile("enu"), ["Menu", "menu"])] == ["div", "p"]
    assert document.elements_named(re.compile("enu"), ["table"]) == []
    assert [block.text for block in document.select([1, 0])] == ["two", "one"]
    assert [block.text for block in document.each_block()] == document.texts == ["one", "two", "three"]
    assert document.base_url == "http://tea.example/b/"
    assert document.paths() == ["/html[1]/body[1]/div[1]", "/html[1]/body[1]/p[1]", "/html[1]/body[1]/p[2]"]


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        (("u", "t", "s"), "u"),
        (("", "t", "s"), "s"),
        (("", "t", ""), "t"),
        (("", "", ""), ""),
    ],
)
def test_names_of_documents(fields, name):
    document = Document((), Elements(), *fields)
    assert (document.name, repr(document)) == (name, f"<Document {name!r}, blocks=0>")
    assert document.base_url == fields[0]


def test_wrong_base_of_links_is_ignored():
    assert Document((), Elements(), "http://tea.example/", base="http://[x").base_url == "http://tea.example/"


def test_defaults_of_documents():
    block = Block(0, "x", -1, (), (), False, False, (Piece(0, -1, ()),))
    document = Document((block,), Elements())
    assert (document.split, document.encoding, document.losses, document.trailing) == ("every", "", (), ())
    assert document.paths() == [""]
    assert not block.preformatted
    assert Labelling((Label.OTHER,)) == Labelling((Label.OTHER,), (), (), None, (), ())


def test_large_pages_are_created_in_parts(monkeypatch):
    document = read_document("<p>x" * 9_001, BLOCKS)
    sizes = []
    if document.arrays is not None:
        blocks = type(document.arrays).blocks
        monkeypatch.setattr(
            victorpy.document.Document,
            "select",
            lambda self, numbers: sizes.append(len(numbers)) or blocks(self.arrays, numbers),
        )
        assert len(list(document.each_block())) == 9_001
        assert sizes == [4_000, 4_000, 1_001]


# Pages without text.


@pytest.mark.parametrize(
    ("page", "texts", "expected"),
    [
        ("x" * 500, ["y" * 4], True),
        ("x" * 500, ["y" * 5], False),
        ("x" * 499, ["y" * 4], False),
        ("x" * 499, ["Enable JavaScript" + "." * 283], True),
        ("x" * 499, ["Enable JavaScript" + "." * 284], False),
        ("x" * 499, ["a", "JAVASCRIPT"], True),
        ("", [], False),
        ("x" * 500, [], True),
    ],
)
def test_pages_that_scripts_build(page, texts, expected):
    assert lacks_text(page, texts) is expected
    assert lacks_text(page.encode(), texts) is expected


def test_confidence_of_a_page_that_scripts_build():
    cleaner = Cleaner.load()
    menu = cleaner.document(f"<nav><a href=/>Menu</a></nav>{' ' * 5_000}")
    assert (menu.is_empty, round(menu.confidence, 2)) == (True, 0.4)
    empty = cleaner.document(f"<!--{'x' * 600}-->")
    assert (empty.is_empty, empty.confidence) == (True, pytest.approx(0.4))


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        *((page, "address") for page in ("http://x", "HTTPS://x", "ftp://x", "file://x", "www.x", "www.x.html")),
        *((f"a.{suffix}", "path") for suffix in ("html", "htm", "xhtml", "php", "asp", "aspx", "anno", "txt", "xml")),
        *((f"a.{suffix}", "path") for suffix in ("warc", "gz", "zip", "HTML")),
        (f"  a/{'x' * 1991}.gz\n", "path"),
        *(
            (page, None)
            for page in ("http://", ".html", "a.htmlx", "a html", "<a.html", "xhttp://x", "www.", "tea", "")
        ),
        (f"  a/{'x' * 1992}.gz\n", None),
    ],
)
def test_addresses_and_paths_are_no_pages(page, kind):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        victorpy.clean(page)
    shown = [str(warning.message) for warning in caught if "looks like" in str(warning.message)]
    assert [f"the {kind} of a page" in message for message in shown] == [True] * (kind is not None)


@pytest.mark.parametrize(
    ("name", "parts", "expected"),
    [
        ("text", Parts.of(), False),
        ("text", Parts.of(include="facts"), True),
        ("jsonl", Parts.of(), True),
        ("jsonl", Parts.of(exclude="facts"), False),
    ],
)
def test_metadata_is_read_if_it_is_wanted(name, parts, expected):
    assert needs_metadata(find_output(name), parts) is expected


def test_language_of_the_kept_text():
    german = "Tee ist ein heißes Getränk, das man aus den Blättern des Teestrauchs macht und überall gern trinkt. "
    german += "Er wird heiß getrunken."
    page = read_document(
        f"<p>{german}<p>{'Tea is a drink that people make from leaves, and they like it very much. ' * 4}",
        BLOCKS,
    )
    assert detect_language(CleanPage(page, (Label.PARAGRAPH, Label.OTHER)), "fr") == "de"
    assert detect_language(CleanPage(page, (Label.OTHER, Label.PARAGRAPH)), "fr") == "en"
    assert detect_language(CleanPage(page, (Label.OTHER, Label.OTHER)), "fr") == "fr"


# Cleaners and methods.


def test_cleaners_favor_and_take_configs():
    cleaner = Cleaner.load()
    assert (cleaner.name, repr(cleaner)) == ("default", "<Cleaner 'default', labeller=ModelLabeller>")
    recall = cleaner.favoring("recall")
    assert (recall.config.one("favor", ""), recall.config.one("decode", ""), recall.name) == (
        "recall",
        "expected",
        "default",
    )
    with pytest.raises(ConfigError, match=r"favor must be one of precision, balanced, recall, not 'reca'"):
        cleaner.favoring("reca")
    other = cleaner.with_config(replace(BLOCKS, values={"threshold": ("0.25",), "split": ("every",)}))
    assert (other.config.one("threshold", ""), other.config.cuts) == ("0.25", cleaner.config.cuts)
    assert _default_cleaner(None) is _default_cleaner(None)


@pytest.mark.parametrize(
    ("method", "name", "model", "kind"),
    [
        (Method(), "default", "default", "labels"),
        (Method("everything"), "everything", "", "nothing"),
        (Method("sst", ("t=0.3", "gamma=1")), "sst(t=0.3,gamma=1)", "", "site"),
        (Method("site"), "site", "site", "site"),
        (Method(model="cleaneval"), "cleaneval", "cleaneval", "labels"),
        (Method(config="cleaneval"), "cleaneval", "cleaneval", "labels"),
        (Method("everything", label="all"), "all", "", "nothing"),
    ],
)
def test_kinds_of_methods(method, name, model, kind):
    assert (method.name, method.model_name, method.kind) == (name, model, kind)
    assert method.is_trained is (model != "")
    assert not method.is_peer
    assert not method.allow_code
    assert method.run_as == (f"the model {model}" if model else repr(method.load().labeller))


def test_other_programs_are_methods():
    method = Method("trafilatura", ("comments=no",))
    assert (method.is_peer, method.kind, method.is_trained, method.name) == (
        True,
        "peer",
        False,
        "trafilatura(comments=no)",
    )
    assert method.run_as == "trafilatura(comments=False)"
    assert {name: is_peer(name) for name in ("READABILITY", "readability-lxml", "JusText", "everything")} == {
        **{"READABILITY": True, "readability-lxml": True, "JusText": True, "everything": False}
    }
    assert {name: peer.in_node for name, peer in PEERS.items()} == {
        **{"trafilatura": False, "resiliparse": False, "readability-lxml": False, "jusText": False},
        **{"mozilla-readability": True, "defuddle": True},
    }
    assert {name: peer.module for name, peer in PEERS.items()} == {
        **{"trafilatura": "trafilatura", "resiliparse": "resiliparse", "readability-lxml": "readability"},
        **{"jusText": "justext", "mozilla-readability": "@mozilla/readability", "defuddle": "defuddle"},
    }
    assert [show_peer(name) for name in ("Readability", "justext", "trafilatura")] == [
        *("readability-lxml()", "jusText(language='English')", "trafilatura(comments=True)")
    ]
    with pytest.raises(
        VictorError, match="no program 'x'; choose from trafilatura, resiliparse, readability-lxml, jus"
    ):
        load_peer("x")
    found = versions("numpy", "no-such-package")
    assert found["victorpy"] == victorpy.__version__
    assert "numpy" in found
    assert "no-such-package" not in found
    assert cpu_seconds() > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: load_method("nothing"), "no method 'nothing'; choose from cleaneval, default, "),
        (
            lambda: load_method("default", ["t=1", "x=2"]),
            "the method 'default' is a trained model and has no parameters to set: t=1 x=2",
        ),
        (lambda: load_methods("all(t=1)"), "'all' means several methods; give parameters to a single method"),
        (lambda: load_methods("peers(t=1)"), "'peers' means several methods"),
        (lambda: Method("sst", model="x").load(), "`method` cannot be combined with `model` or `config`"),
        (lambda: Method("sst", config="x").load(), "`method` cannot be combined with `model` or `config`"),
        (lambda: Method(parameters=("t=1",)).load(), "`param` t=1 needs a `method`"),
        (
            lambda: Method("everything", favor="recall").load(),
            "`favor` needs probabilities, which the method everything does",
        ),
        (
            lambda: Method(model="default", config="cleaneval").load(),
            "the model 'default' and the config 'cleaneval' differ in ",
        ),
        (lambda: Method(model="nothing").load(), "no model 'nothing'"),
    ],
)
def test_wrong_methods(make, message):
    with pytest.raises((VictorError, ModelError)) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_first_three_differences_of_a_config_are_named():
    with pytest.raises(ConfigError) as caught:
        Method(model="default", config="cleaneval").load()
    listed = str(caught.value).partition(" differ in ")[2].partition(";")[0]
    differences = load_method("default").config.differences(load_config("cleaneval"))
    assert listed == ", ".join([*differences[:3], f"{len(differences) - 3} more"])


def test_several_methods():
    assert [method.name for method in load_methods("everything, sst(t=0.4),everything")] == ["everything", "sst(t=0.4)"]
    assert {"default", "cleaneval", "site", "everything", "sst"} <= {*method_names()}
    assert method_names() == sorted(method_names())
    assert find_method("everything").load() is Method("everything").load()
    assert math.isclose(Method("sst", ("t=0.4",)).load().labeller.t, 0.4)
    assert Method("sst").identity() == {"favor": None, "method": "sst", "parameters": []}
    assert Method(favor="recall").identity().keys() == {"favor", "model"}
