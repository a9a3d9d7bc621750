"""DocView: the paper's formulas, records of pages, their formats, and bad input."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from math import log, sqrt
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from victorpy import Cleaner, ConfigError, VictorError, load_config, read_document
from victorpy.docview.abstract import Sentence, abstract, heaviest, paragraph_texts, share_out, topic_root
from victorpy.docview.language import language_of
from victorpy.docview.links import node_links, relevant_links
from victorpy.docview.record import Parameters, describe, page_type
from victorpy.docview.tag_tree import TagTree, Thresholds
from victorpy.docview.terms import sentences, terms, words
from victorpy.docview.weights import block_weights, feature_vector, forces, keywords, similarity
from victorpy.labellers.docview import DocViewCleaner
from victorpy.methods import load_method
from victorpy.outputs import find_output

ROOT = Path(__file__).parents[1]
CASES = Path(__file__).parent / "cases" / "docview"
PAGE = (CASES / "cathedral.html").read_bytes()
FORMATS = ["docview", "docview-tei", "docview-markdown", "docview-csv"]
TEI = {"t": "http://www.tei-c.org/ns/1.0"}


def cases(name):
    found = json.loads((CASES / name).read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["name"]) for case in (found["cases"] if isinstance(found, dict) else found)]


def tree_of(html, kept=None):
    return TagTree(read_document(html, load_config("blocks")), kept)


def by_tag(tree, values):
    """Values of nodes under the tags of their elements; several of a tag are a list."""
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


@pytest.mark.parametrize("case", cases("weights.json"))
def test_algorithm_1(case):
    tree = tree_of(case["html"])
    weights = by_tag(tree, block_weights(tree, spread=0.5))
    if "weights" in case:
        for tag, expected in case["weights"].items():
            assert weights[tag] == pytest.approx(expected), tag
    else:
        heaviest_of_all = max(max(each) if isinstance(each, list) else each for each in case["logarithms"].values())
        for tag, steps in case["logarithms"].items():
            shares = [
                case["of_force"] ** (step - heaviest_of_all) for step in (steps if isinstance(steps, list) else [steps])
            ]
            found = weights[tag] if isinstance(weights[tag], list) else [weights[tag]]
            assert found == pytest.approx(shares), tag


def test_a_block_without_weighty_tags_has_force_1_and_headings_more_the_higher_they_are():
    tree = tree_of("<body><div><h1>Tea</h1> is hot</div><div><h3>Tea</h3> is hot</div><div>Tea is hot</div></body>")
    first, second, third = by_tag(tree, forces(tree))["div"]
    assert first > second > third == 1


def test_a_thousand_emphasised_items_do_not_overflow():
    tree = tree_of("<body><div>" + "<p>All of <b>it</b> is bold</p>" * 3000 + "</div><div><p>But this</p></div></body>")
    weights = block_weights(tree)
    assert max(weights) == 1
    assert all(weight >= 0 for weight in weights)


def test_formula_2_is_term_frequency_times_block_weight_of_length_1():
    tree = tree_of("<body><div><p>tea <b>kettle</b> tea bush</p></div><div><p>bush harvest</p></div></body>")
    vector = feature_vector(tree, "en", spread=0.0)
    raw = {"tea": 2 * 1.5, "kettle": 1.5, "bush": 1.5 + 1, "harvest": 1}
    length = sqrt(sum(weight**2 for weight in raw.values()))
    assert vector == pytest.approx({term: weight / length for term, weight in raw.items()})


def test_no_text_is_an_empty_vector():
    assert feature_vector(tree_of("<body><img src=a.gif></body>"), "en") == {}
    assert keywords({}, 5) == []


def test_similarity_is_the_cosine():
    assert similarity({"tea": 0.6, "bush": 0.8}, {"tea": 1.0}) == pytest.approx(0.6)
    assert similarity({"tea": 1.0}, {"pot": 1.0}) == 0


def test_only_kept_blocks_count():
    html = "<body><p>tea kettle</p><p>socks for sale</p></body>"
    tree = tree_of(html, [True, False])
    assert set(feature_vector(tree, "en")) == {"tea", "kettle"}


@pytest.mark.parametrize("case", cases("types.json"))
def test_types_of_blocks_and_pages(case):
    tree = tree_of(case["html"])
    assert str(tree.page_type(Thresholds())) == case["type"]
    found = by_tag(tree, [str(node.type(Thresholds())) for node in tree.nodes])
    for tag, expected in case["nodes"].items():
        assert set(found[tag] if isinstance(found[tag], list) else [found[tag]]) == {expected}


@pytest.mark.parametrize("case", cases("cleaning.json"))
def test_the_papers_cleaner(case):
    document = read_document(case["html"], load_config("blocks"))
    labels = DocViewCleaner().label(document).labels
    kept = [block.text for block, label in zip(document.blocks, labels, strict=True) if label.is_content]
    assert kept == case["kept"]


def test_the_cleaner_is_a_method_with_parameters():
    found = load_method("docview", ["hub=0.3", "central=yes"]).labeller
    assert (found.hub, found.central) == (0.3, True)
    with pytest.raises(ConfigError, match=r"docview: hub=2\.0: expected a number from 0 to 1"):
        load_method("docview", ["hub=2"])


def test_the_cleaner_keeps_an_article_without_its_menus(page):
    cleaned = load_method("docview", ["central=yes"]).clean(PAGE)
    assert "eight bells of Aldermere" in cleaned
    assert "Sport" not in cleaned
    assert "socks" not in cleaned


# Keywords, abstracts, links.


def test_terms_of_languages_with_and_without_spaces():
    assert terms("Das Wasser und die Blätter", "de") == ["wasser", "blätter"]
    assert terms("東京でお茶を飲みました。", "ja")[:2] == ["東京", "お茶"]
    assert "ชา" in terms("ชาเป็นเครื่องดื่ม", "th")
    assert words("हिन्दी में") == ["हिन्दी", "में"]


@pytest.mark.parametrize("text", ["", " \n", "!!!", "\ud800", "a\x00b", "\u202e" * 50])
def test_odd_texts_have_terms_too(text):
    assert isinstance(terms(text), list)
    assert isinstance(sentences(text), list)
    assert isinstance(language_of(text * 60), str)


@given(st.text(max_size=200))
@settings(max_examples=60)
def test_words_are_of_the_text(text):
    plain = text.lower().replace("’", "'").encode("utf-8", "replace").decode()
    assert all(word in plain for word in words(text))


def test_paragraphs_are_the_sons_of_the_lowest_common_ancestor():
    inner = "<div id=b><p>One tea.</p><div><p>Two teas.</p><p>Three teas.</p></div></div>"
    tree = tree_of(f"<body><div id=a>{inner}</div><p>Out</p></body>", [True, True, True, False])
    assert tree.page.elements.attributes[tree.nodes[topic_root(tree)].element] == {"id": "b"}
    assert paragraph_texts(tree) == [["One tea."], ["Two teas.", "Three teas."]]


def test_a_page_of_one_block_is_one_paragraph_and_an_empty_one_none():
    assert paragraph_texts(tree_of("<body><p>One tea. Two teas.</p></body>")) == [["One tea. Two teas."]]
    assert paragraph_texts(tree_of("<body></body>")) == []


@given(st.integers(0, 40), st.lists(st.integers(0, 1000), max_size=12))
def test_sentences_are_shared_out_whole(count, sizes):
    shares = share_out(count, sizes)
    assert sum(shares) == (count if sum(sizes) else 0)
    total = sum(sizes) or 1
    assert all(abs(share - count * size / total) < 1 for share, size in zip(shares, sizes, strict=True))


def test_the_heaviest_sentences_are_given_in_the_order_of_the_page():
    paragraph = [
        Sentence("Tea.", ["tea"]),
        Sentence("Socks.", ["socks"]),
        Sentence("Pots of tea.", ["pots", "of", "tea"]),
    ]
    assert heaviest(paragraph, 2, {"tea": 0.9, "pots": 0.1}) == ["Tea.", "Pots of tea."]


def test_an_abstract_is_a_third_of_the_sentences_at_most(page):
    kept = [label.is_content for label in page.labels]
    tree = TagTree(page.document, kept)
    vector = feature_vector(tree, "en")
    assert len(abstract(tree, vector, 15, 15, "en")) == 4  # of nine sentences of text
    assert len(abstract(tree, vector, 2, 15, "en")) == 2
    assert abstract(tree, vector, 0, 15, "en") == []


def abstract_of(html, language="en", sentences=15):
    tree = tree_of(html)
    return abstract(tree, feature_vector(tree, language), sentences, 15, language)


def test_text_is_spaced_as_on_the_page():
    tree = tree_of("<body><p>A <b>spade</b>, <i>b</i>order width, of steel.</p></body>")
    assert [tree.text(node) for node in tree.nodes if node.texts] == ["A spade, border width, of steel."]


def test_a_heading_made_of_emphasis_and_a_break_is_no_part_of_a_sentence():
    wrapped = "Tell us where you keep<br>your bees before you ask. Nobody can help you else, and nobody will."
    assert abstract_of(f"<body><p><b>Forum rules</b><br>{wrapped}</p></body>") == [
        "Tell us where you keep your bees before you ask."
    ]


def test_measures_and_prices_are_no_sentences():
    rows = "".join(f"<p>Stoves: {number} lbs. 5 oz.</p>" for number in range(20))
    assert abstract_of(f"<body>{rows}<p>Stoves are told apart by the fuel that they burn.</p></body>") == [
        "Stoves are told apart by the fuel that they burn."
    ]


def test_thai_sentences_need_no_full_stop():
    text = "เดือนนี้หอศิลป์ริมคลองชวนทุกคนมาใช้เวลาช่วงบ่ายริมน้ำ"
    assert text in abstract_of(f"<body><p>{text}</p><p>วันเสาร์ที่สิบ เวลา 16.00 น.</p></body>", "th")


def test_a_page_that_is_all_preformatted_has_an_abstract():
    listing = "<pre>sieve_line prints the lines of a file that pass.</pre>"
    assert abstract_of(f"<body>{listing}</body>") == ["sieve_line prints the lines of a file that pass."]
    prose = "<p>Sieves are tools that part large things from small ones.</p>"
    assert abstract_of(f"<body>{listing}{prose}</body>") == ["Sieves are tools that part large things from small ones."]


def test_links_of_similar_blocks_are_relevant_and_nothing_dangerous_is(page):
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
def test_neither_menus_nor_the_page_itself_are_relevant(around, expected):
    html = f"<body><p>Tea is made of leaves, and leaves make tea.</p>{around.format(RELATED)}</body>"
    whole = TagTree(read_document(html, load_config("blocks"), "https://weir.example/tea"))
    content = TagTree(whole.page, [block.index == 0 for block in whole.page.document.blocks])
    found = relevant_links(whole, content, feature_vector(content, "en"), 0.2, "en")
    assert [link.url for link in found] == expected


def test_links_within_the_page_are_none():
    document = read_document(
        "<body><p><a href='#top'>To the top</a> <a href='/b'>Another page</a> <a href='/b'>The same</a></p></body>",
        load_config("blocks"),
        "https://weir.example/a",
    )
    tree = TagTree(document)
    assert [tuple(link) for link in node_links(tree, tree.nodes)] == [("https://weir.example/b", "Another page")]
    assert relevant_links(tree, TagTree(tree.page, [True]), {}, 0.0) == []


# Records and formats.


def test_the_record_of_a_page(page):
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


def test_a_page_without_a_title_is_called_by_its_keywords(cleaner):
    html = (
        b"<html><head><title>Untitled Document</title></head><body>" + PAGE.partition(b"<h1>")[2].partition(b"</h1>")[2]
    )
    record = describe(cleaner.document(html, metadata=True))
    assert record.title.split()[0] == "bells"
    assert len(record.title.split()) == 2


def test_a_hub_page_has_its_links_as_content():
    links = "".join(f"<li><a href='/tea/{number}'>The tea of garden number {number}</a></li>" for number in range(30))
    found = load_method("everything").document(f"<body><ul>{links}</ul></body>", "https://weir.example/", metadata=True)
    record = describe(found)
    assert record.type == "hub"
    assert len(record.main_links) == 30
    assert record.links == ()


def test_an_image_page_has_its_images_as_content():
    images = "".join(f"<div><img src='/{number}.jpg' alt='Garden {number}'></div>" for number in range(9))
    found = load_method("everything").document(f"<body>{images}</body>", "https://weir.example/", metadata=True)
    record = describe(found)
    assert record.type == "image"
    assert record.images[0] == ("https://weir.example/0.jpg", "Garden 0")


def test_an_image_page_may_say_some_words_beside_its_images():
    images = "".join(f"<div><img src='/{number}.jpg' alt='Garden {number}'></div>" for number in range(9))
    page = f"<body>{images}<p>Our tea gardens in spring.</p></body>"
    everything = load_method("everything")
    assert describe(everything.document(page, metadata=True)).type == "image"
    spacers = page.replace("<img ", "<img width=10 ")
    assert describe(everything.document(spacers, metadata=True)).type == "topic"


def test_menus_without_names_make_no_hub_of_a_story():
    """News of twenty years ago: tables, and nothing says which of them is the menu."""
    menu = "".join(f"<tr><td><a href='/{number}'>News of the county {number}</a></td></tr>" for number in range(40))
    story = (
        "<p>The cat lived in the signal box for a year before anybody saw it, and was fed by the night shift.</p>" * 5
    )
    html = f"<body><table>{menu}</table><table><tr><td>{story}</td></tr></table></body>"
    whole = TagTree(read_document(html, load_config("blocks")))
    content = TagTree(whole.page, [block.text.startswith("The cat") for block in whole.page.document.blocks])
    assert whole.page_type(Thresholds()) == "hub"
    assert page_type(whole, content) == "topic"


def test_what_holds_the_whole_page_is_no_margin():
    tree = tree_of("<body><form><div class='footer'>All rights</div><p>" + "Tea is hot. " * 20 + "</p></form></body>")
    assert by_tag(tree, tree.central) == {"html": True, "body": True, "form": True, "div": False, "p": True}


@pytest.mark.parametrize("html", [b"", b"<p>", b"\x00\xff\xfe", b"<title>x</title>", "茶".encode() * 500])
@pytest.mark.parametrize("format", FORMATS)
def test_poor_pages_have_records_too(cleaner, html, format):
    assert cleaner.clean(html, format=format)


def test_json_lines(cleaner):
    line = cleaner.clean(PAGE, format="docview(keywords=3,sentences=1)")
    record = json.loads(line)
    assert line.count("\n") == 1
    assert len(record["keywords"]) == 3
    assert record["abstract"].count(".") == 1
    assert record["links"][0] == {"url": "https://weir.example/ringers", "text": "Bell ringers of the parish"}


def test_csv_has_a_head_and_a_row(cleaner):
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


def test_tei_has_the_record_in_its_header(cleaner):
    root = etree.fromstring(cleaner.clean(PAGE, format="docview-tei").encode())
    assert root.xpath("string(//t:titleStmt/t:title)", namespaces=TEI) == "The bells of Aldermere"
    assert root.xpath("string(//t:titleStmt/t:author)", namespaces=TEI) == "Ida Quist"
    assert root.xpath("string(//t:date/@when)", namespaces=TEI) == "2024-05-17"
    assert len(root.xpath("//t:keywords[@scheme='#keywords']/t:term", namespaces=TEI)) == 10
    assert "founder never cast" in root.xpath("string(//t:body)", namespaces=TEI)
    assert root.xpath("//t:ref/@target", namespaces=TEI)[0] == "https://weir.example/ringers"


def test_tei_has_tables_of_rows_of_cells():
    rows = "<tr><th>Tea<th>Cups</tr><tr><th>green<td>2<br>or 3</tr><tr><th>black<td>\x0b5</tr>"
    html = f"<body><h2>Teas</h2><table><caption>A table</caption>{rows}</table><ul><li>one</li></ul></body>"
    root = etree.fromstring(load_method("everything").clean(html, format="docview-tei").encode())
    (division,) = root.xpath("//t:body/t:div", namespaces=TEI)
    assert [etree.QName(each).localname for each in division] == ["head", "p", "table", "list"]
    found = division.xpath("t:table/t:row", namespaces=TEI)
    assert [[each.text for each in row] for row in found] == [["Tea", "Cups"], ["green", "2 or 3"], ["black", "5"]]
    assert [row.get("role") for row in found] == ["label", None, None]
    assert [each.get("role") for each in found[1]] == ["label", None]


def test_tei_has_no_paragraphs_of_nothing_to_see_and_no_control_characters():
    html = "<p>5\x80 of\x07 tea</p><p>\u200b</p><p>milk</p>"
    root = etree.fromstring(load_method("everything").clean(html, format="docview-tei").encode())
    assert [each.text for each in root.findall(".//t:body//t:p", TEI)] == ["5€ of tea", "milk"]


def test_tei_holds_nothing_that_xml_cannot(cleaner):
    html = PAGE.replace(b"eight bells", "eight \x0b\x1b[31m \ufffe bells".encode())
    assert etree.fromstring(cleaner.clean(html, format="docview-tei").encode()) is not None


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("docview(keyword=3)", "docview: 'keyword=3' sets no parameter (did you mean 'keywords'?)"),
        ("docview(keywords=many)", "docview: keywords=many: expected a value like 10"),
        ("docview(beta=7)", "docview: beta=7.0: expected a number from 0 to 1"),
        ("docview(keywords=-1)", "docview: keywords=-1: expected a whole number, 0 or more"),
        ("docview-tie", "no output format 'docview-tie' (did you mean 'docview-tei'?)"),
        ("text(a=1)", "the format 'text' has no parameters to set: a=1"),
        ("docview(", "'docview(' is no format: give a name, parameters as in 'docview(keywords=5)'"),
    ],
)
def test_wrong_formats_are_refused(format, message):
    with pytest.raises(VictorError, match=re.escape(message)):
        find_output(format)


# The commands.


@pytest.mark.parametrize("seed", [2, 3])
def test_sentences_of_the_same_weight_are_so_in_every_process(seed):
    """A set of words has another order in each process; the sum of their weights must not depend on it."""
    script = """
from victorpy.docview.abstract import Sentence, heaviest
weights = {"tea": 0.1, "cup": 0.2, "pot": 0.3, "leaf": 0.4, "milk": 0.6, "bush": 0.7}
found = ["A tea cup pot leaf", "B leaf milk", "C cup pot leaf tea", "D pot bush"]
for some in (found, found[::-1]):
    print(*heaviest([Sentence(text[0], text.split()) for text in some], 1, weights))
"""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert ended.stdout == "A\nD\n"


@pytest.mark.parametrize("command", [["clean", "--format", "docview"], ["categories", "predict", "no-model"]])
def test_a_missing_package_is_told_once(command):
    pages = [str(path) for path in sorted((ROOT / "data" / "article").glob("*.html"))[:2]]
    script = (
        "import sys; sys.modules['py3langid'] = None; from victorpy.commands import main; sys.exit(main(sys.argv[1:]))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, *command, *pages], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert ended.returncode == 2
    assert ended.stderr == (
        f"{command[0]}: telling what pages are about needs py3langid: pip install 'victorpy[docview]'\n"
    )


def clean(*arguments, **options):
    command = [sys.executable, str(ROOT / "clean.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, **options)


def test_many_pages_in_one_file_have_one_head(tmp_path):
    pages = [tmp_path / f"{number}.html" for number in range(3)]
    for each in pages:
        each.write_bytes(PAGE)
    ended = clean(*pages, "--format", "docview-csv", "-o", tmp_path / "all.csv")
    assert ended.returncode == 0, ended.stderr
    rows = list(csv.DictReader((tmp_path / "all.csv").open(encoding="utf-8")))
    assert [row["title"] for row in rows] == ["The bells of Aldermere"] * 3


def test_files_of_a_folder_have_a_head_each(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(3):
        (tmp_path / "in" / f"{number}.html").write_bytes(PAGE)
    for way in ([], ["--to", "folder"]):
        ended = clean(tmp_path / "in", "--format", "docview-csv", "-o", f"{tmp_path}/out{len(way)}/", *way)
        assert ended.returncode == 0, ended.stderr
        (row,) = csv.DictReader((tmp_path / f"out{len(way)}" / "1.csv").open(encoding="utf-8"))
        assert row["author"] == "Ida Quist"


def test_rows_of_a_batch_have_the_columns_of_a_record(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good.html").write_bytes(PAGE)
    (tmp_path / "in" / "bad.html").write_bytes(bytes(range(256)) * 20)
    ended = clean(
        tmp_path / "in", "--format", "docview(keywords=2)", "--to", "jsonl", "-o", f"{tmp_path}/out", "--quiet"
    )
    assert ended.returncode in {0, 1}, ended.stderr
    lines = [json.loads(line) for part in sorted((tmp_path / "out").glob("part-*.jsonl")) for line in part.open()]
    rows = {Path(row["name"]).name: row for row in lines}
    good = rows["good.html"]
    assert (good["type"], good["author"], good["title"]) == ("topic", "Ida Quist", "The bells of Aldermere")
    assert len(good["keywords"]) == 2
    assert good["text"].startswith("The bells") or "eight bells" in good["text"]
    assert rows["bad.html"]["keywords"] is None


def test_a_worker_loads_libraries_before_its_first_record():
    """Else the first record would spend its deadline on that."""
    script = (
        "import sys; from victorpy import Cleaner; from victorpy.batch.worker import Tools, Work\n"
        "Tools(Work(Cleaner.load, 'docview'))\n"
        "print({'dateparser', 'extruct', 'icu4py', 'py3langid', 'stopwordsiso'} - sys.modules.keys())"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ended.stdout == "set()\n"


def test_parquet_has_the_columns_of_a_record(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "good.html").write_bytes(PAGE)
    ended = clean(tmp_path / "good.html", "--format", "docview", "-o", f"{tmp_path}/out.parquet/", "--quiet")
    assert ended.returncode == 0, ended.stderr
    (part,) = (tmp_path / "out.parquet").glob("part-*.parquet")
    (row,) = parquet.read_table(part).to_pylist()
    assert row["keywords"][0] == "bells"
    assert row["links"][0]["text"] == "Bell ringers of the parish"
    assert row["date"] == "2024-05-17"


def test_a_wrong_format_is_one_line(tmp_path):
    (tmp_path / "a.html").write_bytes(PAGE)
    ended = clean(tmp_path / "a.html", "--format", "docview(lambda=3)")
    assert ended.returncode == 2
    assert ended.stderr.startswith("clean: docview: 'lambda=3' sets no parameter")
    assert ended.stderr.count("\n") == 1


def test_weights_of_logarithms_are_those_of_products():
    """Algorithm 1 written out as the paper does, with products."""
    leaves = "<p>A <b>tea</b> cup</p><p>An <i>iron</i> pot</p><p>Milk</p>"
    tree = tree_of(f"<body><div>{leaves}</div><div>Leaves <b>of</b> tea</div></body>")
    force = forces(tree)
    weights = [1.0] * len(tree.nodes)
    for number, node in enumerate(tree.nodes):
        if node.is_leaf:
            weights[number] *= force[number]
            passed = force[number] ** 0.5
            weights[node.parent] *= passed
            for sibling in tree.nodes[node.parent].children:
                weights[sibling] *= passed if sibling != number else 1
    assert [log(weight) for weight in block_weights(tree, 0.5)] == pytest.approx(
        [log(each / max(weights)) for each in weights]
    )
