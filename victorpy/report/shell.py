"""The shell of every HTML page that victorpy writes: self-contained, and closed to what a web page smuggles in.

The Content-Security-Policy allows the page's own style and script by their digests, pictures from data URLs, and
nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


def page(title: str, body: str, style: str = "", script: str = "") -> str:
    """Put a body into a whole HTML page; `title` is plain text, `body` is HTML whose texts are escaped."""
    css = read_asset("page.css") + style
    policy = f"default-src 'none'; img-src data:; style-src '{_digest(css)}'; base-uri 'none'; form-action 'none'"
    policy += f"; script-src '{_digest(script)}'" if script else ""
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{text(title)}</title>",
        f"<style>{css}</style>",
        "</head>",
        "<body>",
        body,
        f"<script>{script}</script>" if script else "",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(lines)


@cache
def read_asset(name: str) -> str:
    """Read a style or a script that lies beside this module."""
    return (_HERE / name).read_text(encoding="utf-8")


def text(value: str) -> str:
    """Escape text for HTML; characters that steer a terminal or the direction of writing are shown by number."""
    return html.escape(visible(value))


def visible(value: str) -> str:
    """Show characters by number that steer a terminal or the direction of writing.

    >>> visible("red: \\x1b[31m")
    'red: ⟨U+001B⟩[31m'
    """
    return "".join(_visible(char) for char in value)


def _visible(char: str) -> str:
    steers = (char < " " and char not in "\n\t") or "\x7f" <= char <= "\x9f"
    turns = char in "\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
    broken = "\ud800" <= char <= "\udfff"
    return f"⟨U+{ord(char):04X}⟩" if steers or turns or broken else char


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table of plain texts."""
    cells = "".join(f"<th>{text(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{cells}</tr></thead>\n<tbody>\n{body}</tbody></table></div>'


def picture(svg: str, alternative: str) -> str:
    """Put a drawing into the page, with a text for those who do not see it."""
    data = base64.b64encode(svg.encode()).decode()
    caption = f"<figcaption>{text(alternative)}</figcaption>"
    return (
        f'<figure><img class="plot" alt="{text(alternative)}" src="data:image/svg+xml;base64,{data}">{caption}</figure>'
    )


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
