"""The annotation tool in a real terminal: help, pasting, sizes, messages, paging, mouse, lists and training."""

from __future__ import annotations

import fcntl
import json
import re
import shutil
import struct
import subprocess
import sys
import termios
from dataclasses import asdict, replace
from itertools import pairwise

import pytest
from support.annotation import (
    CONFIG,
    CUPS,
    adjudicate,
    annotate,
    app_of,
    config_of,
    decided_in,
    environment,
    labels_in,
    leave,
    open_cups,
    screen_of,
    session_of,
)
from support.commands import ROOT
from support.terminal import Terminal

from victorpy.annotation.learning import Learning, Predictor, learn
from victorpy.annotation.pages import Pages
from victorpy.annotation.session import Session
from victorpy.annotation.tui.app import App
from victorpy.annotation.tui.block_pane import BlockPane
from victorpy.annotation.tui.keys import GROUPS, Keys
from victorpy.annotation.tui.text import text_of, width_of
from victorpy.annotation.tui.views import HelpView, PageListView
from victorpy.cleaner import read_document
from victorpy.document import Label

pytestmark = pytest.mark.processes


@pytest.fixture
def directory(tmp_path):
    """Three small pages, the second of which cannot be opened."""
    for number, name in enumerate(("a", "c", "d")):
        (tmp_path / f"{name}.html").write_text(f"<p>Block one of {name}<p>Block two" + "<p>More" * number)
    (tmp_path / "b.anno").write_text("no annotation")
    return tmp_path


# What is below and in the help


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_bottom_line_names_help_and_quit_and_is_not_cut(page, columns):
    with open_cups(page, columns=columns) as terminal:
        below = terminal.lines[-1]
        assert "? help  q leave" in below
        assert "…" not in below
        terminal.type("?", until="back")
        for _ in range(12):
            terminal.settle(0.05)
            assert "…" not in terminal.text
            terminal.type("page down")


def test_all_of_the_help_can_be_read_in_80_columns():
    rows = HelpView(App(Keys(), CONFIG)).body(80, 1000)
    text = " ".join(" ".join(map(text_of, rows)).split())
    for group, bindings in GROUPS.items():
        assert group in text
        for binding in bindings:
            assert binding.help in text
    assert max(width_of(text_of(row)) for row in rows) <= 80
    assert "Ctrl-C leaves at once" in text
    assert "A range that you mark is taken whole" in text


# Keys that are none


def test_pasted_text_gives_no_labels(page):
    with open_cups(page) as terminal:
        assert b"\x1b[?2004h" in terminal.written
        terminal.type("\x1b[200~hello, q, please\x1b[201~", until="Pasted text is ignored here")
        assert "0 decided" in terminal.lines[0]
        terminal.type("/", "\x1b[200~Hot\rwater\x1b[201~")  # into a line that is typed it goes, without its end
        terminal.wait_for("/Hotwater")
        terminal.type("\x15", "\x1b[200~Hot wa\x1b[201~", "enter", until="block 6 of 8")
        terminal.type("o", "\x1b[200~ooo")  # a paste without an end is over after a second
        terminal.settle(1.3)
        terminal.type("p", until="2 decided")
        leave(terminal)
        assert terminal.written.count(b"\x1b[?2004l") >= 1
    assert labels_in(page.with_suffix(".anno")) == "?????op?"


def test_ctrl_s_saves_and_does_not_stop_the_terminal(page):
    with open_cups(page) as terminal:
        terminal.type("o", "\x13", until="Saved; every change is saved automatically, too")
        terminal.type("p", until="2 decided")


def test_flow_control_is_restored(page):
    """A shell that started the program has flow control afterwards, as before."""
    command = f"stty ixon; {sys.executable} {ROOT / 'annotate.py'} --no-model {page}; stty -a"
    with Terminal(["sh", "-c", command], 100, 30, environment()) as terminal:
        terminal.wait_for("block 1 of 8")
        terminal.type("q")
        terminal.end()
        assert re.search(r"[^-]ixon", terminal.text)


# Sizes


def test_terminal_without_a_size_counts_as_80_by_24(page):
    terminal = annotate("--no-model", page, columns=80, lines=24, COLUMNS="", LINES="")
    fcntl.ioctl(terminal._file, termios.TIOCSWINSZ, struct.pack("4H", 0, 0, 0, 0))
    with terminal:
        terminal.wait_for("block 1 of 8")
        terminal.type("o", until="1 decided")
        leave(terminal)


def test_the_end_of_a_page_fills_the_screen():
    session = session_of("".join(f"<p>Block {number}" for number in range(200)), sure=0.9)
    pane = BlockPane(session)
    for place in (0, 199, 0, 190, 100, 198):
        session.move(place)
        rows = pane.rows(80, 30)
        assert len(rows) == 30
        assert any(text_of(row).startswith("►") for row in rows)
    assert len(BlockPane(session_of("<p>A<p>B", sure=0.9)).rows(80, 30)) == 2


# What is said


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


# Going to what is doubtful, and by screens


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
        return [int(found[1]) for row in pane.rows(80, 20) if (found := re.search(r"Block (\d+) here", text_of(row)))]

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
        return [int(found[1]) for row in pane.rows(71, height) if (found := re.search(r" x(\d+)x", text_of(row)))]

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


# Mouse and search


def test_search_hits_are_highlighted(page):
    with open_cups(page) as terminal:
        terminal.type("/", "A DRINK of", "enter", until="block 5 of 8")  # over the border of a link, in any case
        row = next(number for number, line in enumerate(terminal.lines) if "A drink of leaves" in line)
        at = terminal.lines[row].index("A drink of")
        cells = [terminal.screen.buffer[row][column] for column in range(at, at + 17)]
        assert {cell.bg for cell in cells[:10]} == {cells[0].bg}
        assert cells[0].bg != cells[11].bg
        terminal.type("/", "water", "enter", until="block 6 of 8")
        assert terminal.screen.buffer[row][at].bg == cells[11].bg  # and only the last search


# Other programs


def test_file_changed_by_another_program_is_kept_and_reported(page):
    anno = page.with_suffix(".anno")
    with open_cups(page, columns=170) as terminal:
        terminal.type("o", until=lambda here: anno.exists() and " saved" in here.lines[0])
        other = anno.read_text().replace("?\t-", "list\t-")
        anno.write_text(other)
        terminal.type("p", until="tea.anno was changed by another program while it was open here")
        terminal.type("q")
        assert terminal.end() == 1
        assert "kept as tea.anno.other-1" in terminal.text.replace("\n", "")
    assert labels_in(anno) == "op??????"
    assert page.with_name("tea.anno.other-1").read_text() == other


# Many pages


def test_pages_that_cannot_be_opened_are_skipped(directory):
    with annotate("--no-model", directory, columns=160, shows="1 cannot be opened") as terminal:
        terminal.type("enter", until="block 1 of 2")
        terminal.type("p", "p", ">", until="c.html")
        terminal.wait_for("skipped")
        assert "not an annotation file" in terminal.lines[-1]
        with annotate("--no-model", directory / "d.html", shows="block 1 of 4"):
            terminal.type("p", "p", "p", ">", until="All pages are finished; 2 pages skipped")


def test_the_list_is_sorted_again_after_work(directory):
    (directory / "b.anno").unlink()
    with annotate("--no-model", directory, "--order", "progress") as terminal:
        terminal.wait_for(lambda here: "not read" not in here.text and "d.html" in here.text)
        terminal.type("down", "down", "enter", until="block 1 of 4")
        terminal.type("p", "q", until=lambda here: "d.html" in here.lines[2])
        assert terminal.lines[2].startswith(" ►")
        terminal.type("enter", until="block 2 of 4")
        terminal.type("p", "p", "p", ">")  # the next one from where it was, though this one is now last
        terminal.wait_for("a.html")
        terminal.type("q", until=lambda here: "d.html" in here.lines[4])


def test_the_lock_of_a_killed_program_is_not_shown_as_open(directory):
    (directory / "a.anno.lock").write_text("somebody long gone")
    with annotate("--no-model", directory) as terminal:
        terminal.wait_for(lambda here: "not read" not in here.text and "d.html" in here.text)
        assert "(open)" not in terminal.text
        with annotate("--no-model", directory / "d.html", shows="block 1 of 4"):
            terminal.type("down", "down", "down")
            terminal.wait_for(lambda here: any("d.html" in line and "(open)" in line for line in here.lines))


def test_list_ignores_escape_and_knows_no_labels(directory):
    view = PageListView(App(Keys(), CONFIG), Pages(directory, CONFIG, None), "name")
    assert view.act("cancel")
    assert not view.act("label-header")


# Learning


def test_too_few_finished_pages_are_counted(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.html").write_text(f"<p>Page {name}")
    with annotate("--no-model", "--retrain", tmp_path, shows="0 of 3 pages finished") as terminal:
        terminal.type("enter", until="block 1 of 1")
        terminal.type("p", "q", until="Training needs at least 3 finished pages (1 so far)")


def test_a_learned_model_is_compared_with_the_model_at_the_start(tmp_path):
    """A model that has learned from the pages held out would seem to be better than it is."""
    (tmp_path / "data").mkdir()
    for name in ("courier-bridge", "courier-bakery", "courier-council"):
        shutil.copy(ROOT / "data" / "article" / f"{name}.anno", tmp_path / "data")
    found = learn(tmp_path, "crf", "default")
    assert (found.pages, found.held_out) == (3, 1)

    said = []
    start = Predictor.load("default")
    learning = Learning(start, said.append)
    learning._folders = [tmp_path]

    def end_with(before, after):
        (tmp_path / "learned.json").write_text(json.dumps(asdict(replace(found, before=before, after=after))))
        learning._process = subprocess.Popen([sys.executable, "-c", ""])
        learning._process.wait()
        return learning.see()

    assert end_with(0.5, 0.9)
    assert learning.predictor.name == "the model trained on 3 pages"
    assert learning._start is start  # it is never held against what it learned itself
    assert end_with(0.9, 0.5)
    assert learning.predictor is start  # by what is known now the first one is better
    assert said[1].endswith(
        "50% of labels correct on 1 held-out page; the model at the start gets 90% and stays in use"
    )


# Two annotations


def test_adjudication_shows_both_names_and_which_labels_are_predictions(page):
    with adjudicate(page, "oo", "op", model=()) as terminal:
        terminal.wait_for("1 decided 12 %")
        terminal.wait_for("anna.anno: 6 labels come from the model and nobody confirmed them (small letters)")
        terminal.type("e", until="block 2 of 8")
        assert "1 anna.anno  2 ben.anno" in terminal.lines[-1]
        assert "unsure" not in terminal.lines[-1]
        assert "? O/P" in next(line for line in terminal.lines if line.startswith("►"))
        assert re.search(r"3 \? [a-z]/[a-z]", terminal.text)
        leave(terminal)
    assert decided_in(page.parent / "gold.anno") == 1
