"""Text to a pruned tree: a table of pages in cases/parse.json, and pages that parsers stumble over.

For the latter, all text must be there, or the losses must report what is missing.
"""

import time
from pathlib import Path
from typing import Any

import pytest
from support.cases import read_cases

from victorpy import Config, read_document
from victorpy.page.parse import FLATTEN_DEPTH, MOST_ATTRIBUTES, Tree, parse, parse_whole
from victorpy.page.styles import inline_styles

CASES = read_cases("parse.json")
MUCH = 11_000_000  # more than libxml2 takes without being told to
LONG = "x" * 150_000  # longer than a tag may be


def text_of(tree: Tree) -> str:
    return "" if tree.root is None else "".join(tree.root.itertext())


def words_of(page: str, config: Config) -> list[str]:
    return [word for block in read_document(page, config).blocks for word in block.text.split()]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"].replace(" ", "-")) for case in CASES])
def test_page_of_the_case_table(case: dict[str, Any], default_config: Config) -> None:
    document = read_document(case["page"], default_config)
    assert [word for block in document.blocks for word in block.text.split()] == case["words"].split()
    assert document.url == case.get("url", document.url)
    assert document.title == case.get("title", document.title)
    assert document.losses == ()


def test_tag_delete_removes_only_the_named_elements() -> None:
    page = "<p>one <nav>two <b>three</b> </nav>four <script>five</script></p>"
    assert text_of(parse(page, delete=["nav"])).split() == ["one", "four", "five"]
    assert text_of(parse(page, delete=["b", "script"])).split() == ["one", "two", "four"]
    assert text_of(parse(page)).split() == ["one", "two", "three", "four", "five"]


def test_config_chooses_the_deleted_elements(tmp_path: Path, config: Config) -> None:
    values = {**config.values, "tag-delete": ("aside",)}
    changed = Config(config.name, values, config.places)
    page = "<style>shown</style><aside>gone</aside><p>kept</p>"
    assert words_of(page, changed) == ["shown", "kept"]
    assert words_of(page, config) == ["gone", "kept"]


@pytest.mark.parametrize("char", ["\x01", "\x0b", "\x7f", "\x85", "\ufffe", "&#11;", "&#xfffe;", "\u202e"])
@pytest.mark.parametrize(
    "markup",
    [
        "<q>{}tea</q> <q>{}a<b>b</b>c{}</q>",
        "<picture><source srcset='a{}.png'><img alt=tea></picture>",
        "<div class='syntaxhighlighter x{}'><pre>y</pre><div class='line a'>tea {}</div></div>",
        "<ol class='dp-c'><li>tea {}</ol>",
        "<iframe src='https://www.youtube.com/embed/{}x' title='tea {}'></iframe>",
        "<math><mi>{}x</mi></math> tea <img class=latex alt='{}x'>",
        "<ruby>tea{}<rt>b{}</rt></ruby>",
        "<style>.a{{float:{}left}}</style><p class=a style='x{}'>tea",
    ],
)
def test_page_with_characters_that_xml_does_not_allow_is_repaired(markup: str, char: str, config: Config) -> None:
    inlined = Config(config.name, {**config.values, "style-sheets": ("inline",)}, config.places)
    page = markup.replace("{}", char).replace("{{", "{").replace("}}", "}") + "<p>hot</p>"
    tree = parse(page)
    assert tree.root is not None
    inline_styles(tree.root)
    assert "hot" in words_of(page, inlined)


def test_given_address_overrides_the_address_in_the_page(config: Config) -> None:
    page = "<text id='http://tea.example/a'><p>x</p></text>"
    assert read_document(page, config, url="http://tea.example/given").url == "http://tea.example/given"
    assert read_document(page, config).url == "http://tea.example/a"


@pytest.mark.parametrize("depth", [255, 300, FLATTEN_DEPTH, 2_100, 5_000])
@pytest.mark.parametrize("tag", ["div", "span", "blockquote"])
def test_no_text_is_lost_however_deep_elements_nest(depth: int, tag: str, config: Config) -> None:
    opened = "".join(f"<{tag}>in{level} " for level in range(depth))
    closed = "".join(f" out{level}</{tag}>" for level in reversed(range(depth)))
    expected = [f"in{level}" for level in range(depth)] + [f"out{level}" for level in reversed(range(depth))]
    page = f"<p>first</p>{opened}{closed}<p>last</p>"
    assert words_of(page, config) == ["first", *expected, "last"]


@pytest.mark.parametrize("depth", [255, 300, 2_100, 5_000])
def test_flattening_is_reported(depth: int) -> None:
    loss = f"elements nested deeper than {FLATTEN_DEPTH} levels were flattened; no text was lost, only breaks"
    loss += " between paragraphs there"
    assert parse("<b>" * depth + "tea").losses == ((loss,) if depth > FLATTEN_DEPTH else ())


def test_elements_up_to_the_limit_survive_flattening() -> None:
    deep = 5_000
    tree = parse("<b>" * deep + "tea" + "</b>" * (deep - FLATTEN_DEPTH + 1) + "<i>milk")
    assert tree.root is not None
    assert len(tree.root.findall(".//b")) == FLATTEN_DEPTH
    assert len(list(tree.root.find(".//i").iterancestors("b"))) == FLATTEN_DEPTH - 1


@pytest.mark.parametrize("opening", ["<b>tea ", "<ul><li>tea ", "<table><tr><td>tea ", "<p><i>tea "])
def test_no_text_is_lost_if_no_element_is_closed(opening: str, config: Config) -> None:
    assert words_of(opening * 3_000 + "last", config) == ["tea"] * 3_000 + ["last"]


def test_scripts_and_comments_in_a_deep_page_are_removed(config: Config) -> None:
    page = "<b>" * 3_000 + "one <script>'</b><p>'</script><!-- <b> --><style>b > b</style>two" + "</b>" * 3_000
    assert words_of(page + "<p>three</p>", config) == ["one", "two", "three"]


@pytest.mark.slow
def test_text_and_word_of_11_mb_are_whole(default_config: Config) -> None:
    words = MUCH // len("word ")
    for text in ("word " * words, "w" * MUCH):
        document = read_document(f"<p>first</p><p>{text}</p><p>last</p>", default_config)
        assert [block.text for block in document.blocks] == ["first", text.strip(), "last"]
        assert document.losses == ()


@pytest.mark.slow
@pytest.mark.parametrize("filler", ["word ", "a>b ", "a<b ", "&amp; "])
def test_an_attribute_of_11_mb_loses_no_text(filler: str, default_config: Config) -> None:
    value = filler * (MUCH // len(filler))
    page = f'<p>first</p><p title="{value}">in it</p><p>last</p>'
    assert words_of(page, default_config) == ["first", "in", "it", "last"]


@pytest.mark.parametrize("wrapping", ["<!--{}-->", "<script>{}</script>", "<style>{}</style>"])
def test_deleted_elements_may_have_any_size(wrapping: str, default_config: Config) -> None:
    page = "<p>first</p>" + wrapping.format("word " * (MUCH // 5)) + "<p>last</p>"
    document = read_document(page, default_config)
    assert [block.text for block in document.blocks] == ["first", "last"]
    assert document.losses == ()


@pytest.mark.parametrize(
    "attributes",
    [
        " ".join(f'a{number}="v"' for number in range(100_000)),
        " ".join(f"a{number}" for number in range(50_000)),
        "/".join(f"a{number}" for number in range(50_000)),
        " ".join(f"a{number}='>'" for number in range(50_000)),
        " ".join(f'a{number}=">"' for number in range(25_000)),
    ],
    ids=["values", "spaces", "slashes", "greater-than", "quoted-greater-than"],
)
def test_flood_of_attributes_is_dropped_at_once_and_reported(attributes: str) -> None:
    started = time.process_time()
    tree = parse(f"<p>first</p><p {attributes}>in it</p><p>last</p>")
    assert time.process_time() - started < 5  # libxml2 by itself takes up to a minute
    assert text_of(tree) == "firstin itlast"
    [loss] = tree.losses
    assert loss.startswith("the attributes of 1 tags")
    assert loss.endswith("were dropped")


@pytest.mark.parametrize("filler", ["", "<br>" * 3, "<i " + "a=1 " * 30_000 + "></i>"], ids=["alone", "later", "flood"])
def test_attributes_are_dropped_above_an_exact_number(filler: str) -> None:
    for attributes, is_dropped in ((MOST_ATTRIBUTES - 1, False), (MOST_ATTRIBUTES, True)):
        tags = " ".join(f"attribute{number}" for number in range(attributes))
        tree = parse(f"<p>first</p>{filler}<p {tags}>in it</p><p>last</p>")
        assert tree.root is not None
        assert len(tree.root.findall(".//p")[1].attrib) == (0 if is_dropped else attributes)
        dropped = is_dropped + ("<i" in filler)
        assert tree.losses == (
            (f"the attributes of {dropped} tags with more than 2,000 of them were dropped",) if dropped else ()
        )
        assert text_of(tree) == "firstin itlast"


def test_lost_alt_text_is_reported(default_config: Config) -> None:
    page = f'<p>first</p><img src="data:image/png;base64,{LONG}" alt="A cat"><p>last</p>'
    document = read_document(page, default_config)
    words = [block.text for block in document.blocks]
    assert words == ["first", "A cat", "last"] or (words == ["first", "last"] and document.losses)


@pytest.mark.parametrize(
    "hazard",
    {
        "comment": f"<!-- <a {LONG} -->",
        "long-comment": f"<!-- {LONG} <a {LONG} -->",
        "double-quotes": f'<i data-x="a<b {LONG}"></i>',
        "single-quotes": f"<i data-x='a<b {LONG}'></i>",
        "script": f"<script>if (a<b {LONG})</script>",
        "script-string": f'<script>x = "<a {LONG}>"</script>',
        "style": f"<style>a <b {LONG}</style>",
        "bare-tag": f"<a {LONG}>",
        "empty-tag": f"<i {LONG}/></i>",
    }.items(),
    ids=lambda item: item[0],
)
def test_shortening_long_tags_loses_no_text(hazard: tuple[str, str], config: Config) -> None:
    page = f"<p>first</p>{hazard[1]}<p class='q'>one</p><p class=\"q\">two</p><p>last</p>"
    assert words_of(page, config) == ["first", "one", "two", "last"]


def test_tag_that_never_ends_is_reported(config: Config) -> None:
    document = read_document(f"<p>first</p><p>if a <b then {'word ' * 40_000}", config)
    words = [word for block in document.blocks for word in block.text.split()]
    assert len(words) > 40_000 or document.losses


def test_readings_of_ruby_text_are_left_out():
    tree = parse("<p><ruby>田中<rp>(</rp><rt>たなか</rt><rp>)</rp></ruby>さん")
    assert "".join(tree.root.itertext()) == "田中さん"


def test_everything_is_parsed_unless_the_caller_says_what_is_read() -> None:
    page = "<head><meta name=a content=b></head><p data-x=1 data-src=/a>tea"
    root = parse_whole(page, ["meta", "link"]).root
    assert root is not None
    (paragraph,) = root.iter("p")
    assert dict(paragraph.attrib) == {"data-x": "1", "data-src": "/a"}
    assert len([*root.iter("meta")]) == 1
    root = parse_whole(page, ["meta", "link"], frozenset(["data-src"])).root
    assert root is not None
    (paragraph,) = root.iter("p")
    assert paragraph.get("data-src") == "/a"
