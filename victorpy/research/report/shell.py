"""The frame of every HTML page that victorpy writes: self-contained, and safe against content of web pages.

The Content-Security-Policy allows only the page's own style and script, by their digests, and pictures from data URLs.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from functools import cache
from pathlib import Path

# Control characters, marks of writing direction, and lone surrogates.
_STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def page(title: str, body: str, style: str = "", script: str = "") -> str:
    """Build a whole HTML page; `title` is plain text, `body` is HTML whose texts are escaped."""
    css = read_asset("page.css") + style
    policy = f"default-src 'none'; img-src data:; style-src '{_digest(css)}'; base-uri 'none'; form-action 'none'"
    policy += f"; script-src '{_digest(script)}'" if script else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(title)}</title>
<style>{css}</style>
</head>
<body>
{body}
{f"<script>{script}</script>" if script else ""}
</body>
</html>
"""


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


@cache
def read_asset(name: str) -> str:
    """Read a style or a script from this directory."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def text(value: str) -> str:
    """Escape text for HTML; control characters and marks of writing direction are shown by number."""
    return html.escape(visible(value))


def visible(value: str) -> str:
    """Show control characters and marks of writing direction by number, so that they have no effect.

    >>> visible("red: \\x1b[31m")
    'red: ⟨U+001B⟩[31m'
    """
    return _STEERING.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", value)


def picture(svg: str, caption: str) -> str:
    """Embed a drawing, with its caption, which is also its alternative text."""
    data = base64.b64encode(svg.encode()).decode()
    image = f'<img class="plot" alt="{text(caption)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{image}<figcaption>{text(caption)}</figcaption></figure>"
