"""Sessions, open pages and terminals for tests of the annotation tool."""

from __future__ import annotations

import os
import signal
import sys

from support.commands import ROOT, wait_until
from support.terminal import Terminal
from victorpy.annotation.opening import open_page
from victorpy.annotation.session import Prediction, Session
from victorpy.annotation.store import OpenPage
from victorpy.annotation.tui.app import App
from victorpy.annotation.tui.keys import Keys
from victorpy.annotation.tui.text import text_of
from victorpy.cleaner import read_document
from victorpy.config import load_config, read_config
from victorpy.document import Label
from victorpy.outputs.anno import load_annotation

CONFIG = load_config("blocks")
H, P, L, C, O = Label  # noqa: E741
ARTICLES = ROOT / "data" / "article"
TEA = """<nav><ul><li class="m">Home<li class="m">Tea<li class="m">Tea</ul></nav>
<main><h1>Tea</h1><p>A drink.</p><p>Hot water.</p><p>Leaves.</p></main><footer><p>Imprint</p></footer>"""
PREDICTED = Prediction.of((O, O, O, H, P, P, P, P), (0.99, 0.98, 0.97, 0.9, 0.95, 0.6, 0.95, 0.55), "guess")
CUPS = """<nav><ul><li class="m">Home<li class="m">Tea<li class="m">Cups</ul></nav>
<main><h1>Tea</h1><p>A <a href="/drink">drink</a> of leaves.</p><p>Hot water.</p><p hidden>Nobody sees me.</p></main>
<footer><p>Imprint</p></footer>"""

HOSTILE = (
    "<p>red \x1b[31mtext\x1b]0;title\x07 bell \x08\x9b2J end</p><p>left \u202etfel\u202c right</p>"
    "<p>zero\u200bwidth\u2060joined\ufeff</p><p>茶は飲み物です。" + "お茶" * 60 + "</p>"
    "<p>العربية نص طويل " + "كلمة " * 40 + "</p><p>e\u0301\u0301\u0301\u0301\u0301\u0301 combining</p>"
    "<p>family 👨‍👩‍👧 flag 🇨🇿 thumbs 👍🏽 heart ❤️ end</p><p>private \ue000 end</p><p>last words</p>"
)


class Guess:
    """A model with fixed predictions."""

    def __init__(self, prediction=PREDICTED):
        self.prediction = prediction
        self.name = self.identity = prediction.model

    def __call__(self, document):
        return self.prediction


def state_of(session):
    """Everything that reopening must restore."""
    states = [session.state(number) for number in range(len(session))]
    history = [*session.done], [*session.undone]
    return session.labels(), session.probabilities(), states, session.cursor, history, session.decided


# Files


def opened_at(anno, model=Guess(), **options):  # noqa: B008  (it never changes)
    return open_page(anno.with_suffix(".html"), anno, CONFIG, model, **options)


def labelled(anno, *labels, model=Guess(), killed=False, moves=()):  # noqa: B008
    """Open a page, label its first blocks, move the cursor, and close the page or leave it like a killed program."""
    opened = opened_at(anno, model)
    for label in labels:
        opened.session.act(label)
    for number in moves:
        opened.session.move(number)
    if killed:
        opened.lock.release()
    else:
        opened.close()
    return opened


def save(opened):
    """Save, and wait until everything is on the disk."""
    opened.save()
    wait_until(lambda: opened.is_saved)


def tick_until_saved(opened):
    wait_until(lambda: opened.tick() or (opened.is_saved and not opened.error))


def labels_in(path):
    return "".join(label[0] if label else "?" for label in load_annotation(path, CONFIG.cuts).labels)


def decided_in(path):
    return sum(load_annotation(path, CONFIG.cuts).decided)


# The screen, without a terminal


def session_of(html, labels=None, sure=0.99, **options):
    """Return a session with predicted labels, which have the same probability unless `sure` lists them."""
    document = read_document(html, CONFIG)
    count = len(document.blocks)
    probabilities = (sure,) * count if isinstance(sure, float) else tuple(sure)
    prediction = Prediction.of(labels or (O,) * count, probabilities)
    return Session(document, prediction, block_level=CONFIG.cuts.block_level, **options)


def app_of(session, folder, keys=None):
    app = App(keys or Keys(), CONFIG, None, read_only=False, retrain=False)
    app.show_page(OpenPage(folder / "page.anno", session, name="page"))
    app.draw(100, 30)
    return app


def screen_of(app, width=100, height=30):
    """Return the lines on the screen; the last one shows messages."""
    return [text_of(row) for row in app.draw(width, height)[0]]


def config_of(folder, text):
    (folder / "my.conf").write_text(f"include blocks\n{text}\n")
    return read_config(folder / "my.conf")


# A real terminal


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLORTERM"}}
    return {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **variables}


def annotate(*arguments, columns=100, lines=30, shows="", **variables):
    """Start the program in a terminal, and wait until it shows a text."""
    command = [sys.executable, str(ROOT / "annotate.py"), *map(str, arguments)]
    terminal = Terminal(command, columns, lines, environment(**variables))
    try:
        terminal.wait_for(shows)
    except TimeoutError:
        terminal.end(signal.SIGKILL)
        raise
    return terminal


def open_cups(page, *arguments, **options):
    return annotate("--no-model", page, *arguments, shows="block 1 of 8", **options)


def leave(terminal, *keys):
    """Type keys, then leave. Everything must be saved."""
    terminal.type(*keys, "q")
    assert terminal.end() == 0


def adjudicate(page, first, second, model=("--no-model",)):
    """Label a page twice by typing keys, then open both annotations to decide between them."""
    files = [page.parent / f"{name}.anno" for name in ("anna", "ben", "gold")]
    for anno, keys in zip(files, (first, second), strict=False):
        with annotate(*model, page, anno, shows="block 1 of 8") as terminal:
            leave(terminal, *keys)
    return annotate("--adjudicate", *files[:2], "-o", files[2], columns=120)
