"""Snapshots of the annotation tool: screens of many sizes after random keys and clicks, and the labels at the end."""

import random
from pathlib import Path

import pytest
from support.annotation import CONFIG, CUPS, app_of, labelled, session_of
from support.commands import JPEG
from support.randompages import RandomPage
from support.snapshots import check, digest

from victorpy import Label
from victorpy.annotation.pages import Pages
from victorpy.annotation.session import Choice
from victorpy.annotation.tui import views
from victorpy.annotation.tui.app import App
from victorpy.annotation.tui.keys import Keys
from victorpy.annotation.tui.layout import PageLayout
from victorpy.annotation.tui.side_panes import FORMATS, FactsPane, draw_result
from victorpy.annotation.tui.text import palette, text_of
from victorpy.annotation.tui.views import HelpView

KEYS = [
    *(*"hplco", " ", ".", "x", *"HPLCO", "v", "J", "K", "r", "s", "m", "t", "esc", "u", "U", "j", "k", "down", "up"),
    *("page down", "page up", "home", "end", "[", "]", "'", "w", "W", "e", "E", "n", "N", "meta p", "tab", "enter"),
    *("i", "?", "g", "1", "2", "left", "right", "backspace", "a", "/", "d", "f", "b", "z", "y"),
]
SIZES = [(39, 8), (40, 7), (40, 8), (60, 12), (79, 24), (80, 23), (80, 24), (81, 25), (100, 30), (131, 40), (200, 60)]


@pytest.mark.parametrize("seed", range(24))
def test_random_keys(tmp_path, seed):
    chance = random.Random(seed)
    html = RandomPage(1000 + seed).html()
    labels = [*Label] * 40
    session = session_of(html)
    count = len(session)
    session = session_of(html, tuple(labels[:count]), [chance.random() for _ in range(count)])
    app, shown = app_of(session, tmp_path), []
    for _ in range(8):
        width, height = SIZES[chance.randrange(len(SIZES))]
        for _ in range(8):
            if chance.random() < 0.2:
                app.mouse("mouse press", chance.choice([1, 4, 5]), chance.randrange(width), chance.randrange(height))
            else:
                app.key(KEYS[chance.randrange(len(KEYS))])
            if not app.views:
                break
            rows, cursor = app.draw(width, height)
            shown.append(f"{rows} {cursor}")
    final = "\n".join(text_of(row).rstrip() for row in app.draw(80, 24)[0]) if app.views else ""
    found = {"labels": "".join(label[0] if label else "?" for label in session.labels()), "last screen": final[:600]}
    found |= {f"screens {start}": digest("".join(shown[start : start + 16])) for start in range(0, len(shown), 16)}
    check("screens", f"keys {seed}", found)


SCROLLING = (
    ["page down"] * 4 + ["page up"] * 4 + ["down", "up", "j", "k", "home", "end", "[", "]", "n", "N", "b", "w", "e"]
)


@pytest.mark.parametrize("seed", range(12))
def test_scrolling(tmp_path, seed):
    """Blocks of many heights, also higher than the screen, and short ones that share lines."""
    chance = random.Random(seed)
    words = "tea is a drink of leaves and hot water in the world ".split()
    lengths = [chance.choice([1, 1, 2, 3, 8, 30, 120, 300]) for _ in range(chance.choice([3, 12, 60]))]
    html = "".join(f"<{tag}>{' '.join(chance.choices(words, k=length))}" for length in lengths
                   for tag in [chance.choice(["p", "li", "h2", "ul><li", "section><p"])])  # fmt: skip
    count = len(session_of(html))
    session = session_of(
        html,
        chance.choices([*Label, Label.OTHER, Label.OTHER], k=count),
        [chance.random() ** 0.2 for _ in range(count)],
    )
    session.pattern = "tea"
    app, found = app_of(session, tmp_path), []
    for _ in range(6):
        width, height = chance.choice([40, 60, 90]), chance.randrange(8, 26)
        for _ in range(12):
            if chance.random() < 0.1:
                app.mouse("mouse press", chance.choice([1, 4, 5]), chance.randrange(width), chance.randrange(height))
            else:
                app.key(chance.choice(SCROLLING))
            rows, _ = app.draw(width, height)
            found.append((session.cursor, [text_of(row) for row in rows]))
    check("screens", f"scrolling {seed}", {
        "cursor": " ".join(str(cursor) for cursor, _ in found),
        **{f"screens {n}": digest(str(found[n : n + 12])) for n in range(0, len(found), 12)},
    })  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_random_keys_between_two_annotations(tmp_path, seed):
    chance = random.Random(seed)
    html = RandomPage(2000 + seed).html()
    count = len(session_of(html))
    choices = tuple(
        Choice(name, tuple(chance.choices([*Label, None], k=count)), tuple(chance.random() < 0.7 for _ in range(count)))
        for name in ("anna", "somebody with a long name")
    )
    choices = tuple(
        choice._replace(decided=tuple(bool(label and sure) for label, sure in zip(*choice[1:], strict=True)))
        for choice in choices
    )
    session = session_of(html, choices=choices)
    app, shown = app_of(session, tmp_path), []
    keys = [
        "1",
        "2",
        "1",
        "2",
        "e",
        "d",
        "D",
        "x",
        "u",
        "h",
        "p",
        "l",
        "c",
        "o",
        " ",
        "v",
        "J",
        "t",
        "1",
        "f",
        "tab",
        "}",
    ]
    for _ in range(60):
        app.key(chance.choice([*keys, "{", "page down", "end", "home", ".", "a", "'", "w", "r", "esc", "s", "m"]))
        rows, cursor = app.draw(chance.choice([80, 100, 120]), 24)
        shown.append(f"{rows} {cursor}")
    labels = "".join(label[0] if label else "?" for label in session.labels())
    check("screens", f"two annotations {seed}", {
        "labels": labels,
        "bottom": text_of(rows[-1]),
        **{f"screens {n}": digest("".join(shown[n : n + 15])) for n in range(0, len(shown), 15)},
    })  # fmt: skip


IN_LIST = [
    "down",
    "up",
    "page down",
    "page up",
    "home",
    "end",
    "enter",
    "enter",
    ">",
    "<",
    "=",
    "R",
    "?",
    "esc",
    "q",
    "z",
    "f5",
]


@pytest.mark.parametrize("seed", range(6))
def test_random_keys_in_a_directory(tmp_path, seed, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the screen shows the path
    monkeypatch.setattr(views, "_WORK_SECONDS", 60.0)  # on a busy machine, few pages are read in the usual time
    chance = random.Random(seed)
    for number in range(chance.choice([1, 3, 12])):
        (tmp_path / f"page-{number}.html").write_text(CUPS.replace("Cups", f"Cups {number}" * chance.randrange(1, 3)))
        if chance.random() < 0.6:
            labelled(
                tmp_path / f"page-{number}.anno", *chance.choices([*Label], k=chance.choice([1, 3, 8, 8])), model=None
            )
    (tmp_path / "broken.html").write_bytes(JPEG)
    app = App(Keys(), CONFIG, None, read_only=True, retrain=False)
    pages = Pages(Path(), CONFIG, None, keep=False)
    app.show_list(pages, chance.choice(["name", "uncertainty", "progress"]))
    shown, log = [], []
    for step in range(60):
        if step == 5:
            while pages.unread:
                pages.work(1)
        if chance.random() < 0.15:
            app.mouse("mouse press", chance.choice([1, 1, 4, 5]), chance.randrange(80), chance.randrange(12))
        else:
            key = chance.choice([*IN_LIST, "h", "p", " "])
            app.key("home" if key == "q" and len(app.views) == 1 else key)
        status = app.tick()
        rows, _ = app.draw(chance.choice([60, 80, 110]), chance.choice([9, 12, 30]))
        shown.append(f"{rows} {status}")
        log.append(text_of(rows[-1]).strip()[:60])
    app.close()
    check("screens", f"directory {seed}", {
        "messages": " | ".join(dict.fromkeys(log)),
        **{f"screens {n}": digest("".join(shown[n : n + 15])) for n in range(0, len(shown), 15)},
    })  # fmt: skip


def test_styles_and_help():
    check("screens", "palette", {name: " | ".join(style) for name, *style in palette()})
    view = HelpView(App(Keys(), CONFIG, None, read_only=False, retrain=False))
    found = {}
    for width in (39, 54, 55, 80, 120):
        rows = view.body(width, 500)
        found[f"{width}"] = f"{digest(str(rows))} {len(rows)} {view.hints(width)}"
    check("screens", "help", found)


@pytest.mark.parametrize("seed", range(8))
def test_panes_and_layout(seed):
    """The panes beside the blocks, and the layout of every block, at several widths."""
    chance = random.Random(seed)
    html = (
        RandomPage(3000 + seed).html()
        + "<p dir=rtl>\u05e9\u05dc\u05d5\u05dd <a href=/x id=a class='b c'>long</a> "
        + "word " * 90
    )
    html += (
        "<ul>" * 9
        + "<li>deep"
        + "</ul>" * 9
        + "<p hidden>no</p><h4>Four</h4><img alt=x><nav id='"
        + "n" * 30
        + "'><p>a<p>b</nav>"
    )
    count = len(session_of(html))
    session = session_of(html, chance.choices([*Label, Label.OTHER], k=count), [chance.random() for _ in range(count)])
    session.pattern = "e "
    names = ["a.b", "c", "a-long-name-of-a-feature", "d"]
    features = [{name: chance.choice(["0", "0.0", "1", "0.25", "x\x07"]) for name in names} for _ in range(count)]
    facts = FactsPane(session, lambda document: features)
    facts.draw(80, 5)
    facts._work.result()
    found = {}
    for number in sorted({0, count // 2, count - 4, count - 1, chance.randrange(count)}):
        session.move(number)
        drawn = [facts.draw(width, height) for width, height in ((30, 9), (60, 30), (100, 40))]
        drawn += [
            draw_result(session, each, width, height) for each in FORMATS for width, height in ((30, 7), (70, 24))
        ]
        found[f"panes {number}"] = digest(str(drawn))
    for width in (40, 62, 100):
        layout = PageLayout(session, 14)
        layout.prepare(width, pack=True)
        blocks = [(layout.block(number), layout.line_of(number), layout.height_of(number)) for number in range(count)]
        found[f"layout {width}"] = digest(str(blocks))
    check("screens", f"panes {seed}", found)
