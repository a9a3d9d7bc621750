"""Views of pages, read as HTML without a browser. test_browser.py opens them in a browser."""

import base64
import hashlib
import json
import os
import re
import sys
import unicodedata
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import lxml.html
import pytest
from support.commands import ROOT, refused, victor_process
from support.commands import victor as run_victor

from victorpy.cleaner import Cleaner, read_document
from victorpy.config import load_config
from victorpy.document import Label
from victorpy.errors import install_command
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import load_anno
from victorpy.research.report.base import read_asset
from victorpy.research.report.views import render_view

CASES = Path(__file__).parents[1] / "cases" / "view"
TEA = CASES / "tea.html"
BAKERY = ROOT / "data" / "article" / "courier-bakery.html"
HOSTILE = json.loads((CASES / "hostile.json").read_text(encoding="utf-8"))
STEERING = json.loads((CASES / "steering.json").read_text(encoding="utf-8"))
ALERT = HOSTILE["closes-a-script"]
PAGES = [
    "article/courier-bakery",
    "article/article-zh-teahouse",
    "documentation/doc-man-page",
    "forum/forum-phpbb-bees",
]

# All tags and attributes of a view. Any others come from the page.
OWN_TAGS = set(
    "html head meta title style body header h1 h2 p span main div section aside dl dd table tbody script".split()
)
OWN_ATTRIBUTES = set("lang charset http-equiv content name class tabindex aria-live".split())

H, P, L, C, O = Label.HEADER, Label.PARAGRAPH, Label.LIST, Label.CONTINUATION, Label.OTHER  # noqa: E741
TEA_LABELS = [O, O, H, P, P, L, L, O, O, O, O]


victor = partial(run_victor, "view")


@cache
def view_of(*arguments, **options):
    """The tree of the view that the command writes, made once."""
    ended = victor(*arguments, **options)
    assert (ended.returncode, ended.stderr) == (0, b"")
    return tree_of(ended.stdout.decode())


def tree_of(view):
    return lxml.html.document_fromstring(view.encode(), parser=lxml.html.HTMLParser(encoding="utf-8"))


def blocks_in(tree):
    return tree.xpath('//span[contains(concat(" ", @class, " "), " block ")]')


def own_blocks(section):
    return section.xpath('.//span[starts-with(@class, "block ")]')


def texts(tree):
    return [block.text_content() for block in blocks_in(tree)]


def classes(block):
    return set(block.get("class").split())


def labelled(html, labels, probabilities=(), config="default", **fields):
    """A page with fixed labels instead of predictions."""
    document = replace(read_document(html, load_config(config)), **fields)
    assert len(document.blocks) == len(labels), [block.text for block in document.blocks]
    return CleanPage(document, tuple(labels), tuple(probabilities))


def view_page(page, title="A title", gold=None):
    return render_view(title, {"ours": page}, gold)


def shown(html, labels, *arguments, gold=None, **options):
    """The parsed view of a page with these labels."""
    return tree_of(view_page(labelled(html, labels, *arguments, **options), gold=gold))


def assert_closed(view):
    """Check that a view has no elements, attributes or scripts except those of victorpy."""
    tree = tree_of(view)
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    assert len(elements) == len(list(tree.iter())), "a comment or instruction came out of the page"
    assert {element.tag for element in elements} <= OWN_TAGS
    attributes = {name for element in elements for name in element.keys()}  # noqa: SIM118  # lxml's, no dict
    assert {name for name in attributes if not name.startswith("data-")} <= OWN_ATTRIBUTES
    assert [script.text for script in tree.iter("script")] == [read_asset("view.js")]
    assert [style.text for style in tree.iter("style")] == [read_asset("page.css") + read_asset("view.css")]
    assert len(list(tree.iter("title"))) == len(list(tree.iter("h1"))) == 1
    assert {meta.get("http-equiv") for meta in tree.iter("meta")} == {None, "Content-Security-Policy"}


# The blocks


@pytest.mark.parametrize("model", ["default", "cleaneval"])
@pytest.mark.parametrize("name", PAGES)
def test_every_block_is_shown_once_and_in_order(name, model):
    page = Cleaner.load(model).document((ROOT / "data" / f"{name}.html").read_bytes())
    tree = tree_of(view_page(page))
    assert [block.get("data-number") for block in blocks_in(tree)] == [str(at) for at in range(len(page.labels))]
    assert texts(tree) == [block.text for block in page.document.blocks]
    assert [block.get("data-path") for block in blocks_in(tree)] == page.document.paths()


def test_view_has_no_text_of_the_page_but_its_blocks():
    page = labelled(TEA.read_bytes(), TEA_LABELS)
    [section] = tree_of(view_page(page)).iter("section")
    lines = "".join(line.text_content() for line in section.xpath('div[@class="line"]'))
    assert lines == "".join(block.text for block in page.document.blocks)


def test_blocks_of_one_line_of_the_page_share_a_line():
    tree = shown("<p>One <b>two</b><i>three</i> four</p><p>five", [P, C, C, C, P], config="cleaneval")
    lines = tree.xpath('//div[@class="line"]')
    assert [line.text_content() for line in lines] == ["One twothree four", "five"]


def test_block_has_the_class_of_its_label_and_can_be_focused():
    labels = [H, P, L, C, O]
    blocks = blocks_in(shown("<p>a<p>b<p>c<p>d<p>e", labels))
    assert [classes(block) & set(Label) for block in blocks] == [{str(label)} for label in labels]
    assert [block.get("data-label") for block in blocks] == [str(label) for label in labels]
    assert {block.get("tabindex") for block in blocks} == {"0"}


@pytest.mark.parametrize(
    ("probability", "strength"),
    [(0.0, "s0"), (0.0999, "s0"), (0.1, "s1"), (0.5, "s5"), (0.6999, "s6"), (0.9, "s9"), (0.99999, "s9"), (1.0, "s9")],
)
def test_strength_is_probability(probability, strength):
    [block] = blocks_in(shown("<p>a", [P], [probability]))
    assert {name for name in classes(block) if re.fullmatch(r"s\d+", name)} == {strength}
    assert float(block.get("data-probability")) == pytest.approx(probability, abs=5e-5)


def test_without_probabilities_and_gold_a_block_has_neither():
    [block] = blocks_in(shown("<p>a", [O]))
    assert classes(block) == {"block", "other"}
    assert block.get("data-probability") is block.get("data-gold") is None


def test_higher_probability_is_a_stronger_colour():
    steps = re.findall(r"\.s(\d) \{ --a: ([\d.]+); \}", read_asset("view.css"))
    assert [number for number, _ in steps] == list("0123456789")
    strengths = [float(strength) for _, strength in steps]
    assert strengths == sorted(set(strengths))


def test_hidden_preformatted_and_heading_blocks_are_marked():
    blocks = blocks_in(shown(TEA.read_bytes(), TEA_LABELS))
    marks = {block.text_content(): classes(block) - {"block", *Label} for block in blocks}
    assert {text: names for text, names in marks.items() if names} == {
        "How a pot of tea is made": {"head"},
        "Nobody sees this sentence": {"hidden-text"},
        "cups = 4": {"pre"},
        "    spoons = cups + 1": {"pre"},
    }


def test_block_carries_its_features():
    page = Cleaner.load().document(TEA.read_bytes(), features=True)
    features = [json.loads(block.get("data-features")) for block in blocks_in(tree_of(view_page(page)))]
    assert features == list(page.features)
    assert features[2]["container.class-header"] == "1"


@pytest.mark.parametrize("content", ["", "<p> </p>", "<script>only()</script>"])
def test_page_without_text_has_a_view_without_blocks(content):
    view = view_page(labelled(content, []), gold=())
    assert_closed(view)
    assert blocks_in(tree_of(view)) == []


# Around the blocks


@pytest.mark.parametrize(
    ("gold", "more"),
    [(None, ""), ([O, O, H, C, O], "; 1 dropped although gold, 2 kept although not gold")],
    ids=["without-gold", "with-gold"],
)
def test_labels_and_disagreements_are_counted(gold, more):
    [counts] = shown("<p>a<p>b<p>c<p>d<p>e", [H, P, P, O, O], gold=gold).xpath("//section/p")
    assert counts.text_content() == "1 header, 2 paragraph, 2 other" + more


@pytest.mark.parametrize("gold", [None, [P]], ids=["without-gold", "with-gold"])
def test_legend_names_the_marks_in_use(gold):
    [legend] = shown("<p>a", [P], gold=gold).find_class("legend")
    names = {span.text: classes(span) for span in legend.iter("span")}
    assert all(str(label) in names[str(label)] for label in Label)
    marks = set().union(*names.values()) & {"missed", "extra"}
    assert marks == ({"missed", "extra"} if gold else set())
    assert ("disagreement" in legend.text_content()) is bool(gold)


def test_title_url_and_losses_are_at_the_top():
    page = labelled("<p>a", [P], url="http://tea.example/?a&b", losses=("3 bytes <were> wrong",))
    tree = tree_of(view_page(page, "Tea & <b>"))
    assert tree.findtext(".//title") == tree.findtext(".//h1") == "Tea & <b>"
    header = tree.xpath("string(//header)")
    assert "http://tea.example/?a&b" in header
    assert "lost: 3 bytes <were> wrong" in header


# Gold


@pytest.mark.parametrize(
    ("labels", "gold", "marks"),
    [
        ([P, O], [P, O], [set(), set()]),
        ([P, O], [O, P], [{"extra"}, {"missed"}]),
        ([C, O], [O, H], [{"extra"}, {"missed"}]),
        ([P, L], [H, C], [set(), set()]),  # different kinds of content are not a disagreement about keeping a block
    ],
)
def test_missed_and_extra_blocks_are_marked(labels, gold, marks):
    blocks = blocks_in(shown("<p>a<p>b", labels, gold=gold))
    assert [classes(block) & {"missed", "extra"} for block in blocks] == marks
    assert [block.get("data-gold") for block in blocks] == [str(label) for label in gold]


@pytest.mark.parametrize("name", ["tea.anno", "tea-cleaneval.txt", "tea-plain.txt"])
def test_gold_is_read_in_each_of_its_forms(name):
    """The gold of these files wants the menu, which any cleaner drops, and not the second paragraph.

    Text without tags does not say what kind each block is: the page's markup does.
    """
    blocks = blocks_in(view_of(TEA, "--gold", CASES / name))
    assert [block.get("data-gold") for block in blocks] == ["list", "list", "header", "paragraph"] + ["other"] * 7
    marked = {block.text_content()[:18]: classes(block) & {"missed", "extra"} for block in blocks}
    assert marked["Home page"] == marked["The little shop"] == {"missed"}
    assert marked["Water is brought t"] == marked["How a pot of tea i"] == set()
    assert marked["After four minutes"] == {"extra"}


def test_gold_of_a_shipped_page_is_used_unchanged(default_config):
    gold = load_anno(BAKERY.with_suffix(".anno"), default_config.cuts).labels
    blocks = blocks_in(view_of(BAKERY, "--gold", BAKERY.with_suffix(".anno")))
    assert [block.get("data-gold") for block in blocks] == [str(label) for label in gold]


def test_gold_with_other_cuts_is_cut_again():
    blocks = blocks_in(view_of(BAKERY, "--gold", BAKERY.with_suffix(".anno"), "-m", "cleaneval"))
    [headline] = [block for block in blocks if block.get("data-path").endswith("/h1[1]")]
    [menu] = [block for block in blocks if block.text_content() == "Advertise with us"]
    assert (headline.get("data-gold"), menu.get("data-gold")) == ("header", "other")


# The command


def test_view_goes_to_a_file_or_to_standard_output(tmp_path):
    ended = victor(TEA, "-o", tmp_path / "view.html")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert (tmp_path / "view.html").read_bytes() == victor_process("view", TEA).stdout
    features = blocks_in(tree_of((tmp_path / "view.html").read_text()))[2].get("data-features")
    assert json.loads(features)["container.class-header"] == "1"


def test_command_shows_title_and_url():
    tree = view_of(TEA, "--url", "http://tea.example/pot")
    assert tree.findtext(".//title") == "Tea & <i>toast</i>"
    assert "http://tea.example/pot" in tree.xpath("string(//header)")


def test_page_without_a_title_has_its_file_name(tmp_path):
    (tmp_path / "untitled.html").write_text("<p>a")
    assert view_of("untitled.html", cwd=tmp_path).findtext(".//title") == "untitled.html"


def test_empty_file_has_a_view(tmp_path):
    for name in ("empty.html", "gold.txt"):
        (tmp_path / name).write_bytes(b"")
    assert blocks_in(view_of("empty.html", "--gold", "gold.txt", cwd=tmp_path)) == []


@pytest.mark.parametrize("other", ["default", "cleaneval"], ids=["same-cuts", "other-cuts"])
def test_two_models_are_side_by_side(other):
    sections = list(view_of(TEA, "--against", other).iter("section"))
    assert [section.findtext("h2") for section in sections] == ["victorpy (default)", other]
    ours, theirs = map(own_blocks, sections)
    assert ours
    assert [block.text_content() for block in ours] == [block.text_content() for block in theirs]
    assert "paragraph" in classes(theirs[3])
    if other == "default":  # a model agrees with itself
        for name in ("class", "data-probability"):
            assert [block.get(name) for block in ours] == [block.get(name) for block in theirs]


@pytest.mark.slow
def test_trafilatura_has_its_own_marks():
    pytest.importorskip("trafilatura", reason="trafilatura is not installed: pip install -e '.[peers]'")
    gold = BAKERY.with_suffix(".anno")
    ours, theirs = view_of(BAKERY, "--gold", gold, "--against", "trafilatura").iter("section")
    assert theirs.findtext("h2") == "trafilatura"
    second = own_blocks(theirs)
    assert len(second) == len(own_blocks(ours))
    assert all(block.get("data-probability") is None for block in second)
    for block in second:
        kept, wanted = block.get("data-label") != "other", block.get("data-gold") != "other"
        expected = set() if kept == wanted else {"missed" if wanted else "extra"}
        assert classes(block) & {"missed", "extra"} == expected
    by_text = {block.text_content(): block.get("data-label") for block in second}
    assert by_text["“I had the letter to the landlord written,” he says. “I just hadn’t got a stamp.”"] == "paragraph"
    assert by_text["Advertise with us"] == "other"


def test_error_without_trafilatura_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    error = refused(victor(TEA, "--against", "trafilatura"))
    assert error == f"view: trafilatura is not installed: {install_command('peers')}\n"


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["missing.html"], ["missing.html", "No such file"]),
        (["."], ["directory"]),
        ([TEA, "--gold", "missing.anno"], ["missing.anno", "No such file"]),
        ([TEA, "--gold", "missing.txt"], ["missing.txt", "No such file"]),
        ([TEA, "--gold", BAKERY.with_suffix(".anno")], ["courier-bakery.anno", "is not an annotation of this page"]),
        ([TEA, "--gold", "broken.anno"], ["broken.anno:3:", "did you mean 'paragraph'?"]),
        ([TEA, "-m", "defualt"], ["defualt", "did you mean 'default'?"]),
        ([TEA, "--against", "defualt"], ["defualt", "did you mean 'default'?"]),
        ([TEA, "--against", "trafilatur"], ["trafilatur"]),
        ([TEA, "-o", "broken.anno/view.html"], ["broken.anno: this is a file"]),
    ],
    ids="no-page directory no-anno no-text another-page broken-anno model other-model other-cleaner output".split(),
)
def test_mistake_is_one_line(tmp_path, arguments, told):
    (tmp_path / "broken.anno").write_text("%victor-anno 1\n\nparagraf\t-\t<p>\ta\nend\t-\t</p>\t\n")
    line = refused(victor(*arguments, cwd=tmp_path))
    assert line.startswith("view: ")
    assert all(part in line for part in told), line


def test_gold_of_another_page_gives_a_warning(tmp_path):
    (tmp_path / "gold.txt").write_text("Nothing of this is on the page, neither here nor there.")
    ended = victor(TEA, "--gold", "gold.txt", "-o", "view.html", cwd=tmp_path)
    assert b"gold.txt: most words of the gold are not on the page" in ended.stderr


def test_mistake_leaves_an_older_view_alone(tmp_path):
    (tmp_path / "view.html").write_text("older")
    refused(victor(TEA, "--gold", BAKERY.with_suffix(".anno"), "-o", tmp_path / "view.html"))
    assert (tmp_path / "view.html").read_text() == "older"


# Hostile pages


@pytest.fixture(scope="module")
def tea_view():
    return render_view("Tea", {"ours": Cleaner.load().document(TEA.read_bytes(), features=True)})


def policy_of(view):
    [meta] = tree_of(view).xpath('//meta[@http-equiv="Content-Security-Policy"]')
    return dict(part.strip().split(" ", 1) for part in meta.get("content").split(";"))


def test_policy_allows_only_our_own_style_and_script(tea_view):
    policy = policy_of(tea_view)
    assert policy.pop("default-src") == policy.pop("base-uri") == policy.pop("form-action") == "'none'"
    assert policy.pop("img-src") == "data:"
    assert set(policy) == {"style-src", "script-src"}
    for tag in ("style", "script"):
        [content] = re.findall(f"<{tag}>(.*?)</{tag}>", tea_view, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert policy[f"{tag}-src"] == f"'sha256-{digest}'"
    assert tea_view.index("Content-Security-Policy") < min(map(tea_view.index, ("<title>", "<style>", "<script>")))
    assert_closed(tea_view)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_stays_text(text):
    page = labelled("<p>a<p>b", [P, O], [0.5, 0.5], url=text, losses=(text,))
    first = page.document.blocks[0]._replace(text=text)
    document = replace(page.document, blocks=(first, page.document.blocks[1]))
    page = replace(page, document=document, features=({text: text}, {"words": text}))
    view = render_view(text, {text: page}, [P, P])
    assert_closed(view)
    tree = tree_of(view)
    assert tree.findtext(".//title") == tree.findtext(".//h1") == tree.findtext(".//section/h2") == text
    assert texts(tree) == [text, "b"]
    assert [json.loads(block.get("data-features")) for block in blocks_in(tree)] == [{text: text}, {"words": text}]
    assert tree.xpath("string(//header/p[1])") == text


def test_view_of_a_hostile_page_runs_nothing(default_config):
    content = (CASES / "hostile.html").read_bytes()
    document = read_document(content, default_config)
    view = render_view(document.title, {"ours": Cleaner.load().document(content, features=True)})
    assert_closed(view)
    tree = tree_of(view)
    assert tree.findtext(".//title") == ALERT
    assert ALERT in texts(tree)
    assert "a picture" in texts(tree)


def test_command_takes_hostile_names(tmp_path):
    path = tmp_path / f"{ALERT}.html"
    path.parent.mkdir(parents=True)
    path.write_text("<p>a")
    ended = victor(f"{ALERT}.html", "--url", ALERT, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert_closed(ended.stdout.decode())
    assert tree_of(ended.stdout.decode()).findtext(".//title") == f"{ALERT}.html"


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="file names are Unicode here")
def test_page_whose_file_name_is_not_utf8_can_be_viewed(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.html")
    path.write_text("<p>a")
    ended = victor(path, "-o", tmp_path / "view.html")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert (tmp_path / "view.html").read_bytes().decode().count("caf") == 2


def steers(char):
    control = unicodedata.category(char) == "Cc" and char not in "\n\t"
    turns = unicodedata.bidirectional(char) in {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    return control or turns or char in "\u200e\u200f\u061c"


@pytest.mark.parametrize(("text", "number"), STEERING.values(), ids=STEERING)
def test_control_characters_are_shown_by_number(text, number):
    assert any(map(steers, text))
    page = labelled("<p>a", [P], url=text)
    document = replace(page.document, blocks=(page.document.blocks[0]._replace(text=text),))
    view = render_view(text, {text: replace(page, document=document, features=({text: text},))})
    assert not [hex(ord(char)) for char in view if steers(char)]
    [shown] = texts(tree_of(view))
    assert f"U+{number}" in shown
    assert [char for char in text if char.isalpha()] == [char for char in shown if char in text and char.isalpha()]


@pytest.mark.parametrize(
    "text", ["שלום עולם، مرحبا بالعالم", "می\u200cخواهم 👩\u200d🍳"], ids=["right-to-left", "joiners"]
)
def test_other_scripts_and_emoji_are_left_alone(text):
    assert texts(shown(f"<p>{text}", [P])) == [text]


def test_differences_of_two_cleaners_are_marked_in_both_columns():
    pages = {name: labelled("<p>a<p>b", [P, label]) for name, label in (("ours", O), ("theirs", P))}
    view = render_view("tea", pages)
    assert view.count(' differs"') == 2
    assert 'class="block paragraph"' in view
    assert "the other cleaner differs" in view
    assert "the other cleaner differs" not in render_view("tea", {"ours": pages["ours"]})
