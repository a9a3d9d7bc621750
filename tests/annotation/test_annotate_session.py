"""The annotation tool without a terminal: sessions, undo, journals and files."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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
    session_of,
    state_of,
    tick_until_saved,
)
from support.commands import names_in

from victorpy.annotation import journal as journals
from victorpy.annotation import store
from victorpy.annotation.journal import Header, Journal, read_journal, write_line
from victorpy.annotation.opening import journal_of, open_page, without_collector
from victorpy.annotation.session import (
    CLEAR,
    CONFIRM,
    LABEL_OF,
    Change,
    Moved,
    Prediction,
    Refreshed,
    Run,
    Scope,
    Session,
    State,
    Undone,
    fits,
    read_labels,
)
from victorpy.cleaner import read_document
from victorpy.config import load_config
from victorpy.errors import AnnotationError, DataError
from victorpy.outputs.anno import load_anno, load_annotation, load_progress, read_anno, read_annotation

TEXTS = ["Home", "Tea", "Tea", "Tea", "A drink.", "Hot water.", "Leaves.", "Imprint"]


def tea_session(prediction=PREDICTED, **options):
    document = read_document(TEA, CONFIG, source="tea.html")
    assert [block.text for block in document.blocks] == TEXTS
    return Session(document, prediction, block_level=CONFIG.cuts.block_level, **options)


@pytest.fixture
def session():
    return tea_session()


def states_of(session, *numbers):
    return [session.state(number) for number in numbers or range(len(session))]


# States and progress


def test_block_is_predicted_then_changed_or_confirmed(session):
    assert states_of(session, 0, 1) == [State.PREDICTED] * 2
    session.act(CONFIRM)
    session.act(P)
    assert states_of(session, 0, 1) == [State.CONFIRMED, State.CHANGED]
    assert session.decided == 2
    assert session.probabilities()[:3] == [None, None, 0.97]
    session.move(1)
    assert session.act(CLEAR) == 1  # gives the block back to the model
    assert (session.state(1), session.cursor, session.decided) == (State.PREDICTED, 1, 1)


def test_blocks_are_empty_without_a_model():
    session = tea_session(None)
    assert session.state(0) is State.EMPTY
    assert session.act(CONFIRM) == 0  # there is nothing to confirm
    session.move(0)
    session.act(O)
    assert session.state(0) is State.CONFIRMED


def test_labelling_advances_to_the_end_and_confirming_the_rest_decides_on_all(session):
    session.move(7)
    session.act(O)
    assert session.act(CONFIRM, Scope.REST) == 7
    assert session.is_finished
    assert session.state(7) is State.CHANGED
    session = tea_session()
    for _ in range(20):
        session.act(P)
    assert (session.cursor, session.is_finished) == (7, True)


# Selections


def selected(selection):
    return list(selection.numbers)


def test_range_is_marked_and_labelled_at_once(session):
    session.move(4)
    session.toggle_mark()
    session.move(6)
    assert selected(session.selection) == [4, 5, 6]
    assert session.act(L) == 3
    assert (session.cursor, session.has_selection) == (7, False)
    session.move(2)
    session.extend(-1)  # backwards
    session.extend(-1)
    session.act(P)
    assert session.labels() == [P, P, P, H, L, L, L, P]
    assert session.cursor == 3


def test_selection_of_a_container_and_of_the_one_around_it(session):
    session.move(1)
    assert selected(session.select(Scope.CONTAINER)) == [1, 2]  # the list
    for _ in range(2):
        assert selected(session.select(Scope.CONTAINER)) == [1, 2, 3, 4, 5, 6, 7]  # the page
    session.unselect()
    session.move(4)
    assert selected(session.select(Scope.CONTAINER)) == [4, 5, 6]
    assert session.act(L) == 3
    assert session.cursor == 7


def test_selection_grows_by_one_container_at_a_time():
    inner = "<div><p>c</p><ul><li>d<li>e</ul><p>f</p></div>"
    session = session_of(f"<p>a</p><section><p>b</p>{inner}<p>g</p></section><p>h</p>")
    session.move(3)
    found = [session.select(Scope.CONTAINER) for _ in range(5)]
    assert [(each.size, selected(each)[-1]) for each in found] == [(1, 4), (2, 5), (3, 6), (4, 7), (4, 7)]


def test_selection_of_the_same_path_or_text(session):
    session.move(1)
    assert selected(session.select(Scope.PATH)) == [0, 1, 2]
    session.toggle_mark()
    session.select(Scope.TEXT)  # instead of the range
    assert selected(session.selection) == [1, 2, 3]
    session.move(4)
    session.act(H)
    assert session.act(L, Scope.PATH) == 2  # block 4 is decided
    assert session.labels()[3:] == [H, H, L, L, P]
    for scope in (Scope.PATH, Scope.PLACE, Scope.TEXT, Scope.CONTAINER):
        session.select(scope)
        session.move(3)  # gives the selection up
        assert selected(session.selection) == [3]
        session.move(0)


def test_the_last_action_is_repeated_where_the_cursor_is(session):
    session.select(Scope.CONTAINER)
    session.act(P)
    session.move(4)
    session.repeat()
    assert session.labels() == [P, P, P, H, P, P, P, P]
    assert states_of(session, 4, 7) == [State.CONFIRMED, State.PREDICTED]
    session.move(0)
    session.toggle_mark()
    session.move(1)
    session.act(L)
    session.repeat()
    assert session.labels()[:4] == [L, L, L, L]


# Moving


def test_jumps_and_searches_go_around_the_page(session):
    assert session.find(session.is_uncertain) == 5
    session.move(5)
    assert session.find(session.is_uncertain) == 7
    session.move(7)
    assert session.find(session.is_uncertain) == 5
    assert session.find(session.is_uncertain, -1) == 5
    assert session.find(session.differs) is None
    session.act(O)
    assert session.find(session.differs) == 7
    assert session.find(session.is_undecided) == 0
    session.move(0)
    assert session.find(session.has_other_label) == 3
    session.pattern = "TEA"  # case does not matter
    assert (session.find(session.has_pattern), session.find(session.has_pattern, -1)) == (1, 3)
    session.pattern = "nowhere"
    assert session.find(session.has_pattern) is None


def test_page_without_blocks_ignores_every_action():
    session = Session(read_document("", CONFIG))
    for method in (session.repeat, session.undo, session.redo):
        method()
    for what in (CONFIRM, CLEAR, P):
        session.act(what)
    session.act(CONFIRM, Scope.REST)
    session.move(5)
    session.toggle_mark()
    session.extend(1)
    session.select(Scope.CONTAINER)
    assert (len(session), session.cursor, session.is_finished) == (0, 0, True)
    assert session.find(session.is_undecided) is None


# Any sequence of actions

ACTIONS = {
    "header": lambda s: s.act(H),
    "paragraph": lambda s: s.act(P),
    "other": lambda s: s.act(O),
    "alike": lambda s: s.act(L, Scope.PATH),
    "confirm": lambda s: s.act(CONFIRM),
    "rest": lambda s: s.act(CONFIRM, Scope.REST),
    "clear": lambda s: s.act(CLEAR),
    "repeat": lambda s: s.repeat(),
    "down": lambda s: s.move(s.cursor + 1),
    "up": lambda s: s.move(s.cursor - 1),
    "far": lambda s: s.move(s.cursor * 5 % 8),
    "mark": lambda s: s.toggle_mark(),
    "extend": lambda s: s.extend(1),
    "container": lambda s: s.select(Scope.CONTAINER),
    "path": lambda s: s.select(Scope.PATH),
    "place": lambda s: s.select(Scope.PLACE),
    "text": lambda s: s.select(Scope.TEXT),
    "cancel": lambda s: s.unselect(),
    "undo": lambda s: s.undo(),
    "redo": lambda s: s.redo(),
    "refresh": lambda s: s.refresh(Prediction.of((P,) * 8, (0.5,) * 8, "guess")),
}
SEQUENCES = st.lists(st.sampled_from(sorted(ACTIONS)), max_size=40)
WITHOUT_REFRESH = SEQUENCES.map(lambda names: [name for name in names if name != "refresh"])


@settings(max_examples=150)
@given(WITHOUT_REFRESH)
def test_undo_gives_the_start_and_redo_the_end(names):
    session = tea_session()
    start = state_of(session)
    for name in names:
        ACTIONS[name](session)
    while session.redo():  # so that the end is the end of the history
        pass
    end = session.labels()
    while session.undo():
        pass
    assert state_of(session)[:3] == start[:3]
    assert session.decided == 0
    while session.redo():
        pass
    assert session.labels() == end
    assert session.decided == sum(label is not None for label in session.given)


def replayed(recording):
    session = tea_session(recording.header.predicted, given=read_labels(recording.header.given))
    for event in recording.events:
        session.apply(event)
    return session


@settings(max_examples=100)
@given(SEQUENCES, SEQUENCES)
def test_journal_gives_the_same_state_at_any_point(first, second):
    session, events = tea_session(), []
    session.listener = events.append
    content = Journal.begin(Path("unused"), session)._pending
    for name in first + second:
        ACTIONS[name](session)
    content += b"".join(map(write_line, events))
    recording = read_journal(content)
    assert state_of(replayed(recording)) == state_of(session)
    assert state_of(replayed(read_journal(recording.compact(session)))) == state_of(session)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(SEQUENCES, max_size=4))
def test_reopened_files_continue_where_they_were(tmp_path_factory, parts):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "tea.html").write_text(TEA)
    state = None
    for names in parts:
        opened = open_page(folder / "tea.html", folder / "tea.anno", CONFIG, Guess())
        assert opened.messages == []
        if state is not None and (folder / "tea.anno").exists():  # cursor moves alone are not saved
            assert state_of(opened.session) == state
        for name in names:
            ACTIONS[name](opened.session)
        state = state_of(opened.session)
        assert opened.close() == ""
        if (folder / "tea.anno").exists():
            kept = load_annotation(folder / "tea.anno", CONFIG.cuts)
            assert (list(kept.labels), list(kept.probabilities)) == state[:2]


# Files


def assert_reopens_as(anno, state):
    """Open and close a page, and check its state and that there are no messages."""
    again = labelled(anno)
    assert (state_of(again.session), again.messages) == (state, [])


def test_annotation_file_shows_who_gave_each_label(place):
    opened = opened_at(place)
    opened.session.act(CONFIRM)
    opened.session.act(P)
    opened.close()
    rows = [line.split("\t")[:2] for line in place.read_text().partition("\n\n")[2].splitlines()]
    assert rows[:3] == [["other", "-"], ["paragraph", "-"], ["other", "0.97"]]
    assert names_in(place.parent) == ["tea.anno", "tea.anno.journal", "tea.html"]
    annotation = load_annotation(place, CONFIG.cuts)
    assert annotation.decided == (True, True, *[False] * 6)
    assert annotation.decisions == (O, P, *[None] * 6)
    assert load_progress(place) == (2, 8)


def test_changes_are_saved_without_a_key(place):
    opened = opened_at(place)
    opened.session.act(P)
    tick_until_saved(opened)
    assert load_annotation(place, CONFIG.cuts).labels[0] is P
    opened.close()


def test_resume_after_kill_restores_the_journal(place):
    opened = labelled(place, P, killed=True, moves=[5])
    assert_reopens_as(place, state_of(opened.session))
    assert load_annotation(place, CONFIG.cuts).labels[0] is P


@pytest.mark.parametrize("cut", [1, 7, 20])
def test_torn_last_line_of_a_journal_is_ignored(place, cut):
    opened = opened_at(place)
    opened.session.act(P)
    state = state_of(opened.session)
    opened.session.act(L)
    opened.lock.release()
    path = journal_of(place)
    path.write_bytes(path.read_bytes()[:-cut])
    again = opened_at(place)
    assert state_of(again.session) == state
    again.session.act(H)  # continues after the last whole line
    again.close()
    assert_reopens_as(place, state_of(again.session))


@pytest.mark.parametrize("other", ["<p>Coffee<p>Milk", TEA.replace("Leaves.", "Coffee.")])
def test_journal_of_another_page_is_renamed(place, other):
    labelled(place, P)
    kept = journal_of(place).read_bytes()
    place.unlink()
    place.with_suffix(".html").write_text(other)
    again = labelled(place, model=None)
    assert "it belongs to another page; it was renamed to tea.anno.journal.old-1" in again.messages[0]
    assert (place.parent / "tea.anno.journal.old-1").read_bytes() == kept
    assert again.session.decided == 0


def test_damaged_journal_is_read_up_to_the_damage_and_kept(place):
    labelled(place, P, P, P, killed=True)
    path = journal_of(place)
    lines = path.read_bytes().split(b"\n")
    lines[2] = b"\x00\xff{"
    path.write_bytes(b"\n".join(lines))
    again = labelled(place)
    assert again.session.decided == 1
    assert "line 3 of 4 cannot be read" in again.messages[0]
    assert (place.parent / "tea.anno.journal.old-1").read_bytes() == b"\n".join(lines)


def test_kill_while_a_damaged_journal_is_copied_loses_nothing(place, monkeypatch):
    labelled(place, P, P, P, killed=True)
    path = journal_of(place)
    damaged = path.read_bytes().replace(b'["c",[[1,2', b'["c",[[1,x')
    path.write_bytes(damaged)

    monkeypatch.setattr("victorpy.annotation.opening.write_atomically", mock.Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        opened_at(place)
    monkeypatch.undo()
    assert path.read_bytes() == damaged
    assert labelled(place).session.decided == 1


WRONG_LINES = [
    *(["x"], ["c", []], ["m"], ["m", "far"], [], 7, ["c"], ["p", "oo", []], ["p", "oooooooz", [None] * 8]),
    *(["c", [[0, 1, "?", "z"]], 0, 1, None], ["c", [[5, 99, "?", "p"]], 0, 1, ["one", "paragraph", 1]]),
    *(["c", [[1, 1, "?", "p"]], 0, 1, None], ["c", [[1, 2, "?", "p"]], 0, 8, None], ["w", "unknown"]),
]


@pytest.mark.parametrize("wrong", WRONG_LINES, ids=json.dumps)
def test_wrong_line_of_a_journal_is_damage(place, wrong):
    labelled(place, P)
    with journal_of(place).open("a") as file:
        file.write(f"{json.dumps(wrong)}\n")
    again = labelled(place)
    assert "line 5 of 5 cannot be read; the lines before it were used" in again.messages[0]
    assert again.session.decided == 1


@pytest.mark.parametrize("content", [b"\n", b"{}\n", b"no json\n", b'{"victor-journal":99}\n', b"[]\n", b"7\n"])
def test_file_that_is_no_journal_is_renamed(place, content):
    journal_of(place).write_bytes(content)
    assert "renamed to tea.anno.journal.old-1" in labelled(place).messages[0]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda content: b"", "^it has no header$"),
        (lambda content: content.strip(), "^it has no header$"),  # an incomplete line
        (lambda content: content.replace(b'"victor-journal":', b'"victor-journal":9'), "its format is 91, but this"),
        (lambda content: content.replace(b"0.9,", b""), "its labels and probabilities differ in number"),
        (lambda content: content.replace(b'"hp"', b'"h"'), "its labels and probabilities differ in number"),
    ],
)
def test_problem_of_a_header_is_described(change, problem):
    content = write_line(Header(1, "", Prediction("hp", (0.9, 0.8), "guess"), "??"))
    assert read_journal(content).header.predicted.model == "guess"
    with pytest.raises(ValueError, match=problem):
        read_journal(change(content))


def test_lock_whose_file_is_removed_by_its_holder_is_taken_again(tmp_path, monkeypatch):
    path, locked = tmp_path / "a.lock", []

    def try_lock(file, kind, tries):
        if not locked:
            path.unlink()  # the holder releases the lock after this program has opened the file
        locked.append(file)
        return True

    monkeypatch.setattr(store, "_try_lock", try_lock)
    closed = []
    close = os.close
    monkeypatch.setattr(store.os, "close", lambda file: closed.append(file) or close(file))
    lock = store.Lock(path)
    assert f"process {os.getpid()}" in path.read_text()
    assert closed == locked[:1]
    lock.release()
    assert len(locked) == len(closed) == 2
    assert not path.exists()


def test_edits_by_hand_win_and_can_be_undone(place):
    labelled(place, P)
    edited = place.read_text().replace("other\t0.97", "list\t0.97").replace("header\t0.9", "header\t-")
    place.write_text(edited)
    again = opened_at(place)
    assert again.messages == ["2 labels changed in tea.anno outside this program; undo restores the old ones"]
    assert again.session.labels()[:4] == [P, O, L, H]
    assert states_of(again.session, 2, 3) == [State.CHANGED, State.CONFIRMED]
    again.session.undo()
    assert again.session.labels()[:4] == [P, O, O, H]
    again.close()
    assert opened_at(place).messages == []


def test_labels_in_a_foreign_annotation_win_over_the_model(place):
    labelled(place, O, model=None)
    journal_of(place).unlink()
    place.write_text(place.read_text().replace("?\t-\t</li><li", "list\t0.25\t</li><li", 1))
    session = labelled(place).session
    assert session.labels()[:3] == [O, L, O]
    assert states_of(session, 0, 1, 2) == [State.CONFIRMED, State.PREDICTED, State.PREDICTED]
    assert session.probabilities()[:3] == [None, 0.25, 0.97]


def test_deleted_annotation_starts_again(place):
    opened = opened_at(place)
    for label in (P, H):
        opened.session.act(label)
        save(opened)
    opened.close()
    place.unlink()
    again = labelled(place)
    assert again.session.decided == 0
    assert "tea.anno was deleted, so the page starts from scratch" in again.messages[0]


def test_file_that_could_not_be_written_is_restored_from_the_journal(place, monkeypatch):
    opened = opened_at(place)
    opened.session.act(H)
    save(opened)
    opened.tick()
    refuse = mock.Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr("victorpy.annotation.store.write_atomically", refuse)
    for label in (P, L, C):
        opened.session.act(label)
        opened.save()
    state = state_of(opened.session)
    assert "No space left" in opened.close()
    monkeypatch.undo()
    assert_reopens_as(place, state)
    assert load_annotation(place, CONFIG.cuts).labels[:4] == (H, P, L, C)


def test_comments_and_features_in_a_file_are_kept(place):
    labelled(place, P)
    journal_of(place).unlink()
    head, _, rows = place.read_text().partition("\n\n")
    place.write_text(f"{head}\n\n# by hand\n" + rows.replace("\n", "\n# words=1\n", 1))
    labelled(place, H)
    written = place.read_text()
    assert "\n\n# by hand\nheader\t-" in written
    assert "Home\n# words=1\n" in written


def test_page_cut_at_every_tag_keeps_its_blocks(tmp_path):
    every = load_config("cleaneval")
    (tmp_path / "a.html").write_text("<p>See <a href='/x'>this</a> page.</p>")
    opened = open_page(tmp_path / "a.html", tmp_path / "a.anno", every)
    for _ in range(3):
        opened.session.act(P)
    opened.close()
    before = (tmp_path / "a.anno").read_text()
    again = open_page(None, tmp_path / "a.anno", CONFIG)
    assert [block.text for block in again.session.document.blocks] == ["See", "this", "page."]
    again.save()
    again.close()
    assert (tmp_path / "a.anno").read_text() == before
    assert "split: every" in before


def test_page_that_is_open_elsewhere_can_only_be_looked_at(place):
    opened = opened_at(place)
    with pytest.raises(DataError, match=rf"tea.anno is already opened by .* \(process {os.getpid()}, .*`read_only`"):
        opened_at(place)
    looking = opened_at(place, read_only=True)
    assert looking.messages == ["Read-only: changes are not saved"]
    looking.session.act(P)
    looking.save()
    looking.close()
    opened.close()
    assert names_in(place.parent) == ["tea.html"]


def test_temporary_files_of_a_killed_writer_are_removed(place):
    for name in (".tea.anno.123.tmp", ".coffee.anno.123.tmp", "tea.anno.123.tmp"):
        (place.parent / name).write_text("half a fi")
    opened_at(place).close()
    assert names_in(place.parent) == [".coffee.anno.123.tmp", "tea.anno.123.tmp", "tea.html"]


def test_annotation_that_is_a_symbolic_link_stays_one(place):
    (place.parent / "real").mkdir()
    place.symlink_to(place.parent / "real" / "tea.anno")
    labelled(place, P)
    assert place.is_symlink()
    assert names_in(place.parent / "real") == ["tea.anno", "tea.anno.journal"]


def test_full_disk_is_reported_and_nothing_is_lost_when_it_has_room_again(place, monkeypatch):
    opened = opened_at(place)
    opened.session.act(P)
    write = os.write

    def refuse(file, content):
        write(file, bytes(content)[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journals.os, "write", refuse)
    opened.session.act(H)
    assert "No space left" in opened.error
    monkeypatch.undo()
    tick_until_saved(opened)
    opened.session.act(L)
    opened.lock.release()
    assert_reopens_as(place, state_of(opened.session))


def test_journal_with_many_moves_is_compacted(place, monkeypatch):
    monkeypatch.setattr("victorpy.annotation.opening.MOST_MOVES", 50)
    state = state_of(labelled(place, P, moves=[5, 2] * 30).session)
    long = journal_of(place).stat().st_size
    assert state_of(labelled(place).session) == state
    assert journal_of(place).stat().st_size < long
    assert_reopens_as(place, state)


def test_journal_starts_with_the_first_change(tmp_path):
    journal = Journal.begin(tmp_path / "j", tea_session())
    assert not (tmp_path / "j").exists()
    journal.append(Moved(3))
    assert not (tmp_path / "j").exists()
    journal.append(Undone())
    journal.close()
    assert (tmp_path / "j").read_bytes().endswith(b'\n["m",3]\n["u"]\n')


def test_every_change_is_forced_to_the_disk(place, monkeypatch):
    synced = []
    monkeypatch.setattr(journals.os, "fsync", lambda file: synced.append("journal"))
    monkeypatch.setattr(journals, "sync_directory", lambda path: synced.append("directory"))
    monkeypatch.setattr("victorpy.annotation.store.write_atomically", lambda *_, **__: synced.append("annotation"))
    opened = opened_at(place)
    for label in (P, H):
        opened.session.act(label)
        opened._last_job.result(30)
    assert synced == ["journal", "directory", "journal"]
    opened.close()
    assert synced[3:] == ["journal", "journal", "annotation"]  # the digest is on the disk before the file is replaced


def test_threads_may_share_a_journal(tmp_path, monkeypatch):
    write = os.write

    def write_slowly(file, content):
        time.sleep(0.002)
        return write(file, content)

    monkeypatch.setattr(journals.os, "write", write_slowly)
    journal = Journal.begin(tmp_path / "j", tea_session())
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(journal.append, [Undone()] * 40))
    journal.close()
    recording = read_journal((tmp_path / "j").read_bytes())
    assert (recording.events, recording.damage) == ([Undone()] * 40, "")


def test_garbage_collector_is_off_while_a_page_is_opened(monkeypatch):
    collector = mock.Mock()
    monkeypatch.setattr("victorpy.annotation.opening.gc", collector)
    with without_collector():
        collector.opening()
    calls = [name for name, _, _ in collector.method_calls]
    assert calls == ["unfreeze", "disable", "opening", "freeze", "enable"]


# Blocks without a label


def test_training_refuses_files_with_unlabelled_blocks(place):
    labelled(place, P, model=None)
    text = place.read_text()
    assert "\n?\t-\t" in text
    assert read_annotation(text, CONFIG.cuts).labels == (P, *[None] * 7)
    with pytest.raises(AnnotationError, match=r":9: 7 blocks have no label yet: finish the annotation first"):
        load_anno(place, CONFIG.cuts)
    with pytest.raises(AnnotationError, match=r"annotation:8: 1 block has no label yet"):
        read_anno(
            text.replace("paragraph", "?", 1).replace("\n?\t-\t<", "\nother\t-\t<").replace("other", "?", 1),
            CONFIG.cuts,
        )


@pytest.mark.parametrize(
    ("runs", "after", "is_possible"),
    [
        ([(0, 3)], 0, True),
        ([(0, 1), (2, 3)], 2, True),
        ([(0, 1)], 3, False),
        ([(0, 1)], -1, False),
        ([(0, 4)], 0, False),
        ([(-1, 1)], 0, False),
        ([(1, 1)], 0, False),
    ],
)
def test_changes_must_fit_the_page(runs, after, is_possible):
    change = Change(tuple(Run(*run, "?", "p") for run in runs), 0, after, None)
    assert fits(change, 3) == is_possible


def test_predictions_must_fit_the_page():
    letters = "".join(LABEL_OF)
    assert fits(Refreshed(letters, (0.5,) * len(letters), "m"), len(letters))
    assert not fits(Refreshed(letters, (0.5,) * len(letters), "m"), len(letters) + 1)
    assert not fits(Refreshed("z", (0.5,), "m"), 1)


def test_exact_limits_of_certainty():
    session = session_of("<p>a<p>b<p>c<p>d", sure=(0.8, 0.79, 0.95, 0.94))
    assert [session.is_uncertain(number) for number in range(4)] == [False, True, False, False]
    assert session.most_doubtful(range(4), 9) == [0, 1, 3]
