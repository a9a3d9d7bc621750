"""Clean pages that were made to be expensive: CPU time and memory per megabyte, and how they grow with the page.

    python -m benchmarks.hostile [--size 250000] [--only WORD] [--format text]
    python -m benchmarks.hostile --pages DIR

With --pages, the ten largest pages of a directory are cleaned instead, and the most memory is printed.
Every page is cleaned twice, at the given size and at a quarter of it, each time in a process of its own. Memory is
the peak of the process above the loaded model. The last columns are ratios of the two sizes; 4 is linear.
"""

from __future__ import annotations

import itertools
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy import Cleaner, native

FORMATS = ("text", "markdown", "html", "jsonl", "anno", "page", "docview", "docview-tei", "vertical", "label-studio")
MOST_SECONDS = 5.0  # per megabyte of the page
MOST_MEMORY = 30  # times the size of the page, above `FLOOR`
FLOOR = 100_000_000
TIME_LIMIT = 30

FIRST = """<title>Tea</title><meta name=author content="Ann Lee"><p class=date>1 May 2020</p>
<script type="application/ld+json">{"@type": "Article"}</script><div itemscope><b itemprop=name>Tea</b></div>
<p>Tea is a drink that is made by pouring hot water over the cured leaves of the tea bush. It is drunk all over the
world. After water it is the drink that people drink most often.</p>"""

Shape = Callable[[int], str]


def repeat(unit: str, before: str = "", after: str = "") -> Shape:
    """Return a shape that repeats a unit. ``#`` in the unit becomes a running number."""

    def make(size: int) -> str:
        count = max(size // len(unit), 1)
        if "#" not in unit:
            return before + unit * count + after
        return before + "".join([unit.replace("#", str(number)) for number in range(count)]) + after

    return make


def nested(opening: str, inner: str = "tea", closing: str = "", depth: int | None = None) -> Shape:
    """Return a shape of nested tags, of a fixed depth with much text inside, or as deep as the size allows."""

    def make(size: int) -> str:
        if depth is None:
            levels = size // (len(opening) + len(closing))
            return opening * levels + inner + closing * levels
        return opening * depth + inner * (size // len(inner)) + closing * depth

    return make


def in_pairs(opening: str, closing: str) -> Shape:
    """Return a shape with all opening tags before all closing tags."""
    return lambda size: (
        opening * (size // (len(opening) + len(closing))) + closing * (size // (len(opening) + len(closing)))
    )


def json_ld(unit: str, before: str, after: str) -> Shape:
    """Return a shape that repeats a unit in a JSON-LD script."""
    script = '<script type="application/ld+json">'
    return repeat(unit, script + before, after + "</script><p>Tea is hot.</p>")


SHAPES: dict[str, Shape] = {
    # many small blocks
    "pre lines": repeat("x\n", "<pre>", "</pre>"),
    "pre with tags": repeat("<b>x</b> y\n", "<pre>", "</pre>"),
    "p": repeat("<p>x"),
    "p br": repeat("<p>x<br>"),
    "br": repeat("x<br>"),
    "div": repeat("<div>x</div>"),
    "empty p": repeat("<p>"),
    "empty pairs": repeat("<b></b>"),
    "unknown tags": repeat("<x#>y</x#>"),
    "headings": repeat("<h1>Tea #</h1>"),
    "headings of title": repeat("<h2>tea</h2>", "<title>" + "tea " * 70 + "</title>"),
    "list items": repeat("<li>tea #", "<ol>", "</ol>"),
    "dl": repeat("<dt>tea<dd>hot", "<dl>", "</dl>"),
    "dd": repeat("<dd>tea", "<dl><dt>x", "</dl>"),
    "ordered list in items": repeat("<ol><li>tea</ol>", "<ol><li>", "</ol>"),
    "paragraphs in one item": repeat("<p>tea #", "<ol><li>", "</ol>"),
    "sentences": repeat("Tea number # is hot. "),
    "list of links": repeat('<li><a href="/#">tea</a>', "<ul>", "</ul>"),
    "hidden": repeat("<p hidden>x</p>y"),
    "images with alt": repeat("<img alt=tea>"),
    "options": repeat("<option>tea", "<select>", "</select>"),
    "times": repeat('<time datetime="2020-01-01">x</time>', "<h1>Tea</h1>"),
    "bylines": repeat("<p class=byline>By Ann Lee</p>"),
    "dates": repeat("<p class=date>May # 2020</p>"),
    "rel author": repeat("<a rel=author href=x>Ann Lee #</a>", "<div class=comment>", "</div>"),
    # tables
    "table rows": repeat("<tr><td>a<td>b", "<table>", "</table>"),
    "table cells": repeat("<td>a", "<table><tr>", "</table>"),
    "tables": repeat("<table><tr><td>a<td>b<tr><td>a<td>b</table>"),
    "nested tables": repeat("<table><tr><td>a<td>b<tr><td>a<td>", after="</table>"),
    "colspan": repeat("<td colspan=1000000 rowspan=65534>a", "<table><tr>", "</table>"),
    "captions": repeat("<table><caption>a</caption><tr><td>b</table>"),
    "wide first row": lambda size: (
        "<table><tr>" + "<td>a" * (size // 20) + "<tr><td>a<td>b" * (size // 20) + "</table>"
    ),
    # nesting
    "deep div": nested("<div>"),
    "deep div closed": nested("<div>", closing="</div>"),
    "deep b": nested("<b>"),
    "deep span with text": nested("<span>x"),
    "deep font": nested("<font size=1>x"),
    "deep lists": nested("<ul><li>x"),
    "deep quotes": nested("<blockquote>x"),
    "200 quotes": nested("<blockquote>", "<p>x", depth=200),
    "200 lists": nested("<ul><li>", "<p>x", depth=200),
    "250 divs": nested("<div>", "<p>x", depth=250),
    "2000 listings": nested("<pre>", "<pre>x</pre>", depth=2000),
    "groups of 400 short quotes": repeat("<q>" * 400 + " tea" + "</q>" * 400),
    "250 b": nested("<b>", "x<i>y</i> ", depth=250),
    "250 links": nested("<a href=x>", "x<i>y</i> ", depth=250),
    "250 different tags": lambda size: "".join(f"<x{n}>" for n in range(250)) + "<p>x" * (size // 4),
    "crossed inline": repeat("<b><i>tea</b>pot</i>"),
    "unclosed crossed": repeat("<b><i>"),
    "crossed in pairs": in_pairs("<b><i>x", "</b></i>"),
    "b p": repeat("<b><p>tea "),
    "a p": repeat("<a href=x><p>tea "),
    "i table": repeat("<i><table>tea"),
    "p in font": repeat("<font><p>x</font>"),
    "hidden nested": nested("<div hidden>x"),
    # attributes
    "attributes of one tag": repeat(" a#=1", "<p", ">tea</p>"),
    "same attribute": repeat(" a=1", "<p", ">tea</p>"),
    "letters as attributes": repeat("<p a b c d e f g h i j k l m n o p q r s t u v w x y z>x"),
    "giant class": repeat("c# ", '<p class="', '">tea</p>'),
    "giant style": repeat("display:none;", '<p style="', '">tea</p>'),
    "giant href": repeat("%20", '<p>tea <a href="', '">hot</a></p>'),
    "giant alt": repeat("tea ", '<img alt="', '">'),
    "giant id": repeat("aB", '<div id="', '"><p>tea</p></div>'),
    "many classes": repeat('<p class="a# b# c#">x</p>'),
    "class of 250 levels": nested('<div class="a b c">', "<p>x", depth=250),
    "relative links": repeat('<a href="../../#">x</a> ', "<base href=http://tea.example/a/b/c/>"),
    "bases": repeat("<base href=/#/>", after="<p>tea <a href=x>hot</a>"),
    "query links": repeat('<a href="?a=#;b=1#x">x</a> '),
    "unclosed tag": repeat("x ", "<p "),
    "unclosed quotes": repeat("<a href='"),
    "footnotes": repeat('tea<sup><a href="#f#" id=r#>#</a></sup> ', after='<p id=f1><a href="#r1">1</a>'),
    "data image": repeat("QUJD", '<img src="data:image/png;base64,', '">'),
    "srcset": repeat("a.png #w, ", '<img srcset="', '">'),
    # text
    "one word": repeat("a"),
    "one paragraph": repeat("tea "),
    "entities": repeat("&lt;"),
    "bad entities": repeat("&bad"),
    "number entities": repeat("&#150;"),
    "ampersands": repeat("&"),
    "less": repeat("<"),
    "less and space": repeat("< "),
    "greater": repeat(">"),
    "asterisks": repeat("*_`~", "<p>"),
    "backticks": repeat("`", "<p>a<code>", "</code>"),
    "b in words": repeat("<b>a</b>b"),
    "b i in words": repeat("<b>a</b><i>b</i><code>c</code>"),
    "punctuation in b": repeat("<b>(</b>x"),
    "long punctuation": repeat("!", "<p>tea<b>", "</b>tea"),
    "controls": repeat("&#1;a"),
    "combining": repeat("a\u0301\u0302"),
    "ideographs": repeat("茶很热。"),
    "capital I with dot": repeat("İ"),
    "Greek sigma": repeat("Σ "),
    "nul": repeat("\0x"),
    "white space": repeat(" \n\t"),
    "no-break spaces": repeat("\xa0x"),
    "spaces in pre": repeat(" ", "<pre>", "x</pre>"),
    "spans of spaces in pre": repeat("<b> </b>", "<pre>", "x</pre>"),
    "math": repeat("<math><mi>x</mi></math>"),
    "digits": repeat("2001-2002, ", "<p>"),
    "words in pieces": repeat("<i>a</i>", "<p>"),
    "spaced pieces": repeat("<i>a</i> ", "<p>"),
    "50 pieces": repeat("<p>" + "<b>(</b>x" * 50),
    "pieces in pre": repeat("<b>(</b>x", "<pre>", "</pre>"),
    "9,000 pieces": repeat("<p>" + "<b>(</b>x" * 9_000),
    # comments, scripts and style sheets
    "comments": repeat("<!--x-->"),
    "open comments": repeat("<!--"),
    "bangs": repeat("<!"),
    "processing": repeat("<?x"),
    "cdata": repeat("<![CDATA[x"),
    "scripts": repeat("<script>x</script>"),
    "script ends": repeat("'</script>';"),
    "script strings": repeat("<script>s='</script>';"),
    "script in comments": repeat("<script><!--<script>"),
    "titles": repeat("<title>tea</title>"),
    "open title": repeat("<p>tea", "<title>"),
    "textareas": repeat("<textarea>x"),
    "styles": repeat("<style>p{float:left}</style>"),
    "style rules": repeat(".a#{display:none}", "<style>", "</style><p class=a1>tea"),
    "style url": repeat("a{background:url(x)}", "<style>", "</style><p>tea"),
    "style open url": repeat("url(", "<style>", "</style><p>tea"),
    "style open url spaces": repeat("url(  ", "<style>", "</style><p>tea"),
    "style quoted url": repeat("url('", "<style>", "</style><p>tea"),
    "style comments": repeat("/*", "<style>", "</style><p>tea"),
    "style imports": repeat("@import", "<style>", "</style><p>tea"),
    "style escapes": repeat("\\65", "<style>", "</style><p>tea"),
    "style expressions": repeat("expression (", "<style>", "</style><p>tea"),
    "style expression spaces": repeat("expression" + " " * 90, "<style>", "</style><p>tea"),
    "style braces": repeat("{", "<style>", "</style><p>tea"),
    "style selectors": repeat("a b ", "<style>", "{float:left}</style><p><a><b>tea"),
    "style attributes": repeat('<p style="background:url(a.png)">x'),
    "svg": repeat("<svg><path d=x>"),
    "iframes": repeat("<iframe>x"),
    "forms": repeat("<form><input>x"),
    "bodies": repeat("<body class=x><p>y"),
    "after html": repeat("</html><p>x"),
    "doctypes": repeat("<!doctype html>"),
    "frames": repeat("<frameset><frame>"),
    "metas in body": repeat("<meta name=a content=b>x"),
    # metadata
    "title of dashes": repeat(" - ", "<title>", "</title><h1>tea</h1><p>x"),
    "title of words": repeat("tea - ", "<title>", "</title><h1>tea</h1><p>x"),
    "title of bars": repeat("|", "<title>", "</title><p>x"),
    "title of colons": repeat("a: ", "<title>", "</title><p>x"),
    "title of dots": repeat(".html ", "<title>", "</title><p>x"),
    "title of spaces": repeat("a" + " " * 99, "<title>", "</title><p>x"),
    "title and headings": lambda size: "<title>" + "tea hot " * (size // 16) + "</title>" + "<h1>tea" * (size // 16),
    "long heading": repeat("tea ", "<title>tea</title><h1>", "</h1>"),
    "description": repeat("tea ", '<meta name=description content="', '"><p>x'),
    "keywords": repeat("tea#,", '<meta name=keywords content="', '"><p>x'),
    "meta author": repeat("Ann Lee and ", '<meta name=author content="', '"><p>x'),
    "meta author commas": repeat("a, ", '<meta name=author content="', '"><p>x'),
    "meta author spaces": repeat(" ", '<meta name=author content="a', 'b"><p>x'),
    "meta author tags": repeat("<", '<meta name=author content="', '"><p>x'),
    "meta author ats": repeat("a@", '<meta name=author content="', '"><p>x'),
    "meta authors": repeat("<meta name=author content='Ann Lee #'>"),
    "meta date": repeat("1 May ", '<meta name=date content="', '"><p>x'),
    "meta dates": repeat("<meta name=date content='1 Mai 2020 #'>"),
    "meta language": repeat("en-", '<meta name=language content="', '"><p>x'),
    "site names": repeat("<meta property=og:site_name content='Tea #'>", "<title>Tea 1 - Tea 2</title>"),
    "site name of words": repeat("tea ", "<meta property=og:site_name content='", "'><title>tea - hot</title>"),
    "canonicals": repeat("<link rel=canonical href=/#>"),
    "dots in address": repeat("a.", "<link rel=canonical href=http://", "/><p>x"),
    "itemscopes": nested("<div itemscope itemprop=a>x"),
    "240 itemscopes": nested("<div itemscope itemprop=a>", "<b itemprop=b>x</b>", depth=240),
    "15 itemscopes": nested("<div itemscope itemprop=a>", "<b itemprop=b>x</b>", depth=15),
    "flat itemscopes": repeat("<div itemscope><b itemprop=b>x</b></div>"),
    "itemprops in text": nested("<b itemprop=name>x", depth=None),
    "200 itemprops": lambda size: "<div itemscope>" + "<b itemprop=b>" * 200 + "x<i>y</i>" * (size // 9),
    "itemrefs": repeat("a# ", '<div itemscope itemref="', '"><p>x'),
    "itemref loops": repeat("<div itemscope itemref='a1 a2 a3' id=a#>x</div>"),
    "item types": repeat("http://schema.org/Article ", '<div itemscope itemtype="', '">x'),
    "json-ld list": json_ld('{"@type":"Article","name":"tea"},', "[", "{}]"),
    "json-ld deep": json_ld("[", "", ""),
    "json-ld graph": json_ld('{"@id":"a","@type":"Article","author":{"@id":"a"}},', '{"@graph":[', "{}]}"),
    "json-ld authors": json_ld('"Ann Lee #",', '{"@type":"Article","author":[', '"x"]}'),
    "json-ld name": json_ld("tea ", '{"@type":"Article","headline":"', '"}'),
    "json-ld keywords": json_ld("tea#,", '{"@type":"Article","keywords":"', '"}'),
    "json-ld types": json_ld('"Article#",', '{"@type":[', '"x"]}'),
    "json-ld broken": json_ld('{"a":', "", ""),
    "json-ld comments": json_ld("/*", "", ""),
    "json-ld scripts": repeat('<script type="application/ld+json">{"@type":"Article"}</script>'),
    "json-ld references": lambda size: (
        '<script type="application/ld+json">{"@type":"Article","@id":"a","author":['
        + '{"@id":"a"},' * (size // 24)
        + '"x"],'
        + ",".join(f'"k{number}":1' for number in range(size // 20))
        + "}</script>"
    ),
    "250 authors": nested("<div class=author>", "<p>x", depth=250),
    "authors in 2000 levels": nested("<i>", "<p class=author>x</p>", depth=2000),
    "dates in 2000 levels": nested("<i>", "<p class=date>x</p>", depth=2000),
    "authors and site names": lambda size: (
        "<title>Tea</title>" + "<meta property=og:site_name content=x>" * (size // 80) + "<h1>a</h1>" * (size // 20)
    ),
    "meta date without months": repeat("1 Xay 2020 ", '<meta name=date content="', '"><p>x'),
    # formulas
    "unclosed formulas": repeat(r"\(x\) $$ \[ \( "),
    "srcset of commas": repeat(",", '<img src=a alt=tea srcset="', '"><p>Tea is hot.'),
    "srcset of spaces": repeat("  ", '<img src=a alt=tea srcset="', '"><p>Tea is hot.'),
    "json-ld empty lines": json_ld("\n", "", "{"),
    "escaped formulas": repeat(r"\\[ \\( "),
    # DocView
    "terms": repeat("word# "),
    "sentences without end": repeat("tea, "),
    "links to everywhere": repeat('<p>Tea is hot at <a href="http://t#.example/">number #</a>.</p>'),
    "weighty tags": repeat("<p><h2>tea</h2><b>x</b>"),
    "250 weighty tags": nested("<b>", "<p>x", depth=250),
}


def measure(cleaner: Cleaner, page: str | bytes, format: str) -> tuple[float, int]:
    """Clean a page in a child process. Return its CPU seconds and the bytes of memory that it took."""
    receiver, sender = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT, TIME_LIMIT))
        before, started = _memory("VmRSS"), time.process_time()
        cleaner.clean(page, "http://tea.example/a/b.html", format)
        os.write(sender, f"{time.process_time() - started} {_memory('VmHWM') - before}".encode())
        os._exit(0)
    os.close(sender)
    answer = os.read(receiver, 100).split()
    os.close(receiver)
    os.waitpid(child, 0)
    return (float(answer[0]), int(answer[1])) if answer else (float("inf"), 0)


def _memory(field: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition(field + ":")[2].split()[0]) * 1024


def rows(cleaner: Cleaner, size: int, names: list[str], formats: list[str]) -> list[list[str]]:
    """Measure pages in formats, and show the progress on stderr."""
    result = []
    for number, (name, format) in enumerate(itertools.product(names, formats), 1):
        large, small = (SHAPES[name](count) for count in (size, size // 4))
        seconds, memory = measure(cleaner, large, format)
        seconds_before, memory_before = measure(cleaner, small, format)
        length = len(large.encode("utf-8", "replace"))
        rate, excess = seconds / length * 1e6, max(memory - FLOOR, 0) / length
        growth = seconds / max(seconds_before, 0.001)
        result.append(
            [
                name,
                format,
                *(f"{length / 1e6:.2f}", f"{seconds:.2f}", f"{memory / 1e6:.0f}", f"{rate:.1f}", f"{excess:.0f}"),
                *(f"{growth:.1f}", f"{memory / max(memory_before, 1):.1f}"),
                "too slow " * (rate > MOST_SECONDS and seconds > 0.5) + "too large" * (excess > MOST_MEMORY),
            ]
        )
        print(f"{number}/{len(names) * len(formats)} {' '.join(result[-1])}", file=sys.stderr, flush=True)
    return result


def measure_largest(cleaner: Cleaner, directory: Path, formats: list[str]) -> None:
    """Print the time and memory of the ten largest pages below a directory."""
    pages = (path for path in directory.rglob("*") if path.suffix in {".html", ".htm"})
    most = 0
    for path in sorted(pages, key=lambda path: -path.stat().st_size)[:10]:
        page = path.read_bytes()
        for format in formats:
            seconds, memory = measure(cleaner, page, format)
            print(f"{path.name} {format}: {len(page) / 1e6:.1f} MB, {seconds:.2f} s, {memory / 1e6:.0f} MB", flush=True)
            most = max(most, memory)
    print(f"most memory above the loaded model: {most / 1e6:.0f} MB; with it: {(_memory('VmRSS') + most) / 1e6:.0f} MB")


def main() -> None:
    """Print a table of all pages in all formats."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument("--size", type=int, default=250_000, help="size of the larger page, in characters")
    parser.add_argument("--only", action="append", metavar="WORD", help="only shapes whose name contains this")
    parser.add_argument("--format", action="append", choices=FORMATS, help="only this format")
    parser.add_argument("--pages", type=Path, metavar="DIR", help="a directory of pages")
    arguments = parser.parse_args()
    formats = arguments.format or list(FORMATS)
    names = [name for name in SHAPES if not arguments.only or any(word in name for word in arguments.only)]
    cleaner = Cleaner.load()
    for format in formats:  # imports and first pages do not count
        cleaner.clean(FIRST, "http://tea.example/a", format)
    if arguments.pages:
        measure_largest(cleaner, arguments.pages, formats)
        return
    print(f"engine {native.engine()}; memory above a floor of {FLOOR / 1e6:.0f} MB")
    head = ["page", "format", "MB", "s", "memory, MB", "s/MB", "times the page", "time, 4x", "memory, 4x", ""]
    print(table(head, rows(cleaner, arguments.size, names, formats)))


if __name__ == "__main__":
    run(main)
