"""The screens of the annotation tool, without a terminal: text, keys, messages, paging and lists."""

import re
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.annotation import CONFIG, CUPS, HOSTILE, app_of, config_of, screen_of, session_of
from support.commands import ROOT

from victorpy.annotation.pages import INDEX, Pages
from victorpy.annotation.session import Choice, Session
from victorpy.annotation.tui.app import App
from victorpy.annotation.tui.block_pane import BlockPane
from victorpy.annotation.tui.keys import GROUPS, Keys
from victorpy.annotation.tui.layout import MOST_SHOWN, cells_of
from victorpy.annotation.tui.screen import canvas_of
from victorpy.annotation.tui.side_panes import draw_result
from victorpy.annotation.tui.text import BOX, cut, cut_row, fit, palette, text_of, visible, width_of, wrap
from victorpy.annotation.tui.views import HelpView, PageListView
from victorpy.cleaner import read_document
from victorpy.document import Label
from victorpy.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("tab\there", "tab here"),
        ("\x1b[0m", "⟨U+001B⟩[0m"),
        ("\x9b", "⟨U+009B⟩"),
        ("\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"),
        ("soft\u00adhyphen", "soft·hyphen"),
        ("\ue000\U0010ffff", BOX * 2),
        ("❤️", "❤"),
        ("\u0301a", "◌\u0301a"),
        ("a" + "\u0301" * 50, "a" + "\u0301" * 3),
        ("\ud800", "⟨U+D800⟩"),
        ("no\u00a0break\u3000wide", "no break wide"),
    ],
)
def test_text_is_made_safe(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize("width", [2, 3, 7, 20, 79])
@pytest.mark.parametrize(
    "text", ["Tea is a drink made from leaves.", "茶は飲み物です" * 5, "é👍x" * 20, "a" * 50, "", "  x"]
)
def test_lines_fit_and_lose_nothing(text, width):
    lines = wrap(text, width)
    assert all(width_of(text[start:stop]) <= width for start, stop in lines)
    assert "".join(text[start:stop] for start, stop in lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("Tea is hot", 10, ["Tea is hot"]),
        ("Tea is hot", 9, ["Tea is", "hot"]),
        ("Tea is hot", 6, ["Tea is", "hot"]),
        ("Tea is hot", 5, ["Tea", "is", "hot"]),
        ("Tea  is   hot", 6, ["Tea", "is", "hot"]),
        ("abcdefg", 3, ["abc", "def", "g"]),
        ("a " + "x" * 30, 26, ["a", "x" * 26, "xxxx"]),  # words up to 25 columns move to the next line
        ("a " + "x" * 30, 27, ["a " + "x" * 25, "xxxxx"]),
        ("茶 茶", 3, ["茶", "茶"]),
        ("茶 茶", 5, ["茶 茶"]),
        ("abc", 1, ["ab", "c"]),
        ("", 5, [""]),
    ],
)
def test_lines_are_wrapped_at_spaces(text, width, lines):
    assert [text[start:stop] for start, stop in wrap(text, width)] == lines


@pytest.mark.parametrize(
    ("text", "width", "fitted"),
    [("Tea", 3, "Tea"), ("Teas", 3, "Te…"), ("Tea", 2, "T…"), ("Tea", 1, "T"), ("Tea", 0, ""), ("Tea", 5, "Tea  "),
     ("茶茶", 4, "茶茶"), ("茶茶", 3, "茶…"), ("茶茶", 2, "… ")],
)  # fmt: skip
def test_text_that_does_not_fit_has_an_ellipsis(text, width, fitted):
    assert fit(text, width) == fitted


def test_row_is_cut_by_columns():
    row = [("a", "Tea"), ("b", " is hot")]
    assert cut_row(row, 10) == row
    assert cut_row(row, 9) == [("a", "Tea"), ("b", " is ho")]
    assert cut_row(row, 3) == [("a", "Tea")]
    assert cut_row(row, 0) == []


def test_long_block_shows_how_much_is_cut_off():
    for more, shown in ((0, ""), (1, " … 1 more characters")):
        document = read_document(f"<p>{'x' * (MOST_SHOWN - 1)}<b>y{'z' * more}</b></p>", CONFIG)
        assert text_of(cells_of(document.blocks[0], document, "")) == "x" * (MOST_SHOWN - 1) + "y" + shown


@pytest.mark.parametrize("text", ["Tea", "お茶です", "👍👍👍", "e\u0301e\u0301"])
@pytest.mark.parametrize("width", range(8))
def test_a_text_is_fitted_to_a_width(text, width):
    assert width_of(fit(text, width)) == width
    assert width_of(cut(text, width)) <= width


def test_every_style_that_is_drawn_is_in_the_palette():
    styles = {entry[0] for entry in palette()}
    two = tuple(Choice(str(label), (label,) * 8, (True, False) * 4) for label in (Label.OTHER, Label.LIST))
    for choices in ((), two):
        session = session_of(CUPS, (Label.OTHER, Label.HEADER) * 4, (0.9, 0.5) * 4, choices=choices)
        for label in Label:
            session.act(label)
        session.extend(1)
        drawn = {style for row in BlockPane(session).rows(80, 40) for style, _ in row}
        assert drawn <= styles
        canvas_of(BlockPane(session).rows(80, 40), 80)


# Large pages


@pytest.mark.parametrize("sure", [0.9, 0.99])
def test_drawing_lays_out_only_visible_blocks(sure):
    session = session_of("<ul>" + "".join(f"<li>Item {number} of many</li>" for number in range(20_000)), sure=sure)
    pane, result = BlockPane(session), partial(draw_result, session, "text")
    for place in (0, 10_000, 19_999, 5):
        session.move(place)
        assert "►" in "".join(map(text_of, pane.rows(100, 40)))
        result(40, 40)
    assert len(pane.layout._blocks) < 900


def test_a_very_long_block_is_cut_for_the_screen():
    document = read_document("<p>" + "tea " * 50_000, CONFIG)
    shown = text_of(cells_of(document.blocks[0], document, ""))
    assert len(shown) < 6_000
    assert shown.endswith("194,999 more characters")


KEYS = st.sampled_from([*(key for key in Keys().action_of if key not in {"q", "R"}), "z", "5", "backspace", "茶", "f7"])


SIZES = st.tuples(st.integers(1, 130), st.integers(1, 50))


@settings(max_examples=60)
@given(st.lists(st.one_of(KEYS, SIZES), max_size=40), st.sampled_from([CUPS, "", HOSTILE, "<p>" + "tea " * 900]))
def test_any_keys_and_terminal_sizes_can_be_drawn(steps, page):
    session = session_of(page, sure=0.7)
    app = app_of(session, Path())
    size = (80, 24)
    for step in steps:
        if isinstance(step, tuple):
            size = step
            app.mouse("mouse press", 1 + size[0] % 5, size[0] // 2, size[1] // 2)
        else:
            app.key(step)
        rows, _ = app.draw(*size)
        assert len(rows) == size[1]
        assert canvas_of(rows, size[0]).cols() == size[0]
        assert 0 <= session.cursor < max(len(session), 1)


# Configured keys


def test_every_action_of_a_page_is_in_the_key_table_and_no_key_has_two_actions(tmp_path):
    actions = set(Keys(CONFIG).action_of.values())  # raises if a key has two actions
    assert set(app_of(session_of(CUPS), tmp_path).view.actions) <= actions


def test_keys_can_be_changed(tmp_path):
    keys = Keys(config_of(tmp_path, "annotate-key-undo: z ctrl-z\nannotate-key-confirm: enter\nannotate-key-open:"))
    assert keys.action_of["z"] == keys.action_of["ctrl z"] == "undo"
    assert keys.action_of["enter"] == "confirm"
    assert "u" not in keys.action_of
    assert (keys.shown("undo"), keys.first("open")) == ("z ctrl-z", "no key")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("udno: z", "udno: there is no action 'udno' (did you mean 'undo'?)"),
        ("undo: p", "undo: the key 'p' is used for both 'label-paragraph' and 'undo'"),
        *(
            (f"undo: {key}", f"undo: there is no key {key!r}")
            for key in ("foo-bar", "ctrl-", "shift-a", "f21", "ctrl-ctrl-a", "pagedown")
        ),
    ],
)
def test_wrong_keys_are_reported_with_file_and_line(tmp_path, line, problem):
    with pytest.raises(ConfigError, match=re.escape(f"my.conf:2: annotate-key-{problem}")):
        Keys(config_of(tmp_path, f"annotate-key-{line}"))


@pytest.mark.parametrize("key", ["z", "é", "ctrl-z", "meta-x", "shift-f5", "ctrl-page-down", "f20", "ctrl-shift-left"])
def test_valid_keys_are_accepted(tmp_path, key):
    assert Keys(config_of(tmp_path, f"annotate-key-undo: {key}")).shown("undo")


def test_the_documentation_lists_every_action_and_its_keys():
    written = (ROOT / "docs" / "reference" / "keys.md").read_text(encoding="utf-8")
    for bindings in GROUPS.values():
        for binding in bindings:
            keys = " ".join(f"`{key}`" for key in Keys().shown(binding.action).split())
            assert f"| {keys} | {binding.help} | `{binding.action}` |" in written


def test_order_by_uncertainty_is_kept_in_an_index(pages):
    class Guess:
        name = identity = "guess"

        def uncertainty(self, document):
            return {8: 0.9, 161: 0.5}.get(len(document.blocks), 0.1)

    listed = Pages(pages, CONFIG, Guess())
    assert len(listed.unread) == 4
    while listed.work(1):
        pass
    listed.sort("uncertainty")
    assert [entry.name for entry in listed.entries][:2] == ["deep/tea.html", "courier-bridge.html"]
    assert (pages / INDEX).exists()
    assert len(Pages(pages, CONFIG, Guess()).unread) == 0  # known from the index
    (pages / "deep" / "tea.html").write_text(CUPS + "<p>More")
    assert len(Pages(pages, CONFIG, Guess()).unread) == 1
    (pages / INDEX).write_text("[1]")
    assert len(Pages(pages, CONFIG, Guess()).unread) == 4


def test_all_of_the_help_can_be_read_in_80_columns():
    rows = HelpView(App(Keys(), CONFIG, None, read_only=False, retrain=False)).body(80, 1000)
    text = " ".join(" ".join(map(text_of, rows)).split())
    for group, bindings in GROUPS.items():
        assert group in text
        for binding in bindings:
            assert binding.help in text
    assert max(width_of(text_of(row)) for row in rows) <= 80
    assert "Ctrl-C leaves at once" in text
    assert "A range that you mark is taken whole" in text


def test_the_end_of_a_page_fills_the_screen():
    session = session_of("".join(f"<p>Block {number}" for number in range(200)), sure=0.9)
    pane = BlockPane(session)
    for place in (0, 199, 0, 190, 100, 198):
        session.move(place)
        rows = pane.rows(80, 30)
        assert len(rows) == 30
        assert any(text_of(row).startswith("►") for row in rows)
    assert len(BlockPane(session_of("<p>A<p>B", sure=0.9)).rows(80, 30)) == 2


# Messages


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("w", "There is no model; press e to go to the next undecided block"),
        ("a", "8 blocks have no label to confirm; press e to go to the next one"),
        (" ", "This block has no label to confirm; give it one"),
        ("x", "This block is undecided already"),
        (".", "Nothing to repeat"),
        ("u", "Nothing to undo"),
        ("U", "Nothing to redo"),
        ("n", "No search yet; press / to search"),
        ("d", "There are no differences"),
        ("1", "There are no two annotations to choose from; start with --adjudicate"),
        (">", "There is only this page; start with a directory to go through many"),
        (["g", *"999", "enter"], "There is no block 999; blocks are numbered from 1 to 8"),
        (["g", "0", "enter"], "There is no block 0; blocks are numbered from 1 to 8"),
        (["g", "x", "enter"], "x is not a number"),
        (["/", "x", "z", "backspace", "y", "enter"], "Not found: xy"),
        ("oooooooo", "All 8 blocks are decided. Press q to leave"),
        ("ooooooooa", "Nothing left to confirm: all blocks are decided"),
    ],
)
def test_messages_explain_why_nothing_happens(tmp_path, keys, message):
    app = app_of(Session(read_document(CUPS, CONFIG)), tmp_path)
    for key in keys:
        app.key(key)
    assert screen_of(app)[-1].strip() == message


# Doubtful blocks and paging


def test_least_certain_blocks_get_digits_in_page_order():
    session = session_of("<p>A" * 12, sure=(0.9, 0.99, 0.5, *[0.8] * 6, 0.1, 0.94, None))
    assert session.most_doubtful(range(12), 3) == [2, 3, 9]
    assert session.most_doubtful(range(12), 99) == [0, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    session.move(2)
    session.act(Label.OTHER)
    assert session.most_doubtful(range(5), 3) == [0, 3, 4]


@pytest.mark.parametrize(("line", "cursor", "label"), [("", 3, None), ("annotate-key-label-list: 3", 1, Label.LIST)])
def test_configured_digit_does_its_action(tmp_path, line, cursor, label):
    session = session_of("<p>A<p>B<p>C<p>D", sure=(0.99, 0.6, 0.7, 0.8))
    app_of(session, tmp_path, Keys(config_of(tmp_path, line))).key("3")
    assert (session.cursor, session.given[0]) == (cursor, label)


def test_paging_shows_all_of_a_page_once():
    session = session_of("".join(f"<p>Block {number} here" for number in range(100)), sure=0.9)
    pane = BlockPane(session)

    def seen():
        return [int(match[1]) for row in pane.rows(80, 20) if (match := re.search(r"Block (\d+) here", text_of(row)))]

    screens = [seen()]
    while screens[-1][-1] < 99:
        session.move(pane.scroll_page(1))
        screens.append(seen())
    assert sorted(set().union(*screens)) == list(range(100))
    assert len(screens) == 6  # 20 lines each, of which 4 were seen before
    session.move(pane.scroll_page(1))
    assert session.cursor == 99
    while session.cursor:
        session.move(pane.scroll_page(-1))
        screens.append(seen())
    assert screens[-1] == screens[0]


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize(("lines", "height"), [(1, 20), (7, 20), (10, 20), (16, 20), (19, 20), (30, 20), (13, 40)])
def test_paging_through_long_paragraphs_repeats_only_a_few_lines(lines, height, step):
    ids = [[100 * paragraph + line for line in range(lines)] for paragraph in range(10, 99)]
    html = "".join("<p>" + " ".join(f"x{number}".ljust(24, "x") + " " + 24 * "y" for number in page) for page in ids)
    session = session_of(html, sure=0.9)
    pane = BlockPane(session)
    session.move(0 if step > 0 else len(session) - 1)

    def screen():
        return [int(match[1]) for row in pane.rows(71, height) if (match := re.search(r" x(\d+)x", text_of(row)))]

    screens = [[], screen()]
    while screens[-1] != screens[-2]:
        if not pane.scroll_inside(step):
            session.move(pane.scroll_page(step))
        screens.append(screen())
    overlaps = [len({*one} & {*other}) for one, other in pairwise(screens[1:-1])]
    unseen = {number for page in ids for number in page} - {number for numbers in screens for number in numbers}
    assert not unseen or (step < 0 and unseen == set(range(9820, 9830)))  # it begins at the top of the last one
    assert min(overlaps) > 0
    if lines <= height:
        assert max(overlaps[:-2]) <= 6


def test_list_ignores_escape_and_knows_no_labels(directory):
    view = PageListView(
        App(Keys(), CONFIG, None, read_only=False, retrain=False), Pages(directory, CONFIG, None), "name"
    )
    assert view.act("cancel")
    assert not view.act("label-header")
