"""What an annotator sees after some keys: cases/screens.txt has each screen as text.

If a change of the screen is intended, run this file as a program to write the screens again, and read the difference:

    PYTHONPATH=.:tests python tests/annotation/test_screens.py
"""

import re
import tempfile
from pathlib import Path

import pytest
from support.annotation import app_of, screen_of, session_of

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


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        written = [f"=== {head}\n{screen_after(head, Path(directory))}" for head, _ in read_cases()]
    CASES.write_text("".join(written), encoding="utf-8")
