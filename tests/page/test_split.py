"""A tree to blocks: the examples of the thesis, the cases in pages/NAME, and each property of a block.

``blocks.txt`` beside a page lists its blocks for both ways to cut. Each block starts with a line with its index
and its containers from outermost to innermost, and in brackets ``joined`` (no space before it), ``hidden``, and
the elements of its div and td group. Then follows a line for each piece: the tags since the previous piece, and
its text in quotes::

    0 html body p
        html body p "See"
        a " our website"
"""

import json
from pathlib import Path

import pytest
from support.engines import without_core

from victorpy import Block, Config, Document, load_config, read_document
from victorpy.columns import Columns
from victorpy.page import split as page_split

PAGES = Path(__file__).parents[1] / "cases" / "pages"
CASES = sorted(path.parent for path in PAGES.glob("*/blocks.txt"))


def render(document: Document) -> str:
    """Write a document's blocks as blocks.txt shows them."""
    lines = [f"split: {document.split}"]
    page = Columns(document, load_config("default"))
    for block in document.blocks:
        lines.append(f"{block.index} {' '.join(block.containers)}{special(block, page)}")
        lines += [f"    {' '.join([*piece.distance, quoted(text)])}" for piece, text in block.each_piece()]
    return "\n".join([*lines, f"end {' '.join(document.trailing)}"]) + "\n"


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def special(block: Block, page: Columns) -> str:
    said = [] if block.spaced else ["joined"]
    said += ["hidden"] if block.hidden else []
    groups = [(tag, page.group(tag)[block.index]) for tag in ("div", "td")]
    said += [f"{tag} {group}" for tag, group in groups if group >= 0]
    return f" ({', '.join(said)})" if said else ""


def texts(page: str, config: Config) -> list[str]:
    return [block.text for block in read_document(page, config).blocks]


def block_of(text: str, page: str, config: Config) -> Block:
    [block] = [block for block in read_document(page, config).blocks if block.text == text]
    return block


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_page_is_cut_as_its_case_shows(case: Path, cleaneval_config: Config, default_config: Config) -> None:
    page = (case / "page.html").read_bytes()
    cut = [render(read_document(page, config)) for config in (cleaneval_config, default_config)]
    assert "\n".join(cut) == (case / "blocks.txt").read_text(encoding="utf-8")


def test_every_page_has_its_blocks_shown() -> None:
    pages = sorted(path.parent for path in PAGES.glob("*/page.html"))
    assert pages
    assert pages == CASES


def test_the_snippet_of_section_3_2_is_cut_into_three_blocks(cleaneval_config: Config) -> None:
    page = "<p>Hello <b><i>world</i></b>!</p>"
    assert texts(page, cleaneval_config) == ["Hello", "world", "!"]
    world = block_of("world", page, cleaneval_config)
    assert world.containers == ("html", "body", "p", "b", "i")
    assert world.distance == ("b", "i")
    assert block_of("!", page, cleaneval_config).distance == ("/i", "/b")


NO_ALT = ["<img>", "<img alt>", "<img alt=''>", "<img alt='  '>", "<img title='cat'>"]
INLINE = ["a", "b", "em", "span", "font", "sub", "x-own"]
BLOCK_LEVEL = ["div", "h1", "ul", "section", "blockquote", "pre", "table"]


@pytest.mark.parametrize(
    ("page", "every", "block"),
    [
        (
            '<p> See <a href="http://example.org">our website</a>\nfor more details.</p>',  # from section 2.3
            "See|our website|for more details.",
            "See our website for more details.",
        ),
        ("<pre>  int<b>main</b>(void)\n{</pre>", "  int|main|(void)|{", "  intmain(void)|{"),
        ("<p>\n tea \t is\u00a0\n\n good  </p>", "tea is good", "tea is good"),
        ("<p>un<b>believ</b>able <i>tea</i><u> pot</u> !</p>", "un|believ|able|tea|pot|!", "unbelievable tea pot !"),
        ("<input type=submit value=Send><p>a</p>", "a", "a"),
        ("<form><label>Hub gear</label><label>Derailleur</label></form>", *["Hub gear|Derailleur"] * 2),
        (
            '<ol aria-hidden="true"><li><p><b>A</b>: b</p></li><li><p><b>C</b>: d</p></li></ol>',
            "A|: b|C|: d",
            "A: b|C: d",
        ),
        *((f"<p>a</p>{image}<p>b</p>", "a|b", "a|b") for image in NO_ALT),
        *((f"<p>one <{tag}>two</{tag}> three</p>", "one|two|three", "one two three") for tag in INLINE),
        *((f"<div>one <{tag}>two</{tag}> three</div>", *["one|two|three"] * 2) for tag in BLOCK_LEVEL),
    ],
)
def test_texts_of_both_ways_to_cut(
    page: str, every: str, block: str, cleaneval_config: Config, default_config: Config
) -> None:
    assert texts(page, cleaneval_config) == every.split("|")
    assert texts(page, default_config) == block.split("|")


BOXES = [
    # Styles of elements and of their parents
    ("<a style='display:inline-block'>one</a><a>two</a>", "one two"),
    ("<a>one</a><a style='color:red; DISPLAY : table-cell'>two</a>", "one two"),
    ("<b style='display:flex'><span>one</span><span>two</span></b>", "one two"),
    ("<span style='display:inline-flex'><span>one</span>two</span>", "one two"),
    ("<b style='display:block'><span>one</span><span>two</span></b>", "onetwo"),
    ("<a style='display:inline'>one</a><a style='no-display:block'>two</a>", "onetwo"),
    ("<a style='display:inline-block'>o</a><a style='display:inline-block'>ne</a>", "one"),
    ("<a style='display:inline-block'>one</a>, <a>two</a>", "one, two"),
    # Siblings with the same tag and class
    ("<span class=x>1994</span><span class=x>2h</span>", "1994 2h"),
    ("<span class=x>1994</span><span class=y>2h</span>", "19942h"),
    ("<span class=x>1994</span><small class=x>2h</small>", "19942h"),
    ("<span>1994</span><span>2h</span>", "19942h"),
    ("<span class=x>1</span><span class=x>94</span>", "194"),
    ("<span class=x>secur</span><span class=x>ing</span>", "securing"),
    ("<span class=x>one-</span><span class=x>Two</span>", "one-Two"),
    ("<a class=x href=/x>one</a><a class=x href=/y>two</a>", "one two"),
    ("<a class=x href=/x>one</a><a class=x href=/x>two</a>", "onetwo"),
    ("<code><span class=x>12</span><span class=x>34</span></code>", "1234"),
    # Prices
    ("<b>$98</b><i>$130</i>", "$98 $130"),
    ("98<b>$</b>", "98$"),
    ("<del>9</del><ins>8</ins>", "9 8"),
    ("<del>was</del><ins>$8</ins>", "was $8"),
    ("wo<del>r</del><ins>l</ins>d", "world"),
    # Labels in capital letters
    ("<span>PREP</span><span>30 min</span>", "PREP 30 min"),
    ("<span>MPG</span><span>30</span>", "MPG30"),
    ("<b>PREP</b><i>30</i>", "PREP30"),
]


@pytest.mark.parametrize(("page", "text"), BOXES)
@pytest.mark.parametrize("has_core", [True, False])
def test_boxes_are_separate_words(
    page: str, text: str, has_core: bool, default_config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_core:
        monkeypatch.setattr(page_split, "_native", None)
    assert texts(f"<p>{page}</p>", default_config) == [text]


def test_the_div_groups_of_section_4_2(config: Config) -> None:
    page = "<div> a <div> b c </div> d <div> e f </div> g </div>"
    groups: dict[int, list[str]] = {}
    document = read_document(page, config)
    for block, group in zip(document.blocks, Columns(document, config).group("div"), strict=True):
        groups.setdefault(group, []).extend(block.text.split())
    assert sorted(groups.values()) == [["a", "d", "g"], ["b", "c"], ["e", "f"]]


def test_group_is_the_number_of_its_element(config: Config) -> None:
    page = "<div><p>outer</p><table><tr><td>cell <i>in it</i><div>box</div></td></tr></table></div>none"
    document = read_document(page, config)
    for tag in ("div", "td"):
        groups = Columns(document, config).group(tag)
        for block, group in zip(document.blocks, groups, strict=True):
            assert (group == -1) == (tag not in block.containers)
            assert group == -1 or document.elements.tag[group] == tag
        assert groups[-1] == -1


def test_a_td_group_ends_where_another_cell_begins(config: Config) -> None:
    page = "<table><tr><td><p>a</p><table><tr><td>b</td><td>c</td></tr></table><p>d</p></td><td>e</td></tr></table>"
    document = read_document(page, config)
    texts_of_groups = zip(document.blocks, Columns(document, config).group("td").tolist(), strict=True)
    groups = {block.text: group for block, group in texts_of_groups}
    assert groups["a"] == groups["d"]
    assert len(set(groups.values())) == 4


def test_a_pre_is_cut_by_line_and_keeps_its_indentation(config: Config) -> None:
    page = "<pre>first  line\n    second\n\n\tthird  \r\nfourth</pre>"
    document = read_document(page, config)
    assert [block.text for block in document.blocks] == ["first  line", "    second", "\tthird", "fourth"]
    assert [block.distance for block in document.blocks[1:]] == [("br",), ("br", "br"), ("br",)]
    assert all(block.preformatted for block in document.blocks)


def test_white_space_before_a_tag_in_pre_is_kept(config: Config) -> None:
    blocks = read_document("<pre>  int <b>main</b> (void)\n{</pre>", config).blocks
    shown = "".join((" " if block.spaced else "") + block.text for block in blocks)
    assert shown.split() == ["int", "main", "(void)", "{"]


def test_alt_text_is_a_separate_block_inside_the_image(config: Config) -> None:
    page = "<p>before <img src='c.png' alt=' a  grey\ncat '> after</p>"
    assert texts(page, config) == ["before", "a grey cat", "after"]
    alt = block_of("a grey cat", page, config)
    assert alt.containers == ("html", "body", "p", "img")
    assert alt.distance == ("img",)
    assert block_of("after", page, config).distance == ()


def test_distance_has_every_tag_since_the_previous_block(config: Config) -> None:
    page = "<div><p>one</p></div><hr><ul><li></li><li>two</li></ul>"
    document = read_document(page, config)
    assert document.blocks[0].distance == ("html", "body", "div", "p")
    assert document.blocks[1].distance == ("/p", "/div", "hr", "ul", "li", "/li", "li")
    assert document.trailing == ("/li", "/ul", "/body", "/html")


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_line_breaks_are_counted(count: int, config: Config) -> None:
    document = read_document("<p>one" + "<br>\n" * count + "two</p>", config)
    assert document.blocks[1].distance == ("br",) * count
    assert document.blocks[1].spaced


@pytest.mark.parametrize(
    ("page", "spaced"),
    [
        ("<p>tea<b>pot</b></p>", False),
        ("<p>tea <b>pot</b></p>", True),
        ("<p>tea<b> pot</b></p>", True),
        ("<p>tea<i> </i><b>pot</b></p>", True),
        ("<p>tea</p><p>pot</p>", True),
        ("<p>tea<br>pot</p>", True),
        ("<p>tea<img alt='x'><b>pot</b></p>", True),
        ("<pre>tea\npot</pre>", True),
        ("<p>tea<i></i><b>pot</b></p>", False),
        ("<p>tea<!-- -->\u3000<b>pot</b></p>", True),
    ],
)
def test_spaced_tells_whether_white_space_precedes_a_block(page: str, spaced: bool, cleaneval_config: Config) -> None:
    blocks = read_document(page, cleaneval_config).blocks
    assert blocks[0].spaced
    assert blocks[-1].spaced is spaced


@pytest.mark.parametrize(
    "hiding",
    ["hidden", "hidden='hidden'", "aria-hidden=true", "style='display:none'", "style='COLOR:red;Display : NONE'"],
)
@pytest.mark.parametrize("tag", ["span", "div"])
def test_hidden_text_is_kept_and_marked(hiding: str, tag: str, config: Config) -> None:
    blocks = read_document(f"<p>seen <{tag} {hiding}>not <b>seen</b></{tag}> again</p>", config).blocks
    assert " ".join(block.text for block in blocks) == "seen not seen again"
    hidden = {word: block.hidden for block in blocks for word in block.text.split() if word != "seen"}
    assert hidden == {"not": True, "again": False}
    assert not blocks[0].hidden


@pytest.mark.parametrize("showing", ["aria-hidden=false", "style='display:block'", "class=hidden", "style=''"])
def test_visible_text_is_not_marked_as_hidden(showing: str, config: Config) -> None:
    assert not any(block.hidden for block in read_document(f"<p {showing}>seen</p>", config).blocks)


def test_alt_of_a_hidden_image_and_text_in_hidden_tags_are_hidden(config: Config, default_config: Config) -> None:
    assert block_of("cat", "<p>a<img hidden alt=cat>b</p>", config).hidden
    page = '<p>was <del aria-hidden="true"><bdi><span>$</span>30.00</bdi></del> now <b>$</b>21.00</p>'
    blocks = read_document(page, default_config).blocks
    assert [(block.text, block.hidden) for block in blocks] == [("was", False), ("$30.00", True), ("now $21.00", False)]


def test_element_of_a_block_contains_all_its_pieces(default_config: Config) -> None:
    page = "<p><b>one</b> two <a href='/'>three <i>four</i></a></p>"
    document = read_document(page, default_config)
    [block] = document.blocks
    assert block.containers == ("html", "body", "p")
    assert document.elements.tag[block.element] == "p"
    assert [document.elements.tag[piece.element] for piece in block.pieces] == ["b", "p", "a", "i"]
    assert [piece.distance for piece in block.pieces[1:]] == [("/b",), ("a",), ("i",)]
    inline = read_document("<p><a href='/'>one <i>two</i></a></p>", default_config)
    assert inline.blocks[0].containers == ("html", "body", "p", "a")


def test_paths_count_siblings_of_the_same_tag_in_the_pruned_page(config: Config) -> None:
    page = "<div>a</div><div><script>x</script><p>b</p><h2>c</h2><p>d</p></div>"
    paths = ["div[1]", "div[2]/p[1]", "div[2]/h2[1]", "div[2]/p[2]"]
    assert read_document(page, config).paths() == [f"/html[1]/body[1]/{path}" for path in paths]


def test_elements_keep_the_attributes_that_the_config_names(config: Config) -> None:
    elements = read_document("<p class=a onclick=b data-c=d id=e>x</p>", config).elements
    assert elements.attributes[elements.tag.index("p")] == {"class": "a", "id": "e"}


def test_address_title_source_and_split_of_a_document(config: Config) -> None:
    document = read_document("<title>Tea</title><p>x", config, url="http://tea.example/", source="tea.html")
    assert (document.url, document.title, document.source) == ("http://tea.example/", "Tea", "tea.html")
    assert document.split == config.one("split", "every")


def test_a_page_without_text_has_no_blocks_and_all_its_tags(config: Config) -> None:
    document = read_document("<div><br></div>", config)
    assert document.blocks == ()
    assert document.trailing == ("html", "body", "div", "br", "/div", "/body", "/html")


@pytest.mark.parametrize("engine", ["native", "python"])
def test_256_levels_of_elements(engine: str, default_config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """Covers DEEPEST."""
    if engine == "python":
        without_core(monkeypatch)
    document = read_document(f"<body>{'<div>' * 300}tea<img alt=cup>", default_config)
    assert document.elements.tag == ["html", "body", *["div"] * 254, "img"]
    assert [len(block.containers) for block in document.blocks] == [256, 257]
