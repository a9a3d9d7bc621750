"""DocView: the paper's formulas, records of pages, their formats, and bad input."""

import csv
import io
import json
import re
from dataclasses import replace
from functools import partial
from math import prod, sqrt
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from support.cases import read_cases
from support.commands import ENVIRONMENT, JPEG, ROOT, refused, run_process, write_files
from support.commands import clean as run_clean

from victorpy import Cleaner, ConfigError, VictorError, load_config, read_document
from victorpy.base.language import language_of
from victorpy.base.words import icu_pieces, icu_words
from victorpy.description.integration import (
    Sentence,
    abstract,
    heaviest,
    node_links,
    paragraph_texts,
    relevant_links,
    share_out,
    topic_root,
)
from victorpy.description.record import Parameters, describe, page_type
from victorpy.description.tag_tree import TagTree, Thresholds
from victorpy.description.terms import sentences, terms
from victorpy.description.weights import block_weights, feature_vector, keywords, similarity, topic_blocks
from victorpy.errors import install_command
from victorpy.labellers.one_page import DocViewCleaner
from victorpy.methods import load_method
from victorpy.outputs import find_output

CASES = Path(__file__).parents[1] / "cases" / "docview"
PAGE = (CASES / "cathedral.html").read_bytes()
FORMATS = ["docview", "docview-tei", "docview-markdown", "docview-csv"]
TEI = {"t": "http://www.tei-c.org/ns/1.0"}


def cases(name):
    found = json.loads((CASES / name).read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["name"]) for case in (found["cases"] if isinstance(found, dict) else found)]


@pytest.mark.parametrize("blocks", [4_000, 4_001])
def test_record_describes_the_first_4000_blocks_and_reports_the_rest(blocks):
    page = load_method("everything").document("<p>tea" * 4_000 + "<p>coffee" * (blocks - 4_000))
    record = describe(page)
    assert record.keywords == ("tea",)
    assert record.content.count("coffee") == blocks - 4_000
    reported = ("keywords, abstract and links come from the first 4,000 of 4,001 blocks",)
    assert record.losses == (reported if blocks > 4_000 else ())


@pytest.mark.parametrize("elements", [10, 11])
def test_record_describes_the_blocks_in_a_limited_number_of_elements(monkeypatch, elements):
    monkeypatch.setattr("victorpy.description.record.MOST_ELEMENTS", 10)
    page = load_method("everything").document("<html><body><p>tea" + "<i>x</i>" * (elements - 4) + "<p>coffee")
    record = describe(page)
    assert ("coffee" in record.keywords) == (elements == 10)
    assert record.losses == (("keywords, abstract and links come from the first 1 of 2 blocks",) * (elements - 10))


@pytest.mark.parametrize("containers", [10, 11])
def test_containers_beyond_a_limit_belong_to_the_one_around_them(monkeypatch, containers):
    monkeypatch.setattr("victorpy.description.tag_tree.MOST_NODES", 10)
    monkeypatch.setattr("victorpy.description.record.MOST_NODES", 10)
    html = "<html><body>" + "<p>tea" * (containers - 2)
    tree = tree_of(html)
    assert len(tree.nodes) == 10
    assert [len(node.texts) for node in tree.nodes] == [0, containers - 10] + 8 * [1]
    record = describe(load_method("everything").document(html))
    assert record.content.count("tea") == containers - 2
    assert "keywords, abstract and links use only the first 10 containers" in record.losses


@pytest.mark.parametrize("format", ["docview-tei", "docview-markdown"])
def test_formats_that_write_the_content_themselves_do_not_write_it_twice(monkeypatch, format):
    page = load_method("everything").document(PAGE, metadata=True)
    written = page.to(format)
    monkeypatch.setattr("victorpy.description.record.render_text", pytest.fail)
    assert page.to(format) == written


@pytest.mark.parametrize(
    ("size", "is_icon"),
    [("32", True), ("33", False), ("32px", True), ("9" * 5_000, False), ("32%", False), ("", False)],
)
@pytest.mark.parametrize("side", ["width", "height"])
def test_icons_do_not_count_as_images(side, size, is_icon):
    nodes = tree_of(f'<p>tea<img src=tea.png {side}="{size}"></p>').nodes
    assert sum(len(node.images) for node in nodes) == (not is_icon)


def tree_of(html, kept=None):
    return TagTree(read_document(html, load_config("blocks")), kept)


def by_tag(tree, values):
    """Map the tags of nodes to their values, or to lists for tags with several nodes."""
    found = {}
    for node, value in zip(tree.nodes, values, strict=True):
        found.setdefault(tree.page.elements.tag[node.element], []).append(value)
    return {tag: each[0] if len(each) == 1 else each for tag, each in found.items()}


@pytest.fixture(scope="module")
def cleaner():
    return Cleaner.load()


@pytest.fixture(scope="module")
def page(cleaner):
    return cleaner.document(PAGE, metadata=True)


# The tag tree and its weights.


def listed(value):
    return value if isinstance(value, list) else [value]


def weights_by_text(tree, spread=0.5):
    blocks = topic_blocks(tree)
    return {
        tree.text(block.texts): weight
        for block, weight in zip(blocks, block_weights(tree, blocks, spread), strict=True)
    }


@pytest.mark.parametrize("case", cases("weights.json"))
def test_algorithm_1(case):
    document = read_document(case["html"], load_config("blocks"))
    tree = TagTree(document, [block.text not in case.get("drop", ()) for block in document.blocks])
    expected = {text: prod(force**exponent for force, exponent in factors) for text, factors in case["weights"].items()}
    heaviest = max(expected.values())
    assert weights_by_text(tree) == pytest.approx({text: weight / heaviest for text, weight in expected.items()})


def test_headings_have_more_force_the_higher_they_are():
    tree = tree_of("<body><div><h1>Tea</h1> is hot</div><div><h3>Tea</h3> is hot</div><div>Tea is hot</div></body>")
    first, second, third = (block.force for block in topic_blocks(tree))
    assert first > second > third == 1


def test_a_thousand_emphasised_items_do_not_overflow():
    tree = tree_of("<body><div>" + "<p>All of <b>it</b> is bold</p>" * 3000 + "</div><div><p>But this</p></div></body>")
    weights = block_weights(tree, topic_blocks(tree))
    assert max(weights) == 1
    assert all(weight >= 0 for weight in weights)


def test_formula_2_is_term_frequency_times_block_weight_of_length_1():
    tree = tree_of("<body><div><p>tea <b>kettle</b> tea bush</p></div><div><p>bush harvest</p></div></body>")
    vector = feature_vector(tree, "en", spread=0.0)
    raw = {"tea": 2 * 1.2, "kettle": 1.2, "bush": 1.2 + 1, "harvest": 1}
    length = sqrt(sum(weight**2 for weight in raw.values()))
    assert vector == pytest.approx({term: weight / length for term, weight in raw.items()})


def test_numbers_of_three_digits_may_be_keywords():
    tree = tree_of(
        "<body><p>The Boeing 747 of 1969: the 747 has 2 decks, 4 engines and 4 doors, the 747 is big.</p></body>"
    )
    chosen = keywords(feature_vector(tree, "en"), 10)
    assert chosen[0] == "747"
    assert "1969" in chosen
    assert not {"2", "4"} & set(chosen)


def test_feature_vectors_cover_kept_blocks_only():
    assert feature_vector(tree_of("<body><img src=a.gif></body>"), "en") == {}
    assert keywords({}, 5) == []
    tree = tree_of("<body><p>tea kettle</p><p>socks for sale</p></body>", [True, False])
    assert set(feature_vector(tree, "en")) == {"tea", "kettle"}
    assert similarity({"tea": 0.6, "bush": 0.8}, {"tea": 1.0}) == pytest.approx(0.6)  # the cosine
    assert similarity({"tea": 1.0}, {"pot": 1.0}) == 0


@pytest.mark.parametrize("case", cases("types.json"))
def test_types_of_blocks_and_pages(case):
    tree = tree_of(case["html"])
    assert str(tree.page_type(Thresholds())) == case["type"]
    types = by_tag(tree, [str(node.type(Thresholds())) for node in tree.nodes])
    for tag, kind in case["nodes"].items():
        assert set(listed(types[tag])) == {kind}


@pytest.mark.parametrize("case", cases("cleaning.json"))
def test_cleaner_of_the_paper(case):
    document = read_document(case["html"], load_config("blocks"))
    labels = DocViewCleaner().label(document).labels
    kept = [block.text for block, label in zip(document.blocks, labels, strict=True) if label.is_content]
    assert kept == case["kept"]


def test_docview_cleaner_is_a_method_with_parameters():
    labeller = load_method("docview", ["hub=0.3", "central=yes"]).labeller
    assert (labeller.hub, labeller.central) == (0.3, True)
    with pytest.raises(ConfigError, match=r"docview: hub=2\.0: expected a number from 0 to 1"):
        load_method("docview", ["hub=2"])
    cleaned = load_method("docview", ["central=yes"]).clean(PAGE)
    assert "eight bells of Aldermere" in cleaned
    assert not any(noise in cleaned for noise in ("Sport", "socks"))


# Keywords, abstracts, links.


@pytest.mark.parametrize("breaker", ["WordBreaker", "SentenceBreaker"])
@pytest.mark.parametrize("word", ["a", "Tea", "3rd", "v2", "2020", "USA", "x" * 300])
@pytest.mark.parametrize("language", ["en", "de", "ja", "th"])
def test_one_word_is_one_piece_without_icu_too(breaker, word, language):
    breakers = pytest.importorskip("icu4py.breakers")
    assert list(icu_pieces(breaker, word, language)) == list(getattr(breakers, breaker)(word, language)) == [word]


def test_terms_of_languages_with_and_without_spaces():
    assert terms("The tea's taste, it's Ann's") == ["tea", "taste", "ann"]
    assert terms("Das Wasser und die Blätter", "de") == ["wasser", "blätter"]
    assert terms("東京でお茶を飲みました。", "ja")[:2] == ["東京", "お茶"]
    assert "ชา" in terms("ชาเป็นเครื่องดื่ม", "th")
    assert icu_words("हिन्दी में") == ["हिन्दी", "में"]


@pytest.mark.parametrize("text", ["", " \n", "!!!", "\ud800", "a\x00b", "\u202e" * 50])
def test_unusual_texts_have_terms(text):
    assert isinstance(terms(text), list)
    assert isinstance(sentences(text), list)
    assert isinstance(language_of(text * 60), str)


@pytest.mark.slow
@given(st.text(max_size=200))
@settings(max_examples=60)
def test_words_occur_in_the_text(text):
    plain = text.lower().replace("’", "'").encode("utf-8", "replace").decode()
    assert all(word in plain for word in icu_words(text))


def test_paragraphs_are_children_of_the_lowest_common_ancestor():
    inner = "<div id=b><p>One tea.</p><div><p>Two teas.</p><p>Three teas.</p></div></div>"
    tree = tree_of(f"<body><div id=a>{inner}</div><p>Out</p></body>", [True, True, True, False])
    assert tree.page.elements.attributes[tree.nodes[topic_root(tree)].element] == {"id": "b"}
    assert paragraph_texts(tree) == [["One tea."], ["Two teas.", "Three teas."]]
    assert paragraph_texts(tree_of("<body><p>One tea. Two teas.</p></body>")) == [["One tea. Two teas."]]
    assert paragraph_texts(tree_of("<body></body>")) == []


@given(st.integers(0, 40), st.lists(st.integers(0, 1000), max_size=12))
def test_sentences_are_shared_out_whole(count, sizes):
    shares = share_out(count, sizes)
    assert sum(shares) == (count if sum(sizes) else 0)
    total = sum(sizes) or 1
    assert all(abs(share - count * size / total) < 1 for share, size in zip(shares, sizes, strict=True))


def test_heaviest_sentences_come_in_the_order_of_the_page():
    paragraph = [Sentence(text, text.lower().strip(".").split()) for text in ("Tea.", "Socks.", "Pots of tea.")]
    assert heaviest(paragraph, 2, {"tea": 0.9, "pots": 0.1}) == ["Tea.", "Pots of tea."]


def test_abstract_has_at_most_a_third_of_the_sentences(page):
    kept = [label.is_content for label in page.labels]
    tree = TagTree(page.document, kept)
    vector = feature_vector(tree, "en")
    assert len(abstract(tree, vector, 15, 15, "en")) == 4  # of nine sentences of text
    assert len(abstract(tree, vector, 2, 15, "en")) == 2
    assert abstract(tree, vector, 0, 15, "en") == []


THAI = "เดือนนี้หอศิลป์ริมคลองชวนทุกคนมาใช้เวลาช่วงบ่ายริมน้ำ"
RULES = "Tell us where you keep<br>your bees before you ask. Nobody can help you else, and nobody will."
STOVES = "".join(f"<p>Stoves: {number} lbs. 5 oz.</p>" for number in range(20))
LISTING = "<pre>sieve_line prints the lines of a file that pass.</pre>"


def test_text_is_spaced_as_on_the_page():
    tree = tree_of("<body><p>A <b>spade</b>, <i>b</i>order width, of steel.</p></body>")
    assert [tree.text(node.texts) for node in tree.nodes if node.texts] == ["A spade, border width, of steel."]


@pytest.mark.parametrize(
    ("html", "language", "expected"),
    [
        # A heading of bold text and a line break is not part of a sentence.
        (f"<p><b>Forum rules</b><br>{RULES}</p>", "en", "Tell us where you keep your bees before you ask."),
        # Measures and prices are not sentences.
        (f"{STOVES}<p>Stoves are told apart by the fuel that they burn.</p>", "en",
         "Stoves are told apart by the fuel that they burn."),
        # Preformatted text counts only if there is no other.
        (LISTING, "en", "sieve_line prints the lines of a file that pass."),
        (f"{LISTING}<p>Sieves are tools that part large things from small ones.</p>", "en",
         "Sieves are tools that part large things from small ones."),
    ],
)  # fmt: skip
def test_sentences_of_an_abstract(html, language, expected):
    assert abstract_of(html, language) == [expected]


def test_thai_sentences_need_no_full_stop():
    assert THAI in abstract_of(f"<p>{THAI}</p><p>วันเสาร์ที่สิบ เวลา 16.00 น.</p>", "th")


def abstract_of(html, language):
    tree = tree_of(f"<body>{html}</body>")
    return abstract(tree, feature_vector(tree, language), 15, 15, language)


def test_relevant_links_come_from_similar_blocks(page):
    record = describe(page)
    assert [link.url for link in record.links] == ["https://weir.example/ringers", "https://weir.example/tower#top"]
    assert record.links[0].text == "Bell ringers of the parish"
    assert describe(page, Parameters(beta=1.0)).links == ()


RELATED = "<ul><li><a href='/b'>More of tea leaves</a></li><li><a href='/tea'>Tea and its leaves</a></li></ul>"


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        ("<aside>{}</aside>", ["https://weir.example/b"]),
        ("<div class='related nav-list'>{}</div>", ["https://weir.example/b"]),
        ("<nav>{}</nav>", []),
        ("<header><div>{}</div></header>", []),
        ("<div class='wide menu'>{}</div>", []),
        ("<div role='navigation'>{}</div>", []),
    ],
)
def test_links_in_menus_and_to_the_page_itself_are_not_relevant(around, expected):
    html = f"<body><p>Tea is made of leaves, and leaves make tea.</p>{around.format(RELATED)}</body>"
    whole = TagTree(read_document(html, load_config("blocks"), "https://weir.example/tea"))
    content = TagTree(whole.page, [block.index == 0 for block in whole.page.document.blocks])
    links = relevant_links(whole, content, feature_vector(content, "en"), 0.2, "en")
    assert [link.url for link in links] == expected
    assert relevant_links(whole, content, {}, 0.0, "en") == []  # not similar at all


@pytest.mark.parametrize(("word", "term"), [("quell'albero", "albero"), ("nessun'altra", "nessun'altra")])
def test_short_words_before_an_apostrophe_are_removed(word, term):
    assert terms(word, "it") == [term]


def test_links_to_the_same_page_are_left_out():
    document = read_document(
        "<body><p><a href='#top'>To the top</a> <a href='/b'>Another page</a> <a href='/b'>The same</a></p></body>",
        load_config("blocks"),
        "https://weir.example/a",
    )
    tree = TagTree(document)
    assert [tuple(link) for link in node_links(tree, tree.nodes)] == [("https://weir.example/b", "Another page")]
    assert relevant_links(tree, TagTree(tree.page, [True]), {}, 0.0) == []


# Records and formats.


def test_record_of_a_page(page):
    record = describe(page)
    assert (record.identifier, record.type, record.title) == (
        "https://weir.example/bells",
        "topic",
        "The bells of Aldermere",
    )
    assert (record.author, record.date, record.site_name) == ("Ida Quist", "2024-05-17", "The Weir Gazette")
    assert record.language == "en"
    assert record.keywords[0] == "bells"
    assert len(record.keywords) == 10
    assert "eight bells" in record.abstract
    assert "socks" not in record.content
    assert record.images == record.main_links == ()


def test_deleted_parts_of_blocks_are_not_described():
    html = "<p>Log in to the newsletter. Tea is made by pouring hot water over the leaves of the tea bush.</p>"
    page = replace(load_method("everything").document(html, metadata=True), spans=(((26, 91),),))
    record = describe(page)
    assert record.content == "Tea is made by pouring hot water over the leaves of the tea bush.\n"
    assert "newsletter" not in record.keywords
    assert "Log in" not in record.abstract


def test_title_of_a_page_without_one_is_its_keywords(cleaner):
    html = (
        b"<html><head><title>Untitled Document</title></head><body>" + PAGE.partition(b"<h1>")[2].partition(b"</h1>")[2]
    )
    record = describe(cleaner.document(html, metadata=True))
    assert record.title.split()[0] == "bells"
    assert len(record.title.split()) == 2


def test_a_hub_page_has_its_links_as_content():
    links = "".join(f"<li><a href='/tea/{number}'>The tea of garden number {number}</a></li>" for number in range(30))
    page = load_method("everything").document(f"<body><ul>{links}</ul></body>", "https://weir.example/", metadata=True)
    record = describe(page)
    assert record.type == "hub"
    assert len(record.main_links) == 30
    assert record.links == ()


IMAGES = "".join(f"<div><img src='/{number}.jpg' alt='Garden {number}'></div>" for number in range(9))


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        (IMAGES, "image"),
        (f"{IMAGES}<p>Our tea gardens in spring.</p>", "image"),  # some words may be next to the images
        (f"{IMAGES}<p>Our tea gardens in spring.</p>".replace("<img ", "<img width=10 "), "topic"),  # spacers
    ],
)
def test_image_page_has_its_images_as_content(html, kind):
    page = load_method("everything").document(f"<body>{html}</body>", "https://weir.example/", metadata=True)
    record = describe(page)
    assert record.type == kind
    if kind == "image":
        assert record.images[0] == ("https://weir.example/0.jpg", "Garden 0")


def test_story_beside_unnamed_menus_is_a_topic():
    """A news page of twenty years ago: nothing shows which of its tables is the menu."""
    menu = "".join(f"<tr><td><a href='/{number}'>News of the county {number}</a></td></tr>" for number in range(40))
    story = (
        "<p>The cat lived in the signal box for a year before anybody saw it, and was fed by the night shift.</p>" * 5
    )
    html = f"<body><table>{menu}</table><table><tr><td>{story}</td></tr></table></body>"
    whole = TagTree(read_document(html, load_config("blocks")))
    content = TagTree(whole.page, [block.text.startswith("The cat") for block in whole.page.document.blocks])
    assert whole.page_type(Thresholds()) == "hub"
    assert page_type(whole, content) == "topic"


def test_element_with_the_whole_page_is_not_marginal():
    tree = tree_of("<body><form><div class='footer'>All rights</div><p>" + "Tea is hot. " * 20 + "</p></form></body>")
    assert by_tag(tree, tree.central) == {"html": True, "body": True, "form": True, "div": False, "p": True}


@pytest.mark.parametrize("html", [b"", b"<p>", b"\x00\xff\xfe", b"<title>x</title>", "茶".encode() * 500])
@pytest.mark.parametrize("format", FORMATS)
def test_empty_and_broken_pages_have_records(cleaner, html, format):
    assert cleaner.clean(html, format=format)


def test_json_lines(cleaner):
    line = cleaner.clean(PAGE, format="docview(keywords=3,sentences=1)")
    record = json.loads(line)
    assert line.count("\n") == 1
    assert len(record["keywords"]) == 3
    assert record["abstract"].count(".") == 1
    assert record["links"][0] == {"url": "https://weir.example/ringers", "text": "Bell ringers of the parish"}


def test_csv_has_a_header_and_a_row(cleaner):
    (row,) = csv.DictReader(io.StringIO(cleaner.clean(PAGE, format="docview-csv")))
    assert row["title"] == "The bells of Aldermere"
    assert row["keywords"].startswith("bells; ")
    assert row["links"] == "https://weir.example/ringers; https://weir.example/tower#top"
    assert "founder never cast bells again" in row["content"]


def test_markdown_has_front_matter(cleaner):
    text = cleaner.clean(PAGE, format="docview-markdown")
    _, head, body = text.split("---\n", 2)
    fields = {key: json.loads(value) for key, value in re.findall(r"^(\w+): (.*)$", head, re.MULTILINE)}
    assert fields["date"] == "2024-05-17"
    assert "content" not in fields
    assert "founder never cast bells again" in body


def tei(html, method=None):
    """Return a function that evaluates XPath expressions on a page's TEI."""
    root = etree.fromstring((method or load_method("everything")).clean(html, format="docview-tei").encode())
    return partial(root.xpath, namespaces=TEI)


def test_tei_has_the_record_in_its_header(cleaner):
    find = tei(PAGE, cleaner)
    assert find("string(//t:titleStmt/t:title)") == "The bells of Aldermere"
    assert find("string(//t:titleStmt/t:author)") == "Ida Quist"
    assert find("string(//t:date/@when)") == "2024-05-17"
    assert len(find("//t:keywords[@scheme='#keywords']/t:term")) == 10
    assert "founder never cast" in find("string(//t:body)")
    assert find("//t:ref/@target")[0] == "https://weir.example/ringers"


def test_tei_of_a_page_without_metadata_is_complete():
    find = tei("<p>tea</p>")
    assert find("string(//t:publicationStmt/t:publisher)") == "unknown"
    assert find("//t:publicationStmt/t:date | //t:titleStmt/t:author | //t:abstract") == []
    assert find("//t:sourceDesc/t:bibl/t:ptr") == []


def test_tei_has_tables_of_rows_of_cells():
    rows = "<tr><th>Tea<th>Cups</tr><tr><th>green<td>2<br>or 3</tr><tr><th>black<td>\x0b5</tr>"
    html = f"<body><h2>Teas</h2><table><caption>A table</caption>{rows}</table><ul><li>one</li></ul></body>"
    (division,) = tei(html)("//t:body/t:div")
    assert [etree.QName(element).localname for element in division] == ["head", "p", "table", "list"]
    rows = division.xpath("t:table/t:row", namespaces=TEI)
    cells = [[" ".join(cell.itertext()) for cell in row] for row in rows]
    assert cells == [["Tea", "Cups"], ["green", "2 or 3"], ["black", "5"]]
    assert [row.get("role") for row in rows] == ["label", None, None]
    assert [cell.get("role") for cell in rows[1]] == ["label", None]


def test_tei_leaves_out_invisible_paragraphs_and_invalid_characters(cleaner):
    find = tei("<p>5\x80 of\x07 tea</p><p>\u200b</p><p>milk</p>")
    assert find("//t:body//t:p/text()") == ["5€ of tea", "milk"]
    assert tei(PAGE.replace(b"eight bells", "eight \x0b\x1b[31m \ufffe bells".encode()), cleaner)("//t:body")


@pytest.mark.parametrize(("format", "message"), read_cases("mistakes.json", "formats"))
def test_wrong_formats_are_refused(format, message):
    with pytest.raises(VictorError, match=re.escape(message)):
        find_output(format)


# The commands.


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_weights_of_sentences_do_not_depend_on_the_order_of_sets(seed):
    script = """
from victorpy.description.integration import Sentence, heaviest
weights = {"tea": 0.1, "cup": 0.2, "pot": 0.3, "leaf": 0.4, "milk": 0.6, "bush": 0.7}
found = ["A tea cup pot leaf", "B leaf milk", "C cup pot leaf tea", "D pot bush"]
for some in (found, found[::-1]):
    print(*heaviest([Sentence(text[0], text.split()) for text in some], 1, weights))
"""
    assert run_process("-c", script, env={**ENVIRONMENT, "PYTHONHASHSEED": str(seed)}).stdout == b"A\nD\n"


@pytest.mark.slow
@pytest.mark.parametrize("command", [["clean", "--format", "docview"], ["categories", "predict", "no-model"]])
def test_missing_package_is_reported_once(command):
    pages = sorted((ROOT / "data" / "article").glob("*.html"))[:2]
    script = "import sys; sys.modules['stopwordsiso'] = None; from victorpy.commands import main; sys.exit(main())"
    error = refused(run_process("-c", script, *command, *pages))
    assert error == f"{command[0]}: telling what pages are about needs stopwordsiso: {install_command('docview')}\n"


def clean(*arguments):
    ended = run_clean(*arguments, "--quiet", text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM", "＝1"])
def test_csv_cell_cannot_start_a_formula(start):
    page = f"<p>{start} and tea is made by pouring hot \u202e water over the leaves of the tea bush."
    (row,) = csv.DictReader(io.StringIO(load_method("everything").clean(page, format="docview-csv")))
    assert row["content"].startswith(f"'{start} and tea")
    assert "hot ⟨U+202E⟩ water" in row["content"]


def csv_rows(path):
    return list(csv.DictReader(path.open(encoding="utf-8")))


def test_csv_has_one_header_per_file(tmp_path):
    write_files(tmp_path / "in", dict.fromkeys(["0.html", "1.html", "2.html"], PAGE))
    csv_of = ["--format", "docview-csv", "-o"]
    clean(*sorted((tmp_path / "in").iterdir()), *csv_of, tmp_path / "all.csv")
    assert [row["title"] for row in csv_rows(tmp_path / "all.csv")] == ["The bells of Aldermere"] * 3
    for way in ([], ["--to", "folder"]):
        clean(tmp_path / "in", *csv_of, f"{tmp_path}/out{len(way)}/", *way)
        (row,) = csv_rows(tmp_path / f"out{len(way)}" / "1.csv")
        assert row["author"] == "Ida Quist"


def test_rows_of_a_batch_have_the_columns_of_a_record(tmp_path):
    write_files(tmp_path / "in", {"good.html": PAGE, "bad.html": JPEG})
    options = "--format", "docview(keywords=2)", "--to", "jsonl", "-o", tmp_path / "out", "--quiet"
    assert run_clean(tmp_path / "in", *options).returncode in {0, 1}
    lines = [json.loads(line) for part in sorted((tmp_path / "out").glob("part-*.jsonl")) for line in part.open()]
    rows = {Path(row["name"]).name: row for row in lines}
    good = rows["good.html"]
    assert (good["type"], good["author"], good["title"]) == ("topic", "Ida Quist", "The bells of Aldermere")
    assert len(good["keywords"]) == 2
    assert good["text"].startswith("The bells") or "eight bells" in good["text"]
    assert rows["bad.html"]["keywords"] is None


@pytest.mark.slow
def test_worker_imports_libraries_before_its_first_record():
    """The deadline of the first record must not include the imports, except dateparser, which few pages need."""
    script = (
        "import sys; from victorpy.batch.outcome import PageCleaner; from victorpy.batch.plan import Plan\n"
        "PageCleaner(Plan(format='docview'))\n"
        "print({'icu4py', 'py3langid', 'stopwordsiso'} - sys.modules.keys())"
    )
    assert run_process("-c", script, cwd=ROOT).stdout == b"set()\n"


def test_parquet_has_the_columns_of_a_record(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "good.html").write_bytes(PAGE)
    clean(tmp_path / "good.html", "--format", "docview", "-o", f"{tmp_path}/out.parquet/")
    (part,) = (tmp_path / "out.parquet").glob("part-*.parquet")
    (row,) = parquet.read_table(part).to_pylist()
    assert row["keywords"][0] == "bells"
    assert row["links"][0]["text"] == "Bell ringers of the parish"
    assert row["date"] == "2024-05-17"


def test_wrong_format_parameter_gives_one_error_line(tmp_path):
    (tmp_path / "a.html").write_bytes(PAGE)
    error = refused(run_clean(tmp_path / "a.html", "--format", "docview(lambda=3)"))
    assert error.startswith("clean: docview: 'lambda=3' is not a parameter")
