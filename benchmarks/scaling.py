"""Show that the cost of a page is linear in its size: CPU times of pages of growing size, and their ratios.

python -m benchmarks.scaling
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import cpu_seconds
from victorpy import Cleaner

PARAGRAPH = (
    '<div class="item"><h3>Heading {0}</h3><p>Some words of <a href="/{0}">text</a> that go on, page {0}.</p></div>\n'
)


def ordinary_markup(size: int) -> str:
    """Return a page with `size` megabytes of headings and paragraphs with links."""
    count = size * 1_000_000 // len(PARAGRAPH)
    return "<html><body>" + "".join(PARAGRAPH.format(number) for number in range(count)) + "</body></html>"


def short_blocks(count: int) -> str:
    """Return a page with `count` blocks of one word."""
    return "<table>" + "".join(f"<tr><td>{number}</td></tr>" for number in range(count)) + "</table>"


def siblings(count: int) -> str:
    """Return a page with `count` elements in one parent, with text between them."""
    return "<div>" + "".join(f"<b>{number}</b> " for number in range(count)) + "</div>"


SHAPES: list[tuple[str, Callable[[int], str], list[int]]] = [
    ("MB of ordinary markup", ordinary_markup, [1, 2, 4, 10]),
    ("short blocks", short_blocks, [12_500, 25_000, 50_000, 100_000]),
    ("siblings", siblings, [25_000, 50_000, 100_000, 200_000]),
]


def main() -> None:
    """Print a table for each shape of page."""
    make_parser(__doc__, data=False).parse_args()
    cleaners = {name: Cleaner.load(name) for name in ("default", "cleaneval")}
    print(f"{'model':<10} {'size':>8} {'shape':<22} {'seconds':>8}  ratio to the previous size (ratio of sizes)")
    for model, cleaner in cleaners.items():
        for shape, make, sizes in SHAPES:
            before: tuple[int, float] | None = None
            for size in sizes:
                seconds, _ = cpu_seconds(cleaner.clean, [make(size)])
                ratio = f"{seconds / before[1]:.2f} ({size / before[0]:.2g})" if before else ""
                print(f"{model:<10} {size:>8} {shape:<22} {seconds:>8.2f}  {ratio}", flush=True)
                before = size, seconds


if __name__ == "__main__":
    run(main)
