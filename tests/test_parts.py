"""Users switch parts of a page on and off; the rest of the text stays the same in every format."""

import itertools
import json
import re
from dataclasses import replace
from functools import partial

import pytest

from tests.support.commands import names_in, write_files
from tests.support.commands import victor as run_victor
from victorpy import Cleaner, CleanPage, ConfigError, Label, Parts, clean, clean_record, load_config, read_document
from victorpy.batch.plan import Filters
from victorpy.document import Role
from victorpy.methods import load_method
from victorpy.model.parts import AS_LABELLED, PARTS, choose_parts, drop_by_default
from victorpy.outputs import OUTPUTS
from victorpy.outputs.anno import read_anno
from victorpy.outputs.markdown import yaml_header

TEXT = "It is made by pouring hot water over the cured leaves of the tea bush, and it is drunk all over the world."
PAGE = f"""<html><head><title>All about tea - Tea shop</title></head><body>
<nav><a href="/">Home</a> <a href="/tea">Tea</a> <a href="/shop">Shop</a></nav>
<article><h1>All about tea</h1>
<p class="byline">By Ann Lee, 17 May 2024</p>
<p>Tea is a <a href="/drink">drink</a> that is <b>very</b> old.<sup><a href="#fn1" id="ref1">1</a></sup> {TEXT}</p>
<figure><img src="/tea.jpg" width="600" alt="A cup of tea on a table in the garden">
<figcaption>A cup of green tea in the garden of the tea house.</figcaption></figure>
<p>Green tea is not oxidised at all. {TEXT} Many people drink several cups of it every day.</p>
<table><caption>How long to brew tea</caption><tr><th>Tea</th><th>Minutes</th></tr><tr><td>Green</td><td>2</td></tr>
<tr><td>Black</td><td>4</td></tr></table>
<p>The following program tells you when the tea is ready. {TEXT}</p>
<pre>import time
time.sleep(240)</pre>
<p>Black tea is oxidised for several hours before the leaves are dried and sorted. {TEXT}</p>
<ol class="footnotes"><li id="fn1">The oldest written record of tea is very old. <a href="#ref1">↩</a></li></ol>
<p class="tags">Tags: <a href="/t/tea">tea</a>, <a href="/t/drinks">drinks</a></p>
</article>
<section class="comments"><h2>2 comments</h2>
<div class="comment"><p>I have been drinking green tea for years, and I can only recommend it to everybody.</p></div>
<div class="comment"><p>Black tea with milk is better, of course, at least on a cold morning in the winter.</p>
<a href=#>Reply</a></div>
</section><footer>Copyright 2024 Tea shop</footer></body></html>"""

victor = partial(run_victor, text=True)

MARKS = {
    "headline": "All about tea",
    "byline": "Ann Lee",
    "tags": "drinks",
    "comments": "drinking green tea for years",
    "captions": "green tea in the garden",
    "notes": "oldest written record of tea",
    "tables": "Minutes",
    "code": "time.sleep",
    "images": "on a table",
}
"""Words that only occur in a part."""


@pytest.fixture(scope="module")
def cleaner():
    return Cleaner.load()


@pytest.fixture(scope="module")
def everything(cleaner):
    """The page with all its blocks kept."""
    page = cleaner.document(PAGE, "https://tea.example/about")
    labels = tuple(Label.PARAGRAPH for _ in page.labels)
    return page.__class__(page.document, labels, by_method=True)


def page_with_comment(comment):
    """A page that ends with a dropped comment."""
    document = read_document(f"<p>{TEXT}</p><p>{comment}</p>", load_config("default"))
    labels, roles = (Label.PARAGRAPH, Label.OTHER), (Role.BODY, Role.COMMENT)
    return CleanPage(document, labels, by_method=True, roles=roles)


def words(text):
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("part", MARKS)
def test_a_part_is_dropped_and_nothing_else(everything, part):
    text = choose_parts(everything, Parts.of(exclude=part)).text
    for other, mark in MARKS.items():
        assert (mark in text) is (other != part), other
    assert "Green tea is not oxidised" in text


def test_reference_marks_go_with_the_notes(everything):
    assert "very old. It is made" in choose_parts(everything, Parts.of(exclude="notes")).text
    assert "[^1]" in everything.to("markdown")
    assert "very** old. It is made" in choose_parts(everything, Parts.of(exclude="notes")).to("markdown")


def test_without_links_leaves_no_link_around_an_image():
    page = f"<p>{TEXT}</p><a href=/large><img src=tea.jpg alt=Tea width=400 height=300></a><p>{TEXT}</p>"
    written = clean(page, url="https://tea.example/", format="markdown", exclude="links")
    assert "![Tea](https://tea.example/tea.jpg)" in written
    assert "/large" not in written


@pytest.mark.parametrize(
    ("part", "gone"), [("links", "https://tea.example/drink"), ("images", "tea.jpg"), ("formatting", "**very**")]
)
def test_markup_is_left_out(everything, part, gone):
    assert gone in everything.to("markdown")
    chosen = choose_parts(everything, Parts.of(exclude=part))
    assert gone not in chosen.to("markdown")
    if part != "images":  # the alternative text goes with the image
        assert chosen.text == everything.text
    if part != "formatting":
        assert gone not in chosen.to("html")


@pytest.mark.parametrize("format", ["text", "markdown", "html", "cleaneval"])
def test_the_text_is_the_same_in_every_format(everything, format):
    names = ["byline", "tags", "comments", "captions", "tables", "code", "headline"]
    for size in range(len(names)):
        for chosen in itertools.combinations(names, size):
            page = choose_parts(everything, Parts.of(exclude=chosen))
            written = page.to(format)
            for name in names[: -1 if format == "html" else None]:  # the headline is also the title
                assert (MARKS[name] in written) is (name not in chosen), (name, chosen)


def test_combined_switches_drop_what_single_switches_drop(everything):
    """A switch for one part does not change the text of another."""
    whole = words(everything.text)
    for pair in itertools.combinations(MARKS, 2):
        dropped = [len(whole) - len(words(choose_parts(everything, Parts.of(exclude=part)).text)) for part in pair]
        both = len(whole) - len(words(choose_parts(everything, Parts.of(exclude=pair)).text))
        if pair != ("captions", "tables"):  # the caption of a table belongs to both
            assert both == sum(dropped), pair


@pytest.mark.parametrize("part", ["byline", "tags", "comments", "captions"])
def test_a_part_is_added(cleaner, part):
    page = cleaner.document(PAGE, parts=Parts.of(include=part))
    assert MARKS[part] in page.text
    assert "Copyright" not in page.text
    assert "Reply" not in page.text
    assert "Home" not in page.text
    assert MARKS[part] not in cleaner.document(PAGE, parts=Parts.of(exclude=part)).text


@pytest.mark.parametrize("part", ["byline", "comments"])
def test_bylines_and_comments_are_dropped_by_default(everything, part):
    """A model may keep them."""
    assert MARKS[part] in everything.text
    chosen = drop_by_default(everything, Parts())
    assert MARKS[part] not in chosen.text
    others = [mark for name, mark in MARKS.items() if name not in {"byline", "comments"}]
    assert all(mark in chosen.text for mark in others)
    assert MARKS[part] in drop_by_default(everything, Parts.of(include=part)).text
    assert drop_by_default(everything, AS_LABELLED) == everything


def test_methods_without_a_model_keep_bylines():
    assert MARKS["byline"] in load_method("everything").clean(PAGE)


def test_roles_in_files(cleaner):
    page = cleaner.document(PAGE, parts=Parts.of(include="roles"))
    assert page.roles[page.document.texts.index("All about tea")] == "headline"
    blocks = json.loads(page.to("jsonl"))["blocks"]
    assert [block["role"] for block in blocks] == list(map(str, page.roles))
    written = page.to("anno")
    again = read_anno(written, cleaner.config.cuts)
    assert again.roles == page.roles
    assert replace(again, by_method=True).to("anno").splitlines()[5:] == written.splitlines()[5:]
    assert read_anno(re.sub("# role=.*\n", "", written), cleaner.config.cuts).roles == ()
    assert read_anno(written.replace("# role=byline", "# role=zzz"), cleaner.config.cuts).roles == ()
    assert "role" not in json.loads(clean(PAGE, format="jsonl"))["blocks"][0]


def test_comments_stay_where_they_are_the_page(cleaner):
    posts = "".join(f'<div class="comment"><p>Post {n}: {TEXT}</p></div>' for n in range(6))
    thread = f"<title>Which tea?</title><h1>Which tea?</h1><div id=comments>{posts}</div>"
    assert "Post 3" in cleaner.document(thread, parts=Parts.of(exclude="comments")).text


SHORT_COMMENTS = """<div class="cmts"><h3>3 opinions</h3>
<div class="c__i"><span>Ann</span> <span>3 May 2024, 18:10</span><p>At last! I have waited for this cup of tea for ten
years, and now it is here.</p><button>Answer</button><a href="#">Antworten</a></div>
<div class="c__i"><span>Bob</span> <span>3 May 2024, 18:55</span><p>All very well, but four euros for a cup of tea is
too much, in my opinion at least.</p><button>Answer</button></div>
<div class="c__i"><span>Cy</span> <span>3 May 2024, 19:31</span><p>Cold.</p><button>Answer</button></div>
<div class="comment-respond"><p class="comment-notes">Your email address will not be published by us, we promise.</p>
<form><label>Your opinion about this text</label><button>Send</button></form></div></div>
<ul class="widget"><li><a href="/1#comment-1">Di</a> on <a href="/1">Milk</a></li></ul>"""


def test_comments_are_added_with_authors_and_texts_and_without_forms(cleaner):
    page = re.sub(r'(?s)<section class="comments">.*</section>', SHORT_COMMENTS.replace("cmts", "comments"), PAGE)
    text = cleaner.document(page, parts=Parts.of(include="comments")).text
    for word in ("Ann", "At last!", "Bob", "All very well", "Cy", "Cold."):
        assert word in text
    for word in ("Answer", "Antworten", "email address", "Your opinion", "Di on"):
        assert word not in text


def test_captions_are_beside_a_picture(cleaner):
    card = (
        '<div class="card"><h3>{0} tea</h3><div class="card__caption">{0} tea smells of boats and of tar.</div></div>'
    )
    figure = '<div class="box"><img src="/x.jpg" alt="cup"><p class="photo-caption">Steam rises from the cup.</p></div>'
    quote = "<figure><blockquote>I drink tea.</blockquote><figcaption>Ann Lee, tea taster</figcaption></figure>"
    extra = "".join(map(card.format, ["Red", "Blue", "White"])) + figure + quote + "<p class=caption>Ready in two hours"
    page = cleaner.document(PAGE.replace("<p>The following", extra + "<p>The following"))
    everything = replace(page, labels=tuple(Label.PARAGRAPH for _ in page.labels))
    without = choose_parts(everything, Parts.of(exclude="captions")).text
    assert "Steam rises" not in without
    for kept in ("Red tea smells", "Ann Lee, tea taster", "Ready in two hours", "A cup of tea on a table"):
        assert kept in without


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (
            "I like tea with milk, and I drink three cups of it every single morning.",
            "Milk in tea is a sin, but everyone should drink it as they like it.",
        ),
        ("I like tea with milk.", "Milk in tea is a sin."),
    ],
)
def test_two_comments_have_their_authors_and_dates(cleaner, one, two):
    comment = (
        "<li class=comment><div class=comment-author>{}</div><time>{} May 2024</time>"
        "<div class=comment-content><p>{}</p></div>"
    )
    first, reply = comment.format("Ann", 1, one), comment.format("Bob", 2, two)
    comments = f"<h2>2 comments</h2><ol class=comment-list>{first}<ol class=children>{reply}</li></ol></li></ol>"
    article = f"<title>Tea</title><h1>Tea</h1><article><p>{TEXT} {TEXT}</p></article>"
    html = f"{article}<section id=comments>{comments}</section>"
    text = cleaner.document(html, parts=Parts.of(include="comments")).text
    found = [text.index(part) for part in ("Ann", "1 May", "I like", "Bob", "2 May", "Milk in")]
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>See also</h2><ul><li><a href=/a>Milk</a></ul>", "Tea is hot.\n"),
        ("<h2>More like this</h2><ul><li><a href=/a>Milk</a></ul>", "Tea is hot.\n"),
        ("<h2>3 Comments</h2><div>Nice</div><h2>More</h2><p>Tea is wet.", "Tea is hot.\n\nMore\n\nTea is wet.\n"),
        ("<h2>See also</h2><h3>Milk</h3><p>Tea is wet.", "Tea is hot.\n\nSee also\n\nMilk\n\nTea is wet.\n"),
        ("<h2>Sources</h2><ul><li><a href=/a>Milk</a></ul>", "Tea is hot.\n\nSources\n"),
        ("<p>Related posts<ul><li><a href=/a>Milk</a></ul>", "Tea is hot.\n"),
        ("<p>Browse these pages:<ul><li><a href=/a>Milk</a></ul>", "Tea is hot.\n"),
        ("<p>Tea is wet:", "Tea is hot.\n\nTea is wet:\n"),
    ],
)
def test_headings_of_dropped_links_and_comments_are_dropped(html, text):
    document = read_document(f"<p>Tea is hot.</p>{html}", load_config("default"))
    kept = {"p": Label.PARAGRAPH, "h2": Label.HEADER, "h3": Label.HEADER}
    labels = tuple(kept.get(block.containers[-1], Label.OTHER) for block in document.blocks)
    assert drop_by_default(CleanPage(document, labels, by_method=True), Parts()).text == text


@pytest.mark.parametrize(("count", "is_dropped"), [(2, True), (60, False)])
def test_tags_that_are_the_page_stay(cleaner, count, is_dropped):
    tags = "".join(f'<li><a href="/tags/{n}" rel="tag">topic{n}</a></li>' for n in range(count))
    html = f"<title>Tea</title><h1>Tea</h1><p>{TEXT}</p><ul class='tags tag-list'>{tags}</ul>"
    page = cleaner.document(html)
    kept = replace(page, labels=tuple(Label.PARAGRAPH for _ in page.labels))
    assert ("topic1" not in choose_parts(kept, Parts.of(exclude="tags")).text) is is_dropped


@pytest.mark.parametrize(("comment", "is_added"), [("+1", True), ("Nice!", True), ("12", False), ("Reply", False)])
def test_short_comments_are_added(comment, is_added):
    page = page_with_comment(comment)
    assert (comment in choose_parts(page, Parts.of(include="comments")).text.split("\n")) is is_added


def test_captions_are_added_with_their_images(everything):
    dropped = ("A cup of", "Green tea is not")  # the figure, and a long paragraph beside it
    labels = (Label.OTHER if text.startswith(dropped) else Label.PARAGRAPH for text in everything.document.texts)
    page = replace(everything, labels=tuple(labels))
    assert "tea.jpg" not in page.to("markdown")
    added = choose_parts(page, Parts.of(include="captions")).to("markdown")
    assert "/tea.jpg)\n\nA cup of green tea" in added


def test_long_bylines_have_an_author_and_a_date():
    byline = "Posted by Ann on Friday January 12, 2024 @11:40AM from the pros-and-cons department"
    html = f"<title>Tea</title><h1>Tea</h1><p class=x>{{}}</p><p>{TEXT} {TEXT}</p>"
    labels = (Label.HEADER, Label.PARAGRAPH, Label.PARAGRAPH)
    for line, is_kept in (
        (byline, False),
        (byline.replace("January 12, 2024 @11:40AM", "in the very early morning"), True),
    ):
        document = read_document(html.format(line), load_config("default"))
        cleaned = drop_by_default(CleanPage(document, labels, by_method=True), Parts())
        assert (line in cleaned.text) == is_kept


@pytest.mark.parametrize(
    ("lines", "confidence", "kept"),
    [
        ("<p>By Ann Lee", 0.9, []),
        ("<p>By Ann Lee", None, []),
        ("<p>By Ann Lee", 0.899, ["By Ann Lee"]),  # perhaps the author of a book
        ("<p>Date:<p>12-6-2010", 0.9, ["Date:", "12-6-2010"]),  # a label and its value stay together
        ("<p>Published:<p>12-6-2010", 0.9, []),
    ],
)
def test_facts_are_no_bylines(lines, confidence, kept):
    document = read_document(f"<title>Tea</title><h1>Tea</h1>{lines}<p>{TEXT} {TEXT}", load_config("default"))
    labels = (Label.HEADER, *(Label.PARAGRAPH for _ in document.texts[1:]))
    cleaned = drop_by_default(CleanPage(document, labels, confidence=confidence, by_method=True), Parts())
    assert cleaned.text.split("\n\n")[1:-1] == kept


def test_prices_and_ratings_are_no_bylines(cleaner):
    offer = '<p class="byline">By Ann Lee</p><div class="meta">Now £42.00 GBP</div><div class="meta">318 votes</div>'
    page = PAGE.replace('<p class="byline">By Ann Lee, 17 May 2024</p>', offer)
    added = cleaner.document(page, parts=Parts.of(include="byline")).text
    assert "Ann Lee" in added
    assert "votes" not in added
    assert "GBP" not in added


@pytest.mark.parametrize("choice", [{"include": "byline"}, {"headline": "never"}, {"include": "tags,notes"}])
def test_switches_for_other_parts_keep_the_images(cleaner, choice):
    image = '<img src="/first.jpg" width="600" alt="">'
    page = PAGE.replace("<h1>", image + "<h1>").replace(
        '<p class="byline">', image.replace("first", "x") + '<p class="byline">'
    )
    images = [
        re.findall(r"!\[.*?\]\((.*?)\)", cleaner.clean(page, format="markdown", parts=parts))
        for parts in (Parts(), Parts.of(**choice))
    ]
    assert images[0] == images[1]
    assert "/tea.jpg" in images[0]


def test_heading_of_dropped_notes_is_dropped(everything, cleaner):
    sections = (
        "<h2>Sources</h2><h3>Notes</h3><ol><li id=n1>The oldest written record of tea is very old.</li></ol>"
        "<h2>Links</h2><p>More about tea is in the library of the tea house.</p>"
    )
    html = re.sub(r'(?s)<ol class="footnotes">.*?</ol>', sections, PAGE).replace("#fn1", "#n1")
    document = cleaner.document(html).document
    labels = [
        Label.HEADER if "h2" in b.containers or "h3" in b.containers else Label.PARAGRAPH for b in document.blocks
    ]
    page = CleanPage(document, tuple(labels), by_method=True)
    assert "[^1]: The oldest" in page.to("markdown")
    text = choose_parts(page, Parts.of(exclude="notes")).text
    for word in ("oldest", "Notes", "Sources"):
        assert word not in text
    assert "Links\n\nMore about tea" in text


def test_a_section_of_notes_ends_at_the_next_heading_of_its_level():
    html = (
        "<p>Tea is hot<sup><a href='#n1'>1</a></sup>.<h2>Notes</h2><ol><li id=n1>Very hot.</ol><h2>More</h2><p>Milk."
        "<h1>Other</h1><p>Cups."
    )
    cleaned = load_method("everything").clean(html, parts=Parts.of(exclude="notes"), format="markdown")
    assert re.findall(r"^#+ (\w+)", cleaned, re.MULTILINE) == ["More", "Other"]


def test_the_headline(cleaner):
    texts = {how: clean(PAGE, headline=how) for how in ("always", "never", "model")}
    assert texts["always"].startswith("All about tea\n")
    assert "All about tea" not in texts["never"]
    assert texts["never"] in texts["always"]
    assert clean(PAGE, exclude="headline") == texts["never"]
    assert clean(PAGE, include="headline") == texts["always"]
    assert clean("", headline="always") == clean("", headline="model") == ""
    document = cleaner.document(PAGE).document
    nothing = CleanPage(document, (Label.OTHER,) * len(document.blocks))
    assert choose_parts(nothing, Parts.of(headline="always")).text == ""


def test_the_headline_is_kept_by_the_model_if_it_is_as_probable_as_other_text(cleaner):
    page = cleaner.document(PAGE)
    number = page.document.texts.index("All about tea")
    for probability, is_kept in ((0.0, False), (1.0, True)):
        content = tuple(probability if other == number else 0.5 for other in range(len(page.labels)))
        changed = page.__class__(page.document, page.labels, page.probabilities, content)
        labels = choose_parts(changed, Parts.of(headline="model")).labels
        assert labels[number].is_content is is_kept


def test_a_continuation_does_not_join_the_text_before_a_dropped_block(everything):
    number = everything.document.texts.index("By Ann Lee, 17 May 2024")
    labels = list(everything.labels)
    labels[number + 1] = Label.CONTINUATION
    page = everything.__class__(everything.document, tuple(labels), by_method=True)
    chosen = choose_parts(page, Parts.of(exclude="byline"))
    assert chosen.labels[number : number + 2] == (Label.OTHER, Label.PARAGRAPH)
    assert "All about tea\n\nTea is a drink" in chosen.text


def test_labels_and_probabilities_agree(cleaner):
    page = cleaner.document(PAGE, parts=Parts.of(exclude="headline", include="comments"))
    assert len(page.labels) == len(page.probabilities) == len(page.content)
    number = page.document.texts.index("All about tea")
    assert page.probabilities[number] == pytest.approx(1 - page.content[number])


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"exclude": "link"}, r"unknown part 'link' \(did you mean 'links'\?\); the parts are headline, byline"),
        ({"include": ["tags", "zzz"]}, "unknown part 'zzz'; the parts are"),
        ({"include": "tags", "exclude": "links,tags"}, "tags cannot be both included and excluded"),
        ({"headline": "alwayz"}, r"headline must be one of always, never, model, not 'alwayz' \(did you mean 'always'"),
        ({"headline": "always", "exclude": "headline"}, "headline=always contradicts the choice of parts"),
    ],
)
def test_wrong_names(choice, message):
    with pytest.raises(ConfigError, match=message):
        Parts.of(**choice)


def test_names_are_lists_or_separated_by_commas():
    assert (
        Parts.of(exclude="links, images,")
        == Parts.of(exclude=["links", "images"])
        == Parts.of(exclude=["links,images"])
    )
    assert Parts.of() == Parts()
    assert set(MARKS) <= set(PARTS)


def test_command_batch_and_python_give_the_same_text(tmp_path):
    page = tmp_path / "tea.html"
    page.write_text(PAGE)
    switches = ["--without", "links,tables", "--without", "code", "--with", "comments", "--headline", "never"]
    choice = {"include": "comments", "exclude": ["links", "tables", "code"], "headline": "never"}
    by_python = clean(PAGE, format="markdown", **choice)
    assert "drinking green tea" in by_python
    assert "Minutes" not in by_python
    command = victor("clean", "--format", "markdown", *switches, page)
    assert command.stdout == by_python
    victor("clean", "--format", "markdown", *switches, page, "-o", f"{tmp_path}/out.jsonl/", "--jobs", "1")
    (part,) = (tmp_path / "out.jsonl").glob("part-*.jsonl")
    assert json.loads(part.read_text())["text"] == by_python
    assert clean_record({"html": PAGE}, "markdown", parts=Parts.of(**choice))["text"] == by_python


def test_facts():
    row = json.loads(clean(PAGE, "https://teashop.example/about", "jsonl"))
    assert (row["title"], row["author"], row["date"]) == ("All about tea", "Ann Lee", "2024-05-17")
    assert (row["site_name"], row["language"]) == ("Tea shop", "en")
    row = json.loads(clean(PAGE, format="jsonl", exclude="facts"))
    assert row["title"] == "All about tea - Tea shop"
    assert "author" not in row


@pytest.mark.parametrize(("options", "has_facts"), [([], True), (["--without", "facts"], False)])
def test_facts_in_rows(tmp_path, options, has_facts):
    page = tmp_path / "tea.html"
    page.write_text(PAGE)
    victor("clean", page, "-o", f"{tmp_path}/out.jsonl/", "--jobs", "1", *options)
    (part,) = (tmp_path / "out.jsonl").glob("part-*.jsonl")
    row = json.loads(part.read_text())
    expected = ("Ann Lee", "2024-05-17", "en") if has_facts else ("", "", "")
    assert (row["author"], row["date"], row["language"]) == expected
    victor("clean", page, "-o", f"{tmp_path}/folder", "--jobs", "1", "--to", "folder", "--with", "facts")
    (index,) = (tmp_path / "folder/_index").glob("part-*.jsonl")
    assert json.loads(index.read_text())["author"] == "Ann Lee"
    assert clean_record({"html": PAGE})["author"] == "Ann Lee"


def test_the_detected_language_wins(cleaner):
    german = "<html lang=en><p>Tee ist ein Getränk, das man aus den Blättern des Teestrauchs macht. " * 3
    page = cleaner.document(german, metadata=True)
    assert (page.language, page.metadata.language) == ("de", "en")
    marks = {"prevertical": ' lang="de"', "xml": ' language="de"', "tei": 'xml:lang="de"', "csv": ",de,"}
    for name, mark in marks.items():
        assert mark in page.to(name), name
    assert cleaner.document("<html lang=pt-BR><p>Oi", metadata=True).language == "pt"
    assert cleaner.document(german).language == ""


def test_errors_of_the_command(tmp_path):
    page = tmp_path / "tea.html"
    page.write_text(PAGE)
    wrong = victor("clean", "--without", "tabels", page)
    assert wrong.returncode == 2
    assert "unknown part 'tabels' (did you mean 'tables'?)" in wrong.stderr
    assert victor("list", "parts").stdout.startswith("headline")


def test_a_run_is_not_resumed_with_other_parts(tmp_path):
    page = tmp_path / "tea.html"
    page.write_text(PAGE)
    arguments = ("clean", page, "-o", f"{tmp_path}/out.jsonl/", "--jobs", "1")
    assert victor(*arguments).returncode == 0
    other = victor(*arguments, "--without", "code")
    assert "--with, --without or --headline differs" in other.stderr


def test_all_formats_take_all_switches(cleaner):
    chosen = cleaner.document(PAGE, features=True, metadata=True, layout=True, parts=Parts.of(exclude=PARTS))
    for name in OUTPUTS:
        assert "Minutes" not in chosen.to(name) or name in {"anno", "jsonl", "label-studio"}


GERMAN = "<html lang=en><title>Tee</title><h1>Tee</h1>" + (
    "<p>Tee ist ein Getränk, das man aus den Blättern des Teestrauchs macht. Er wird fast überall auf der Welt heiß "
    "getrunken, mit Milch, mit Zitrone oder ohne alles, am Morgen und am Nachmittag.</p>" * 3
)
SHORT = "<title>Tea</title><p>Tea is hot."


@pytest.mark.parametrize(
    ("filters", "status", "kind", "reason"),
    [
        (Filters(), "kept", "", ""),
        (Filters(min_words=20), "kept", "", ""),
        (Filters(min_words=500), "skipped", "too-short", r"\d+ words are fewer than 500"),
        (Filters(min_confidence=0.1), "kept", "", ""),
        (Filters(min_confidence=1.0), "skipped", "low-confidence", r"the confidence 0\.\d+ is below 1"),
        (Filters(languages=("fr", "de")), "kept", "", ""),
        (Filters(languages=("en", "fr")), "skipped", "other-language", "the language is de, not en, fr"),
    ],
)
def test_filters(filters, status, kind, reason):
    for parts in (Parts(), Parts.of(exclude="facts")):
        row = clean_record({"html": GERMAN}, filters=filters, parts=parts)
        assert (row["status"], row["kind"]) == (status, kind)
        assert re.fullmatch(reason, row["reason"])
        assert bool(row["text"]) is (status == "kept")
        assert row["confidence"] is not None
    assert row["language"] == ("de" if filters.languages else "en")  # declared, unless detection is needed


def test_filters_keep_pages_with_exactly_the_least_words_and_confidence():
    words = len(clean_record({"html": GERMAN})["text"].split())
    assert clean_record({"html": GERMAN}, filters=Filters(min_words=words))["status"] == "kept"
    assert clean_record({"html": GERMAN}, filters=Filters(min_words=words + 1))["status"] == "skipped"
    confidence = Cleaner.load().document(GERMAN).confidence
    assert clean_record({"html": GERMAN}, filters=Filters(min_confidence=confidence))["status"] == "kept"


def test_an_empty_page_has_too_few_words_but_no_language():
    filters = Filters(min_confidence=0.9, languages=("en",))
    assert clean_record({"html": "<p></p>"}, filters=filters)["status"] == "empty"
    row = clean_record({"html": "<p></p>"}, filters=Filters(min_words=1))
    assert (row["status"], row["kind"], row["reason"]) == ("skipped", "too-short", "0 words are fewer than 1")


def test_filters_are_counted(tmp_path):
    write_files(tmp_path / "in", {"a.html": PAGE, "b.html": GERMAN, "c.html": SHORT, "d.html": ""})
    command = ["clean", f"{tmp_path}/in", "--language", "en", "--min-words", "20"]
    plain = victor(*command, "-o", f"{tmp_path}/plain")
    assert names_in(tmp_path / "plain") == ["a.txt"]
    assert "4 pages: 1 kept, 0 empty, 3 skipped, 0 failed" in plain.stderr
    assert "c.html: skipped: 3 words are fewer than 20" in plain.stderr
    batch = victor(*command, "-o", f"{tmp_path}/out.jsonl/", "--jobs", "1", "--summary", f"{tmp_path}/summary.json")
    assert re.search(r"skipped +3 +(too-short 2, other-language 1|other-language 1, too-short 2)", batch.stderr)
    assert json.loads((tmp_path / "summary.json").read_text())["kinds"] == {"other-language": 1, "too-short": 2}
    again = victor(*command[:2], "-o", f"{tmp_path}/out.jsonl/", "--jobs", "1")
    assert "filters" in again.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--language", "en,eng"], r"unknown language 'eng' \(did you mean 'en'"),
        (["--min-words", "0"], "--min-words must be above 0, not 0"),
        (["--min-confidence", "1.5"], "--min-confidence must be from 0 to 1, not 1.5"),
        (["--min-confidence", "0.5", "--method", "everything"], "a minimum confidence needs a model"),
        (["--front-matter"], "--front-matter needs --format markdown"),
    ],
)
def test_wrong_filters(tmp_path, options, message):
    (tmp_path / "tea.html").write_text(PAGE)
    ended = victor("clean", *options, tmp_path / "tea.html")
    assert ended.returncode == 2
    assert re.search(message, ended.stderr)


def read_yaml(text):
    """Read fields whose values are in JSON's syntax."""
    return {name: json.loads(value) for name, _, value in (line.partition(": ") for line in text.splitlines())}


def test_front_matter(tmp_path):
    (tmp_path / "tea.html").write_text(PAGE)
    command = ["clean", "--format", "markdown", "--front-matter", "--url", "https://teashop.example/tea"]
    written = victor(*command, tmp_path / "tea.html").stdout
    assert written == clean(PAGE, "https://teashop.example/tea", "markdown(front_matter=true)")
    _, facts, text = written.split("---\n", 2)
    found = read_yaml(facts)
    assert 0 < found.pop("confidence") <= 1
    assert found == {
        "title": "All about tea",
        "author": "Ann Lee",
        "date": "2024-05-17",
        "language": "en",
        "url": "https://teashop.example/tea",
        "site_name": "Tea shop",
    }
    assert text == "\n" + clean(PAGE, "https://teashop.example/tea", "markdown")


HOSTILE = [
    *('a: "b" #c', "---", "- [x] {y: z}", "!!python/object:os.system", "a\u2028---\x85b\x7f"),
    *("it's\n---\nx: 1", "\ud800", "*a &b |"),
]


@pytest.mark.parametrize("title", HOSTILE, ids=ascii)
def test_hostile_titles_are_quoted(title):
    written = yaml_header({"title": title})
    assert written.count("\n") == 4
    assert not re.search("[\x7f-\x9f\u2028\u2029\ud800-\udfff]", written)  # characters that YAML does not allow
    assert read_yaml(written.removeprefix("---\n").removesuffix("---\n\n")) == {
        "title": title.replace("\ud800", "\ufffd")
    }


@pytest.mark.parametrize("parts", ["links", {"links"}, None])
def test_parts_of_a_document_are_parts(parts):
    with pytest.raises(TypeError, match=r"parts must be Parts, such as Parts\.of\(exclude='links'\), not "):
        Cleaner.load().document(PAGE, parts=parts)
