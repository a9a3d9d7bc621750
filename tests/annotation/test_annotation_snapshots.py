"""Snapshots of the annotation tool: screens of many sizes after random keys and clicks, and the labels at the end."""

import random

import pytest
from support.annotation import app_of, session_of
from support.randompages import RandomPage
from support.snapshots import check, digest

from victorpy import Label
from victorpy.annotation.tui.text import text_of

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
