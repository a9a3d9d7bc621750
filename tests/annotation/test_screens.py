"""What an annotator sees after some keys: cases/screens.txt has each screen as text.

If a change of the screen is intended, run this file as a program to write the screens again, and read the difference:

    PYTHONPATH=.:tests python tests/annotation/test_screens.py
"""

import re
import tempfile
from pathlib import Path

import pytest
from support.annotation import CONFIG, CUPS, app_of, labelled, screen_of, session_of
from support.commands import wait_until

from victorpy.annotation.pages import Pages
from victorpy.annotation.store import OpenPage
from victorpy.annotation.tui.app import App
from victorpy.annotation.tui.keys import Keys
from victorpy.annotation.tui.page_view import Others
from victorpy.annotation.tui.side_panes import FactsPane
from victorpy.annotation.tui.text import text_of
from victorpy.annotation.tui.views import PageListView
from victorpy.document import Label

CASES = Path(__file__).parents[1] / "cases" / "screens.txt"
PAGE = (
    "<nav id=menu><ul><li>Home<li>Teas<li>Cups and pots<li>About us<li>Contact<li>Jobs</ul></nav>"
    "<main class='page wide'><h1>How a pot of tea is made</h1><p>Tea is a <a href=/drink>hot drink</a>. "
    + "It is made by pouring water over leaves. " * 9
    + "</p><h2>You need</h2><ul><li>a pot<li>leaves, two spoons<li>water</ul><img alt='A pot'>"
    + "<p hidden>Nobody sees this."
    + "".join(f"<p>Step {number}: {'wait a little and ' * (number % 3)}pour." for number in range(1, 9))
    + "</main><footer><p>Imprint<p>© 茶 2024</footer>"
)
LETTERS = {label[0]: label for label in Label}
LABELS = tuple(LETTERS[letter] for letter in "oooooo" + "hphllloo" + "pppppppp" + "oo")
SURE = (*[0.99] * 6, *(0.9, 0.97, 0.6, 0.95, 0.55, 0.99, 0.8, 0.99), *(0.99, 0.98, 0.7, 0.99, 0.5, 0.99, 0.99, 0.96))
SURE += (0.99, 0.91)


def read_cases() -> list[tuple[str, str]]:
    """Return the head of each case, such as ``page-down 80x16``, and its screen."""
    parts = re.split(r"^=== (.*)\n", CASES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def screen_after(head: str, folder: Path) -> str:
    *keys, size = head.split()
    width, height = map(int, size.split("x"))
    app = app_of(session_of(PAGE, LABELS, SURE), folder)
    screen_of(app, width, height)
    for key in keys:
        app.key(key.replace("-", " "))
        rows = screen_of(app, width, height)
    return "".join(f"{row.rstrip()}\n" for row in (rows if keys else screen_of(app, width, height)))


@pytest.mark.parametrize(("head", "screen"), read_cases(), ids=lambda value: value if "\n" not in value else "")
def test_screen_after_keys(head: str, screen: str, tmp_path: Path) -> None:
    assert screen_after(head, tmp_path) == screen


def test_list_of_pages(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.html").write_text(CUPS)
    labelled(tmp_path / "two.anno", *[Label.OTHER] * 3)
    labelled(tmp_path / "one.anno", *[Label.OTHER] * 8)
    pages = Pages(tmp_path, CONFIG, None)
    view = PageListView(App(Keys(), CONFIG, None, read_only=False, retrain=False), pages, "name")
    assert view.top(80) == f" 0 of 3 pages finished │ sorted by name │ 3 not read yet │ {tmp_path}"
    while pages.unread:
        view.tick(on_top=True)
    assert view.top(80) == f" 1 of 3 pages finished │ sorted by name │ {tmp_path}"

    def shown(height: int) -> list[str]:
        return [text_of(row).rstrip() for row in view.body(60, height)]

    assert shown(4) == [
        "   progress         blocks  uncertain  page",
        " ► ██████████ 100 %      8             one.html",
        "   ░░░░░░░░░░   0 %      8             three.html",
        "   ███░░░░░░░  37 %      8             two.html",
    ]
    for action, visible in (
        *(("down", "one ►three"), ("last", "three ►two"), ("down", "three ►two"), ("up", "►three two")),
        *(("first", "►one three"), ("up", "►one three")),
    ):
        view.act(action)
        assert [("►" in row) * "►" + row.split()[-1][:-5] for row in shown(3)[1:]] == visible.split()
    view.click(5, 2)
    assert view.cursor == 1
    for row in (0, 9):  # the head, and below the last page
        view.click(5, row)
        assert view.cursor == 1
    orders = []
    for _ in range(3):
        view.act("order")
        orders.append((view.order, view.cursor, [entry.name for entry in pages.entries]))
    assert orders == [
        ("uncertainty", 0, ["three.html", "two.html", "one.html"]),
        ("progress", 0, ["two.html", "three.html", "one.html"]),
        ("name", 0, ["one.html", "three.html", "two.html"]),
    ]
    view.cursor, view.order = 2, "progress"
    view.sort(follow=True)
    assert (view.cursor, view.entry.name) == (0, "two.html")
    assert [text_of(row)[-8:] for row in view.body(40, 4)[1:]] == ["two.html", "three.h…", "one.html"]


def test_page_is_done_as_soon_as_all_its_blocks_are_decided(tmp_path: Path) -> None:
    app = App(Keys(), CONFIG, None, read_only=False, retrain=False)
    app.show_page(OpenPage(tmp_path / "a.anno", session_of("<p>Tea<p>Pot"), name="page"), Others(2, 4))
    tops = [screen_of(app, 100, 10)[0]]
    for key in ("o", "o", "u"):
        app.key(key)
        tops.append(screen_of(app, 100, 10)[0])
    assert [top.split()[0] for top in tops] == ["2/5", "2/5", "3/5", "2/5"]


@pytest.mark.parametrize(("probability", "is_explained"), [(0.13, True), (0.499, True), (0.5, False), (0.99, False)])
def test_facts_explain_why_an_improbable_label_was_chosen(
    tmp_path: Path, probability: float, is_explained: bool
) -> None:
    pane = FactsPane(session_of("<p>Tea", sure=[probability]), None)
    lines = [text_of(row) for row in pane.draw(80, 20)]
    assert f"model: other ({probability:.3f})" in lines
    assert ("why: labels are chosen for the whole page, not at 50 %" in lines) == is_explained


@pytest.mark.parametrize(
    ("html", "facts"),
    [
        ("<html lang=en><body class=a><p>Tea</p></body>pot", ["path: /html[1]", "lang: en"]),  # after the body
        ("<html lang=en><body class=a><p>Tea</p>pot", ["path: /html[1]/body[1]", "class: a"]),
        ("<html lang=en><p class=a>Tea</p><p>pot", ["path: /html[1]/body[1]/p[2]"]),
    ],
)
def test_facts_show_the_attributes_of_the_element(html: str, facts: list[str]) -> None:
    session = session_of(html)
    session.cursor = 1
    pane = FactsPane(session, None)
    pane.draw(80, 20)
    wait_until(lambda: pane.is_ready)
    lines = [text_of(row) for row in pane.draw(80, 20)]
    assert lines[lines.index(facts[0]) :] == facts


def test_long_name_is_cut_at_its_beginning(tmp_path: Path) -> None:
    app = App(Keys(), CONFIG, None, read_only=False, retrain=False)
    app.show_page(
        OpenPage(tmp_path / "a.anno", session_of("<p>Tea"), name="a-long-name-of-a-page-in-a-deep-folder.html")
    )
    assert screen_of(app, 80, 10)[0].startswith(" …name-of-a-page-in-a-deep-folder.html block 1 of 1 ")
    assert screen_of(app, 100, 10)[0].startswith(" a-long-name-of-a-page-in-a-deep-folder.html ")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        written = [f"=== {head}\n{screen_after(head, Path(directory))}" for head, _ in read_cases()]
    CASES.write_text("".join(written), encoding="utf-8")
