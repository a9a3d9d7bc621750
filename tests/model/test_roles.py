"""Roles of blocks: what markup decides, typical pages, and trees."""

from dataclasses import replace

import numpy as np
import pytest

from victorpy import Cleaner, Parts, clean, load_config, read_document
from victorpy.base.resources import shipped
from victorpy.columns import NEAR, Columns
from victorpy.document import Role
from victorpy.model.evidence.threads import posts, profiles
from victorpy.model.evidence.trees import constant
from victorpy.model.labeller import role_trees_of
from victorpy.model.parts import AS_LABELLED
from victorpy.model.role_patterns import has_headline
from victorpy.model.role_trees import LEARNED, RECORD_ROLES, ROLES_FILE, RoleTrees, own_inputs, role_inputs
from victorpy.model.roles import assign_roles, by_rules, find_comments
from victorpy.model.store import load_model, save_model
from victorpy.research.evaluate import evaluate_as_is
from victorpy.research.gold import load_gold
from victorpy.research.report.evaluation import report
from victorpy.research.site_runs import Plan

ARTICLE = """<html><head><title>Tea is hot again | Tea Times</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/tea">Tea</a></li></ul></nav>
<article><h1>Tea is hot again</h1>
<p class="byline">By Ann Lee, 5 May 2024</p>
<p>Tea is made by pouring hot water over the cured leaves of the tea bush. It is drunk all over the world, and after
water it is the most widely drunk of all drinks.</p>
<figure><img src="a.jpg"><figcaption>A cup of tea on a table</figcaption></figure>
<p>Most of the tea is grown in China and India, where it is picked by hand, dried and packed. The first harvest of the
year is the most expensive one, and it is sold by auction.</p>
<pre>brew(tea, minutes=3)</pre>
<div class="tags"><a href="/t/tea">tea</a> <a href="/t/water">water</a></div></article>
<div id="comments"><div class="comment"><p>I have always liked coffee more than tea, to be honest.</p></div></div>
<footer><p>Copyright 2024 Tea Times. All rights reserved.</p></footer></body></html>"""


@pytest.fixture(scope="module")
def roles():
    page = Cleaner.load().document(ARTICLE, roles=True)
    return dict(zip(page.document.texts, page.roles, strict=True))


@pytest.mark.parametrize(
    ("start", "role"),
    [
        ("Home", Role.NAVIGATION),
        ("Tea is hot", Role.HEADLINE),
        ("By Ann", Role.BYLINE),
        ("Tea is made", Role.BODY),
        ("A cup", Role.CAPTION),
        ("brew", Role.CODE),
        ("tea water", Role.TAGS),
        ("I have always", Role.COMMENT),
        ("Copyright", Role.LEGAL),
    ],
)
def test_an_article(roles, start, role):
    assert next(found for text, found in roles.items() if text.startswith(start)) == role


def test_roles_are_only_assigned_on_request():
    assert Cleaner.load().document(ARTICLE).roles == ()
    assert Cleaner.load().document("", roles=True).roles == ()


def columns_of(page):
    config = load_config("default")
    return Columns(read_document(page, config), config)


def inputs_of(page, is_kept, blocks, roles=LEARNED):
    names, matrix = role_inputs(page, is_kept, blocks, roles)
    return dict(zip(names, matrix, strict=True))


def trees_with(**log_odds):
    """Trees that give every block the same log-odds of each role."""
    page = columns_of("<p>tea")
    names, _ = role_inputs(page, np.ones(1, dtype=bool), np.arange(1), LEARNED)
    return RoleTrees(tuple(names), {role: constant(np.array([log_odds.get(role, -1.0)])) for role in LEARNED})


def test_inputs_of_some_blocks_are_those_of_all_blocks():
    page = columns_of(ARTICLE)
    is_kept, some = page.words > 10, np.array([2, 5, 7])
    every = inputs_of(page, is_kept, np.arange(page.count))
    chosen = inputs_of(page, is_kept, some)
    assert [*every] == [*chosen]
    for name, row in every.items():
        assert row[some].tolist() == chosen[name].tolist(), name
    assert own_inputs(Role.BYLINE, [*every]) < own_inputs(Role.COMMENT, [*every]) == len(every)
    assert [*inputs_of(page, is_kept, some, [Role.BYLINE])] == [*every][: own_inputs(Role.BYLINE, [*every])]


def test_inputs_of_records():
    record = (
        "<div class='c{}'><p>Ann on 5 May 2024<p>Tea is always a good idea, said the man with the cup of tea.</div>"
    )
    page = columns_of("<p>Tea is hot.<div>" + "".join(map(record.format, range(3))) + "</div><p>More tea.")
    inputs = inputs_of(page, np.ones(page.count, dtype=bool), np.arange(page.count))
    assert inputs["record.count"].tolist() == [-1, 3, 3, 3, 3, 3, 3, -1]
    assert inputs["record.rank"].tolist() == [-1, 0, 0, 1, 1, 2, 2, -1]
    assert inputs["record.date"].tolist() == [-1, 1, 1, 1, 1, 1, 1, -1]
    assert inputs["record.prose-share"][1] == 1
    assert inputs["text.date"].tolist() == [0, 1, 0, 1, 0, 1, 0, 0]


@pytest.mark.parametrize("page", ["", "<p>tea", "<title>Tea</title><h1>Tea</h1>", "<p>" + "tea " * 50])
def test_roles_of_small_pages(page):
    cleaner = Cleaner.load()
    cleaned = cleaner.document(page, roles=True)
    assert len(cleaned.roles) == len(cleaned.labels)
    columns = columns_of(page)
    is_kept = np.ones(columns.count, dtype=bool)
    assert len(by_rules(columns, is_kept)) == columns.count


def test_a_block_has_the_most_probable_role_and_a_page_one_headline():
    document = read_document(ARTICLE, load_config("default"))
    labels = Cleaner.load().labeller.label(document).labels
    roles = assign_roles(document, labels, trees=trees_with(headline=2.0, related=1.0))
    assert roles.count(Role.HEADLINE) == 1
    assert Role.CODE in roles
    assert Role.CAPTION in roles  # markup is certain
    assert {*roles} <= {Role.HEADLINE, Role.RELATED, Role.CODE, Role.CAPTION, Role.LEGAL}
    nothing = assign_roles(document, labels, trees=trees_with())
    assert {*nothing}.isdisjoint({*LEARNED} - {Role.CAPTION, Role.COMMENT})  # names are certain, too


def test_trees_decide_which_comments_are_dropped_by_default():
    page = columns_of(ARTICLE)
    is_kept = np.ones(page.count, dtype=bool)
    for log_odds in (-1.0, 1.9, 2.1):
        is_comment = find_comments(page, is_kept, is_kept, trees_with(comment=log_odds))
        found = [page.texts[number] for number in np.flatnonzero(is_comment)]
        assert any(line.startswith("I have always") for line in found) == (log_odds > 2)
        assert not any(line.startswith("Tea is made") for line in found)


def test_without_other_text_comments_are_the_page():
    comments = "".join(f"<li class='comment'><p>{POST.format(number)}</p></li>" for number in range(5))
    for text, is_page in (("<p>Open thread.</p>", True), (f"<p>{POST.format(1)} {POST.format(2)}</p>", False)):
        page = columns_of(f"<h1>Tea</h1>{text}<ol>{comments}</ol>")
        is_kept = np.ones(page.count, dtype=bool)
        is_comment = find_comments(page, is_kept, is_kept, trees_with(comment=3.0))
        assert is_comment.sum() == (0 if is_page else 5)


@pytest.mark.parametrize(
    ("name", "is_thread"),
    [("comment even thread-even depth-1", False), ("disqus_thread", False), ("comment thread", True), ("topic", True)],
)
def test_names_of_comments_that_are_no_forum(name, is_thread):
    comments = "".join(f"<li class='{name}'><div class='comment'><p>{POST.format(9)}</p></div></li>" for _ in range(5))
    page = columns_of(f"<h1>Tea</h1><p>{POST.format(1)} {POST.format(2)}</p><ol>{comments}</ol>")
    is_kept = np.ones(page.count, dtype=bool)
    assert find_comments(page, is_kept, is_kept, trees_with(comment=3.0)).any() != is_thread


def test_trees_for_comments_do_not_ask_which_blocks_are_kept():
    trees, page = role_trees_of(Cleaner.load().labeller), columns_of(ARTICLE)
    every = np.arange(page.count)
    with_all, with_none = (trees.log_odds(page, is_kept, every, LEARNED) for is_kept in (every >= 0, every < 0))
    independent = {role for role in LEARNED if np.array_equal(with_all[role], with_none[role])}
    assert set(RECORD_ROLES) <= independent < set(LEARNED)


POST = "Tea is made of leaves and hot water, and I have been drinking it every morning for more than {} years now."
THREAD = (
    "<title>How do you make tea? - Tea forum</title><h1>How do you make tea?</h1><div class='thread'>"
    + "".join(
        f"<div class='post'><div class='author'>user{number}</div><div class='date'>{number} May 2024</div>"
        f"<div class='comment-body'><p>{POST.format(number)} {POST.format(number + 9)}</p></div></div>"
        for number in range(1, 9)
    )
    + "</div>"
)


def test_posts_of_a_thread_stay_and_comments_of_an_article_go():
    cleaner = Cleaner.load()
    thread = cleaner.document(THREAD, parts=AS_LABELLED)
    texts = [text for text in thread.document.texts if text.startswith("Tea is made of")]
    kept = cleaner.document(THREAD).text
    assert len(texts) == 8
    assert all(text in kept for text in texts if text in thread.text)
    comments = "".join(
        f"<div class='comment'><cite>user{number}</cite> <a href='#c{number}'>{number} May 2024</a>"
        f"<p>I have always liked coffee more than tea, number {number}, to be honest with you all.</p>"
        f"<a href='?reply={number}'>Reply</a></div>"
        for number in range(6)
    )
    article = ARTICLE.replace('<div id="comments">', f'<div id="comments">{comments}')
    assert "coffee" not in cleaner.document(article).text
    assert "number 3" in cleaner.document(article, parts=Parts.of(include="comments")).text


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("", "", 6),
        (" May 2024", "", 0),
        ("'comment-body'", "'article-body'", 0),  # in the kept posts
        ("<p>", "<blockquote>A quoted post</blockquote><p>", 6),
        ("<p>", "<a href='?like'>Like</a><p>", 6),
        (" May 2024", " #2", 0),
    ],
)
def test_posts_are_found_by_dates_and_by_the_markup_of_the_kept_ones(old, new, found):
    page = columns_of(THREAD.replace(old, new, 2 if "body" in old else -1))
    is_kept = np.array(["than 1 years" in text or "than 2 years" in text for text in page.texts])
    assert posts(is_kept, page, ~is_kept).sum() == found


def test_posts_without_classes_are_found_by_their_ids():
    body = "<p id=who{0}>{0} May 2024<div id=post_{0}><p>Tea number {0} is a hot drink, and I like it a lot.</div>"
    page = columns_of(body.format(1) + body.format(2) + body.format(3))
    is_kept = np.array(["number 1" in text or "number 3" in text for text in page.texts])
    assert np.flatnonzero(posts(is_kept, page, ~is_kept)).tolist() == [3]


def test_profiles_beside_posts_are_dropped():
    post = "<p>Member<p>From: London<p>Joined: May 20{0}<p>Posts: {0}<p>Re: Tea<p>Tea {0} is hot.<p>Yes<p>No<p>From: me"
    page = columns_of("".join(post.format(number) for number in (10, 11, 12)))
    is_kept = np.ones(page.count, dtype=bool)
    dropped = profiles(is_kept, page)
    left = [text for number, text in enumerate(page.texts) if number not in dropped]
    assert left[:3] == ["Tea 10 is hot.", "Yes", "No"]
    assert len(left) == 10  # the last line has no profile near it
    assert not profiles(is_kept[:9], columns_of(post.format(10)))


def test_trees_are_saved_and_models_without_them_use_rules(tmp_path):
    model = load_model("default")
    trees = trees_with(tags=3.0)
    model.labeller.stages_ = replace(model.labeller.stages_, roles=trees)
    save_model(tmp_path / "new", model.labeller, model.config, model.meta["training"])
    read = role_trees_of(load_model(tmp_path / "new").labeller)
    assert read.inputs == trees.inputs
    assert {role: forest.bias.tolist() for role, forest in read.forests.items()} == {
        role: [3.0 if role == "tags" else -1.0] for role in LEARNED
    }
    for name in load_model("default").meta["files"]:
        if name not in {ROLES_FILE, "config.conf"}:
            assert (tmp_path / "new" / name).read_bytes() == (shipped("models") / "default" / name).read_bytes()
    model.labeller.stages_ = replace(model.labeller.stages_, roles=None)
    save_model(tmp_path / "old", model.labeller, model.config, model.meta["training"])
    page = Cleaner.load(str(tmp_path / "old")).document(ARTICLE, roles=True)
    assert page.roles == assign_roles(page.document, page.labels)
    assert Role.BYLINE in page.roles


def test_trees_with_other_inputs_are_refused(tmp_path):
    trees = trees_with()
    RoleTrees((*trees.inputs, "other"), trees.forests).save(tmp_path)
    with pytest.raises(ValueError, match="need other inputs"):
        RoleTrees.load(tmp_path)
    several = trees.forests | {Role.TAGS: constant(np.zeros(3))}
    RoleTrees(trees.inputs, several).save(tmp_path)
    with pytest.raises(ValueError, match="several classes"):
        RoleTrees.load(tmp_path)


def test_evaluation_scores_roles_of_annotated_pages(tmp_path):
    cleaner = Cleaner.load()
    text = cleaner.document(ARTICLE, roles=True).to("anno")
    assert "role=byline" in text
    (tmp_path / "right.anno").write_text(text, encoding="utf-8")
    (tmp_path / "wrong.anno").write_text(text.replace("role=byline", "role=legal"), encoding="utf-8")
    (tmp_path / "without.anno").write_text(cleaner.document(ARTICLE).to("anno"), encoding="utf-8")
    pages = load_gold([f"anno:{tmp_path}"], cleaner.config, print)
    scores = evaluate_as_is(pages, cleaner, "default", Plan(), lambda count: None).scores()
    assert scores["roles"]["headline"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert scores["roles"]["byline"]["precision"] == 0.5
    assert scores["roles"]["legal"]["recall"] < 1
    assert "Roles" in {section.title for section in report(scores, "Tea", {}).sections}
    others = [page for page in pages if not page.roles]
    assert [page.name for page in others] == ["without"]
    assert "roles" not in evaluate_as_is(others, cleaner, "default", Plan(), lambda count: None).scores()


TEXT = "Tea is made by pouring hot water over the cured leaves of the tea bush, and it is drunk all over the world."


def roles_by_rules(before="", after="", kept=True):
    """The roles of what is before and after a long text under a headline. With `kept`, the model has kept it."""
    page = columns_of(f"<title>Tea is hot</title><h1>Tea is hot</h1>{before}<p>{TEXT}</p>{after}")
    (text,) = (number for number, words in enumerate(page.texts) if words == TEXT)
    is_kept = np.full(page.count, kept)
    is_kept[[0, text]] = True
    roles = by_rules(page, is_kept)
    assert (roles[0], roles.pop(text)) == (Role.HEADLINE, Role.BODY)
    return [str(role) for role in roles[1:]]


@pytest.mark.parametrize(
    ("markup", "place", "kept", "role"),
    [
        ("<pre>brew</pre>", "after", True, "code"),
        ("<p>Tea", "after", True, "body"),
        ("<p>Tea", "after", False, "other"),
        ("<p class=subtitle>one two three four", "before", True, "subtitle"),
        ("<p class=subtitle>one two three", "before", True, "body"),
        (f"<p class=subtitle>{'one ' * 70}", "before", True, "subtitle"),
        (f"<p class=subtitle>{'one ' * 71}", "before", True, "body"),
        ("<p>a<p>b<p class=subtitle>one two three four", "after", True, "body body body"),  # far below the headline
        ("<p class=footnote>Tea", "after", False, "note"),
        ("<p class=copyright>Tea", "after", True, "legal"),
        ("<p>© Tea Times", "after", False, "legal"),
        ("<p>© Tea Times", "after", True, "body"),
        (f"<p>©{' one' * 59}", "after", False, "legal"),
        (f"<p>©{' one' * 60}", "after", False, "other"),
        ("<p>By Ann Lee", "before", True, "byline"),
        ("<p>5 May 2024", "before", True, "byline"),
        ("<p class=author>Ann", "before", True, "byline"),
        (f"<p>By{' Ann' * 11}", "before", True, "byline"),
        (f"<p>By{' Ann' * 12}", "before", True, "body"),
        (f"<p>5 May 2024{' one' * 4}", "before", True, "byline"),
        (f"<p>5 May 2024{' one' * 5}", "before", True, "body"),  # too long for a date alone
        ("<p><a href=/>5 May</a> 2024 now", "before", True, "body"),  # half of it is a link
        ("<p>By Ann Lee", "after", True, "body"),
        ("<p class=tags><a href=/>tea</a>", "after", True, "tags"),
        ("<p class=tags><a href=/>tea</a> cup", "after", True, "body"),  # half of it is a link
        ("<p class=tags><a href=/>tea</a>", "before", True, "body"),
        ("<p>Tags: tea", "after", True, "tags"),
        (f"<p>Tags:{' one' * 6}" * 2, "after", True, "tags tags"),
        (f"<p>Tags:{' one' * 4}" * 3, "after", True, "body body body"),  # they are the content of the page
        (f"<p>Tags:{' one' * 18}", "after", True, "tags"),
        (f"<p>Tags:{' one' * 19}", "after", True, "body"),
        ("<p class=related>Tea", "after", True, "related"),
        ("<p>Read more about tea", "after", True, "related"),
        (f"<p>Read more{' one' * 19}", "after", True, "body"),
        ("<nav><p>Tea</nav>", "after", True, "navigation"),
        ("<p class=menu>Tea", "after", False, "navigation"),
        ("<p class=menu>Tea", "after", True, "body"),
        ("<p><a href=/>a b c d</a> e", "after", False, "navigation"),
        ("<p><a href=/>a b c</a> d e", "after", False, "other"),
        ("<dl><dt>Tea<dd>hot</dl>", "after", True, "facts facts"),
        ("<dl><dt>Tea<dd>hot</dl>", "after", False, "other other"),
        ("<table><tr><td>Tea</table>", "after", True, "table"),
        (f"<table><tr><td>{'one ' * 20}</table>", "after", True, "table"),
        (f"<table><tr><td>{'one ' * 21}</table>", "after", True, "body"),
        ("<table><caption>Tea</caption><tr><td>hot</table>", "after", True, "caption table"),
        ("<figure><img src=a.jpg><figcaption>Tea</figcaption></figure>", "after", True, "caption"),
        ("<div><img src=a.jpg><p class=caption>Tea</div>", "after", True, "caption"),
        ("<div><p class=caption>Tea</div>", "after", True, "body"),  # of what?
        ("<figure><blockquote>Tea!</blockquote><figcaption>Ann</figcaption></figure>", "after", True, "body body"),
    ],
)
def test_rules(markup, place, kept, role):
    assert roles_by_rules(**{place: markup}, kept=kept) == role.split()


@pytest.mark.parametrize(
    ("page", "words", "expected"),
    [
        ("<p>{text}<div class=comment><p>{comment}</div>", 60, [False, True]),
        ("<p>{text}<div class=comment><p>{comment}</div>", 30, [False, True]),
        ("<p>{text}<div class=comment><p>{comment}</div>", 29, [False, False]),  # too little text
        ("<p>{text}<div class=comment><p>{comment}{comment}" + " one" * 15 + "</div>", 30, [False, True]),
        ("<p>{text}<div class=comment><p>{comment}{comment}" + " one" * 16 + "</div>", 30, [False, False]),  # a thread
        ("<div class=comment><p>{comment}</div><p>{text}", 60, [False, False]),  # above the text
        ("<p>{text}<pre class=comment>{comment}</pre>", 60, [False, False]),  # of a program
        ("<p>{text}<div class=comment><p class=answer>{comment}</div>", 60, [False, False]),  # a forum
    ],
)
def test_comments_by_rules(page, words, expected):
    columns = columns_of(page.format(text="tea " * words, comment="I like it."))
    assert find_comments(columns, np.ones(columns.count, dtype=bool)).tolist() == expected


SMALL = """<html><head><title>Green tea</title></head><body><div><h1>Green tea</h1>
<p class=byline>By Ann, <a href=/>5 May</a></p></div>
<div><p>Tea is made by pouring hot water over the cured leaves of the tea bush, and it is drunk all day.</p>
<p>It is hot.</p></div><ul class=related><li><a href=/cups>Cups 24</a></li></ul></body></html>"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("words", [2, 4, 21, 3, 2]),
        ("link-share", [0, 2 / 4, 0, 0, 1]),
        ("characters", [9, 13, 96, 10, 7]),
        ("digits", [0, 1 / 13, 0, 0, 2 / 7]),
        ("punctuation", [0, 1 / 13, 2 / 96, 1 / 10, 0]),
        ("capitals", [1 / 8, 3 / 8, 1 / 74, 1 / 7, 1 / 4]),
        ("title", [1, 0, 2 / 21, 0, 0]),
        ("index", [0, 1, 2, 3, 4]),
        ("from-end", [5, 4, 3, 2, 1]),
        ("headline-distance", [0, 1, 2, 3, 4]),
        ("is-headline", [1, 0, 0, 0, 0]),
        ("words-before", [0, 2 / 32, 6 / 32, 27 / 32, 30 / 32]),
        ("prose-before", [0, 0, 0, 1, 1]),
        ("prose-after", [1, 1, 0, 0, 0]),
        ("kept-before", [0, 2 / 26, 2 / 26, 23 / 26, 1]),
        ("from-first-text", [-2, -1, 0, 1, 2]),
        ("from-last-text", [-2, -1, 0, 1, 2]),
        ("in.li", [0, 0, 0, 0, 1]),
        ("words[-2]", [-1, -1, 2, 4, 21]),
        ("words[+1]", [4, 21, 3, 2, -1]),
        ("link-share[-1]", [-1, 0, 1 / 2, 0, 0]),
        ("ancestor1.words", [6, 6, 24, 24, 2]),
        ("ancestor1.link-share", [2 / 6, 2 / 6, 0, 0, 1]),
        ("ancestor1.blocks", [2, 2, 2, 2, 1]),
        ("ancestor2.words", [32, 32, 32, 32, 2]),
        ("name.byline", [NEAR, 0, NEAR, NEAR, NEAR]),
        ("name.related", [NEAR, NEAR, NEAR, NEAR, 2]),
        ("text.date", [0, 1, 0, 0, 0]),
        ("text.by", [0, 1, 0, 0, 0]),
        ("page.blocks", [5] * 5),
        ("page.prose", [21] * 5),
        ("page.dates", [1] * 5),
        ("record.count", [-1] * 5),
    ],
)
def test_inputs_of_a_small_page(name, expected):
    page = columns_of(SMALL)
    is_kept = np.array([True, False, True, True, False])
    assert inputs_of(page, is_kept, np.arange(page.count))[name].tolist() == pytest.approx(expected, abs=1e-6)


def test_distances_are_bounded_and_unknown_without_a_place():
    page = columns_of("<p>tea" * 130)
    inputs = inputs_of(page, page.words > 20, np.arange(page.count))
    assert {*inputs["headline-distance"], *inputs["from-first-text"], *inputs["from-last-text"]} == {99}
    page = columns_of("<p>tea" * 65 + "<h1>Tea</h1>" + "<p>tea" * 65)
    distance = inputs_of(page, page.words > 20, np.arange(page.count))["headline-distance"]
    assert distance[[0, 4, 5, 6, 64, 65, 66, 124, 125, 126, 130]].tolist() == [-60] * 3 + [
        -59,
        -1,
        0,
        1,
        59,
        60,
        60,
        60,
    ]


def test_records_share_their_parent_tag_and_class():
    comment = (
        "<li class='c {}'><p>Ann wrote on 5 May 2024<p>{} said the man with the cup of tea, and he was quite right."
    )
    page = columns_of(
        f"<p>{TEXT}<ul class=comments>{comment.format('a', 'Tea')}{comment.format('b', 'Milk')}</ul>"
        f"<ul><li><p>Home<li><p>About us</ul>"
    )
    inputs = inputs_of(page, np.ones(page.count, dtype=bool), np.arange(page.count))
    prose = page.prose.tolist()
    inside, total = sum(prose[1:5]), sum(prose)
    assert inputs["record.count"].tolist() == [-1, 2, 2, 2, 2, -1, -1]
    assert inputs["record.level"].tolist() == [-1, 1, 1, 1, 1, -1, -1]
    assert inputs["record.rank"].tolist() == [-1, 0, 0, 1, 1, -1, -1]
    assert inputs["record.prose-share"][1] == pytest.approx(inside / total)
    assert inputs["record.before"][1] == inputs["record.before"][4] == pytest.approx(prose[0] / total)
    assert inputs["record.after"][1] == pytest.approx(0)
    words = page.words.tolist()
    assert inputs["record.words"][1] == sum(words[1:5]) / 2
    assert inputs["record.own-words"].tolist() == [-1, *[sum(words[1:3])] * 2, *[sum(words[3:5])] * 2, -1, -1]
    assert inputs["record.date"][1] == inputs["record.reply"][1] == inputs["record.with-prose"][1] == 1
    assert inputs["page.comment"][0] == inputs["page.records"][0] == pytest.approx(inside / total)
    assert inputs["page.dates"][0] == 2


def test_text_in_an_element_named_references_is_the_page_if_it_is_most_of_it():
    text = "Tea is made by pouring hot water over the leaves of the tea bush, and it is drunk all over the world. "
    page = f"<div class='references'><h1>Tea</h1><p>{text * 3}</p><p>{text * 2}</p></div>"
    assert clean(page, exclude="notes") == clean(page)
    page = f"<h1>Tea</h1><p>{text * 3}</p><div class='references'><p>{text}</p></div>"
    assert text.strip() in clean(page, exclude="notes").split("\n\n")[1]
    assert len(clean(page, exclude="notes")) <= len(clean(page))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<title>Milk</title><h1>Hot tea</h1><p>Tea is hot.", True),
        ("<title>Milk</title><h2>Hot tea</h2><p>Tea is hot.", False),
        ("<title>Hot tea</title><h2>Hot tea</h2><p>Tea is hot.", True),
        ("<title>Tea cups</title><h2>Tea pots</h2><p>They are hot.", False),
        ("", False),
    ],
)
def test_a_headline_is_an_h1_or_more_than_half_of_it_is_in_the_title(html, expected):
    config = load_config("default")
    assert has_headline(Columns(read_document(html, config), config)) is expected


@pytest.mark.parametrize(("named", "alike", "posts_found"), [(4, 8, 8), (3, 8, 3), (3, 6, 6), (4, 9, 4), (5, 9, 9)])
def test_texts_alike_are_posts_if_half_of_them_are_named_like_posts(named, alike, posts_found):
    """Covers has_posts, _alike and _count_posts."""
    text = "<div class=text><p>Post number {} says that tea is hot and wet, and that milk is neither of them.</div>"
    names = ["post"] * named + ["box"] * (alike - named)
    items = (
        f"<div class={name}>{text.format(place)}</div><time>May {place}</time>" for place, name in enumerate(names)
    )
    page = columns_of("".join(items))
    kept = np.array([shown.startswith(("Post number 0", "Post number 1")) for shown in page.texts])
    added = posts(kept, page, ~kept)
    assert [page.texts[block][:4] for block in np.flatnonzero(added)] == ["Post"] * (posts_found - 2)  # two are kept
