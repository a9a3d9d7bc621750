"""The annotation tool: shared lines, the same place in records, keys that go to blocks."""

import re
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.annotation import CONFIG, H, L, O, P, app_of, screen_of, session_of
from support.commands import ROOT

from benchmarks.annotation import LARGE, count_keys
from victorpy.annotation.learning import Predictor
from victorpy.annotation.opening import open_page
from victorpy.annotation.session import CONFIRM, Choice, Prediction, Scope
from victorpy.annotation.store import Lock, OpenPage
from victorpy.annotation.tui.block_pane import BlockPane
from victorpy.annotation.tui.keys import Keys
from victorpy.annotation.tui.side_panes import FactsPane
from victorpy.annotation.tui.text import text_of, width_of
from victorpy.errors import DataError

MENU = "<nav><ul><li>Home<li>News<ul><li>Local<li>Sport</ul><li>Contact</ul></nav><main><h1>Tea</h1><p>A drink.</main>"


def menu():
    return session_of(MENU, (O, O, O, O, O, H, P))


def lines(pane, width=100, height=20):
    return [text_of(row) for row in pane.rows(width, height)]


# Shared lines


def test_short_blocks_that_are_surely_noise_share_a_line_and_content_does_not():
    shown = lines(BlockPane(menu()))
    assert [line[line.index("│") + 1 :].strip() for line in shown if "│" in line] == [
        "• Home ┊ O News ┌ O Local ┊ O Sport └ O Contact",
        "h1 Tea",
        "A drink.",
    ]


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        ({}, 1),
        ({"sure": 0.95}, 1),
        ({"sure": 0.949}, 3),  # the model is not sure enough
        ({"labels": (P, P, P)}, 3),
        ({"html": "<p>One</p><p>Two</p><main><p>Three</p></main>"}, 2),  # a section begins on a line of its own
        ({"html": f"<p>One<p>Two<p>{'long ' * 9}"}, 2),
        ({"html": "<p>One<p>Two<p>שלום"}, 2),  # a terminal may reverse the line
    ],
)
def test_which_blocks_share_a_line(change, rows):
    session = session_of(change.get("html", "<p>One<p>Two<p>Three"), change.get("labels"), change.get("sure", 0.99))
    assert sum("│" in line for line in lines(BlockPane(session))) == rows


def test_adjudicated_blocks_share_no_lines():
    choices = tuple(Choice(name, (O, O, O), (True,) * 3) for name in "ab")
    pane = BlockPane(session_of("<p>One<p>Two<p>Three", choices=choices))
    assert len(lines(pane)) == 3


def test_blocks_on_a_shared_line_show_labels_and_do_not_move():
    session = menu()
    pane = BlockPane(session)
    session.move(2)
    session.act(H)
    session.act(CONFIRM)
    assert "• Home ┊ O News ┌ H*Local ┊ O✓Sport └►O Contact" in "\n".join(lines(pane))
    session.toggle_mark()
    session.move(2)
    assert "┌►H*Local ┊+O✓Sport └+O Contact" in "\n".join(lines(pane))


def test_a_new_model_changes_which_blocks_share_a_line():
    session = session_of("<p>One<p>Two<p>Three")
    pane = BlockPane(session)
    assert len(lines(pane)) == 1
    session.refresh(Prediction.of((O, P, O), (0.99,) * 3, "other"))
    assert len(lines(pane)) == 3


def test_a_click_goes_to_the_block_under_it(tmp_path):
    session = menu()
    app = app_of(session, tmp_path)
    row, line = next((row, line) for row, line in enumerate(lines(app.view.blocks, 100, 28)) if "Local" in line)
    for number, word in enumerate(["Home", "News", "Local", "Sport", "Contact"]):
        app.mouse("mouse press", 1, line.index(word), row + 1)
        assert session.cursor == number
    app.mouse("mouse press", 1, 0, row + 1)
    assert session.cursor == 0


def test_letters_go_to_every_block_of_a_line(tmp_path):
    session = menu()
    app = app_of(session, tmp_path)
    app.key("'")
    drawn = "\n".join(screen_of(app))
    assert re.search(r" a +O.*Home ┊bO News ┌cO Local ┊dO Sport └eO Contact", drawn)
    app.key("d")
    assert session.cursor == 3


def test_line_sharing_can_be_switched_off_for_all_pages(tmp_path):
    app = app_of(menu(), tmp_path)
    assert len(lines(app.view.blocks)) == 5
    app.key("b")
    assert len(lines(app.view.blocks)) == 11
    app.show_page(OpenPage(tmp_path / "next.anno", menu()))
    assert len(lines(app.view.blocks)) == 11
    app.key("b")
    assert len(lines(app.view.blocks)) == 5


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 45), st.sampled_from([0.5, 0.99, 0.99, 0.99])), min_size=1, max_size=150),
    st.integers(50, 120),
    st.integers(4, 30),
    st.data(),
)
def test_cursor_is_visible_nothing_is_cut_and_paging_shows_everything(blocks, width, height, data):
    html = "".join(f"<p>{'x' * length}" for length, _ in blocks)
    session = session_of(html, sure=[probability for _, probability in blocks])
    pane = BlockPane(session)
    session.move(data.draw(st.integers(0, len(blocks) - 1)))
    rows = lines(pane, width, height)
    assert sum("►" in line for line in rows) == 1
    assert max(map(width_of, rows)) <= width
    session.move(0)
    pane.rows(width, height)
    seen = set(pane.shown)
    for _ in blocks:
        session.move(pane.scroll_page(1))
        rows = lines(pane, width, height)
        assert sum("►" in line for line in rows) == 1
        assert pane.shown.start <= max(seen) + 1  # no gap
        seen |= set(pane.shown)
    assert seen == set(range(len(blocks)))


# The same place of every record

POSTS = "".join(
    f'<div class="post {"odd" if number % 2 else f"even p{number}"}"><b>{name}</b><p>{text}</p><p>Signature</p></div>'
    for number, (name, text) in enumerate([("Ann", "Hello."), ("Ben", "Good day."), ("Cid", "Hi.")])
)


@pytest.mark.parametrize(
    ("html", "place", "same"),
    [
        (f"<main>{POSTS}</main><div><b>Not a post</b></div>", 0, [0, 3, 6]),  # whatever their classes are
        (f"<main>{POSTS}</main><div><b>Not a post</b></div>", 4, [1, 4, 7]),
        ("<table>" + "<tr><td>Name<td>Price<td>Size" * 5 + "</table>", 4, [1, 4, 7, 10, 13]),
        ("<table><tr><td>A<td>B<td>C<tr><td>D</table>", 0, [0, 1, 2]),  # the larger group
        ("<table><tr><td>A<td>B<tr><td>C</table>", 0, [0, 2]),  # the outermost of equals
        ("<h1>Tea</h1><p>A drink.", 0, [0]),
        ("", 0, []),
    ],
)
def test_blocks_at_the_same_place_of_records(html, place, same):
    session = session_of(html)
    session.move(place)
    assert list(session.select(Scope.PLACE).numbers) == same
    assert session.act(H) == len(same)


def test_labelling_a_place_keeps_decisions():
    session = session_of(POSTS)
    session.move(3)
    session.act(P)
    session.move(0)
    assert session.act(H, Scope.PLACE) == 2
    assert [session.label(number) for number in (0, 3, 6)] == [H, P, H]
    session.undo()
    assert session.decided == 1


def test_one_key_labels_a_place_and_a_full_stop_repeats_it(tmp_path):
    session = session_of(POSTS)
    app = app_of(session, tmp_path)
    app.key("meta h")
    assert [session.label(number) for number in range(9)] == [H, O, O] * 3
    app.key("m")
    app.key("p")
    assert [session.label(number) for number in range(9)] == [H, P, O] * 3
    session.move(2)
    app.key(".")
    assert [session.label(number) for number in range(9)] == [H, P, P] * 3


# Keys that lead to blocks


def test_more_than_nine_doubtful_blocks_have_a_key_each(tmp_path):
    session = session_of("".join(f"<p>Block {number}" for number in range(14)), sure=0.6)
    app = app_of(session, tmp_path)
    marks = app.view.blocks.marks
    assert "".join(marks[number] for number in range(10)) == "1234567890"
    assert not {marks[number] for number in range(10, 14)} & set(Keys().action_of)
    app.key(marks[13])
    assert session.cursor == 13
    assert session.decided == 0


def test_a_block_keeps_its_key_while_it_is_visible(tmp_path):
    session = session_of("".join(f"<p>Block {number}" for number in range(60)), sure=0.6)
    app = app_of(session, tmp_path)
    for key in "3h6p":
        app.key(key)
        app.draw(100, 30)
    assert [number for number, label in enumerate(session.given) if label] == [2, 5]
    app.key("end")
    app.draw(100, 30)
    assert app.view.blocks.marks[app.view.blocks.shown.start] == "1"


def test_keys_and_numbers_of_blocks_are_separated_by_a_space():
    session = session_of("".join(f"<p>Block {number}" for number in range(14)), sure=0.6)
    shown = lines(BlockPane(session))
    assert shown[6].startswith("7  7 O 60 │ Block 6")
    assert shown[12].startswith("  13 O 60 │ Block 12")


def test_brackets_go_to_the_first_and_last_kept_block(tmp_path):
    session = session_of("<p>A<p>B<p>C<p>D<p>E", (O, P, O, L, O))
    app = app_of(session, tmp_path)
    for key, number in (("[", 1), ("]", 3)):
        app.key(key)
        assert session.cursor == number
    session.act(O)
    session.move(1)
    session.act(O)
    app.key("[")
    assert "No block is kept" in screen_of(app)[-1]
    assert session.cursor == 2


# Facts, help and locks


def test_a_key_does_not_wait_for_the_features_of_a_large_page():
    session = session_of(MENU)
    may_go_on = threading.Event()

    def features(document):
        may_go_on.wait(30)
        return [{"words": str(number + 1)} for number in range(len(document.blocks))]

    pane = FactsPane(session, features)
    before = [text_of(row) for row in pane.draw(60, 30)]
    assert not pane.is_ready
    assert before[0] == "label: other, predicted"
    assert before[-1].startswith("features: loading")
    may_go_on.set()
    assert pane._work is not None
    pane._work.result(30)
    assert pane.is_ready  # the program draws the pane again when this changes
    after = [text_of(row) for row in pane.draw(60, 30)]
    assert after[-1].strip() == "words 1"
    assert any(line.startswith("path: /html") for line in after)


def test_errors_in_the_background_are_raised():
    def fail(document):
        raise RuntimeError("no features")

    pane = FactsPane(session_of(MENU), fail)

    def draw_until_it_is_there():
        while True:
            pane.draw(60, 30)

    with pytest.raises(RuntimeError, match="no features"):
        draw_until_it_is_there()


@pytest.mark.parametrize(
    ("width", "rows"),
    [
        (28, ["words 1  links 2  lines 3", "dots 4"]),  # as many as fit, in columns of equal width
        (27, ["words 1  links 2", "lines 3  dots 4"]),
        (9, ["words 1", "links 2", "lines 3", "dots 4"]),
        (6, ["word", "link", "line", "dots"]),
    ],
)
def test_features_other_than_0_are_shown_in_columns(width, rows):
    values = {"words": "1", "none": "0", "links": "2", "lines": "3", "less": "0.0", "dots": "4"}
    session = session_of(MENU)
    pane = FactsPane(session, lambda document: [values] * len(session))
    pane.draw(width, 90)
    pane._work.result(30)
    drawn = [text_of(row).rstrip() for row in pane.draw(width, 90)]
    assert drawn[drawn.index("features other than 0") + 1 :] == rows


def test_help_scrolls_to_its_end_and_back(tmp_path):
    app = app_of(menu(), tmp_path)
    for key in ("?", "page down"):  # typed faster than the help is drawn
        app.key(key)
    first = screen_of(app, 80, 24)[1]
    assert first.strip() != "Label"
    app.key("end")
    assert "Ctrl-C leaves at once" in "\n".join(screen_of(app, 80, 24))
    app.key("home")
    assert screen_of(app, 80, 24)[1].strip() == "Label"
    app.key("q")
    assert "All keys" not in screen_of(app, 80, 24)[0]


def test_lock_error_suggests_read_only(tmp_path):
    with pytest.raises(DataError, match=r"cannot write in .*`read_only`"):
        Lock(tmp_path / "nowhere" / "page.anno.lock")


def test_missing_permission_suggests_read_only(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(DataError, match=r"no permission to write .*; `read_only` opens"):
        open_page(None, tmp_path / "page.anno", CONFIG)


# How many keys a page takes


@pytest.mark.slow
def test_large_shipped_pages_take_less_than_a_tenth_of_a_key_per_block():
    predictor = Predictor.load("default")
    pages = (ROOT / "data").glob("*/*.anno")
    large = [count_keys(page, predictor) for page in pages if page.read_text().count("\n") > LARGE]
    large = [count for count in large if count.blocks >= LARGE]
    assert len(large) == 18
    blocks = sum(count.blocks for count in large)
    assert sum(count.keys for count in large) < blocks / 10
    assert sum(count.keys_and_clicks for count in large) < sum(count.keys for count in large)
    assert all(count.blocks > count.from_nothing > count.keys for count in large)
