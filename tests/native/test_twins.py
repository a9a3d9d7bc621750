"""The native core gives the results of its Python twins, on sample pages, generated pages and hostile ones."""

import pickle
import random
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from lxml import etree
from support.commands import ENVIRONMENT, run_process
from support.engines import without_core
from support.htmlpages import pages

from victorpy import Cleaner, Document, Label, load_config, native, read_document
from victorpy import columns as page_columns
from victorpy.base import unicode
from victorpy.columns import Columns
from victorpy.columns.elements import Sums
from victorpy.description.metadata import page as metadata_page
from victorpy.description.metadata import read_metadata
from victorpy.features import FEATURES, Feature, find_feature
from victorpy.features.table import FeatureTable
from victorpy.model.crf import tables
from victorpy.model.evidence import cut, lexicon, net, trees
from victorpy.outputs import text as text_output
from victorpy.outputs.base import CleanPage
from victorpy.page import parse as parsing
from victorpy.page import split as splitting
from victorpy.page.decode import decode
from victorpy.page.parse import parse_whole

pytestmark = pytest.mark.skipif(native.load("split") is None, reason="the native core is not built")

CONFIGS = {name: load_config(name) for name in ("cleaneval", "default")}
SAMPLES = sorted((Path(__file__).parents[2] / "data").rglob("*.html"))

HOSTILE = {
    "deep": "<div>tea" * 3_000,
    "deep-pre": "<pre>\n x" * 400 + "<b>\n\n y</b>",
    "many-names": "".join(f"<p class=c{n} id=i{n}>tea {n}</p>" for n in range(3_000)),
    "crossed": "<b><i>tea</b>pot</i>" * 500,
    "hidden": "<p hidden>a<b>b</b></p>c" * 50 + "<p style='DISPLAY : none'>d<p style=x>e",
    "scripts-of-the-world": "<p>ΑΣ ας İstanbul ǅ 茶はおいしい。 ชา ดี١٢٣ 𝔗𝔢𝔞 ﬁn ß</p>" * 3
    + "<title>İstanbul 茶</title>",
    "odd-white-space": "<p>\x0ba\x1cb\x85c\xa0d\u2028e\u3000f</p><pre>\x0c g\r\nh\ri\x1d</pre>",
    "odd-tags": "<br<p>a<x:y>b<p/>c<é>d<svg:g>e",
    "attributes": "<p class='' id=\"&quot;&#10;\" role hidden=false itemprop=é>a<p class='a\nb'>c",
    "references": "&#150;&#xD800;&lt;b&gt;&nbsp;&unknown;&amp<p>&#0;",
    "unwrapped": "a<source>b<script>c</script>d<wbr>e<source><embed></source>f</p><p><wbr><wbr></p>g<source><p>h</p>i",
    "wrapped-for-cleaneval": "<text id='u' title='t'>a<p>b</text>c",
    "control-references": "<p>&#150;&#128;&#159;&#160;&#12;",
    "script-end-in-string": "<script>s = '</script>'; f()</script>a<script>t = \"</SCRIPT >\";</script>b",
    "attribute-flood": "<p " + " ".join(f"a{n}=1" for n in range(21_000)) + ">tea",
    "attribute-flood-without-values": "<p " + " ".join(f"a{n}" for n in range(3_000)) + ">tea",
    "script-in-formula": "<p>Let <math><mi>a<!--c-->b<script>c</script>d<style>e</style></mi></math> be it.",
    "no-text": "<p></p><div><br></div>",
    "only-text": "tea",
    "images": "<img alt=' a  b '><img alt><img hidden alt=x>y<pre><img alt='p  q'>\n r</pre>",
    "label": "<p>It looks like tea.<b><i>Note: </i></b><i>Tea is hot.</i><p> Hot tea.<b>Note: </b>",
    "emoji": "👩‍🚀 👍🏽" * 100,
}


def documents_of(page: bytes | str, config_name: str) -> tuple[Document, Document]:
    """Return a page as the core and as the Python twin split it."""
    config = CONFIGS[config_name]
    decoded = decode(page)
    tree = parse_whole(decoded.page)
    by_core = splitting.split(tree, config.cuts, config.get("tag-delete"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "_native", None)
        patch.setattr(parsing, "_native", None)
        return by_core, splitting.split(parse_whole(decoded.page), config.cuts, config.get("tag-delete"))


def assert_same(ours, twins, name):
    if isinstance(twins, Sums):
        names = ("words", "link_words", "blocks", "link_share", "block_words")
        ours, twins = ([getattr(sums, each) for each in names] for sums in (ours, twins))
        assert_same(tuple(ours), tuple(twins), name)
        return
    if isinstance(twins, dict):
        assert ours.keys() == twins.keys(), name
        ours, twins = tuple(ours.values()), tuple(twins.values())
    if isinstance(twins, tuple):
        assert len(ours) == len(twins), name
        for our, twin in zip(ours, twins, strict=True):
            assert_same(our, twin, name)
    elif isinstance(twins, np.ndarray):
        assert ours.dtype == twins.dtype, name
        np.testing.assert_array_equal(ours, twins, name, strict=True)
        assert ours.dtype != bool or ours.view(np.uint8).max(initial=0) <= 1, name
    else:
        assert ours == twins, name


def assert_twins(page: bytes | str, config_name: str) -> None:
    by_core, by_python = documents_of(page, config_name)
    assert by_core == by_python
    if by_core.arrays is None:
        return
    by_core, _ = documents_of(page, config_name)  # its objects are not made yet
    config = CONFIGS[config_name]
    columns = Columns(by_core, config)
    filled = {name: value for name, value in vars(columns).items() if name not in {"document", "config", "site"}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_columns, "_native", None)
        twin = Columns(by_python, config)
        assert len(filled) > 25
        for name, value in filled.items():
            assert_same(value, getattr(twin, name), name)


@pytest.mark.parametrize("config_name", CONFIGS)
@pytest.mark.parametrize("page", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_have_the_same_blocks_and_columns(page, config_name):
    assert_twins(page, config_name)


@pytest.mark.parametrize("config_name", CONFIGS)
@pytest.mark.parametrize("path", SAMPLES[::4], ids=lambda path: path.stem)
def test_sample_pages_have_the_same_blocks_and_columns(path, config_name):
    assert_twins(path.read_bytes(), config_name)


@pytest.mark.slow
@settings(max_examples=300)
@given(page=pages)
@example(page="<pre>a<b>\n</b> c</pre>d")
def test_generated_pages_have_the_same_blocks_and_columns(page):
    for config_name in CONFIGS:
        assert_twins(page, config_name)


STARRED = ["container.p", "container.class-header", "container.blink", "split.br", "split.class-block"]
STARRED += ["document.elements-with.li", "document.elements-with.class-list", "document.share-in.p"]


def all_features():
    """The names of all features that need neither trees nor a variable of the config."""
    return [name for name in FEATURES if not name.endswith("*") and name != "evidence"] + STARRED


@pytest.mark.parametrize("page", [*HOSTILE.values(), *(path.read_bytes() for path in SAMPLES[::12])])
def test_features_are_equal_bit_for_bit(page):
    config = CONFIGS["default"]
    features = [(name, find_feature(name)) for name in all_features()]
    computed = FeatureTable(features, config)
    assert len(features) > len(computed.called) + 100
    columns = Columns(read_document(page, config), config)
    ours = computed.compute(columns)
    for row, (name, feature) in zip(ours, features, strict=True):
        expected = np.empty(columns.count)
        expected[:] = feature.column(Columns(columns.document, config), name)
        np.testing.assert_array_equal(row, expected, name)


def test_only_features_that_pick_or_divide_columns_are_computed_natively():
    functions = {
        "picked": lambda page: page.words,
        "divided": lambda page: page.words / np.maximum(page.ancestor_sums.blocks[2], 1),
        "subtracted": lambda page: page.words - page.link_words,
        "compared": lambda page: page.words == page.link_words,
        "summed": lambda page: np.full(page.count, page.words.sum()),
        "conditional": lambda page: page.words if page.words else page.link_words,
        "divided twice": lambda page: page.words / page.letters / page.lengths,
        "less than": lambda page: np.maximum(page.words, 1),
        "a list": lambda page: list(page.texts),
    }
    for function in functions.values():
        function.__module__ = "victorpy.features.example"
    features = [(name, Feature(name, "", "", function)) for name, function in functions.items()]
    assert [features[row][0] for row in FeatureTable(features, CONFIGS["default"]).called] == list(functions)[2:]
    functions["picked"].__module__ = "own.features"
    assert FeatureTable(features, CONFIGS["default"]).called[0] == 0


@pytest.mark.parametrize("model", ["default", "cleaneval", "site"])
def test_models_give_the_same_labels_and_probabilities(model, monkeypatch):
    cleaner = Cleaner.load(model)
    pages = [path.read_bytes() for path in SAMPLES[::6]]
    by_core = [cleaner.document(page) for page in pages]
    without_core(monkeypatch)
    for page, ours in zip(pages, by_core, strict=True):
        twin = cleaner.document(page)
        assert ours.labels == twin.labels
        np.testing.assert_allclose(ours.probabilities, twin.probabilities, atol=1e-5)
        assert ours.to("text") == twin.to("text")


def random_forests():
    """Yield forests of both kinds, with 50 trees that use 9 features."""
    rng = np.random.default_rng(1)
    for classes, depth in ((1, 6), (4, 3)):
        shape = (50, 1 << depth) if classes == 1 else (50, 1 << depth, classes)
        yield trees.ObliviousForest(
            rng.integers(0, 9, (50, depth), dtype=np.int32),
            rng.normal(size=(50, depth)).astype(np.float32),
            rng.normal(size=shape).astype(np.float32),
            rng.normal(size=classes),
        )
    sizes = rng.integers(1, trees.MOST_LEAVES, 50, dtype=np.int8)
    sizes[:2] = 1, trees.MOST_LEAVES - 1
    children = []
    for size in sizes.tolist():
        # Every question replaces a random leaf of the questions before it.
        tree = [[None, None] for _ in range(size)]
        for question in range(1, size):
            gaps = [(node, side) for node in range(question) for side in (0, 1) if tree[node][side] is None]
            node, side = gaps[rng.integers(len(gaps))]
            tree[node][side] = question
        leaf = iter(rng.permutation(size + 1).tolist())
        children += [[~next(leaf) if child is None else child for child in pair] for pair in tree]
    count = len(children)
    yield trees.LeafwiseForest(
        rng.integers(0, 9, count, dtype=np.int16),
        rng.integers(-3, 3, count).astype(np.float32) / 2,  # so that values are equal to borders
        rng.normal(size=count + 50).astype(np.float32),
        rng.normal(size=1),
        sizes,
        np.array(children, dtype=np.int8),
    )


def test_forests_are_equal_bit_for_bit():
    rng = np.random.default_rng(2)
    for forest in random_forests():
        forest._check()
        for blocks in (0, 1, 7, 8, 63, 64, 65, 129, 256, 257, 335, 400, 512, 513, 700):
            matrix = np.round(2 * rng.normal(size=(9, blocks)).astype(np.float32)) / 2
            ours = forest._scores(matrix)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(trees, "_native", None)
                np.testing.assert_array_equal(ours, forest._scores(matrix), strict=True)


@pytest.mark.parametrize("width", [1, 3, 4, 9, 32])
@pytest.mark.parametrize("layers", [1, 2, 5])
def test_nets_are_equal_to_a_ten_thousandth(width, layers):
    rng = np.random.default_rng(width)
    shapes = net._shapes(7, width, layers)
    arrays = [rng.normal(size=shape).astype(np.float32) / np.sqrt(shape[0], dtype=np.float32) for shape in shapes]
    arrays[6] /= np.float32(width)  # kernels that make values larger in each layer would make errors larger
    arrays[1] = np.abs(arrays[1])  # the scales
    some_net = net.Net(*arrays)
    for blocks in (1, 7, 8, 15, 16, 17, 40, 335):
        matrix = (rng.normal(size=(7, blocks)) * 10 ** rng.uniform(-6, 6, size=(7, blocks))).astype(np.float32)
        weight = rng.uniform(0.5, 90, blocks)
        ours = some_net.log_odds(matrix, weight)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(net, "_native", None)
            twin = some_net.log_odds(matrix, weight)
        np.testing.assert_allclose(ours, twin, rtol=1e-4, atol=1e-4)


TEXTS = {
    "signs": "<h2>Tea <a class=headerlink href=#tea>¶</a></h2><p>a <a href=#b>↩</a><p>[<a href=/x>edit</a>] c",
    "invisible": "<p>\u200b\u2060<p>•<p>tea\u00adpot \x96 \x07<p>\ufeff<li>a<li>b<p>\xa0<p>c\xa0d",
    "structured": "<p>a<table><tr><td>b<td>c<tr><td>d<td>e</table><pre>f\n g</pre><p>h",
    "tables": "<h2>a</h2><table><caption>b<br>c</caption><tr><th>d<th>e<tr><td>f<td>g<br>h</table><li>i<li>j"
    "<table><tr><td>k<td>l</table><p>m<table><tr><td>n<tr><td><p>o<p>p</table><ul><li>q<li>r",
    "listings": "<p>a<pre>b\n\n  c\td<div>e</div><code>f</code> g</pre><pre>h\n</pre>i<pre><b>j</b>\n<i>k</i></pre>l",
    "caption without table": "<p>a<caption>b<p>c</caption>d",
    "spaces": "<p>a<b>b</b>c<p>d <i>e</i><br>f<div>g</div>h",
}


@pytest.mark.parametrize("page", [*TEXTS.values(), *HOSTILE.values()], ids=[*TEXTS, *HOSTILE])
def test_texts_are_equal(page, monkeypatch):
    document = read_document(page, CONFIGS["default"])
    choices = random.Random(1)
    for by_method in (False, True):
        for labels in ([Label.PARAGRAPH], [Label.LIST, Label.CONTINUATION], [*Label], [*Label], [*Label]):
            chosen = tuple(choices.choice(labels) for _ in document.texts)
            cleaned = CleanPage(document, chosen, by_method=by_method)
            ours = cleaned.text
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(text_output, "_native", None)
                assert ours == cleaned.text


@pytest.mark.parametrize("seed", range(20))
def test_best_cuts_are_equal(seed, monkeypatch):
    random_values = np.random.default_rng(seed)
    probability = random_values.integers(0, 8, 3 * seed) / 7  # many are equal
    weight = random_values.integers(0, 40, 3 * seed) + 0.5
    ours = [cut.best_cut(probability, weight, beta) for beta in (0.5, 0.8, 1, 2)]
    monkeypatch.setattr(cut, "_native", None)
    assert ours == [cut.best_cut(probability, weight, beta) for beta in (0.5, 0.8, 1, 2)]


def test_elements_that_mention_a_word(monkeypatch):
    page = "<p class=Share>a<a href=/x?SHARE=1>b</a><a href='/tea'>c</a><a class='pre-share' href>d</a>"
    document = read_document(page, CONFIGS["default"])
    elements = range(len(document.elements))
    for each in (document, pickle.loads(pickle.dumps(document))):
        assert each.mentioning(elements, "href", ["share=", "pot"]) == [3]
        assert each.mentioning(elements, "class", ["shar"]) == [2, 5]
        assert each.mentioning([0, 1], "class", ["shar"]) == []
        assert each.mentioning([2, 5, 2], "class", ["share", "sharp"]) == [2, 5]
        assert each.mentioning(elements, "class", ["sharp", "shares", "-s"]) == [5]
        assert each.mentioning(elements, "class", ["re"]) == [2, 5]
        assert each.mentioning(elements, "id", ["shar"]) == []
        assert each.elements_by("href") == {"/x?SHARE=1": [3], "/tea": [4], "": [5]}
        assert each.mentioning(None, "class", ["shar"]) == [2, 5]
        assert each.mentioning(None, "href", ["1"]) == [3]  # the last character
        assert each.mentioning(None, "href", ["/", "="]) == [3, 4]
        assert each.mentioning([4, 5], "href", ["?"]) == []
        assert each.elements.innermost(["a", "nav"]) == [-1, -1, -1, 3, 4, 5]
        assert each.elements.innermost(["a"], [1, 3]) == [-1, 1, 1, 3, 4, 5]
        assert each.elements.ancestor(4, ["p", "html"]) == each.elements.ancestor(2, ["p"]) == 2
        assert each.elements.ancestor(4, ["div"]) == each.elements.ancestor(-1, ["p"]) == -1
        assert each.block_elements == [block.element for block in each.blocks]
        assert each.around([0]) == [0, 1, 2, 3, 4, 5]
        assert each.around([], [3, 5]) == [0, 1, 2, 3, 5]
        assert each.around([]) == each.around([], [-1]) == []
        assert each.elements.with_tag("a") == [3, 4, 5]
        assert each.elements_by("id") == {}
        assert each.elements_named(re.compile("share$"), ["shar"]) == [5]
        assert each.elements_named(re.compile("share$"), ["tea"]) == []
    with pytest.raises(IndexError):
        document.mentioning([99], "class", ["shar"])
    with pytest.raises(IndexError):
        document.elements.innermost([], [99])
    with pytest.raises(IndexError):
        document.elements.ancestor(99, ["p"])
    for blocks, elements in ([99], []), ([-1], []), ([], [99]):
        with pytest.raises(IndexError):
            document.around(blocks, elements)


def test_look_ups_are_equal_bit_for_bit():
    rng = np.random.default_rng(2)
    known = np.unique(rng.integers(0, 1 << 63, 5_000, dtype=np.uint64))
    table = lexicon.Table(known, rng.normal(size=len(known)))
    hashes = np.concatenate([known[::3], known[:5] + np.uint64(1), [np.uint64(0), np.uint64((1 << 64) - 1)]])
    owner = np.sort(rng.integers(0, 40, len(hashes)))
    ours = table.look_up(hashes), lexicon._summary(table.look_up(hashes), owner, 50)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexicon, "_native", None)
        np.testing.assert_array_equal(ours[0], table.look_up(hashes))
        np.testing.assert_array_equal(ours[1], lexicon._summary(table.look_up(hashes), owner, 50))


@pytest.mark.parametrize("count", [1, 2, 3, 50, 2_000])
def test_label_probabilities_are_equal_to_a_billionth(count):
    rng = np.random.default_rng(count)
    states, transitions = rng.normal(size=(count, 5)) * 9, rng.normal(size=(5, 5)) * 3
    states[rng.random(states.shape) < 0.2] -= 200
    ours = tables.marginals(states, transitions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_native", None)
        np.testing.assert_allclose(ours, tables.marginals(states, transitions), atol=1e-9)


def test_eight_threads_give_the_bytes_of_one():
    cleaner = Cleaner.load()
    sample_pages = [path.read_bytes() for path in SAMPLES[::5]]
    alone = [cleaner.clean(page) for page in sample_pages]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(cleaner.clean, sample_pages * 4)) == alone * 4


def test_documents_of_the_core_pickle_compare_and_change():
    page = "<ul><li class=x>Tea<li>Pot</ul><p>Tea is <b>hot</b>."
    document = read_document(page, CONFIGS["default"], url="https://tea.example/")
    assert repr(document) == "<Document 'https://tea.example/', blocks=3>"
    assert [block.text for block in document.select([0, 2])] == ["Tea", "Tea is hot."]
    assert document.has_tag("ul")
    assert not document.has_tag("table")
    copy = pickle.loads(pickle.dumps(document))
    assert copy == document
    assert copy.arrays is None
    changed = replace(document, url="")
    assert changed != document
    assert changed.blocks == document.blocks
    assert changed.elements.attributes[3] == {"class": "x"}
    assert copy.select([2]) == document.select([2])


def test_flags_of_characters_are_those_of_the_table():
    flags = [unicode.LETTER, unicode.UPPER, unicode.LOWER, unicode.DIGIT]
    flags += [unicode.PUNCTUATION, unicode.SPACE, unicode.UNSPACED, unicode.END]
    assert flags == [1 << bit for bit in range(8)]


def test_engine_can_be_switched_off():
    code = "from victorpy import native, clean; print(native.load('split'), clean('<p>Tea is hot.</p>'))"
    ended = run_process("-c", code, env={**ENVIRONMENT, "VICTOR_ENGINE": "python"}, text=True)
    assert ended.stdout.startswith("None "), ended.stderr


@pytest.mark.parametrize(
    "page",
    [
        b"<math>",
        b"<MATH/>",
        b"<mathematics>",
        b"<pre",
        b"<pre>",
        b"<preface><code x>",
        b"<iframe><base>",
        b"<ruby><RT>",
        b"<p><Q>",
        b"<quote>",
        b"<rtc>",
        b"<video ><audio\n>",
        b'<img class="latex">',
        b"<img " + b"x" * 198 + b"math>",
        b"<img " + b"x" * 199 + b"math>",
        b'<span class="math inline">',
        b'<span class="MATH">',
        b"<div>math",
        b"<div " + b"x" * 58 + b"latex",
        b"<div " + b"x" * 59 + b"latex",
        b'<script type="math/tex">',
        b"<scripture math>",
        b"<span data-tex",
        b"<s",
        b"<",
        b"",
    ],
)
def test_rare_tags(page):
    assert native.load("scan").rare_tags(page) == parsing._rare_tags(page)


READ = frozenset(["class", "data-src"])


def read_tree(page: bytes, unread: tuple[str, ...], read: frozenset[str] | None = None) -> tuple[object, ...]:
    """Parse a page, and return everything except the deleted elements and the attribute ``data-x``."""
    tree = parsing.prune(parse_whole(page, unread, read), DELETED)
    if tree.root is not None:
        etree.strip_attributes(tree.root, "data-x")
    markup = None if tree.root is None else etree.tostring(tree.root)
    return markup, tree.title, tree.url, tree.base, tree.losses


DELETED = ("script", "style", "svg", "iframe", "meta", "link")
MARKUP = (
    "<script> </script> <script </script <SCRIPT\tx> </ScRipt\t> </scripts> <!-- --> --!> -> <! <? > \" ' = / /> x=1 "
    "x='y' x=\"<p>\" <p> </p> <style> </style> <title> </title> <textarea> </textarea> <svg> </svg> <path\td='1'/> "
    "<path\td> </path> <g> </g> <g/> <use/> <rect></rect> <iframe> </iframe> <noscript> </noscript> <div\tclass=a> "
    "</div> <div\tdata-x='1'\tclass=b> <path\tdata-x='1'/> data-x=\"2\" data-src='3' data-x='>' data-x= "
    "<a\thref=b/> <script\tsrc=c/> <script/> <script\ttype=math/tex> <xmp> </xmp> <plaintext> <head> </head> "
    "<body> </body> </html> < </ &lt; tea <![CDATA[ ]]> <td> <meta> <meta\tname=a/> <link\trel=b> "
    "<LINK\trel=Canonical\thref=c> <html> <noscript> <base\thref=d>"
).split(" ")
STARTS = [
    "",
    "<head>",
    "<html><head>\n",
    "<!doctype html><html x=y>\n<head><title>tea</title>",
    "<head></head>\n<body>",
]


@pytest.mark.parametrize("seed", range(10))
def test_unread_texts_do_not_change_the_rest_of_the_tree(seed):
    pieces = random.Random(seed)
    for _ in range(100):
        start = pieces.choice(STARTS)
        page = (start + "".join(pieces.choices([*MARKUP, " ", "\n"], k=pieces.choice([5, 20, 50])))).encode()
        assert read_tree(page, DELETED) == read_tree(page, DELETED, READ) == read_tree(page, ())


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<script>if (a < b) f()</script><p>tea", "<script></script><p>tea"),
        ("<SCRIPT src='a>b'>x</script ><style>y</style>", "<SCRIPT src='a>b'></script ><style></style>"),
        ("<script type='math/tex'>x^2</script>", "<script type='math/tex'>x^2</script>"),
        ("<!-- <script>x</script> --><script>y</script>", "<!-- <script>x</script> --><script></script>"),
        ("<script><!-- '<script>' </script> --></script>", "<script><!-- '<script>' </script> --></script>"),
        ("<p title='<script>'>x</script>", "<p title='<script>'>x</script>"),
        ("<script src=a/>x</script>", "<script src=a/></script>"),
        ("<script src=a />x</script>", "<script src=a />x</script>"),
        ("<svg><g><path d='M 1'/><use></use></g><b></b></svg>", "<svg><g></g><b></b></svg>"),
        ("<g><svg></g><path/></svg>", "<g><svg></g><path/></svg>"),
        ("<script>no end", "<script>no end"),
        ("<p data-x='1' class=a data-y = \"2\">", "<p  class=a >"),
        ("<p data-src='1' data-tex='2' data-srcset='3'>", "<p data-src='1' data-tex='2' data-srcset='3'>"),
        ("<p data-x=1 data-y data-='2' DATA-X='3'>", "<p data-x=1 data-y data-='2' DATA-X='3'>"),
        ("<svg><path data-x='1'/></svg><p data-x='2'/>", "<svg></svg><p />"),
        # Whole elements, but only where the parser adds no tags because of them.
        ("<html><head><meta a><link rel=b>\n<title>c</title></head>", "<html><head>\n<title>c</title></head>"),
        (
            "<head><link rel='CANONICAL' href=a><link href='&#99;'>",
            "<head><link rel='CANONICAL' href=a><link href='&#99;'>",
        ),
        ("<head>tea<meta><link>", "<head>tea<meta><link>"),
        ("<meta><p>tea<meta>", "<meta><p>tea<meta>"),
        ("<head><script a>b</script><style>c</style >\n<body>", "<head>\n<body>"),
        (
            "<head><body>tea <script>a</script>pot</body><script>b</script>",
            "<head><body>tea pot</body><script></script>",
        ),
        ("<head><body><<script>a</script>p>", "<head><body><<script></script>p>"),
        ("<head><body>&<script>a</script>lt;", "<head><body>&<script></script>lt;"),
        ("<head><body><svg a=b><g><path/></g></svg>tea", "<head><body>tea"),
        ("<head><body><svg><path/><b></b></svg>tea", "<head><body><svg><b></b></svg>tea"),
        ("<head></head><body><math><script>a</script>", "<head></head><body><math><script></script>"),
    ],
)
def test_unread_texts(page, expected):
    assert parsing._survey(page.encode(), DELETED, READ, metadata=False)[0].decode() == expected


def test_unread_texts_with_metadata():
    """Meta tags, links, JSON-LD and scripts stay, and attributes that name authors."""
    page = (
        b"<head><meta a><link b><script>c</script><script type='application/ld+json'>{}</script><style>d</style>"
        b"<script type='application/ld&#43;json'>[]</script></head><body data-testid='author' data-x='y'><svg></svg>tea"
    )
    read_part = parsing._survey(page, DELETED, READ, metadata=True)[0]
    assert read_part == (
        b"<head><meta a><link b><script></script><script type='application/ld+json'>{}</script>"
        b"<script type='application/ld&#43;json'>[]</script></head><body data-testid='author' >tea"
    )


@pytest.mark.parametrize("seed", range(5))
def test_unread_texts_do_not_change_metadata(seed):
    pieces = random.Random(seed)
    extra = (
        "<script type='application/ld+json'>{'@type': 'Article', 'author': 'Kim Lee'}</script>",
        "<meta name=author>",
    )
    for _ in range(50):
        start = pieces.choice(STARTS)
        page = start + "".join(pieces.choices([*MARKUP, *extra, "By Kim Lee", " "], k=pieces.choice([5, 20])))
        whole, read = (parse_whole(page, *unread) for unread in ((), (DELETED, READ, frozenset(), True)))
        assert read_metadata(whole, "https://tea.org/a") == read_metadata(read, "https://tea.org/a")


def test_marked_elements(monkeypatch):
    page = (
        "<html CLASS='Metal'><!-- author --><p class='by'>a<b rel=author>b</b><i itemprop='dateX'></i>tail</p>"
        "<p class='K&#8490; BYLINE'><a data-testid='x' title=author>c</a></p><p class='b' rel='yline'>d<br class=meTa>"
    )
    tree = parse_whole(page)
    by_core = metadata_page.Page(tree).marked
    assert [(element.tag, names.strip()) for element, names in by_core] == [
        ("html", "metal"),
        ("b", "author"),
        ("i", "datex"),
        ("p", "kk byline"),
        ("br", "meta"),
    ]
    monkeypatch.setattr(metadata_page, "_native", None)
    assert metadata_page.Page(tree).marked == by_core


def test_unread_texts_depend_on_the_deleted_tags():
    page = b"<script>x</script><style>y</style>"
    assert parsing._survey(page, ["style"], None, metadata=False)[0] == b"<script>x</script><style></style>"
    assert parsing._survey(page, (), None, metadata=False)[0] is page


def test_valid_utf8():
    is_utf8 = native.load("scan").is_utf8
    pieces = random.Random(1)
    edges = [b"", b"a", b"abcdefgh", *(chr(code).encode() for code in (0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10FFFF))]
    odd = [bytes([code]) for code in (0, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xF5)]
    for _ in range(5_000):
        page = b"".join(pieces.choices(edges, k=2) + pieces.choices([b"", b"", *odd], k=3))
        assert is_utf8(page) == (b"\0" not in page and page.decode("utf-8", "ignore").encode() == page)


def test_attributes_of_single_elements():
    page = "<p class=a style='diſplay:none'>tea<p style='color:red' aria-hidden=false><img alt='' hidden>pot<b>cup"
    for document in documents_of(page, "default"):
        all_attributes = document.elements.attributes
        assert [document.attributes_of(number) for number in range(len(all_attributes))] == all_attributes
        assert document.attributes_of(-1) == {}
        if document.arrays is not None:
            with pytest.raises(IndexError):
                document.attributes_of(len(all_attributes))
