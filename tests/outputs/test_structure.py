"""The structure that Markdown and HTML keep: notes, images, boxes, spans, listings and links."""

import gc
import time
from dataclasses import replace

import pytest

from benchmarks.structure import converters, items, read_pages, score
from victorpy import CleanPage, Label, load_config, read_document
from victorpy.outputs import OUTPUTS

FLOORS = {"items": 0.97}
"""The lowest F1 of each kind on the benchmark's pages; 0.99 for the others."""

NOTE = (
    '<p>Tea<sup><a href="#fn1" id="r1">1</a></sup> is hot.</p><ol><li id="fn1">Or cold. <a href="#r1">↩</a></li></ol>'
)
BOX = '<div class="admonition {}"><p class="admonition-title">{}</p><p>Hot.</p></div>'


def page_of(html, label="paragraph", labels=None, by_method=False, **values):
    document = read_document(html, load_config("default"), **values)
    labels = labels or [label] * len(document.blocks)
    return CleanPage(document, tuple(map(Label, labels)), by_method=by_method)


def render(format, page):
    return OUTPUTS.get(format).render(page)


def markdown(html, **values):
    return render("markdown", page_of(html, **values))


def test_scores_on_the_pages_of_the_benchmark_do_not_fall():
    scores = score(read_pages(), converters()["victorpy"])
    low = {kind: value for kind, value in scores.items() if value < FLOORS.get(kind, 0.99)}
    assert not low


def test_gold_of_the_benchmark_has_every_kind_of_item():
    found = [items(page.gold) for page in read_pages()]
    assert all(any(of[kind] for of in found) for kind in found[0])


def test_note_is_written_with_its_reference_and_without_the_link_back():
    assert markdown(NOTE) == "Tea[^1] is hot.\n\n[^1]: Or cold.\n"
    html = render("html", page_of(NOTE))
    assert '<sup><a href="#fn1" role="doc-noteref">1</a></sup>' in html
    assert '<aside id="fn1" role="doc-footnote">\n<p>Or cold.</p>\n</aside>' in html


def test_reference_to_a_note_looks_as_on_the_page():
    page = page_of("<p>Tea<sup><a href=#fn1 id=r1>[1]</a></sup> is hot.<p id=fn1>[1] Or cold. <a href=#r1>↩</a>")
    assert '<sup><a href="#fn1" role="doc-noteref">[1]</a></sup>' in render("html", page)
    assert markdown("<p>Tea<sup><a href=#fn1 id=r1>[1]</a></sup> is hot.<p id=fn1>Or cold.").startswith("Tea[^1] is")


@pytest.mark.parametrize("mark", ["1 ", "1. ", "1) ", "[1] ", "(1): ", "^1 ", "<b>1.</b> ", "<b>[1]</b>"])
def test_note_is_written_without_its_mark(mark):
    page = f"<p>Tea<sup><a href=#fn1 id=r1>1</a></sup> is hot.<p id=fn1>{mark}Or 1 cold. <a href=#r1>↩</a>"
    assert markdown(page) == "Tea[^1] is hot.\n\n[^1]: Or 1 cold.\n"


def test_beginning_of_a_page_has_no_notes():
    document = read_document(NOTE, load_config("default"))
    for count in range(len(document.blocks)):
        beginning = replace(document, blocks=document.blocks[:count])
        assert "Or cold" not in render("markdown", CleanPage(beginning, (Label.PARAGRAPH,) * count))


def test_note_that_begins_with_another_number_is_whole():
    page = "<p>Tea<sup><a href=#fn1 id=r1>1</a></sup> is hot.<p id=fn1>12 cups, 1701. <a href=#r1>↩</a>"
    assert markdown(page).endswith("[^1]: 12 cups, 1701.\n")


def test_note_of_punctuation_is_written_without_the_link_back():
    assert markdown(NOTE.replace("Or cold.", "<i>–</i>")) == "Tea[^1] is hot.\n\n[^1]: *–*\n"
    assert markdown(NOTE.replace("Or cold.", "<i>–</i>").replace("↩", "")) == "Tea[^1] is hot.\n\n[^1]: *–*\n"


@pytest.mark.parametrize("top", ["<html id=top>", "<html><body id=top>"])
def test_note_is_written_without_its_link_to_the_top(top):
    page = f'{top}<p>Tea<sup><a href="#fn1">1</a></sup> is hot.<p id=fn1>Or cold. <a href="#top">up</a>'
    assert markdown(page) == "Tea[^1] is hot.\n\n[^1]: Or cold.\n"


def test_dropped_note_is_written_with_its_reference_unless_a_person_dropped_it():
    labels = ["paragraph", "other"]
    assert "[^1]" not in render("markdown", page_of(NOTE, labels=labels))
    page = page_of(NOTE, labels=labels, by_method=True)
    assert render("markdown", page) == "Tea[^1] is hot.\n\n[^1]: Or cold.\n"
    assert page.text == "Tea[1] is hot.\n"
    assert "cold" not in render("markdown", page_of(NOTE, labels=["other", "other"], by_method=True))


def test_dropped_caption_is_written_with_its_image_unless_a_person_dropped_it():
    figure = '<figure><img src="a.png"><figcaption>A <b>cup</b></figcaption></figure>'
    page, labels = f"<p>Tea is hot.</p>{figure}<p>Tea is wet.</p>", ["paragraph", "other", "paragraph"]
    assert "cup" not in render("markdown", page_of(page, labels=labels))
    by_method = page_of(page, labels=labels, by_method=True)
    assert "![](a.png)\n\nA **cup**\n\nTea is wet." in render("markdown", by_method)
    assert '<img src="a.png" alt="" />\n<figcaption>A <strong>cup</strong></figcaption>' in render("html", by_method)
    assert "cup" not in by_method.text


def test_large_pages_have_notes_and_images():
    paragraphs = "<p>Tea is hot and wet.</p>" * 5_000
    page = page_of(f'{paragraphs}<img src="a.png">{NOTE}<p>Tea.<span class="sidenote">Or milk.</span></p>')
    written = render("markdown", page)
    assert written.endswith("![](a.png)\n\nTea[^1] is hot.\n\n[^1]: Or cold.\n\nTea.[^2]\n\n[^2]: Or milk.\n")


def test_section_with_several_notes_is_no_note():
    references = "".join(f'<sup class="fn"><a href="#{to}">{n}</a></sup>' for n, to in enumerate(["a", "b", "all"]))
    written = markdown(f'<p>Tea{references}</p><section id="all"><p id="a">Hot.</p><p id="b">Cold.</p></section>')
    assert written.endswith("[^0]: Hot.\n[^1]: Cold.\n")


def test_many_references_to_many_notes_take_linear_time():
    def seconds(count):
        notes = "".join(f'<li id="n{n}"><a href="#r{n}">^</a> tea' for n in range(count))
        references = "".join(f'<sup class="fn"><a id="r{n}" href="#n{n}">{n % 9}</a></sup>' for n in range(count))
        page = page_of(f"<p>Tea{references}</p><ol>{notes}</ol>")
        gc.collect()
        start = time.process_time()
        render("markdown", page)
        return time.process_time() - start

    seconds(100)
    assert seconds(4_000) < 12 * max(seconds(1_000), 0.01)


@pytest.mark.parametrize(
    "html",
    [
        '<p>See <a href="#tea">1</a>.</p><p id="tea">Tea is hot.</p>',  # neither raised nor named as a note
        '<p>See<sup><a href="#fn1">the whole of this chapter</a></sup>.</p><p id="fn1">Tea is hot.</p>',
        '<p id="fn1">Tea is hot.</p><p>See<sup><a class="footnote" href="#fn1">1</a></sup>.</p>',  # before the link
        '<p>See<sup><a href="#fn1">1</a></sup>.</p>',
    ],
)
def test_other_links_within_a_page_are_no_notes(html):
    assert "[^" not in markdown(html)


@pytest.mark.parametrize(
    ("mark", "note", "is_note"),
    [
        (f"{'<i>' * 7}1{'</i>' * 7}", "Tea", True),
        (f"{'<i>' * 8}1{'</i>' * 8}", "Tea", False),
        ("1", "T" * 4_000, True),
        ("1", "T" * 4_001, False),
        ("1", "<b>T</b>" * 399, True),
        ("1", "<b>T</b>" * 400, False),
        ("*", 'Tea <a href="#r">back</a>', True),  # the link back leads to the reference itself
        ("*", 'Tea <a href="#later">on</a>', False),
        ("1", '<a href="#r">↑</a><b>Tea</b>', True),
    ],
    ids=lambda value: str(value)[:20],
)
def test_exact_limits_of_a_note(mark, note, is_note):
    name = "x" if mark == "*" else "fn1"
    html = f'<p>Hot<sup><a id="r" href="#{name}">{mark}</a></sup></p><p id="{name}">{note}</p><p id="later">Cold</p>'
    assert ("[^1]: T" in markdown(html).replace("*", "")) == is_note


@pytest.mark.parametrize("tag", ["li", "p", "div", "aside", "dd", "section", "tr", "article"])
def test_elements_that_can_be_notes(tag):
    around = {"tr": "<table><tr id=fn1><td>Tea</td></tr></table>", "li": "<ol><li id=fn1>Tea</ol>"}
    note = around.get(tag, f"<{tag} id=fn1>Tea</{tag}>")
    assert ("[^1]: " in markdown(f'<p>Hot<sup><a href="#fn1">1</a></sup></p>{note}')) == (tag != "article")


def test_nesting_of_quotations_is_bounded():
    for depth in (15, 16, 17):
        assert markdown("<blockquote>" * depth + "<p>Tea").count(">") == min(depth, 16)


@pytest.mark.parametrize(
    ("image", "written"),
    [
        ('<img src="a.png" alt="Tea [1]">', r"![Tea \[1\]](https://tea.example/x/a.png)"),
        ('<img src="data:image/gif;base64,R0" data-src="/a.png">', "![](https://tea.example/a.png)"),
        ('<img src="s.png" srcset="b.png 2x, c.png 3x">', "![](https://tea.example/x/c.png)"),
        ('<img srcset="b,1.png 100w,c.png 200w">', "![](https://tea.example/x/c.png)"),
        ('<a href="/big"><img src="a.png"></a>', "[![](https://tea.example/x/a.png)](https://tea.example/big)"),
        ('<iframe src="https://player.vimeo.com/video/1" title="Tea"></iframe>', "[Tea](https://player.vimeo.com/video/1)"),
        ('<video><source src="a.mp4">No player.</video>', "[video](https://tea.example/x/a.mp4)"),
        ('<iframe src="https://ads.example/1"></iframe>', ""),
        ('<img src="javascript:alert(1)" data-x="y">', ""),
        ('<img src="a.png" width="1" height="1">', ""),
        ('<img src="a.png" width="16">', ""),
        ('<img src="a.png" width="47">', ""),
        ('<img src="a.png" width=" 47px ">', ""),
        ('<img src="a.png" width="48">', "![](https://tea.example/x/a.png)"),
        ('<img src="a.png" width="300" height="10">', ""),
        ('<img src="a.png" width="300" height="11">', "![](https://tea.example/x/a.png)"),
        (f'<img src="{"a" * 2_000}">', f"![](https://tea.example/x/{'a' * 2_000})"),
        (f'<img src="{"a" * 2_001}">', ""),
        ('<img src="/icons/rss.png">', ""),
        ('<img src="/statusicon/post_old.gif">', ""),
        ('<img src="/images/buttons/quote.gif">', ""),
        ('<img src="/images/printButton.png">', ""),
        ('<img src="/our-menu.png">', "![](https://tea.example/our-menu.png)"),
        ('<img src="https://tea-online.example/button-tea.png">', "![](https://tea-online.example/button-tea.png)"),
        ("<img>", ""),
    ],
)  # fmt: skip
def test_image_between_kept_paragraphs(image, written):
    text = markdown(f"<p>Tea is hot.</p>{image}<p>Tea is wet.</p>", url="https://tea.example/x/")
    middle = f"{written}\n\n" if written else ""
    assert text == f"Tea is hot.\n\n{middle}Tea is wet.\n"


@pytest.mark.parametrize(
    ("length", "between", "is_kept"), [(1_000, 0, True), (1_001, 0, False), (9, 57, True), (9, 58, False)]
)
def test_short_caption_is_kept_with_its_image(length, between, is_kept):
    others = "<span></span>" * between  # a figure has at most 60 elements
    caption = f"<figure><img src=a.png>{others}<figcaption>{'x' * length}</figcaption></figure>"
    labels = ["paragraph", "other", "paragraph"]
    page = page_of(f"<p>Tea is hot.</p>{caption}<p>Tea is wet.</p>", labels=labels, by_method=True)
    assert ("xxx" in render("markdown", page)) == is_kept


@pytest.mark.parametrize(
    ("start", "marker"), [("999999999", "999999999. "), ("1000000000", "1. "), ("0", "0. "), ("-1", "- ")]
)
def test_numbers_that_markdown_accepts(start, marker):
    assert markdown(f"<ol start={start}><li>Tea</ol>", labels=["list"]).startswith(marker)


@pytest.mark.parametrize(
    ("blocks", "is_kept"),
    [
        ("kept image", True),
        ("image kept", True),
        ("kept 12 image kept", True),
        ("kept 6 image 6 kept", True),
        ("kept 13 image kept", False),
        ("kept 1 image", False),
        ("image 1 kept", False),
        ("1 kept image", True),
        ("1 image kept", True),
        ("image", False),
        ("kept 13 figure kept", False),
    ],
)
def test_image_beside_kept_text(blocks, is_kept):
    """Numbers are dropped blocks with this many words."""
    image = "<img src=a.png>"
    markup = {"kept": "<p>Tea is hot.</p>", "image": image, "figure": f"<figure>{image}</figure>"}
    html = "".join(markup.get(block) or f"<p>{'tea ' * int(block)}</p>" for block in blocks.split())
    labels = ["other" if block.isdigit() else "paragraph" for block in blocks.split() if block[0] not in "if"]
    page = page_of(f"<div>{html}</div>", labels=labels)
    assert ("a.png" in render("html", page)) == is_kept


def test_image_among_dropped_text_is_left_out_unless_its_caption_is_kept():
    noise = "<p>" + "Buy more tea here today. " * 5 + "</p>"
    figure = '<figure><img src="a.png"><figcaption>Tea</figcaption></figure>'
    labels = ["paragraph", "other", "other", "other", "paragraph"]
    page = f"<p>Tea is hot.</p>{noise}{figure}{noise}<p>Tea is wet.</p>"
    assert "a.png" not in render("markdown", page_of(page, labels=labels))
    labels[2] = "paragraph"
    assert "![](a.png)\n\nTea\n" in render("markdown", page_of(page, labels=labels))


@pytest.mark.parametrize(
    ("label", "alt", "name", "href", "is_kept"),
    [
        ("other", "Tea pot, front", "Tea pot", "/pot", False),
        ("other", "Tea pot, front", "tea POT", "/pot", False),
        ("other", "Tea pot, front", "Tea cup", "/pot", True),
        ("other", "Tea pot, front", "Tea pot", "/cup", True),
        ("other", "", "Tea pot", "/pot", True),
        ("paragraph", "Tea pot, front", "Tea pot", "/pot", True),
    ],
)
def test_image_of_a_product_is_dropped_with_its_name(label, alt, name, href, is_kept):
    image = f'<a href="/pot"><img src="a.png" alt="{alt}"></a>'
    html = f"<p>Tea is hot.</p>{image}<h3><a href='{href}'>{name}</a></h3><p>5 pounds</p>"
    labels = ["paragraph", *["other"] * bool(alt), label, "paragraph"]
    assert ("a.png" in render("markdown", page_of(html, labels=labels))) == is_kept


@pytest.mark.parametrize(
    ("link", "written"),
    [
        ('<a rel="author" href="/ann">Ann</a>', "Ann"),
        ('<span class="byline"><a href="/ann">Ann</a></span>', "Ann"),
        ('<span class="p-by-line"><a href="/ann">Ann</a></span>', "Ann"),
        ('<span itemprop="author"><a href="/ann">Ann</a></span>', "Ann"),
        ('<span class="authority"><a href="/ann">Ann</a></span>', "[Ann](/ann)"),
        ('<a href="/wiki/File:Cup.jpg"><img src="/440px-Cup.jpg"></a>', "![](/440px-Cup.jpg)"),
        ('<a href="/a/cup"><img src="/440px-Cup.jpg"></a>', "[![](/440px-Cup.jpg)](/a/cup)"),
        ('<a href="/File:ab.png"><img src="/ab.png"></a>', "![](/ab.png)"),
        ('<a href="/File:a.png"><img src="/a.png"></a>', "[![](/a.png)](/File:a.png)"),
    ],
)
def test_links_to_authors_and_to_the_page_of_an_image_are_left_out(link, written):
    assert markdown(f"<p>Tea</p><div>{link}</div><p>Tea</p>") == f"Tea\n\n{written}\n\nTea\n"


@pytest.mark.parametrize(
    ("box", "written"),
    [
        (BOX.format("warning", "Warning"), "> [!WARNING]\n> Hot."),
        (BOX.format("tip", "Milk"), "> [!TIP]\n> Milk\n>\n> Hot."),
        ('<div class="alert alert-danger">Hot.</div>', "> [!CAUTION]\n> Hot."),
        ('<div class="alert">Hot.</div>', "Hot."),
        ('<div class="note"><h3 class="title">Note</h3><p>Hot.</p></div>', "> [!NOTE]\n> Hot."),
        ('<div class="x-template-box x-template-box-tip">Hot.</div>', "> [!TIP]\n> Hot."),
        ('<div class="price note">Hot.</div>', "Hot."),
        ("<blockquote>Hot.</blockquote>", "> Hot."),
        (f'<div class="admonition tip">{BOX.format("warning", "Warning")}</div>', "> [!TIP]\n> > [!WARNING]\n> > Hot."),
    ],
)  # fmt: skip
def test_box_is_a_quotation_with_its_type(box, written):
    assert markdown(f"{box}<p>Tea is wet.</p>") == f"{written}\n\nTea is wet.\n"


TYPES_OF_BOXES = {
    "NOTE": "note info seealso abstract summary secondary primary",
    "TIP": "tip hint success",
    "IMPORTANT": "important attention",
    "WARNING": "warning",
    "CAUTION": "caution danger error bug",
}


@pytest.mark.parametrize(("type", "names"), TYPES_OF_BOXES.items())
def test_types_of_boxes(type, names):
    """Covers _TYPES and _TYPE."""
    for name in names.split():
        assert markdown(BOX.format(name, f"{name.title()}:")) == f"> [!{type}]\n> Hot.\n"


NAMES_OF_BOXES = [
    *("my-admonition tip", "my-template-box tip", "admonitionblock tip", "markdown-alert markdown-alert-tip"),
    *("callout tip", "bs-callout bs-callout-tip", "kg-callout-card tip", "alert alert-tip", "alert--tip alert"),
    *("notice notice-tip", "notecard tip", "hint", "custom-block tip", "confluence-information-macro tip"),
    *("note", "tip", "important", "warning", "caution"),
]


def test_names_of_boxes():
    """Covers _BOX and BOX_HINTS."""
    for names in NAMES_OF_BOXES:
        assert markdown(f'<div class="{names}"><p>Hot.</div>').startswith("> [!"), names
        assert markdown(f'<div class="x{names}x"><p>Hot.</div>') == "Hot.\n"


def test_elements_that_are_no_boxes():
    """Covers _NO_BOXES."""
    page = "<html><body><div><blockquote><a><span><button>Tea</button></span></a></blockquote></div>"
    page += "<h1>Tea</h1><h2>Tea</h2><h3>Tea</h3><h4>Tea</h4><h5>Tea</h5><h6>Tea</h6><p>Tea</p><ul><li>Tea</ul>"
    page += "<ol><li>Tea</ol><table><tbody><tr><td>a<td>b<tr><td>c<td>d</tbody></table>"
    boxes = {"div", "blockquote", "table"}
    for tag in {*"h1 h2 h3 h4 h5 h6 html body p span a button ul ol tbody tr".split(), *boxes}:
        written = markdown(page.replace(f"<{tag}>", f"<{tag} class=tip>", 1))
        assert ("[!TIP]" in written) == (tag in boxes), tag


def test_names_that_are_no_languages():
    """Covers _NO_LANGUAGES."""
    for name in "default none plain plaintext text txt undefined unknown Text go".split():
        language = "go" if name == "go" else ""
        assert markdown(f"<pre class=language-{name}>tea</pre>") == f"```{language}\ntea\n```\n"


@pytest.mark.parametrize(("levels", "language"), [(1, "go"), (2, "go"), (3, "")])
@pytest.mark.parametrize("listing", ["<pre>{}</pre>", "<table><tbody><tr><td><pre><code>{}</code></pre></table>"])
def test_language_of_an_element_around_a_listing(listing, levels, language):
    """Covers _ELEMENTS_ABOVE_LISTING and _LISTING_TAGS."""
    around = "<div class=language-go>" + "<div>" * (levels - 1)
    assert markdown(around + listing.format("tea")) == f"```{language}\ntea\n```\n"


@pytest.mark.parametrize(
    ("span", "rows", "html"),
    [
        ("", ["| a | b | c |", "| d | e |"], "<td>a</td><td>b</td>"),
        ('colspan="2"', ["| a |  | b | c |", "| d | e |"], '<td colspan="2">a</td>'),
        ('rowspan="2"', ["| a | b | c |", "|  | d | e |"], '<td rowspan="2">a</td>'),
        ('rowspan="0" colspan="-3"', ["| a | b | c |", "|  | d | e |"], '<td rowspan="2">a</td>'),
    ],
)
def test_cells_that_span_rows_and_columns_stay_in_their_columns(span, rows, html):
    page = page_of(f"<table><tr><th>x<th>y<th>z<tr><td {span}>a<td>b<td>c<tr><td>d<td>e</table>")
    assert render("markdown", page).splitlines()[2:] == rows
    assert html in render("html", page)
    assert render("xml", page).count('rows="2"') == html.count("rowspan")
    assert render("xml", page).count('cols="2"') == html.count("colspan")
    assert 's="1"' not in render("xml", page)


def test_box_in_an_item_keeps_the_marker_of_the_item():
    page = page_of('<ul><li>Tea<li><div class="alert alert-warning">Hot.</div></ul>', "list")
    assert render("markdown", page) == "- Tea\n\n- > [!WARNING]\n  > Hot.\n"


COMMENTS = """<p>Tea is hot.</p><ol><li class="comment"><div class="comment-author"><b class="fn">Ann</b> says:</div>
<time datetime="2024-05-17T10:00">May 17</time><p>Mine is cold.</p><ol class="children"><li class="comment"><div>
<b class="fn">Bob</b></div><p>Heat it.</p></li></ol></li><li class="comment"><p>First!</p></li></ol>"""


def test_comments_are_nested_quotations_with_author_and_date():
    page = page_of(COMMENTS)
    assert render("markdown", page) == (
        "Tea is hot.\n\n> **Ann** says:\n>\n> May 17\n>\n> Mine is cold.\n>\n"
        "> > **Bob**\n> >\n> > Heat it.\n\n> First!\n"
    )
    html = render("html", page)
    assert '<article class="comment" data-author="Ann" data-date="2024-05-17T10:00">' in html
    assert html.count("</article>") == 3
    assert '<quote type="comment" n="Ann 2024-05-17T10:00">' in render("xml", page)
    two_names = COMMENTS.replace("says:", '</span><span class="author">the teacher</span><span>')
    assert 'data-author="Ann"' in render("html", page_of(two_names))


def test_huge_span_is_bounded():
    page = page_of("<table><tr><th>x<th>y<tr><td colspan=99999999 rowspan=99999999>a<td>b</table>")
    assert len(render("markdown", page)) + len(render("html", page)) < 2_000


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<ol reversed><li>a<li>b</ol>", "2. a\n1) b\n"),
        ("<ol><li value=7>a<li>b</ol>", "7. a\n8. b\n"),
        ("<ul><li><input type=checkbox checked> a<li><input type=checkbox> b</ul>", "- [x] a\n- [ ] b\n"),
        ("<p>H<sub>2</sub>O and <del>tea</del></p>", "H<sub>2</sub>O and ~~tea~~\n"),
        ("<p>Hot <del>tea<sup>TM</sup></del> <b>and</b> <s>x</s>", "Hot ~~tea<sup>TM</sup>~~ **and** ~~x~~\n"),
        ("<p>Hot <del>tea<i>pot</i></del> is", "Hot ~~tea~~*~~pot~~* is\n"),
        ("<p>soft\u00adhyphen and zero\u200bwidth</p>", "softhyphen and zerowidth\n"),
        ('<p><a href="http://t.example/">a</a> <a href="http://t.example/">b</a></p>', "[a b](http://t.example/)\n"),
        ("<pre><ol><li>a<li>  b</ol></pre>", "```\na\n  b\n```\n"),
        ('<div data-lang=c><pre><span class="ln">1</span>a\n<button>Copy</button>b</pre></div>', "```c\na\nb\n```\n"),
        ('<pre><span class="line">a</span><span class="line">b</span></pre>', "```\na\nb\n```\n"),
        ('<pre><span class="line">a</span>\n<span class="line">b</span></pre>', "```\na\nb\n```\n"),
        ('<dl><dt>tea()<a class="headerlink" href="#tea">¶</a></dt></dl>', "tea()\n"),
        ('<p>a <a href="#b">#</a></p>', "a [#](#b)\n"),
        ('<h2 id="b"><a class="header" href="#b">Tea</a></h2>', "Tea\n"),
        ('<ol class="linenums"><li><code>a {</code><li><code>  b</code></ol>', "```\na {\n  b\n```\n"),
        ('<code style="display: block; white-space: pre">a\n b</code>', "```\na\n b\n```\n"),
    ],
)
def test_markdown_of(html, written):
    label = "list" if html.startswith(("<ol>", "<ol r", "<ul")) else "paragraph"
    assert render("markdown", page_of(html, label, by_method=True)) == written


def test_headings_stay_in_their_list_items():
    page = page_of(
        "<ol><li><h3>A</h3><p>a</p><li><h3>B</h3><p>b</p></ol>", labels=["header", "paragraph", "header", "paragraph"]
    )
    assert render("markdown", page) == "1. ### A\n\n   a\n2. ### B\n\n   b\n"
    alone = page_of("<ol><li><h3>A</h3><p>a</p></ol>", labels=["header", "paragraph"])
    assert render("markdown", alone) == "### A\n\na\n"


def test_base_element_changes_where_links_lead():
    page = page_of('<base href="/b/"><p><a href="c">Tea</a> is hot.</p>', url="https://tea.example/x/")
    assert render("markdown", page) == "[Tea](https://tea.example/b/c) is hot.\n"


@pytest.mark.parametrize(
    ("heading", "written"),
    [
        ('Tea<a class="headerlink" href="#tea">¶</a>', "# Tea"),
        ('<a href="#tea">#</a> Tea', "# Tea"),
        ('Tea<span class="mw-editsection">[<a href="/edit">edit</a>]</span>', "# Tea"),
        ('<a href="#tea">Tea</a>', "# Tea"),
        ('<a href="#t">Hot <i>tea</i> (<i>h</i>/<i>t</i>)</a><a href="#tea">¶</a>', "# Hot *tea* (*h*/*t*)"),
        ('<a href="/tea">¶</a>', "# [¶](/tea)"),
    ],
)
def test_heading_has_no_permalinks_and_edit_links(heading, written):
    page = page_of(f'<h1 id="tea">{heading}</h1>', label="header", by_method=True)
    assert render("markdown", page) == f"{written}\n"


@pytest.mark.parametrize(
    "html",
    [
        '<sup><a href="#fn{n}" id="r{n}">1</a></sup><li id="fn{n}">x <a href="#r{n}">back</a></li>',
        '<img src="{n}.png">',
        "<table><tr><td rowspan=1000 colspan=90>a{n}<td>b<tr><td>c<td>d</table>",
        '<div class="alert alert-info"><blockquote><ul><li>a{n}',
        '<span class="sidenote">x{n}',
        '<h2><a href="#a">#</a>b{n}</h2>',
    ],
)
@pytest.mark.parametrize("format", ["markdown", "html"])
def test_structure_takes_linear_time(html, format):
    def seconds(count):
        page = page_of("".join(html.replace("{n}", str(number)) for number in range(count)))
        gc.disable()  # a collection takes long in a process that has run many tests
        started = time.process_time()
        render(format, page)
        passed = time.process_time() - started
        gc.enable()
        return passed

    seconds(100)
    assert seconds(4_000) < 12 * max(seconds(1_000), 0.05)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<p>See <img src="b.jpg" alt="cup" width=99> here.', "See ![cup](b.jpg) here."),
        ('<p>See <a href="/c"><img src="b.jpg" alt="cup" width=99></a>', "See [![cup](b.jpg)](/c)"),
        (
            '<table><tr><th>A<th>B<tr><td><img src="b.jpg" alt="cup"><td>c</table>',
            "| A | B |\n| --- | --- |\n| ![cup](b.jpg) | c |",
        ),
        ('<div class="math notranslate"><span class="eqno">(1)</span>\\[a_1\\]</div>', "$$a_1$$"),
        ('<p>x <span class="math notranslate">\\(a &lt; b\\)</span> y', "x $a < b$ y"),
        (
            '<p>x <span class="MathJax"><math><mi>a</mi></math></span><script type="math/tex">a_1</script> y'
            ' <script type="math/tex">b</script>',
            "x $a_1$ y $b$",
        ),
        (
            "<table><tr><td><pre>1\n2\n</pre><td><pre><code class=language-go>a\nb</code></pre></table>",
            "```go\na\nb\n```",
        ),
        ("<div class='language-c highlight'><table><tr><td><div><pre>a</pre></div></table></div>", "```c\na\n```"),
        (
            "<div class='syntaxhighlighter  java'><table><tr><td class=gutter><div class='line'>1</div><td class=code>"
            "<div class='line n1'><code>int</code> <code>a;</code></div><div class='line n2'>b</div></table></div>",
            "```java\nint a;\nb\n```",
        ),
        ("<div class='admonition-x admonition'><p class=admonition-title>X<p>Hot.</div>", "> [!NOTE]\n> X\n>\n> Hot."),
        ("<div class='confluence-information-macro confluence-information-macro-tip'>Hot.</div>", "> [!TIP]\n> Hot."),
        ("<div class='alert alert-info'><h4 class=alert-heading>Note:</h4>Hot.</div>", "> [!NOTE]\n> Hot."),
        (
            "<p>Tea<sup class=footnote_plugin_tooltip_text>1</sup><span class=footnote_tooltip>Hot.</span>",
            "Tea[^1]\n\n[^1]: Hot.",
        ),
        ("<h2>Tea</h2><span class=mw-editsection>[<a href='/edit'>edit</a>]</span><p>Hot.", "## Tea\n\nHot."),
        (
            "<p>a<p><picture><source srcset='s.jpg 9w, t.jpg 99w'><source srcset='u.jpg'><img alt=cup></picture><p>b",
            "a\n\n![cup](t.jpg)\n\nb",
        ),
        ("<p>a<p><a href='/x?y%2Fcup1.png'><img src='cup1.png' width=99></a><p>b", "a\n\n![](cup1.png)\n\nb"),
        ("<div class=sourceCode><pre class='sourceCode numberSource python'>a</pre></div>", "```\na\n```"),
        ("<div class=sourceCode><pre class='sourceCode python'>a</pre></div>", "```python\na\n```"),
        (
            "<div class='language-ruby highlighter-rouge'><div class=highlight><pre class=highlight><code><table><tr>"
            "<td class='rouge-gutter'><pre class=lineno>1\n</pre><td class=rouge-code><pre>a\nb\n</pre></table></code>"
            "</pre></div></div>",
            "```ruby\na\nb\n```",
        ),
        ("<p>Hot.<sup class=reference><a href='#n1'>[1]</a></sup><ol><li id=n1>Tea.</ol>", "Hot.[^1]\n\n[^1]: Tea."),
        ("<p>Hot.<sup><a href='#n2'>1</a></sup><ol><li id=n2>Tea.</ol>", "Hot.[<sup>1</sup>](#n2)\n\nTea."),
        ("<ol><li id=a><a href='#r'>^</a> Tea</ol>", "Tea"),
        ("<p>Tea <a href='#r'>↩︎</a>", "Tea"),
        ("<p>Tea <a href='#r'>[§]</a>", "Tea"),
        ("<p><a href='#r'>↑</a>", "[↑](#r)"),
    ],
)
def test_markup_of_generators(html, expected):
    blocks = read_document(html, load_config("default")).blocks
    labels = ["header" if "h2" in block.containers else "paragraph" for block in blocks]
    if html.startswith("<p>See"):
        labels[1:] = ["continuation"] * (len(blocks) - 1)
    assert render("markdown", page_of(html, labels=labels, by_method=True)) == expected + "\n"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li><span>•</span><div>One</div><li><span>•</span><div>Two</div></ul>", "- One\n- Two"),
        ("<dl><dt>A<dd><ul><li>b<li>c</ul><dt>D<dd>e</dl>", "- A\n  - b\n  - c\n- D\n  - e"),
        ("<ol><li>a</ol><ol start=2><li>b</ol>", "1. a\n\n2. b"),
    ],
)
def test_lists_of_generators(html, expected):
    assert markdown(html, label="list") == expected + "\n"


@pytest.mark.parametrize(
    ("address", "is_note"),
    [
        ("#fn1", True),
        ("tea.html#fn1", True),
        ("./tea.html#fn1", True),
        ("/x/tea.html#fn1", True),
        ("https://tea.example/x/tea.html#fn1", True),
        ("https://tea.example/tea.html#fn1", False),
        ("green-tea.html#fn1", False),
        ("tea.html", False),
        ("tea.html?page=2#fn1", False),
        ("/#fn1", False),
    ],
)
def test_links_to_notes_may_name_the_page(address, is_note):
    page = f'<p>Hot<sup><a href="{address}">1</a></sup></p><p id="fn1">Wet</p>'
    document = read_document(page, load_config("default"), "https://tea.example/x/tea.html")
    written = CleanPage(document, (Label.PARAGRAPH,) * 2, by_method=True).to("markdown")
    assert ("[^1]: Wet" in written) == is_note
