"""Files of the annotation tool: adjudication, models, locks, and changes by other programs."""

import subprocess
import sys
import threading
from unittest import mock

import pytest
from support.annotation import (
    CONFIG,
    PREDICTED,
    TEA,
    C,
    Guess,
    H,
    L,
    O,
    P,
    labelled,
    opened_at,
    save,
    state_of,
    tick_until_saved,
)
from support.commands import ENVIRONMENT, JPEG, ROOT, names_in, write_files

from victorpy.annotation.opening import journal_of, open_adjudication, open_page
from victorpy.annotation.pages import Pages, annotation_of, find_entries
from victorpy.annotation.session import CONFIRM, TAKE_FIRST, TAKE_SECOND, Action, Prediction, Scope, Session, State
from victorpy.annotation.store import Lock, is_locked, lock_of
from victorpy.base.files import keep_copy, write_atomically
from victorpy.cleaner import read_document
from victorpy.config import load_config
from victorpy.errors import DataError
from victorpy.outputs.anno import AnnotationWriter, load_anno, load_annotation, load_progress

ANOTHER = Guess(Prediction.of((L,) * 8, (0.7,) * 8, "another"))


# Who decided


def test_recut_block_is_decided_only_if_all_of_its_text_is(tmp_path):
    every = load_config("cleaneval")
    (tmp_path / "a.html").write_text("<p>See <a href='/x'>this</a> page.</p><p>And <b>that</b></p>")
    opened = open_page(tmp_path / "a.html", tmp_path / "a.anno", every, Guess(Prediction.of((P,) * 5, (0.9,) * 5, "m")))
    for number in (0, 2, 3, 4):
        opened.session.move(number)
        opened.session.act(CONFIRM)
    opened.close()
    recut = load_annotation(tmp_path / "a.anno", CONFIG.cuts, recut=True)
    assert [block.text for block in recut.document.blocks] == ["See this page.", "And that"]
    assert recut.decided == (False, True)
    again = open_page(tmp_path / "a.html", tmp_path / "a.anno", CONFIG)  # the annotation still belongs to the same page
    assert len(again.session) == 5
    again.close()


# Adjudication


def annotated(folder, name, *labels, page=TEA, **options):
    (folder / f"{name}.html").write_text(page)
    return labelled(folder / f"{name}.anno", *labels, **options).anno


def test_adjudication_decides_agreed_labels_and_leaves_the_rest(tmp_path):
    labels = {"a": [O, O, O, H, P, P, P, O], "b": [O, P, O, H, P, L, P, O]}
    two = [annotated(tmp_path, name, *labels[name], model=None) for name in labels]
    opened = open_adjudication(*two, tmp_path / "gold.anno", CONFIG)
    session = opened.session
    assert session.labels() == [O, None, O, H, P, None, P, O]
    assert session.find(session.is_undecided) == 1
    session.move(1)
    session.act(TAKE_FIRST)
    assert session.cursor == 5
    session.act(TAKE_SECOND)
    assert session.labels() == [O, O, O, H, P, L, P, O]
    assert session.is_finished
    assert [number for number in range(8) if session.differs(number)] == [1, 5]
    opened.close()
    assert load_anno(tmp_path / "gold.anno", CONFIG.cuts).labels == (O, O, O, H, P, L, P, O)
    again = open_adjudication(*two, tmp_path / "gold.anno", CONFIG)
    assert (state_of(again.session), again.messages) == (state_of(session), [])
    again.close()
    alone = open_page(None, tmp_path / "gold.anno", CONFIG)
    assert alone.session.repeat() == 0  # without the two annotations no label can be taken
    alone.close()


def test_annotations_of_different_pages_are_not_adjudicated(tmp_path):
    tea, other = annotated(tmp_path, "a", O), annotated(tmp_path, "c", P, page="<p>Coffee", model=None)
    with pytest.raises(
        DataError, match=r"not annotations of the same page: block 1 is .Home. in .* and .Coffee. in .*c.anno"
    ):
        open_adjudication(tea, other, tmp_path / "g.anno", CONFIG)
    with pytest.raises(DataError, match="not into one of the two"):
        open_adjudication(tea, other, other, CONFIG)


def test_two_equal_annotations_make_a_gold_file_at_once(tmp_path):
    two = [annotated(tmp_path, name, O, O, O, H, P, P, P, O) for name in ("anna", "ben")]
    opened = open_adjudication(*two, tmp_path / "gold.anno", CONFIG)
    assert opened.session.is_finished
    opened.close()
    assert load_anno(tmp_path / "gold.anno", CONFIG.cuts).labels == (O, O, O, H, P, P, P, O)
    assert load_progress(tmp_path / "gold.anno") == (8, 8)


def test_labels_of_the_model_are_not_agreed_on(tmp_path):
    two = [annotated(tmp_path, "anna", O, O, O, H), annotated(tmp_path, "ben", O, P, O)]
    opened = open_adjudication(*two, tmp_path / "gold.anno", CONFIG)
    session = opened.session
    assert session.given == [O, None, O, None, None, None, None, None]
    assert [number for number in range(8) if session.differs(number)] == [1, 3, 4, 5, 6, 7]
    assert [choice.name for choice in session.choices] == ["anna.anno", "ben.anno"]
    assert opened.messages == [
        "anna.anno: 4 labels come from the model and nobody confirmed them (small letters)",
        "ben.anno: 5 labels come from the model and nobody confirmed them (small letters)",
    ]
    session.move(3)
    session.act(TAKE_SECOND)  # the model's label, which somebody has now decided on
    assert session.given[3] is H
    opened.close()


# Annotations and their pages


def test_an_annotation_of_another_page_is_refused(place):
    labelled(place, P)
    before = {path: path.read_bytes() for path in place.parent.iterdir()}
    page = place.with_suffix(".html")
    page.write_text(TEA.replace("Hot water", "Cold water"))
    with pytest.raises(DataError) as refused:
        opened_at(place)
    assert (
        f"{place} is not an annotation of {page}: block 6 is 'Cold water.' in {page} and 'Hot water.' in tea.anno"
        in str(refused.value)
    )
    assert "open tea.anno alone to continue it as it is, or tea.html with another" in str(refused.value)
    assert {path: path.read_bytes() for path in place.parent.iterdir() if path != page} == {
        path: content for path, content in before.items() if path != page
    }
    open_page(None, place, CONFIG).close()  # the annotation alone can be opened


def test_markup_may_change_as_long_as_the_blocks_stay(place):
    labelled(place, P)
    place.with_suffix(".html").write_text(TEA.replace("<main>", "<main class='x'>"))
    assert labelled(place).session.decided == 1
    journal_of(place).unlink()
    assert labelled(place).session.decided == 1


@pytest.mark.parametrize("name", ["courier-bridge", "article-zh-teahouse", "article-personal-1999"])
def test_the_shipped_annotations_are_of_the_shipped_pages(name):
    page = ROOT / "data" / "article" / f"{name}.html"
    assert open_page(page, page.with_suffix(".anno"), CONFIG, read_only=True).session.is_finished


def entry_names(folder):
    return {entry.name: entry.anno.name for entry in find_entries(folder)}


@pytest.mark.parametrize("annotated_first", [False, True])
def test_pages_that_differ_in_their_suffix_have_their_own_annotations(tmp_path, annotated_first):
    htm, html = tmp_path / "a.htm", tmp_path / "a.html"
    htm.write_text("<p>One")
    assert annotation_of(htm) == tmp_path / "a.anno"
    if annotated_first:  # an annotation stays with its page
        opened = open_page(htm, annotation_of(htm), CONFIG)
        opened.session.act(P)
        opened.close()
    html.write_text("<p>Two")
    names = (
        {"a.htm": "a.anno", "a.html": "a.html.anno"} if annotated_first else {"a.htm": "a.htm.anno", "a.html": "a.anno"}
    )
    assert {page.name: annotation_of(page).name for page in (htm, html)} == names
    assert entry_names(tmp_path) == names


def test_error_for_a_binary_page_names_the_file(tmp_path):
    (tmp_path / "picture.html").write_bytes(JPEG)
    with pytest.raises(DataError, match=r"picture\.html: "):
        open_page(tmp_path / "picture.html", tmp_path / "picture.anno", CONFIG)


# Models


def test_another_model_labels_what_nobody_has_decided(place):
    labelled(place, P, O)
    again = labelled(place, model=ANOTHER)
    assert again.session.labels() == [P, O, *[L] * 6]
    assert again.session.probabilities()[2] == 0.7
    assert again.messages == ["The model has changed: 6 undecided labels now come from another"]
    assert load_annotation(place, CONFIG.cuts).labels == (P, O, *[L] * 6)
    assert labelled(place, model=ANOTHER).messages == []


def test_undecided_blocks_have_no_label_without_a_model(place):
    labelled(place, P)
    again = labelled(place, model=None)
    assert again.session.labels() == [P, *[None] * 7]
    assert "7 undecided labels were removed" in again.messages[0]
    assert labelled(place).session.labels() == [P, *PREDICTED.labels[1:]]


def test_file_without_a_journal_keeps_its_labels(place):
    labelled(place, P)
    journal_of(place).unlink()
    again = labelled(place, model=ANOTHER)
    assert again.session.labels() == [P, *PREDICTED.labels[1:]]
    assert again.messages == ["7 labels that a model gave in tea.anno differ from the labels of another; they are kept"]


# Other programs


def test_changes_by_another_program_are_kept(place):
    opened = opened_at(place)
    opened.session.act(P)
    save(opened)
    other = place.read_text().replace("other\t0.97", "list\t-")
    place.write_text(other)
    opened.session.act(H)
    save(opened)
    assert load_annotation(place, CONFIG.cuts).labels[:3] == (P, H, O)
    assert (place.parent / "tea.anno.other-1").read_text() == other
    notice = opened.notices.pop()
    assert notice.startswith("tea.anno was changed by another program")
    assert "kept as tea.anno.other-1" in notice
    opened.session.act(L)
    opened.close()
    assert opened.notices == []
    assert not (place.parent / "tea.anno.other-2").exists()


def test_file_is_a_foreign_version_only_if_its_content_is(place):
    opened = opened_at(place)
    opened.session.act(P)
    save(opened)
    place.write_bytes(place.read_bytes())
    opened.session.act(H)
    opened.close()
    assert opened.notices == []
    assert names_in(place.parent) == ["tea.anno", "tea.anno.journal", "tea.html"]
    opened = opened_at(place)
    place.write_text("somebody else's")  # between opening and the first key
    opened.session.act(P)
    opened.close()
    assert (place.parent / "tea.anno.other-1").read_text() == "somebody else's"


def test_foreign_version_is_kept_once_even_if_saving_fails(place, monkeypatch):
    opened = opened_at(place)
    opened.session.act(P)
    save(opened)
    place.write_text("somebody else's")
    monkeypatch.setattr("victorpy.annotation.store.write_atomically", mock.Mock(side_effect=OSError(28, "Full")))
    for label in (H, L):
        opened.session.act(label)
        save(opened)
    assert opened.error == "Full"
    monkeypatch.undo()
    tick_until_saved(opened)  # without another key
    opened.close()
    assert load_annotation(place, CONFIG.cuts).labels[:3] == (P, H, L)
    assert names_in(place.parent) == ["tea.anno", "tea.anno.journal", "tea.anno.other-1", "tea.html"]


def test_a_disk_without_links_gets_a_copy(tmp_path, monkeypatch):
    def refuse(self, target):
        raise OSError(1, "Operation not permitted")

    (tmp_path / "a").write_text("x")
    (tmp_path / "a.other-1").write_text("y")
    monkeypatch.setattr("pathlib.Path.hardlink_to", refuse)
    assert keep_copy(tmp_path / "a", "other").read_text() == "x"
    assert names_in(tmp_path) == ["a", "a.other-1", "a.other-2"]


def test_an_atomic_file_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "a", b"x")
    assert names_in(tmp_path) == ["a"]


@pytest.mark.parametrize("alone", [True, False])
def test_an_atomic_file_keeps_its_mode(tmp_path, alone):
    (tmp_path / "a").write_text("x")
    (tmp_path / "a").chmod(0o640)
    write_atomically(tmp_path / "a", b"y", durable=alone, alone=alone)
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "a").stat().st_mode & 0o777) == (b"y", 0o640)
    assert names_in(tmp_path) == ["a"]


# No more files than needed


def test_moving_alone_leaves_no_file_but_is_kept_with_the_first_change(place):
    labelled(place)
    labelled(place, moves=[5, 2, 7])
    assert names_in(place.parent) == ["tea.html"]
    opened = opened_at(place)
    opened.session.move(5)
    opened.session.act(L)
    opened.lock.release()  # as if it were killed
    again = opened_at(place)
    assert again.session.undo().cursor_before == 5
    again.close()


# Locks


def test_lock_of_a_killed_program_is_free(place):
    script = f"""
import sys
from pathlib import Path
from victorpy.annotation.store import Lock
Lock(Path({str(lock_of(place))!r}))
print("locked", flush=True)
sys.stdin.read()
"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], env=ENVIRONMENT, **pipes) as process:
        assert process.stdout.readline() == b"locked\n"
        (entry,) = find_entries(place.parent)
        assert is_locked(lock_of(entry.anno))
        process.kill()
        process.wait()
    assert lock_of(place).exists()
    assert not is_locked(lock_of(entry.anno))
    opened_at(place).close()  # the stale lock does not block, and is deleted
    assert not lock_of(place).exists()
    lock = Lock(lock_of(place))
    assert is_locked(lock_of(place))
    lock.release()
    assert not is_locked(lock_of(place))


# The thread that writes


def test_keys_do_not_wait_for_the_file_to_be_written(place, monkeypatch):
    began, go_on = threading.Event(), threading.Event()
    write = AnnotationWriter.write

    def slow(self, labels, probabilities):
        began.set()
        assert go_on.wait(60)
        return write(self, labels, probabilities)

    monkeypatch.setattr(AnnotationWriter, "write", slow)
    opened = opened_at(place)
    opened.session.act(P)
    opened.save()
    assert began.wait(60)
    opened.session.act(H)  # while the file is being made
    for _ in range(3):
        opened.session.undo()
        opened.session.redo()
    assert opened._thread._work_queue.qsize() == 1  # one job syncs all these changes
    assert not opened.is_saved
    assert b'["c",[[1,2,"?","h"]]' in journal_of(place).read_bytes()  # and the key is safe all the same
    go_on.set()
    opened.close()
    assert load_annotation(place, CONFIG.cuts).labels[:2] == (P, H)


def test_changes_during_a_write_survive_a_kill(place, monkeypatch):
    opened = opened_at(place)
    opened.session.act(P)
    snapshot = opened.session.labels(), opened.session.probabilities()
    opened.session.act(H)
    opened._write(snapshot)
    opened.lock.release()  # as if it were killed
    assert load_annotation(place, CONFIG.cuts).labels[:2] == (P, O)
    assert labelled(place).session.labels()[:2] == [P, H]
    assert load_annotation(place, CONFIG.cuts).labels[:2] == (P, H)


# Manual edits and redo


def test_edits_by_hand_are_not_repeated(place):
    labelled(place, P)
    place.write_text(place.read_text().replace("other\t0.97", "list\t-"))
    again = opened_at(place)
    again.session.move(4)
    again.session.repeat()
    assert again.session.last == Action(Scope.ONE, "paragraph")
    assert again.session.state(7) is State.PREDICTED  # the rest was not confirmed
    again.close()


# Selections and decided blocks


@pytest.mark.parametrize("scope", [Scope.CONTAINER, Scope.PATH, Scope.TEXT])
def test_selection_by_the_program_leaves_out_decided_blocks(scope):
    document = read_document("<ul><li>Tea<li>Tea<li>Tea<li>Tea</ul><p>End", CONFIG)
    session = Session(document, block_level=CONFIG.cuts.block_level)
    for number, label in ((2, H), (1, C)):
        session.move(number)
        session.act(label)
    session.move(1)
    assert 2 not in session.select(scope).numbers
    assert 1 in session.selection.numbers  # the action applies to the cursor's block
    session.act(P)
    assert session.labels()[1:4] == [P, H, P]
    if scope is Scope.CONTAINER:
        assert session.cursor == 4  # after the element, whatever was left out


def test_marked_range_includes_decided_blocks():
    session = Session(read_document("<p>A<p>B<p>C", CONFIG))
    session.act(H)
    session.move(0)
    session.toggle_mark()
    session.move(2)
    session.act(P)
    assert session.labels() == [P, P, P]


# Lists


def test_pages_without_text_are_finished_and_broken_ones_are_not(tmp_path):
    write_files(tmp_path, {"empty.html": "", "binary.html": JPEG, "tea.html": TEA})
    pages = Pages(tmp_path, CONFIG, None)
    while pages.work(1):
        pass
    entries = {entry.name: entry for entry in pages.entries}
    assert [entries[name].is_finished for name in ("empty.html", "binary.html", "tea.html")] == [True, False, False]
    assert entries["empty.html"].progress == 1
    assert entries["binary.html"].status.problem
    assert "binary.html" not in entries["binary.html"].status.problem  # the list shows the name anyway
