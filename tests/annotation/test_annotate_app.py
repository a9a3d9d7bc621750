"""The annotation program without a terminal: prompts, pasted text, the mouse, pages one after another, training."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest
import urwid
from support.annotation import (
    ARTICLES,
    CONFIG,
    CUPS,
    PREDICTED,
    Guess,
    app_of,
    labelled,
    opened_at,
    screen_of,
    session_of,
    state_of,
)
from support.commands import JPEG, ROOT, wait_until

from victorpy import Label
from victorpy.annotation import ORDERS
from victorpy.annotation.journal import Header, Saved, Saving, write_line
from victorpy.annotation.learning import Learned, Learning, Predictor, entropy, learn, mean_entropy
from victorpy.annotation.opening import open_page
from victorpy.annotation.pages import INDEX, Entry, Pages, PageStatus, annotation_of, find_entries, name_annotations
from victorpy.annotation.session import Choice, Prediction, Scope, Session, same_place
from victorpy.annotation.store import READ_ONLY, is_locked, lock_of
from victorpy.annotation.tui import screen
from victorpy.annotation.tui.app import App
from victorpy.annotation.tui.block_pane import BlockPane
from victorpy.annotation.tui.keys import GROUPS, Keys
from victorpy.annotation.tui.layout import PageLayout
from victorpy.annotation.tui.page_view import Others
from victorpy.annotation.tui.screen import _Screen, _Surface, canvas_of
from victorpy.annotation.tui.side_panes import FactsPane, join_panes
from victorpy.annotation.tui.text import RIGHT_TO_LEFT, text_of, visible, wrap, wrap_after
from victorpy.errors import ConfigError, DataError
from victorpy.model import choice
from victorpy.model.store import load_model

EIGHT = "".join(f"<p>Block number {number} of eight.</p>" for number in range(1, 9))


@pytest.fixture
def app(tmp_path):
    return app_of(session_of(EIGHT), tmp_path)


def bottom(app, width=100):
    return screen_of(app, width)[-1].strip()


def press(app, *keys):
    for key in keys:
        app.key(key)
    return app.view.session.cursor


# Prompts and pasted text.


@pytest.mark.parametrize(
    ("keys", "cursor", "message"),
    [
        (["g", "5", "enter"], 4, "? help"),
        (["g", "1", "enter"], 0, "? help"),
        (["g", "8", "enter"], 7, "? help"),
        (["g", "9", "enter"], 7, "There is no block 9; blocks are numbered from 1 to 8"),
        (["g", "0", "enter"], 0, "There is no block 0; blocks are numbered from 1 to 8"),
        (["g", "1", "x", "enter"], 0, "1x is not a number"),
        (["g", "enter"], 0, "? help"),
        (["g", "5", "esc"], 0, "? help"),
        (["g", "7", "5", "backspace", "enter"], 6, "? help"),
        (["g", "7", "ctrl u", "3", "enter"], 2, "? help"),
        (["g", "5", "f5", "up", "enter"], 4, "? help"),
        (["g", "backspace", "j"], 1, "? help"),  # nothing left to delete: the prompt ends
        (["g", "5"], 0, "go to block number 5"),
        (["/", "7", "enter"], 6, "? help"),
        (["/", "7", "enter", "n"], 6, "This is the only one"),
        (["/", "x", "y", "enter"], 0, "Not found: xy"),
        (["/", "O", "F", "enter", "n", "N"], 1, "? help"),
        (["/", "o", "f", "enter", "N", "N"], 7, "Continued from the end"),
        (["end", "/", "o", "f", "enter"], 0, "Continued from the top"),
        (["n"], 0, "No search yet; press / to search"),
    ],
)
def test_prompts(app, keys, cursor, message):
    assert press(app, *keys) == cursor
    assert bottom(app).startswith(message)


def test_prompt_shows_the_cursor_of_the_terminal(app):
    assert app.draw(60, 12)[1] is None
    press(app, "g", "4", "茶")
    rows, cursor = app.draw(60, 12)
    assert (rows[-1], cursor) == ([("prompt", "go to block number 4茶")], (22, 11))
    press(app, *"x" * 100)
    rows, cursor = app.draw(60, 12)
    assert (len(text_of(rows[-1])), cursor) == (57, (58, 11))


def test_pasted_text_goes_only_into_prompts(app, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    press(app, "begin paste", "j", "j", "end paste")
    assert (app.view.session.cursor, bottom(app)) == (0, "Pasted text is ignored here")
    press(app, "g", "begin paste", "5", "enter", "end paste")
    assert bottom(app) == "go to block number 5"
    assert press(app, "enter") == 4
    press(app, "begin paste")
    now[0] += 1.0
    assert press(app, "j") == 4  # still pasted
    now[0] += 1.0
    assert press(app, "j") == 4
    now[0] += 1.01  # the terminal has not reported the end
    assert press(app, "j") == 5
    assert press(app, "j") == 6


def test_mouse(tmp_path):
    app = app_of(session_of(EIGHT, [Label.LIST] * 8), tmp_path)
    screen_of(app)
    for event, button, row, cursor in [
        *(("mouse press", 1, 4, 3), ("mouse press", 1, 1, 0), ("mouse drag", 1, 4, 0), ("mouse press", 2, 4, 0)),
        *(("ctrl mouse press", 1, 8, 7), ("mouse press", 1, 9, 7), ("mouse press", 4, 1, 4), ("mouse press", 5, 1, 7)),
        ("mouse press", 3, 1, 7),
    ]:
        app.mouse(event, button, 20, row)
        assert app.view.session.cursor == cursor
    app.key("g")
    app.mouse("mouse press", 1, 20, 1)
    assert app.view.session.cursor == 7
    press(app, "esc", "j")
    app.say("tea")
    app.mouse("mouse press", 2, 20, 1)  # any click removes the message
    assert bottom(app).startswith("? help")


def test_click_beside_the_blocks_is_ignored(app):
    press(app, "tab")
    screen_of(app, 100)
    for column, cursor in ((54, 3), (55, 3), (99, 3)):
        app.mouse("mouse press", 1, column, 4)
        assert app.view.session.cursor == cursor
        app.view.session.move(cursor)
    app.mouse("mouse press", 1, 55, 1)
    assert app.view.session.cursor == 3
    app.mouse("mouse press", 1, 54, 1)
    assert app.view.session.cursor == 0


# Sizes of the terminal.


@pytest.mark.parametrize(
    ("width", "height", "end"),
    [
        (39, 24, None),
        (40, 7, None),
        (40, 8, "│ 40×8 is small"),
        (47, 24, "│ 47×24 is small"),
        (48, 24, "│ 48×24, better with 80×24"),
        (79, 24, "│ 79×24, better with 80×24"),
        (80, 23, "│ 80×23, better with 80×24"),
        (80, 24, "Tab result"),
    ],
)
def test_small_terminals(app, width, height, end):
    screen = screen_of(app, width, height)
    assert len(screen) == height
    if end is None:
        assert [line.strip() for line in screen[:5]] == [
            *("Too small:", f"{width}×{height}.", "At least", "40×8.", "Everything is saved.")
        ]
        assert not any(screen[5:])
    else:
        assert screen[-1].strip().endswith(end)


@pytest.mark.parametrize(("width", "has_pane"), [(79, False), (80, True)])
def test_side_panes_need_80_columns(app, width, has_pane):
    screen_of(app, width)
    app.key("tab")
    assert ("Side panes need a terminal with at least 80 columns" in bottom(app, width)) is not has_pane
    assert any("cleaned: text" in line for line in screen_of(app, width)) is has_pane


def test_side_panes_in_turn(app):
    titles = ["cleaned: text", "cleaned: markdown", "cleaned: cleaneval", "this block", None]
    for keys, order in (("tab", titles), ("shift tab", [titles[3], *titles[2::-1], None])):
        for title in order:
            screen_of(app, 100)
            app.key(keys)
            text = "\n".join(screen_of(app, 100))
            assert [each for each in titles[:4] if f"│ {each}" in text] == [title] * (title is not None)
    for shown in (True, False):
        app.key("f")
        assert ("this block" in "\n".join(screen_of(app, 100))) is shown


# Messages.


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["s"], "8 blocks selected: hplco label them  space confirm them  Esc none"),
        (["t"], "No other undecided block matches"),
        (["."], "Nothing to repeat"),
        (["u"], "Nothing to undo"),
        (["U"], "Nothing to redo"),
        (["h", "u"], "undo: 1 block; 0 more to undo"),
        (["h", "p", "u"], "undo: 1 block; 1 more to undo"),
        (["H", "u", "U"], "redo: 8 blocks; 0 more to redo"),
        (["H"], "8 blocks: header"),
        (["h", "J", "J", "a"], "All 9 blocks are decided. Press q to leave"),
        (["H", "x"], "? help"),
        (["x"], "This block is undecided already"),
        (["H", "v", "J", "x"], "2 blocks are undecided again"),
        (["a", "a"], "Nothing left to confirm: all blocks are decided"),
        (["a", "e"], "All blocks are decided"),
        (["d"], "There are no differences"),
        (["}"], "All labels are the same"),
        (["w"], "The model is sure of all undecided blocks"),
        (["1"], "There are no two annotations to choose from; start with --adjudicate"),
        (["["], "No block is kept"),
        (["p", "home", "["], "? help"),
        (["b"], "Every block has its own line"),
        (["b", "b"], "Short blocks that are surely noise share lines"),
        (["'"], "Type the letter of a block to go there"),
        ([">"], "There is only this page; start with a directory to go through many"),
        (["<"], "There is only this page; start with a directory to go through many"),
        (["R"], "Training needs at least 3 finished pages (0 so far)"),
        (["ctrl s"], READ_ONLY),
        (["z"], "'z' does nothing here; press ? for help"),
        (["v"], "1 block selected: hplco label them"),
        (["v", "J"], "2 blocks selected: hplco label them"),
        (["v", "v"], "? help"),
        (["v", "esc"], "? help"),
    ],
)
def test_messages(tmp_path, keys, message):
    app = app_of(session_of(f"{EIGHT}<h1>Tea"), tmp_path)
    press(app, *keys)
    assert bottom(app, 100).startswith(message)


def test_blocks_without_a_label_cannot_be_confirmed(tmp_path):
    session = Session(session_of(EIGHT).document)
    app = app_of(session, tmp_path)
    for keys, message in [
        ([" "], "This block has no label to confirm; give it one"),
        (["a"], "8 blocks have no label to confirm; press e to go to the next one"),
        (["w"], "There is no model; press e to go to the next undecided block"),
        (["P", "home", "x", "a"], "1 block has no label to confirm; press e to go to the next one"),
        (["h"], "All 8 blocks are decided. Press q to leave"),
    ]:
        press(app, *keys)
        assert bottom(app) == message


def test_messages_add_up_until_the_next_key(app):
    app.say("one")
    app.say("two\x07", also=True)
    app.say("", also=True)
    assert bottom(app) == "one; two⟨U+0007⟩"
    app.report("three")
    assert (bottom(app), app.failures) == ("three", ["three"])
    app.key("j")
    assert bottom(app).startswith("? help")


def test_program_ends_with_the_last_view(app):
    app.key("?")
    assert len(app.views) == 2
    app.key("z")
    assert len(app.views) == 1
    app.key("?")
    app.key("down")
    assert (len(app.views), app.view.cursor) == (2, 1)
    app.key("esc")
    drawn = []
    app.redraw = lambda: drawn.append(1)
    app.key("ctrl l")
    assert drawn == [1]
    app.key("q")
    assert app.views == []
    assert app.tick() == ("", "", False)


# Saving.


def test_unsaved_changes_are_reported_before_leaving(place, monkeypatch):
    app = App(Keys(), CONFIG, None, read_only=False, retrain=False)
    opened = opened_at(place)
    app.show_page(opened)
    opened.error = "no room"
    app.views[0].opened.tick = lambda: None
    app.tick()
    assert bottom(app) == "Cannot save: no room. Do not leave yet; saving is retried."
    assert "NOT SAVED" in screen_of(app)[0]
    app.key("q")
    assert bottom(app) == "The last changes are not saved: no room. Press q again to leave anyway"
    app.key("j")
    app.key("q")
    assert len(app.views) == 1
    app.key("q")
    assert app.views == []


def test_notices_about_saves_are_shown_and_kept(place):
    app = App(Keys(), CONFIG, None, read_only=False, retrain=False)
    opened = opened_at(place)
    app.show_page(opened)
    opened.notices += ["one", "two"]
    app.tick()
    assert app.failures == ["one", "two"]
    assert opened.notices == []
    opened.notices.append("three")
    app.close()
    assert app.failures == ["one", "two", "three"]


def test_screen_is_drawn_again_when_paths_are_ready(app, monkeypatch):
    app.key("shift tab")
    screen_of(app, 140)
    wait_until(lambda: app.tick()[2])
    monkeypatch.setattr(FactsPane, "is_ready", False)
    assert app.tick()[2] is False


def test_changes_that_were_never_saved_are_reported(place, monkeypatch):
    app = App(Keys(), CONFIG, None, read_only=False, retrain=False)
    opened = opened_at(place)
    monkeypatch.setattr(opened, "close", lambda: opened.notices.append("one") or "no room")
    app.show_page(opened)
    app.close()
    assert app.failures == ["one", f"{place}: the last changes could not be saved: no room"]


@pytest.mark.parametrize("retrain", [False, True])
def test_closing_a_page_of_a_list_updates_the_list_and_may_train(directory, monkeypatch, retrain):
    begun = []
    app = App(Keys(), CONFIG, None, read_only=False, retrain=retrain)
    monkeypatch.setattr(app._learning, "begin", lambda finished, asked: begun.append((finished, asked)))
    app.show_list(Pages(directory, CONFIG, None), "name")
    app.view.pages.work(9)
    for key in ("enter", "o", "o", "q"):
        app.key(key)
    assert app.view.pages.entries[0].status.decided == 2
    assert begun == ([([directory / "a.anno"], False)] if retrain else [])
    used = []
    monkeypatch.setattr(app.view.pages, "use", used.append)
    guess = Guess()
    monkeypatch.setattr(app._learning, "predictor", guess)
    monkeypatch.setattr(app._learning, "see", lambda: True)
    app.tick()
    assert used == [guess]
    app.close()


def test_state_of_saving_is_on_the_top_line(place):
    app = App(Keys(), CONFIG, None, read_only=False, retrain=False)
    app.show_page(opened_at(place), Others(2, 2))
    assert screen_of(app, 100)[0].startswith(" 2/3 done ")
    assert screen_of(app, 100)[0].endswith(" block 1 of 8 │ 0 decided 0 % │ saved ")
    app.key("h")
    assert screen_of(app, 100)[0].endswith(" block 2 of 8 │ 1 decided 12 % │ saving ")
    app.key("ctrl s")
    assert bottom(app) == "Saved; every change is saved automatically, too"
    wait_until(lambda: "saved" in app.tick()[0])
    app.key("a")
    assert bottom(app) == "All 8 blocks are decided. Press > for the next page"
    assert screen_of(app, 100)[0].startswith(" 3/3 done ")
    app.close()
    assert not is_locked(lock_of(place))


# Pages one after another.


@pytest.fixture
def four(tmp_path):
    """A program with the list of four pages: the second is finished, and the third cannot be opened."""
    for name in "abd":
        (tmp_path / f"{name}.html").write_text(CUPS)
    (tmp_path / "c.html").write_bytes(JPEG)
    labelled(tmp_path / "b.anno", *[Label.OTHER] * 8, model=None)
    app = App(Keys(), CONFIG, None, read_only=False, retrain=False)
    app.show_list(Pages(tmp_path, CONFIG, None), "name")
    while app._list.pages.unread:
        app.tick()
    yield app
    app.close()


def where(app):
    return app.view.opened.anno.stem if hasattr(app.view, "opened") else f"list {app.view.cursor}"


def test_unfinished_pages_in_turn(four):
    app, seen = four, []
    for key in (">", ">", ">", "<", "<", ">", "q", "end", "enter", "q", "home", "enter"):
        app.key(key)
        seen.append(f"{key}: {where(app)}: {bottom(app).partition('  ')[0].partition(': /')[0]}")
    assert seen == [
        *(">: a: ? help", ">: d: 1 page skipped", ">: a: ? help", "<: list 0: This is the first page"),
        *("<: list 0: '<' does nothing here; press ? for help", ">: a: ? help", "q: list 0: ? help"),
        *("end: list 3: ? help", "enter: d: ? help", "q: list 3: ? help", "home: list 0: ? help", "enter: a: ? help"),
    ]


def test_pages_are_finished_one_by_one(four):
    app = four
    app.key(">")
    assert screen_of(app, 120)[0].startswith(" 1/4 done a.html ")
    for key in "oooooooo":
        app.key(key)
    assert bottom(app) == "All 8 blocks are decided. Press > for the next page"
    app.key(">")
    assert (where(app), screen_of(app, 120)[0][:17]) == ("d", " 2/4 done d.html ")
    for key in "oooooooo>":
        app.key(key)
    assert where(app) == "list 2"
    assert bottom(app).startswith("All pages are finished; 1 page skipped: ")
    assert screen_of(app, 120)[0].startswith(" 3 of 4 pages finished │ sorted by name │ 1 cannot be opened │ ")


def test_list_is_sorted_and_follows_its_page(four):
    app = four
    app.key("end")
    orders = []
    for _ in ORDERS:
        app.key("=")
        orders.append((app.view.order, app.view.cursor, "".join(entry.name[0] for entry in app.view.pages.entries)))
    assert orders == [("uncertainty", 0, "acdb"), ("progress", 0, "acdb"), ("name", 0, "abcd")]
    app.key("=")
    app.key("=")
    app.key("enter")
    for key in "oo":
        app.key(key)
    wait_until(lambda: app.tick() and app.view.opened.is_saved)
    app.key("q")
    assert (app.view.cursor, "".join(entry.name[0] for entry in app.view.pages.entries)) == (0, "acdb")
    assert app.view.entry.status.decided == 2


# Pages of a directory.


def test_annotations_of_pages_with_the_same_name(tmp_path):
    pages = [tmp_path / f"a{suffix}" for suffix in (".htm", ".html", ".xhtml", ".HTM")]
    names = {page.name: anno.name for page, anno in name_annotations(pages).items()}
    assert names == {"a.html": "a.anno", "a.htm": "a.htm.anno", "a.xhtml": "a.xhtml.anno", "a.HTM": "a.HTM.anno"}
    (tmp_path / "a.htm").touch()
    assert annotation_of(tmp_path / "a.html") == tmp_path / "a.anno"
    assert annotation_of(tmp_path / "a.xhtml").name == "a.xhtml.anno"
    with pytest.raises(DataError, match=r"no pages \(\*\.html, \*\.anno\) in this directory"):
        find_entries(tmp_path / "nothing")


def test_list_has_pages_and_annotations_without_a_page(tmp_path):
    for name in ("b.anno", "c.html", "c.anno", "d.html", "deep/a.anno", "e.txt", "f.anno.lock"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "g.html").mkdir()
    found = [(entry.name, entry.page and entry.page.name, entry.anno.name) for entry in find_entries(tmp_path)]
    assert found == [
        ("b.anno", None, "b.anno"),
        ("c.html", "c.html", "c.anno"),
        ("d.html", "d.html", "d.anno"),
        ("deep/a.anno", None, "a.anno"),
    ]


@pytest.mark.parametrize(
    ("status", "is_finished", "progress"),
    [
        (PageStatus(), False, 0.0),
        (PageStatus("x", 8, 8), True, 1.0),
        (PageStatus("x", 8, 7), False, 0.875),
        (PageStatus("x", 0, 0), True, 1.0),
        (PageStatus("x", 0, 0, problem="no"), False, 0.0),
        (PageStatus("", 8, 8), False, 1.0),
    ],
)
def test_finished_pages(tmp_path, status, is_finished, progress):
    entry = Entry("a", None, tmp_path / "a.anno", status)
    assert (entry.is_finished, entry.progress) == (is_finished, progress)


def test_results_are_kept_unless_nothing_may_be_written(tmp_path):
    (tmp_path / "a.html").write_text(CUPS)
    for keep in (False, True):
        pages = Pages(tmp_path, CONFIG, None, keep=keep)
        assert len(pages.unread) == 1
        assert pages.work(1)
        assert not pages.work(1)
        assert (tmp_path / INDEX).exists() is keep
    index = json.loads((tmp_path / INDEX).read_bytes())
    stamp = f"{len(CUPS)}:{(tmp_path / 'a.html').stat().st_mtime_ns} -"
    entry = {"stamp": stamp, "blocks": 8, "decided": 0, "uncertainty": None, "model": "", "problem": ""}
    assert index == {"victor-annotate": 1, "pages": {"a.html": entry}}
    assert Pages(tmp_path, CONFIG, None).unread == []
    (tmp_path / INDEX).write_text(json.dumps({**index, "victor-annotate": 2}))
    assert len(Pages(tmp_path, CONFIG, None).unread) == 1
    assert Pages(tmp_path, CONFIG, None).work(0) is False


def test_results_that_cannot_be_stored_are_not_stored_again(tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text(CUPS)
    writes = []

    def fail(*arguments):
        writes.append(arguments)
        raise PermissionError

    monkeypatch.setattr("victorpy.annotation.pages.write_atomically", fail)
    pages = Pages(tmp_path, CONFIG, None)
    pages.work(1)
    pages.save()
    assert len(writes) == 1
    assert pages.entries[0].status.blocks == 8


# Learning.


def test_entropy_is_the_mean_over_words():
    session = session_of("<p>one two three</p><p>four</p>")
    assert mean_entropy(session.document, (0.5, 1.0)) == 0.75
    assert mean_entropy(session.document, ()) == 0.0
    assert mean_entropy(session_of("").document, ()) == 0.0
    assert [entropy(chance) for chance in (0.0, 0.25, 1.0)] == [0.0, pytest.approx(0.8112781), 0.0]


@pytest.fixture
def learning(monkeypatch):
    said = []
    learning = Learning(None, said.append)
    started = []
    monkeypatch.setattr(learning, "_start_process", started.append)
    learning.said, learning.started = said, started
    yield learning
    learning.stop()


def test_training_begins_with_three_pages_and_again_with_more(learning):
    learning.begin(["a", "b"], asked=False)
    learning.begin(["a", "b", "c"], asked=False)
    learning._learned_from = 3
    learning.begin(["a", "b", "c"], asked=False)
    learning.begin(["a", "b", "c"], asked=True)
    learning.begin(["a", "b", "c", "d"], asked=False)
    assert learning.started == [["a", "b", "c"], ["a", "b", "c", "d"]]
    assert learning.said == [
        "Training needs at least 3 finished pages (2 so far)",
        "Training on 3 finished pages in the background",
        "No more pages have been finished since the last training",
        "Training on 4 finished pages in the background",
    ]
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        learning._process = process
        assert learning.see() is False
        learning.begin([*"abcde"], asked=False)
        learning.begin([*"abcde"], asked=True)
        assert learning.said[4:] == ["Training is already running"]
        learning.stop()
        assert process.poll() is not None


@pytest.mark.parametrize(
    ("log", "content", "code", "said"),
    [
        ("one\n two \n\n", None, 1, "Training failed:  two "),
        ("", None, 1, "Training failed: the process ended without a message"),
        ("", None, 0, "Training failed: [Errno 2] No such file or directory: "),
        ("", "{", 0, "Training failed: Expecting property name"),
        ("", '{"x": 1}', 0, "Training failed: Learned.__init__() got an unexpected"),
        (
            "",
            '{"pages": 3, "before": 0.5, "after": 0.5, "is_better": false}',
            0,
            "Trained on 3 pages: no better on unseen pages than the model at the start (word F1 0.500)",
        ),
    ],
)
def test_results_of_training(tmp_path, log, content, code, said):
    messages = []
    guess = Guess()
    learning = Learning(guess, messages.append)
    (tmp_path / "log").write_text(log)
    if content is not None:
        (tmp_path / "learned.json").write_text(content)
    learning._folders.append(tmp_path)
    learning._process = subprocess.Popen([sys.executable, "-S", "-c", f"raise SystemExit({code})"])
    learning._process.wait()
    assert learning.see() is False
    assert learning.predictor is guess
    (message,) = messages
    assert message.startswith(said)
    for _ in range(2):  # the folder may be gone
        learning.stop()
        assert not tmp_path.exists()


@pytest.mark.parametrize(
    ("start", "is_better", "loaded"),
    [
        (Guess(), True, (False,)),
        (SimpleNamespace(allow_code=True), True, (True,)),
        (SimpleNamespace(allow_code=True), False, ()),
        (None, True, (False,)),
        (None, False, (False,)),  # any model is better than none
    ],
)
def test_model_that_is_better_is_used(tmp_path, monkeypatch, start, is_better, loaded):
    calls, messages = [], []
    monkeypatch.setattr(Guess, "allow_code", False, raising=False)
    monkeypatch.setattr(Predictor, "load", lambda *arguments: calls.append(arguments) or "new")
    learning = Learning(start, messages.append)
    learned = Learned(1_234, 0.5, 0.75 if is_better else 0.5, is_better)
    (tmp_path / "learned.json").write_text(json.dumps(asdict(learned)))
    learning._folders.append(tmp_path)
    learning._process = SimpleNamespace(poll=lambda: 0, returncode=0)
    assert learning.see() is bool(loaded)
    assert learning.predictor == ("new" if loaded else start)
    assert calls == [(tmp_path / "model", "the model adapted to 1,234 pages", allow) for allow in loaded]
    assert messages == [str(learned)]
    assert learning.see() is False


def test_description_of_what_was_learned():
    assert str(Learned(1_234, 0.5, 0.6256, True)) == "Trained on 1,234 pages: word F1 0.626 on unseen pages, +0.126"


@pytest.mark.parametrize(
    ("start", "ending"),
    [(None, ["default", ""]), (SimpleNamespace(directory=Path("mine"), allow_code=True), ["mine", "yes"])],
)
def test_training_uses_copies_in_a_process_of_its_own(tmp_path, monkeypatch, start, ending):
    calls, messages = [], []

    class Process:
        def __init__(self, command, **options):
            calls.append((command, options))

        def poll(self):
            return None

        kill = wait = poll

    monkeypatch.setattr("victorpy.annotation.learning.subprocess.Popen", Process)
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    for name in "abc":
        (tmp_path / f"{name}.anno").write_text(f"labels of {name}")
    learning = Learning(start, messages.append)
    learning.begin([tmp_path / f"{name}.anno" for name in "cab"], asked=False)
    ((command, options),) = calls
    assert messages == ["Training on 3 finished pages in the background"]
    folder = Path(command[3])
    assert [*command[:3], *command[4:]] == [sys.executable, "-m", "victorpy.annotation.learning", *ending]
    copies = {path.name: path.read_text() for path in (folder / "data").iterdir()}
    assert copies == {f"{number:05}.anno": f"labels of {name}" for number, name in enumerate("cab")}
    assert (options["start_new_session"], options["env"]["PYTHONPATH"]) == (True, f"{ROOT}{os.pathsep}somewhere")
    learning.begin([tmp_path / "a.anno"] * 4, asked=True)
    assert messages[1:] == ["Training is already running"]
    learning.stop()
    assert not folder.exists()
    learning.begin([tmp_path / "a.anno"] * 3, asked=True)  # as many as before
    learning.begin([tmp_path / "gone.anno"] * 4, asked=True)
    assert messages[2] == "No more pages have been finished since the last training"
    assert messages[3].startswith("Training cannot start: [Errno 2] No such file or directory")
    learning.stop()


def test_result_of_training_is_a_model_and_its_scores(tmp_path, monkeypatch):
    calls = []
    scores = {choice.UNCHANGED: [0.5, 0.75], choice.ADAPTED: [0.75, 1.0]}
    trained = SimpleNamespace(save=calls.append)
    (tmp_path / "data").mkdir()
    for number in range(2):
        shutil.copy(ARTICLES / "courier-bridge.anno", tmp_path / "data" / f"{number}.anno")
    for chosen, expected in (
        (choice.ADAPTED, Learned(2, 0.625, 0.875, True)),
        (choice.UNCHANGED, Learned(2, 0.625, 0.625, False)),
    ):

        def train(pages, parent, replay, chosen=chosen):
            calls.append((len(pages), parent.meta["digest"], replay is not None))
            return SimpleNamespace(trained=trained, scores=scores, chosen=chosen)

        monkeypatch.setattr(choice, "learn", train)
        assert learn(tmp_path, "default", allow_code=False) == expected
        assert calls == [(2, load_model("default").meta["digest"], True), tmp_path / "model"]
        assert Learned(**json.loads((tmp_path / "learned.json").read_text())) == expected
        calls.clear()


def test_a_new_model_changes_undecided_labels_of_the_open_page(place, monkeypatch):
    app = App(Keys(), CONFIG, None, read_only=False, retrain=False)
    opened = labelled_page(place)
    app.show_page(opened)
    guess = Guess(Prediction.of((Label.PARAGRAPH,) * 8, (0.9,) * 8, "new"))
    monkeypatch.setattr(app._learning, "predictor", guess)
    monkeypatch.setattr(app._learning, "see", lambda: True)
    app.tick()
    assert app._message.endswith("3 labels of this page changed")  # the first block was decided
    assert opened.session.label(0) is Label.HEADER
    assert set(opened.session.labels()[1:]) == {Label.PARAGRAPH}
    monkeypatch.setattr(app._learning, "see", lambda: False)
    app.key("down")
    app.tick()
    assert "changed" not in app._message
    app.close()


def labelled_page(place):
    """Open a page and decide its first block."""
    opened = opened_at(place)
    opened.session.act(Label.HEADER)
    return opened


@pytest.mark.parametrize(
    ("page", "anno", "words"),
    [
        (None, "none.anno", r"none\.anno: cannot be read: No such file or directory"),
        ("none.html", "none.anno", r"none\.html: cannot be read: No such file or directory"),
        ("tea.html", "folder", "folder is a directory, not an annotation file"),
        ("tea.html", "none/tea.anno", r"none is not a directory, so tea\.anno cannot be written there"),
        ("tea.html", "tea.html/tea.anno", r"tea\.html is not a directory, so tea\.anno cannot be written there"),
    ],
)
def test_pages_that_cannot_be_opened(place, page, anno, words):
    folder = place.parent
    (folder / "folder").mkdir()
    with pytest.raises(DataError, match=words):
        open_page(page and folder / page, folder / anno, CONFIG)
    assert sorted(path.name for path in folder.iterdir()) == ["folder", "tea.html"]


# Places, keys and texts.


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, [0, 2, 4]), (1, [1, 3, 5]), (4, [0, 2, 4]), (6, [6])],
)
def test_blocks_at_the_same_place_of_rows(number, expected):
    html = "<table>" + "<tr><td>a<td>b" * 3 + "</table><h1>c</h1>"
    assert same_place(session_of(html).document, number) == expected


def test_first_level_of_a_path_is_a_place():
    document = session_of("<p>a<p>b").document
    roots = [path.replace("/html[1]/body[1]/p", "/p") for path in document.paths()]
    document.__dict__["paths"] = lambda: roots
    assert same_place(document, 0) == [0, 1]


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        *(
            ("page-up", "PgUp"),
            ("page-down", "PgDn"),
            ("up", "↑"),
            ("down", "↓"),
            ("space", "space"),
            ("delete", "Del"),
        ),
        *((name, name.capitalize()) for name in ("home", "end", "enter", "tab", "esc")),
        *((name, name) for name in ("left", "right", "insert", "backspace", "f1", "f20", "ctrl-a", "é")),
        *(("alt-x", "alt-x"), ("meta-x", "alt-x"), ("ctrl-page-down", "ctrl-PgDn"), ("shift-up", "shift-↑")),
        *(("CTRL-A", "ctrl-a"), ("-", "-"), ("A", "A"), ("Alt-Up", "alt-↑")),
    ],
)
def test_names_of_keys(tmp_path, key, shown):
    (tmp_path / "my.conf").write_text(f"annotate-key-redo: {key}\n" + FREE)
    from victorpy.config import read_config

    keys = Keys(read_config(tmp_path / "my.conf"))
    assert (keys.shown("redo"), keys.first("redo")) == (shown, shown)


FREE = "".join(
    f"annotate-key-{binding.action}:\n" for group in GROUPS.values() for binding in group if binding.action != "redo"
)


@pytest.mark.parametrize("key", ["f0", "f21", "alt-", "shift-a", "ctrl-ctrl-a", "ab", "page up x", "pgup", "up-ctrl"])
def test_keys_that_no_terminal_sends(tmp_path, key):
    (tmp_path / "my.conf").write_text(f"annotate-key-redo: '{key}'\n")
    from victorpy.config import read_config

    with pytest.raises(ConfigError, match=r"my\.conf:1: annotate-key-redo: there is no key .*; a key is a character"):
        Keys(read_config(tmp_path / "my.conf"))


def test_hints_end_where_the_line_ends():
    keys = Keys()
    hints = [(["help"], "help"), (["quit"], "leave")]
    assert [keys.hints(hints, width) for width in (5, 6, 14, 15)] == ["", "? help", "? help", "? help  q leave"]


@pytest.mark.parametrize(
    ("char", "is_shown"),
    [
        *((char, False) for char in "\ufe00\ufe0f\U000e0100\U000e01ef\U0001f3fb\U0001f3ff"),
        *((char, True) for char in "\ufdff\ufe10\U0001f3fa\U0001f400"),
    ],
)
def test_variation_selectors_and_skin_tones_are_hidden(char, is_shown):
    assert visible(f"a{char}b") == (f"a{char}b" if is_shown else "ab")


@pytest.mark.parametrize("char", "\u0590\u08ff\ufb1d\ufdff\ufe70\ufeff\U00010800\U00010fff\U0001e800\U0001efff")
def test_text_from_right_to_left(char):
    assert RIGHT_TO_LEFT.search(char)
    for neighbour in (0x58F, 0x900, 0xFB1C, 0xFE00, 0xFE6F, 0xFF00, 0x107FF, 0x11000, 0x1E7FF, 0x1F000):
        assert not RIGHT_TO_LEFT.search(chr(neighbour))
    rows = join_panes([[("a", f"x{char}")], [("a", "x")]], [[("b", "y")]], 5, 3)
    assert [text_of(row).replace(char, "R") for row in rows] == [
        *(f"xR{' ' * (5 - 1 - width)}\u200e│ y" for width in [urwid_width(char)]),
        "x    │ ",
        "     │ ",
    ]


def urwid_width(char):

    return urwid.calc_width(char, 0, 1)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("茶茶", 1, ["茶", "茶"]),
        ("a" * 17, 2, ["aa"] * 8 + ["a"]),
        ("a b", 2, ["a", "b"]),
        ("x" * 5 + " y", 5, ["xxxxx", "y"]),
    ],
)
def test_narrow_lines(text, width, lines):
    assert [text[start:stop] for start, stop in wrap(text, width)] == lines


def test_rows_after_a_head():
    rows = wrap_after(("key", "head "), "one two three four", 18)
    assert rows == [
        [("key", "head "), ("pane", "one two")],
        [("pane", "     "), ("pane", "three four")],
    ]
    assert len(wrap_after(("key", "head "), "one two three four", 3)) == 2  # at least ten columns


# Sessions.


def test_names_in_configs_and_folders_are_those_of_every_version():
    actions = {binding.action for group in GROUPS.values() for binding in group}
    assert {f"{prefix}{label}" for prefix in ("label-", "all-", "place-") for label in Label} <= actions
    assert INDEX == ".victor-annotate.json"


def test_letters_of_labels_are_those_of_every_version():
    session = session_of(EIGHT, (*Label, None, Label.OTHER, Label.LIST))
    assert session.predicted.letters == "hplco?ol"
    assert Prediction.of([None], None).model == ""
    assert Prediction("?", (None,)).model == "?"


def test_facts_of_a_block():
    session = session_of("<p class=x title=''>Tea is hot.</p><p hidden>no", sure=0.98765)
    pane = FactsPane(session, None)
    pane.draw(60, 20)
    pane._work.result()
    assert [text_of(row) for row in pane.draw(60, 20)] == [
        "label: other, predicted",
        "model: other (0.988)",
        "length: 3 words, 11 characters",
        "path: /html[1]/body[1]/p[1]",
        "class: x",
    ]
    session.move(1)
    assert [text_of(row) for row in pane.draw(60, 20)][-1] == "hidden: not visible on the page"
    assert pane.is_ready


def test_blocks_between_two_annotations_show_both_labels():
    one = Choice("a", (Label.HEADER, Label.LIST, None), (True, False, False))
    other = Choice("b", (Label.HEADER, Label.OTHER, Label.PARAGRAPH), (True, True, False))
    session = session_of("<p>a<p>b<p>c", choices=(one, other))
    rows = [text_of(row) for row in BlockPane(session).rows(60, 9)]
    assert [row[6:10].strip() + row[10:13] for row in rows[:3]] == ["H/H│ a", "l/O│ b", "?/p│ c"]
    assert [session.differs(number) for number in range(3)] == [False, True, True]


def test_selection_by_scope():
    session = session_of(EIGHT)
    for scope, numbers in ((Scope.ONE, [0]), (Scope.REST, list(range(8))), (Scope.TEXT, [0]), (Scope.RANGE, [0])):
        assert list(session.select(scope).numbers) == numbers
    assert list(session.select(Scope.ONE, 3).numbers) == [0, 1, 2]
    assert list(session.select(Scope.ONE, 99).numbers) == list(range(8))


def test_guess_is_restored(place):
    labelled(place, Label.HEADER, moves=[3])
    one, other = opened_at(place), None
    saved = state_of(one.session)
    one.close()
    other = opened_at(place)
    assert state_of(other.session) == saved
    assert other.session.predicted == PREDICTED
    other.close()


def test_events_never_change():
    session = session_of(EIGHT)
    session.listener = (events := []).append
    session.act(Label.HEADER)
    session.undo()
    session.redo()
    session.refresh(Prediction.of([Label.LIST] * 8, [0.5] * 8, "x"))
    assert [type(event).__name__ for event in events] == ["Change", "Undone", "Redone", "Refreshed"]
    session.move(3)
    for event in (*events, Saving("x"), Saved("x"), Header(1, "", session.predicted, "")):
        for name in event.__struct_fields__:
            with pytest.raises(AttributeError):
                setattr(event, name, None)


def test_lines_of_the_journal_are_those_of_every_version():
    session = session_of("<p>a<p>b")
    session.listener = (events := []).append
    session.act(Label.LIST)
    session.undo()
    session.redo()
    session.refresh(Prediction.of([Label.HEADER] * 2, [0.5, None], "x"))
    session.move(0)
    assert [write_line(event) for event in [*events, Saving("d"), Saved("d")]] == [
        b'["c",[[0,1,"?","l"]],0,1,["one","list",1]]\n',
        *(b'["u"]\n', b'["r"]\n', b'["p","oh",[0.99,null],"x"]\n', b'["m",0]\n', b'["s","d"]\n', b'["w","d"]\n'),
    ]


def test_pages_without_blocks_and_small_panes():
    empty = BlockPane(session_of(""))
    assert (empty.scroll_page(1), empty.scroll_page(-1), empty.scroll_inside(1), empty.shown) == (0, 0, False, range(0))
    assert [text_of(row).strip() for row in empty.rows(40, 5)] == ["This page has no text."]
    pane = BlockPane(session_of("<p>" + "word " * 60, [Label.LIST]))
    pane.rows(40, 2)
    assert pane.scroll_inside(1)
    assert pane._skip == 1
    pane.rows(40, 5)
    assert pane.scroll_inside(1)
    assert pane._skip == 4
    assert pane.scroll_inside(-1)
    assert pane.scroll_inside(-1)
    assert not pane.scroll_inside(-1)


def test_message_about_narrow_terminals_ends_with_the_panes(app):
    shown = []
    for _ in range(5):
        screen_of(app, 70)
        app.key("tab")
        shown.append("Side panes need" in bottom(app, 70))
    assert shown == [True, True, True, True, False]


def test_list_in_one_line(four):
    view = four.view
    assert [text_of(row)[:15] for row in view.body(60, 1)] == ["   progress    ", " ► ░░░░░░░░░░  "]
    view.act("page-down")
    assert view.cursor == 1
    view.wheel(1)
    assert view.cursor == 3
    view.wheel(-1)
    assert view.cursor == 0


def test_model_of_the_tool(tmp_path):
    predictor = Predictor.load("default")
    assert (predictor.name, predictor.allow_code) == ("default", False)
    assert re.fullmatch("default [0-9a-f]{12}", predictor.identity)
    assert Predictor.load("default", "mine").identity.startswith("mine ")
    document = session_of(CUPS).document
    prediction = predictor(document)
    assert (len(prediction.labels), prediction.model) == (8, predictor.identity)
    content = predictor.cleaner.labeller.label(document).content
    assert predictor.uncertainty(document) == mean_entropy(document, content)


# The terminal.


@pytest.mark.parametrize(
    ("variables", "colours"),
    [
        ({"TERM": "xterm-256color"}, 256),
        ({"TERM": "xterm"}, 16),
        ({}, 16),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, 256),
        ({"TERM": "xterm", "COLORTERM": "24bit"}, 256),
        ({"TERM": "xterm", "COLORTERM": "yes"}, 16),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, 1),
    ],
)
def test_colours_of_terminals(monkeypatch, variables, colours):
    for name in ("TERM", "COLORTERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
        if name in variables:
            monkeypatch.setenv(name, variables[name])
    assert _Screen().colors == colours


class Loop:
    """A loop of the terminal that only does what a test wants."""

    def __init__(self, surface, palette, screen, handle_mouse):
        self.surface, self.palette, self.handle_mouse = surface, palette, handle_mouse
        self.screen = SimpleNamespace(clear=lambda: "cleared")
        self.alarms = []
        Loop.latest = self

    def set_alarm_in(self, seconds, function):
        self.alarms.append((seconds, function))

    def watch_pipe(self, function):
        self.wake, (self.read, write) = function, os.pipe()
        return write

    def tick(self):
        ((_, function),) = self.alarms
        self.alarms.clear()
        function(self, None)

    def run(self):
        with suppress(urwid.ExitMainLoop):
            self.script(self)


@pytest.fixture
def shown(monkeypatch, app):
    """A function that shows the application while a loop runs a script. It returns the result and the calls."""
    calls, encodings = [], []
    monkeypatch.setattr(urwid, "MainLoop", Loop)
    monkeypatch.setattr(urwid, "set_encoding", encodings.append)
    monkeypatch.setattr(app, "close", lambda: calls.append("closed"))
    monkeypatch.setattr(_Surface, "_invalidate", lambda surface: calls.append("drawn"))

    def show(script):
        handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
        monkeypatch.setattr(Loop, "script", staticmethod(script), raising=False)
        try:
            return screen.run(app), calls
        finally:
            assert encodings == ["utf-8"]
            assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == handlers
            assert app.redraw() == "cleared"
            assert Loop.latest.handle_mouse
            assert calls[-1] == "closed"

    return show


def test_screen_is_drawn_when_something_has_changed_until_the_last_view_is_closed(app, shown):
    def script(loop):
        app.tick = lambda: ("a", "", False)
        loop.tick()
        loop.tick()
        app.tick = lambda: ("b", "", False)
        loop.tick()
        app.tick = lambda: 1 / 0
        with pytest.raises(ZeroDivisionError):
            loop.tick()
        assert [seconds for seconds, _ in loop.alarms] == [0.1]
        app.views.clear()
        app.tick = lambda: ("", "", False)
        loop.tick()

    assert shown(script) == (0, ["drawn", "drawn", "closed"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("is_closed", [False, True])
def test_signal_ends_the_screen_after_everything_is_saved(shown, number, is_closed):
    def script(loop):
        signal.raise_signal(number)
        assert os.read(loop.read, 9) == b"."
        if is_closed:
            raise OSError("the terminal is closed")
        loop.wake(b".")

    assert shown(script) == (number, ["closed"] if is_closed else ["closed", "closed"])


def test_errors_of_the_terminal_are_not_hidden(shown):
    def script(loop):
        raise OSError("no terminal")

    with pytest.raises(OSError, match="no terminal"):
        shown(script)


@pytest.mark.parametrize(
    ("size", "expected"), [((0, 0), (90, 33)), ((70, 0), (90, 33)), ((0, 20), (90, 33)), ((1, 1), (1, 1))]
)
def test_terminals_without_a_size(monkeypatch, size, expected):
    monkeypatch.setattr(urwid.display.raw.Screen, "get_cols_rows", lambda screen: size)
    monkeypatch.setenv("COLUMNS", "90")
    monkeypatch.setenv("LINES", "33")
    screen = _Screen()
    assert screen.get_cols_rows() == expected
    if expected != size:
        assert screen.maxrow == 33


def test_keys_and_clicks_reach_the_program(app):
    surface = _Surface(app)
    assert (surface.selectable(), surface.sizing()) == (True, {urwid.BOX})
    assert surface.keypress((100, 30), "j") is None
    assert app.view.session.cursor == 1
    app.key("H")
    surface.render((100, 30))
    assert surface.mouse_event((100, 30), "mouse press", 1, 20, 1, True) is True
    assert app.view.session.cursor == 0
    app.key("g")
    canvas = surface.render((100, 30))
    assert (canvas.cols(), canvas.rows(), canvas.cursor) == (100, 30, (19, 29))
    app.key("esc")
    with pytest.raises(urwid.ExitMainLoop):
        surface.keypress((100, 30), "q")


def test_rows_that_are_too_wide_are_cut():
    canvas = canvas_of([[("bar", "茶茶"), ("key", "x\ud800y")], []], 6)
    assert [b"".join(text for *_, text in row) for row in canvas.content()] == ["茶茶x?".encode(), b" " * 6]


def test_changes_are_saved_four_tenths_of_a_second_later(place, monkeypatch):
    opened = opened_at(place)
    saved = []
    monkeypatch.setattr(opened, "save", lambda: saved.append(1))
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    opened.session.act(Label.LIST)
    opened._last_job.result()  # the journal is written
    for seconds, count in ((0.0, 0), (0.39, 0), (0.41, 1)):
        now[0] = 100 + seconds
        opened.tick()
        assert len(saved) == count
    assert not opened.is_saved
    monkeypatch.undo()
    opened.save()
    opened.close()
    assert opened.is_saved


@pytest.mark.parametrize("is_edited", [False, True])
def test_annotation_that_was_changed_before_the_first_save(place, is_edited):
    """The journal has no digest of the annotation yet, so the labels are compared with those at its start."""
    labelled(place, Label.HEADER)
    place.with_name("tea.anno.journal").unlink()
    opened = opened_at(place)
    opened.session.act(Label.LIST)
    opened._last_job.result()
    opened.lock.release()  # killed before the annotation was saved
    if is_edited:
        place.write_text(place.read_text().replace("header\t", "paragraph\t", 1))
    again = opened_at(place)
    shown = [message for message in again.messages if "outside this program" in message]
    assert bool(shown) is is_edited
    if is_edited:
        assert shown == ["1 label changed in tea.anno outside this program; undo restores the old ones"]
    again.close()


@pytest.mark.parametrize(("length", "lines"), [(40, [range(2)] * 2), (41, [range(1), range(1, 2)])])
def test_texts_of_up_to_40_columns_share_a_line(length, lines):
    layout = PageLayout(session_of(f"<p>short<p>{'x' * length}"), 10)
    layout.prepare(90, pack=True)
    assert [layout.line_of(number) for number in range(2)] == lines
