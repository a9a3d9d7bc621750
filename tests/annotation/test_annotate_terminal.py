"""The annotation tool in a real terminal: typed keys, the screen, and the files that are written."""

import fcntl
import json
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from dataclasses import asdict, replace
from functools import partial

import pytest
from support.annotation import HOSTILE, adjudicate, annotate, decided_in, environment, labels_in, leave, open_cups
from support.commands import ROOT, names_in, run_here
from support.terminal import Terminal

from victorpy.annotation.learning import Learning, Predictor, learn
from victorpy.commands import run

pytestmark = pytest.mark.processes

annotate_here = partial(run_here, partial(run, "annotate"))  # without a terminal


# A page


def test_a_person_labels_a_page(page):
    with open_cups(page) as terminal:
        assert "0 decided 0 %" in terminal.lines[0]
        assert re.search(r"► ?1 \? +│ +• Home", terminal.text)
        assert "h1 Tea" in terminal.text
        assert "[hidden] Nobody sees me." in terminal.text
        assert "nav" in terminal.text
        terminal.type("o", "o", "o", "h", "p", "p", "o", "o", until="All 8 blocks are decided")
        terminal.wait_for("saved")
        leave(terminal)
    assert labels_in(page.with_suffix(".anno")) == "ooohppoo"
    assert decided_in(page.with_suffix(".anno")) == 8
    assert names_in(page.parent) == ["tea.anno", "tea.anno.journal", "tea.html"]


def test_the_model_proposes_and_the_person_decides(bridge):
    anno = bridge.with_suffix(".anno")
    with annotate(bridge, shows="block 1 of 161") as terminal:
        terminal.type("w", until="block 50 of")  # the next block that the model is unsure of
        assert "H 22" in next(line for line in terminal.lines if line.startswith("►"))
        terminal.type("space", until="1 decided")
        assert re.search(r" 50 H✓", terminal.text)
        terminal.type("p", until=lambda here: re.search(r" 51 P\*", here.text))
        terminal.type("u", until="undo: 1 block; 1 more to undo")
        terminal.type("U", until="redo: 1 block")
        terminal.type("a", until="All 161 blocks are decided")
        terminal.type("d", until="block 51 of 161")  # where the person disagrees
        leave(terminal)
    assert decided_in(anno) == 161
    assert labels_in(anno)[49:51] == "hp"


def test_moving_searching_and_selecting(bridge):
    with annotate(bridge, shows="block 1 of") as terminal:
        for keys, place in [
            (["down", "j"], "block 3 of"),
            (["up", "k"], "block 1 of"),
            (["end"], "block 161 of"),
            (["home"], "block 1 of"),
            (["g", "7", "7", "enter"], "block 77 of"),
            (["/", "bearings", "enter"], "block 59 of 161"),
        ]:
            terminal.type(*keys)
            terminal.wait_for(place)
        terminal.type("n", until=lambda here: "block 59" not in here.lines[0])
        terminal.type("N", until="block 59 of")
        terminal.type("page down", until=lambda here: "block 59" not in here.lines[0])
        terminal.type("g", "5", "3", "enter", until="block 53 of")
        terminal.type("'", until="Type the letter")
        line = next(line for line in terminal.lines if re.match(r" +a +[A-Z]", line))
        top = re.split("[┊┌└]", line.partition("│")[2])[0].rstrip()  # other blocks of the line have letters too
        terminal.type("a", until=lambda here: any(line.startswith("►") and top in line for line in here.lines))
        terminal.type("g", "5", "3", "enter", "r", until="4 blocks selected")
        terminal.type("esc", until="hplco label")
        terminal.type("v", "shift down", "down", "l", until="3 blocks: list")
        terminal.type("z", until="'z' does nothing here")
        leave(terminal)
    assert labels_in(bridge.with_suffix(".anno"))[52:55] == "lll"


def test_the_mouse_moves_the_cursor_except_in_a_side_pane(page):
    with open_cups(page) as terminal:
        row = next(number for number, line in enumerate(terminal.lines) if "Hot water" in line)
        terminal.click(20, row)
        terminal.wait_for("block 6 of 8")
        terminal.click(20, 5, button=64)
        terminal.wait_for("block 3 of 8")
        terminal.click(20, 5, button=65)
        terminal.wait_for("block 6 of 8")
        terminal.type("tab", until="cleaned: text")
        terminal.click(80, 3)
        terminal.settle()
        assert "block 6 of 8" in terminal.lines[0]
        terminal.click(20, 3)
        terminal.wait_for(lambda here: "block 6 of" not in here.lines[0])


def test_the_panes_show_the_result_and_the_facts(bridge):
    with annotate(bridge, columns=120, shows="block 1 of") as terminal:
        terminal.type("g", "5", "9", "enter", "tab", until="cleaned: text")
        terminal.type("tab", until="# Weir Bridge to close")
        terminal.type("tab", until="<p> Weir Bridge, the only road")
        terminal.type("o")  # the result follows at once
        terminal.wait_for(lambda here: "<p> Weir Bridge, the only road" not in here.text)
        terminal.type("tab", until="features other than 0")
        assert "path: /html[1]/body[1]" in terminal.text
        terminal.type("f", until=lambda here: "features" not in here.text)


def test_reopening_restores_cursor_and_undo(page):
    with open_cups(page) as terminal:
        leave(terminal, "o", "o", "down", "p")
    with annotate(page.with_suffix(".anno"), "--no-model", shows="block 5 of 8") as terminal:
        assert "3 decided" in terminal.lines[0]
        terminal.type("u", "u", "u", "u", until="Nothing to undo")
        assert "0 decided" in terminal.lines[0]
        leave(terminal)
    assert labels_in(page.with_suffix(".anno")) == "????????"


# Terminals of all kinds


def test_cursor_stays_visible_when_the_terminal_is_resized(bridge):
    with annotate(bridge, shows="block 1 of") as terminal:
        terminal.type("g", "9", "0", "enter", until="block 90 of")
        for columns, lines in [(140, 50), (80, 24), (60, 10), (40, 8)]:
            terminal.resize(columns, lines)
            terminal.wait_for(lambda here: re.search(r"^► *90 ", here.text, re.MULTILINE) and not here.read(0.3))
            assert max(map(len, terminal.lines)) <= columns


def test_small_terminals_show_a_note(page):
    with annotate("--no-model", page, columns=60, lines=10, shows="60×10, better with 80×24") as terminal:
        terminal.type("tab", until="Side panes need a terminal with at least 80 columns")
        terminal.resize(20, 4)
        terminal.wait_for("Too small")
        terminal.type("o")  # works all the same
        terminal.resize(1, 1)
        terminal.settle()
        terminal.resize(100, 30)
        terminal.wait_for("1 decided")


def test_without_colours_nothing_is_lost(page):
    with open_cups(page, NO_COLOR="1") as terminal:
        terminal.type("o", "p", until="2 decided")
        terminal.settle()
        assert re.search(r" 1 O✓", terminal.text)
        codes = {code for codes in re.findall(rb"\x1b\[([0-9;]*)m", terminal.written) for code in codes.split(b";")}
        assert codes <= {b"0", b"1", b"4", b"7", b"39", b"49", b""}


def test_eight_colours_are_enough(page):
    with open_cups(page, TERM="xterm") as terminal:
        terminal.type("o", until="1 decided")
        assert b"38;5;" not in terminal.written
        assert re.search(rb"\x1b\[[0-9;]*4[0-7]m", terminal.written)


@pytest.mark.parametrize("columns", [40, 63, 100])
def test_odd_text_neither_escapes_nor_breaks_the_layout(tmp_path, columns):
    (tmp_path / "odd.html").write_text(HOSTILE, encoding="utf-8")
    with annotate("--no-model", tmp_path / "odd.html", columns=columns, lines=40, shows="last words") as terminal:
        terminal.settle()
        for forbidden in ("\u202e", "\u200b", "\ufeff", "\x1b[31m", "\x1b]0;", "\x9b2J", "\ue000"):
            assert forbidden.encode() not in terminal.written
        assert "⟨U+001B⟩[31m" in terminal.text
        assert "⟨U+202E⟩" in terminal.text
        rows = [line for line in terminal.lines[1:-1] if line]
        assert all(re.match(r"[► ] ?\d? [ ?][ ]{0,5}", line) for line in rows)
        at = {line.index("│") for line in rows if "│" in line}
        assert len(at) == 1  # the bar is in one column


def test_block_taller_than_the_screen_can_be_scrolled_to_its_end(tmp_path):
    (tmp_path / "long.html").write_text(
        "<p>Begin</p><p>" + " ".join(f"word{number}" for number in range(400)) + "</p><p>End</p>"
    )
    with annotate("--no-model", tmp_path / "long.html", columns=80, lines=12, shows="block 1 of 3") as terminal:
        terminal.type("down", until="word0 ")
        for _ in range(12):
            terminal.type("down")
        terminal.wait_for("word399")
        terminal.wait_for("block 3 of 3")


def test_work_is_saved_while_the_help_is_shown(page):
    with open_cups(page) as terminal:
        terminal.type("o", "?", until="All keys")
        terminal.wait_for(lambda here: page.with_suffix(".anno").exists())


def test_write_errors_are_shown_on_the_screen_and_after_the_end(page):
    with open_cups(page, columns=160) as terminal:
        page.with_suffix(".anno").mkdir()  # a directory cannot be replaced by a file
        terminal.type("o", until="Cannot save: Is a directory")
        assert "NOT SAVED" in terminal.text
        terminal.type("q", until="The last changes are not saved: Is a directory. Press q again to leave anyway")
        terminal.type("down", "q", until="Press q again to leave anyway")  # any other key cancels
        terminal.type("q")
        assert terminal.end() == 1
        assert "the last changes could not be saved: Is a directory" in terminal.text.replace("\n", "")
    page.with_suffix(".anno").rmdir()
    with annotate("--no-model", page) as terminal:
        terminal.wait_for("1 decided")  # the journal has it


USING_DEFAULT = "Using the bundled model default, because no model is named my; choose another with --model"


def test_a_configured_key_works_and_the_model_is_named(page):
    (page.parent / "my.conf").write_text("include default\nannotate-key-label-other: 0\n")
    with annotate("--config", page.parent / "my.conf", page, columns=160, shows=USING_DEFAULT) as terminal:
        terminal.type("home", until="hplc0 label")
        leave(terminal, "0")
        assert b"using the bundled model default, because" in terminal.written  # on the screen after the end
    assert decided_in(page.with_suffix(".anno")) == 1


# Wrong usage


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tea.html"], "start it in a terminal"),
        (["gone.html"], "gone.html: cannot be read"),
        ([], "give PAGE.html [PAGE.anno], PAGE.anno or DIR"),
        (["tea.html", "a.anno", "b.anno"], "give PAGE.html [PAGE.anno], PAGE.anno or DIR"),
        (["tea.html", "--no-model", "--model", "default"], "cannot be combined"),
        (["tea.html", "--model", "no-such-model"], "no model 'no-such-model'"),
        (
            ["tea.html", "--config", "crf"],
            "no model is named crf, and the model 'default' does not match the config 'crf'",
        ),
        (["tea.html", "--retrain"], "annotate.py --retrain DIR"),
        (["tea.html", "-o", "x.anno"], "-o works only with --adjudicate"),
        (["--adjudicate", "a.anno", "b.anno"], "-o GOLD.anno"),
        (["tea.html", "--config", "nokeys.conf"], "nokeys.conf:2: annotate-key-udno: there is no action 'udno'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_one_line_and_exit_code_2(page, arguments, said):
    (page.parent / "nokeys.conf").write_text("include default\nannotate-key-udno: z\n")
    ended = annotate_here(*arguments, cwd=page.parent)
    assert ended.returncode == 2
    assert said in ended.stderr.decode()
    assert ended.stderr.count(b"\n") == 1
    assert names_in(page.parent) == ["nokeys.conf", "tea.html"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tea.html", "gone/tea.anno"], "is not a directory"),
        (["gone.anno"], "gone.anno: cannot be read"),
        (["wrong.anno"], "wrong.anno:1: not an annotation file"),
        (["empty"], "no pages"),
        (["--no-model", "tea.html", "/"], "/ is a directory, not an annotation file"),
        (["--adjudicate", "wrong.anno", "tea.html", "-o", "gold.anno"], "not an annotation file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_files_that_cannot_be_opened_give_one_line_in_the_terminal(page, arguments, said):
    (page.parent / "empty").mkdir()
    (page.parent / "wrong.anno").write_text("no annotation")
    command = [sys.executable, str(ROOT / "annotate.py"), *arguments]
    with Terminal(command, 160, 24, environment(), page.parent) as terminal:
        assert terminal.end() == 2
        assert said in terminal.text
        assert "Traceback" not in terminal.text


def test_help_has_examples_and_needs_no_terminal():
    ended = annotate_here("--help")
    assert ended.returncode == 0
    assert b"examples:" in ended.stdout


def test_a_page_can_be_opened_only_once(page):
    with open_cups(page) as first:
        with annotate("--no-model", page, columns=160) as second:
            assert second.end() == 2
            assert "tea.anno is already opened by " in second.text
            assert f"(process {first.pid}," in second.text
        with annotate("--no-model", "--read-only", page, shows="read only") as looking:
            leave(looking, "o")
        leave(first, "p")
    assert labels_in(page.with_suffix(".anno")) == "p???????"


# Never losing work


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, "window closed", "interrupt"])
def test_everything_is_saved_however_it_ends(page, how):
    with open_cups(page) as terminal:
        terminal.type("o", "p", until="2 decided")
        if how == "window closed":
            terminal.hang_up()
            assert terminal.end() != 0
        elif how == "interrupt":
            terminal.type("\x03")
            assert terminal.end() == 130
        else:
            assert terminal.end(how) == 128 + how
    assert labels_in(page.with_suffix(".anno")) == "op??????"
    assert not page.with_suffix(".anno.lock").exists()


@pytest.mark.parametrize("seed", range(3))
def test_kill_at_any_moment_loses_at_most_the_last_key(tmp_path, seed):
    chance = random.Random(seed)
    (tmp_path / "many.html").write_text("".join(f"<p>Block {number}</p>" for number in range(300)))
    anno, typed = tmp_path / "many.anno", ""
    for _ in range(2):
        with annotate("--no-model", tmp_path / "many.html", shows=f"{len(typed)} decided") as terminal:
            terminal.wait_for(f"block {len(typed) + 1} of 300")
            keys = "".join(chance.choice("hplco") for _ in range(chance.randint(1, 60)))
            for key in keys:
                terminal.type(key)
                terminal.read(0)
                typed += key
                terminal.wait_for(f"{len(typed)} decided")
            time.sleep(chance.random() * 0.6)
            terminal.end(signal.SIGKILL)
        if anno.exists():
            assert typed.startswith(labels_in(anno).rstrip("?"))
    with annotate(tmp_path / "many.html", "--no-model", shows=f"{len(typed)} decided") as terminal:
        leave(terminal)
    assert labels_in(anno) == typed + "?" * (300 - len(typed))


# Many pages


def test_pages_of_a_directory_one_after_another(pages):
    with annotate(pages, shows="0 of 4 pages finished") as terminal:
        terminal.wait_for(lambda here: "not read" not in here.text)
        assert re.search(r"► .* 154 .*courier-bakery.html", terminal.text)
        terminal.type("enter", until="block 1 of 154")
        terminal.type("a", until="1/4 done ")  # before the page is left
        terminal.type(">", until="1/4 done ")
        terminal.wait_for("courier-bridge.html")
        terminal.type("o", "q", until="1 of 4 pages finished")
        assert re.search(r"100 % .*courier-bakery.html", terminal.text)
        terminal.type("=", until="by uncertainty")
        terminal.type("=", until="by progress")
        terminal.wait_for(lambda here: "courier-bridge" in here.lines[2])
        leave(terminal)
    assert decided_in(pages / "courier-bakery.anno") == 154
    assert decided_in(pages / "courier-bridge.anno") == 1


def test_a_page_that_cannot_be_read_is_listed_with_the_reason(pages):
    (pages / "bad.anno").write_text("no annotation")
    with annotate("--no-model", pages, columns=160, shows="not an annotation file") as terminal:
        terminal.type("enter")
        terminal.settle()
        assert "0 of 5 pages" in terminal.text


def test_learning_in_the_background_refreshes_undecided_blocks(tmp_path):
    for name in ("courier-bridge", "courier-bakery", "courier-council", "courier-obituary"):
        shutil.copy(ROOT / "data" / "article" / f"{name}.html", tmp_path)
        if name != "courier-bridge":
            shutil.copy(ROOT / "data" / "article" / f"{name}.anno", tmp_path)
    with annotate("--no-model", "--retrain", tmp_path, columns=140, shows="3 of 4 pages finished") as terminal:
        terminal.type("down", "enter", until="block 1 of 161")
        terminal.type("h", "R", until="Training on 3 finished pages")
        terminal.wait_for("labels of this page changed", seconds=120)
        assert "Trained on 3 pages" in terminal.text
        terminal.type("g", "5", "9", "enter", until=lambda here: re.search(r"59 P \d\d", here.text))
        assert decided_in(tmp_path / "courier-bridge.anno") == 1
        assert labels_in(tmp_path / "courier-bridge.anno")[0] == "h"
        leave(terminal, "q")


def test_failed_learning_shows_a_message(tmp_path):
    bad = tmp_path / "bad.anno"
    bad.write_text("no annotation")
    messages = []
    learning = Learning(None, messages.append)
    entries = [bad] * 3
    learning.begin(entries[:2], asked=False)
    learning.begin(entries, asked=False)
    stop = time.monotonic() + 60
    while len(messages) < 3 and time.monotonic() < stop:
        assert not learning.see()
        time.sleep(0.05)
    learning.stop()
    assert messages[0] == "Training needs at least 3 finished pages (2 so far)"
    assert messages[1] == "Training on 3 finished pages in the background"
    assert messages[2].startswith("Training failed: ")
    assert "not an annotation file" in messages[2]


# Two annotations


def test_adjudication_on_the_screen(page):
    with adjudicate(page, "ooohppoo", "opohploo") as terminal:
        terminal.wait_for("6 decided 75 %")
        terminal.type("e", until="block 2 of 8")
        assert "? O/P" in next(line for line in terminal.lines if line.startswith("►"))
        terminal.type("1", until="block 6 of 8")
        terminal.type("2", until="All 8 blocks are decided")
        leave(terminal)
    assert labels_in(page.parent / "gold.anno") == "ooohploo"


def test_missing_directories_of_an_adjudication_are_created(page):
    with adjudicate(page, "ooohppoo", "ooohppoo") as terminal:
        terminal.wait_for("8 decided 100 %")
        leave(terminal)
    annotations = [page.parent / f"{name}.anno" for name in ("anna", "ben")]
    gold = page.parent / "new" / "sub" / "gold.anno"
    with annotate("--no-model", "--adjudicate", *annotations, "-o", gold, columns=120) as terminal:
        terminal.wait_for("8 decided 100 %")
        leave(terminal)
    assert labels_in(gold) == "ooohppoo"


# Bottom line and help


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


# Pasting and flow control


def test_pasted_text_gives_no_labels(page):
    with open_cups(page) as terminal:
        assert b"\x1b[?2004h" in terminal.written
        terminal.type("\x1b[200~hello, q, please\x1b[201~", until="Pasted text is ignored here")
        assert "0 decided" in terminal.lines[0]
        terminal.type("/", "\x1b[200~Hot\rwater\x1b[201~")  # in a prompt the text is pasted, without its line end
        terminal.wait_for("/Hotwater")
        terminal.type("\x15", "\x1b[200~Hot wa\x1b[201~", "enter", until="block 6 of 8")
        terminal.type("o", "\x1b[200~ooo")  # a paste without an end marker ends after a second
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
    """After the program has ended, flow control is on again."""
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


# Mouse and search


def test_search_hits_are_highlighted(page):
    with open_cups(page) as terminal:
        terminal.type("/", "A DRINK of", "enter", until="block 5 of 8")  # across the edge of a link, ignoring case
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


# Learning


def test_too_few_finished_pages_are_counted(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.html").write_text(f"<p>Page {name}")
    with annotate("--no-model", "--retrain", tmp_path, shows="0 of 3 pages finished") as terminal:
        terminal.type("enter", until="block 1 of 1")
        terminal.type("p", "q", until="Training needs at least 3 finished pages (1 so far)")


def test_a_learned_model_is_compared_with_the_model_at_the_start(tmp_path):
    """A model that has seen the pages it is tested on would look better than it is."""
    (tmp_path / "data").mkdir()
    for name in ("courier-bridge", "courier-bakery", "courier-council"):
        shutil.copy(ROOT / "data" / "article" / f"{name}.anno", tmp_path / "data")
    learned = learn(tmp_path, "default", allow_code=False)
    assert learned.pages == 3
    assert learned.before > 0.5

    messages = []
    start = Predictor.load("default")
    learning = Learning(start, messages.append)
    learning._folders = [tmp_path]

    def end_with(is_better):
        scores = replace(learned, before=0.8, after=0.9, is_better=is_better)
        (tmp_path / "learned.json").write_text(json.dumps(asdict(scores)))
        learning._process = subprocess.Popen([sys.executable, "-c", ""])
        learning._process.wait()
        return learning.see()

    assert end_with(True)
    assert learning.predictor.name == "the model adapted to 3 pages"
    assert learning._start is start  # a model is never compared on its own training pages
    assert end_with(False)
    assert learning.predictor is start  # according to the new evaluation the first model is better
    assert messages == [
        "Trained on 3 pages: word F1 0.900 on unseen pages, +0.100",
        "Trained on 3 pages: no better on unseen pages than the model at the start (word F1 0.800)",
    ]


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


# Shared lines


def test_shared_lines_and_alt_in_a_terminal(bridge):
    with annotate(bridge, TERM="xterm", shows="block 1 of 161") as terminal:
        row, line = next((row, line) for row, line in enumerate(terminal.lines) if line.count("┊") > 2)
        terminal.click(line.index("┊") + 6, row)
        terminal.wait_for(lambda here: "┊►O" in here.lines[row])
        terminal.type("\x1bl")  # alt and l
        terminal.wait_for(lambda here: re.search(r"\d+ blocks: list", here.lines[-1]) is not None)
        assert "L*" in terminal.lines[row]
        terminal.type("u", "b", until=lambda here: "┊" not in here.text)
        leave(terminal)
