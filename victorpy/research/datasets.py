"""Read gold standards: web pages, each with its content as a text, or with a label for every block.

A reader is a generator function that takes a directory and a function for warnings, and yields pages. It warns about
every page that it leaves out. `victor list datasets` prints the first line of its docstring.
"""

from __future__ import annotations

import gzip
import html
import json
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lxml import etree

from victorpy.base.files import read_regular
from victorpy.base.registry import Registry
from victorpy.base.words import SEGMENT_TAG
from victorpy.config import load_config
from victorpy.document import Label
from victorpy.errors import AnnotationError, DataError, VictorError
from victorpy.outputs.anno import load_anno
from victorpy.outputs.base import segments
from victorpy.page.decode import decode
from victorpy.page.markup import to_html
from victorpy.page.parse import parse
from victorpy.research.align import Gold
from victorpy.sites.grouping import SITE_KEY, site_of

VALUE_KINDS = frozenset(["swde"])
"""Data sets whose gold is values that a cleaner must keep, not the text that it should return."""


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A page of a gold standard."""

    name: str
    html: bytes
    gold: tuple[Gold, ...]
    url: str = ""
    page_type: str = ""
    site_key: str = SITE_KEY
    annotation: Path | None = None
    """Annotation file with a person's labels. Without one, the gold is aligned with the page to label its blocks."""
    partial: bool = False
    """Whether the gold is only a part of the content. If so, training ignores the blocks outside it."""

    @property
    def site(self) -> str:
        """The page's site, or the page's name if it has no address."""
        return site_of(self.url, self.site_key) or self.name

    @property
    def text(self) -> str:
        return "\n".join(segment.text for segment in self.gold)


Warn = Callable[[str], None]
Reader = Callable[[Path, Warn], Iterator[GoldPage]]

DATASETS: Registry[Reader] = Registry("data set", "victorpy.research.datasets")


def parse_data(spec: str) -> tuple[str, Path]:
    """Split ``KIND:DIR`` into the kind, which must exist, and the directory."""
    kind, _, directory = spec.partition(":")
    if not directory:
        raise DataError(f"{spec!r}: give a data set as KIND:DIR; kinds are {', '.join(DATASETS)}")
    DATASETS.get(kind)
    return kind, Path(directory)


def set_name(spec: str) -> str:
    """Return the name of a data set without its path: ``wcxb:/somewhere/wcxb/dev`` is wcxb:dev."""
    kind, directory = parse_data(spec)
    return f"{kind}:{directory.resolve().name}"


def read_dataset(kind: str, directory: Path, warn: Warn, site_key: str = SITE_KEY) -> Iterator[GoldPage]:
    """Yield the pages of a data set. Calls `warn` with a message about every page that is left out."""
    if not directory.is_dir():
        raise DataError(f"{directory}: no such directory")
    is_empty = True
    for page in DATASETS.get(kind)(directory, warn):
        is_empty = False
        yield replace(page, site_key=site_key)
    if is_empty:
        layouts = "victor list datasets describes the layouts"
        raise DataError(f"{directory}: no usable pages in the layout of {kind!r}; {layouts}")


# Readers


@DATASETS.register("anno")
def read_annotations(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Annotation files NAME.anno, with the page NAME.html if it was kept; the directory is the page type."""
    cuts = load_config("default").cuts
    for path in sorted(directory.glob("**/*.anno")):
        try:
            annotated = load_anno(path, cuts)
        except AnnotationError as error:
            warn(str(error))
            continue
        gold = tuple(Gold(segment.text, segment.label) for segment in segments(annotated))
        name = str(path.relative_to(directory).with_suffix(""))
        page_type = path.parent.name if path.parent != directory else ""
        page = path.with_suffix(".html")
        content = page.read_bytes() if page.is_file() else to_html(annotated.document).encode()
        yield GoldPage(name, content, gold, annotated.document.url, page_type, annotation=path)


_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_REFERENCE = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,31});")
_WRAPPER_ID = re.compile(rb"<text\b[^>]*?\bid\s*=\s*[\"']?([^\"'>\s]+)", re.IGNORECASE)
_CLEANEVAL_LABELS = {"p": Label.PARAGRAPH, "h": Label.HEADER, "l": Label.LIST}


@DATASETS.register("cleanportaleval")
@DATASETS.register("cleaneval")
def read_cleaneval(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """CleanEval and CleanPortalEval: input/N.html, gold/N.txt with <p>, <h> and <l> before segments.

    The directory may contain several such pairs of directories.
    """
    for part in sorted(path.parent for path in directory.glob("**/input") if path.is_dir()):
        pages = sorted((part / "input").glob("*.html"), key=_by_number)
        gold_files = [part / "gold" / f"{page.stem}.txt" for page in pages]
        for page, content, gold, text in _read_pairs(pages, gold_files, warn):
            url, gold_segments = parse_cleaneval(text)
            if not gold_segments:
                warn(f"{gold}: the gold is empty")
                continue
            wrapper = _WRAPPER_ID.search(content[:2000])
            url = url or (wrapper[1].decode("ascii", "replace") if wrapper else "")
            yield GoldPage(str(page.relative_to(directory).with_suffix("")), content, gold_segments, url)


def parse_cleaneval(text: str) -> tuple[str, tuple[Gold, ...]]:
    """Read the URL and the segments of a gold text. Text before the first tag is a paragraph.

    Character references (``&#8217;``) are decoded. They only occur in CleanPortalEval.

    >>> parse_cleaneval("URL: http://x.example/ \\n<h>News<p>All is well.")
    ('http://x.example/', (Gold(text='News', label=<Label.HEADER: 'header'>),
                           Gold(text='All is well.', label=<Label.PARAGRAPH: 'paragraph'>)))
    """
    url = ""
    text = _COMMENT.sub("", text)
    first_line, _, rest = text.lstrip().partition("\n")
    if first_line.upper().startswith("URL:"):
        url, text = first_line[4:].strip(), rest
    tags_and_texts = ["p", *SEGMENT_TAG.split(text)]
    gold = []
    for tag, body in zip(tags_and_texts[::2], tags_and_texts[1::2], strict=True):
        if decoded := _REFERENCE.sub(lambda reference: html.unescape(reference[0]), body).strip():
            gold.append(Gold(decoded, _CLEANEVAL_LABELS[tag.lower()]))
    return url, tuple(gold)


@DATASETS.register("dragnet")
def read_dragnet(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Dragnet: HTML/N.html, Corrected/N.html.corrected.txt, without readers' comments."""
    pages = sorted((directory / "HTML").glob("*.html"), key=_by_number)
    gold_files = [directory / "Corrected" / f"{page.name}.corrected.txt" for page in pages]
    for page, content, gold, text in _read_pairs(pages, gold_files, warn):
        article = text.partition("!@#$%^&*()  COMMENTS")[0].strip()
        if article:
            yield GoldPage(page.stem, content, (Gold(article),), _guess_address(content), "article")
        else:
            warn(f"{gold}: the gold is empty")


_L3S_KIND = re.compile(r"\bx-nc-sel(\d)\b")
# 1 is a headline, 2 is full text, and 3 is a supplement such as a caption. Other kinds are not content.
_L3S_CONTENT = frozenset("123")


@DATASETS.register("l3s")
def read_l3s(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """L3S-GN1: original/ID.html, annotated/ID.html with a span of class x-nc-selK around every text."""
    pages = sorted((directory / "original").glob("*.html"))
    gold_files = [directory / "annotated" / page.name for page in pages]
    for page, content, gold, marked in _read_pairs(pages, gold_files, warn):
        root = parse(marked, delete=("script", "style", "noscript")).root
        texts = []
        kinds = ["0"]  # kinds of the enclosing elements
        for event, element in etree.iterwalk(root, events=("start", "end")) if root is not None else ():
            if event == "start":
                mark = _L3S_KIND.search(element.get("class") or "")
                kinds.append(mark[1] if mark else kinds[-1])
                text = element.text
            else:
                kinds.pop()
                text = element.tail
            if text and text.strip() and kinds[-1] in _L3S_CONTENT:
                texts.append(text.strip())
        if texts:
            yield GoldPage(page.stem, content, (Gold("\n".join(texts)),), _guess_address(content), "article")
        else:
            warn(f"{gold}: no text is marked as content")


@DATASETS.register("swde")
def read_swde(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """SWDE: VERTICAL/VERTICAL-SITE(...)/N.htm, groundtruth/VERTICAL/VERTICAL-SITE-ATTRIBUTE.txt.

    The gold is not a text but a list of values that a cleaner must keep. Each value is a segment.
    """
    for folder in sorted(path for path in directory.glob("*/*") if path.is_dir() and path.parent.name != "groundtruth"):
        vertical = folder.parent.name
        site = folder.name.partition("(")[0]
        values: dict[str, list[str]] = defaultdict(list)  # by page
        for path in sorted((directory / "groundtruth" / vertical).glob(f"{site}-*.txt")):
            for number, line in enumerate(_read_gold(path, warn).split("\n")[2:], 3):
                page_name, *rest = line.rstrip("\r").split("\t")
                if len(rest) < 2:
                    warn(f"{path}:{number}: expected page, count and values between tabs")
                    continue
                values[page_name] += [html.unescape(value) for value in rest[1:] if value and value != "<NULL>"]
        for page in sorted(folder.glob("*.htm*")):
            if not values[page.stem]:
                warn(f"{page}: no attribute values")
                continue
            content = _read_page(page, warn)
            if content is None:
                continue
            text = " ".join(html.unescape(decode(content).text).split())
            # Sort values by their position on the page. Values that are not in the text come last.
            offsets = {value: text.find(" ".join(value.split())) % (len(text) + 1) for value in values[page.stem]}
            gold = tuple(Gold(value) for value in sorted(values[page.stem], key=offsets.__getitem__))
            url = f"http://{site.removeprefix(vertical + '-')}.example/{page.stem}"
            yield GoldPage(f"{site}/{page.stem}", content, gold, url, vertical)


@DATASETS.register("wcxb")
def read_wcxb(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """WCXB: html/N.html or N.html.gz, ground-truth/N.json."""
    for truth in sorted(directory.glob("**/ground-truth/*.json")):
        try:
            record = json.loads(read_regular(truth))
            text = record["ground_truth"]["main_content"] or ""
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            warn(f"{truth}: cannot be read: {type(error).__name__}: {error}")
            continue
        if not isinstance(text, str):
            warn(f"{truth}: main_content is not a text")
            continue
        try:
            page_type = record["_internal"]["page_type"]["primary"]
        except (KeyError, TypeError):
            page_type = ""
        plain = truth.parents[1] / "html" / f"{truth.stem}.html"
        packed = plain.with_name(f"{plain.name}.gz")
        try:
            content = plain.read_bytes() if plain.is_file() else gzip.decompress(read_regular(packed))
        except FileNotFoundError:
            warn(f"{truth}: no page {plain.name} or {packed.name}")
            continue
        except (OSError, EOFError, zlib.error) as error:
            warn(f"{packed.name}: cannot be read: {error}")
            continue
        url, page_type = (value if isinstance(value, str) else "" for value in (record.get("url"), page_type))
        yield GoldPage(truth.stem, content, (Gold(text),), url, page_type)
    for page in sorted(directory.glob("**/html/*.html*")):
        if not (page.parents[1] / "ground-truth" / f"{page.name.partition('.')[0]}.json").is_file():
            warn(f"{page}: no ground truth")


@DATASETS.register("pages")
def read_pages(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Your own pages: NAME.html with NAME.txt beside it, or pages.jsonl (id; optional url, site, type), html/, gold/.

    With pages.jsonl, a page is html/ID.html and its gold is gold/ID.txt, and the directory may contain several such
    directories. ``"partial": true`` marks a gold that is only a part of the content. A NAME.txt may have CleanEval's
    tags.
    """
    indexes = sorted(directory.glob("**/pages.jsonl"))
    if not indexes:
        yield from _read_folder(directory, warn)
    for index in indexes:
        for number, line in enumerate(_read_gold(index, warn).split("\n"), 1):
            try:
                record = json.loads(line)
                name = record["id"]
                texts = [record.get(key) or "" for key in ("url", "site", "type")]
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                warn(f'{index}:{number}: left out; expected a JSON object such as {{"id": "1", "url": "http://…"}}')
                continue
            if not all(isinstance(text, str) for text in (name, *texts)) or not name:
                warn(f"{index}:{number}: left out; id, url, site and type must be strings")
                continue
            if Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name:
                warn(f"{index}:{number}: left out; an id is the name of a file in html/, without ..")
                continue
            url, site, page_type = texts
            if site and site not in site_of(url, "host"):
                url = f"http://{re.sub(r'[^0-9a-z]+', '-', site.lower())}.example/{name}"
            page, gold = index.parent / "html" / f"{name}.html", index.parent / "gold" / f"{name}.txt"
            for _, content, _, text in _read_pairs([page], [gold], warn):
                path = str((index.parent / name).relative_to(directory))
                yield GoldPage(path, content, (Gold(text),), url, page_type, partial=record.get("partial") is True)


def _read_folder(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Read NAME.html with NAME.txt in a directory and below it."""
    pages = sorted(path for path in directory.glob("**/*") if path.suffix.lower() in _PAGE_SUFFIXES and path.is_file())
    gold_files = [page.with_suffix(".txt") for page in pages]
    for gold_file in sorted(set(directory.glob("**/*.txt")) - set(gold_files)):
        warn(f"{gold_file}: no page {gold_file.stem}.html")
    for page, content, _, text in _read_pairs(pages, gold_files, warn):
        url, gold = parse_cleaneval(text) if SEGMENT_TAG.search(text) else ("", (Gold(text),))
        name = str(page.relative_to(directory).with_suffix(""))
        page_type = page.parent.name if page.parent != directory else ""
        yield GoldPage(name, content, gold, url or _guess_address(content), page_type)


# Files

_PAGE_SUFFIXES = frozenset([".html", ".htm", ".xhtml"])


def _read_pairs(
    pages: Iterable[Path], gold_files: Iterable[Path], warn: Warn
) -> Iterator[tuple[Path, bytes, Path, str]]:
    """Yield the path and content of every page and of its gold. Pairs that are missing or empty are left out."""
    for page, gold in zip(pages, gold_files, strict=True):
        if not gold.is_file():
            warn(f"{page}: no gold file {gold.parent.name}/{gold.name}")
            continue
        text = _read_gold(gold, warn)
        content = _read_page(page, warn) if text else None
        if content is not None:
            yield page, content, gold, text


def _read_page(path: Path, warn: Warn) -> bytes | None:
    try:
        content = read_regular(path)
    except OSError as error:
        warn(f"{path}: cannot be read: {error.strerror or error}")
        return None
    if not content.strip():
        warn(f"{path}: the page is empty")
        return None
    return content


def _read_gold(path: Path, warn: Warn) -> str:
    """Read a gold text in any encoding."""
    try:
        decoded = decode(read_regular(path))
    except (OSError, VictorError) as error:
        warn(f"{path}: the gold cannot be read: {error}")
        return ""
    text = decoded.text.strip()
    if not text:
        warn(f"{path}: the gold is empty")
    return text


_ADDRESSES = [
    re.compile(rb"<link\b[^>]*\brel=[\"']?canonical\b[^>]*\bhref=[\"']?(https?://[^\"'>\s]+)", re.IGNORECASE),
    re.compile(rb"<meta\b[^>]*\bog:url\b[^>]*\bcontent=[\"']?(https?://[^\"'>\s]+)", re.IGNORECASE),
    re.compile(rb"<base\b[^>]*\bhref=[\"']?(https?://[^\"'>\s]+)", re.IGNORECASE),
]
_FEWEST_LINKS = 3  # minimum number of links; fewer may lead to the program that made the page
_LINK = re.compile(rb"\bhref=[\"']?(https?://[^\"'>\s/]+)", re.IGNORECASE)


def _guess_address(content: bytes) -> str:
    """Guess a page's address from its head, or else from the site that most of its links lead to."""
    for pattern in _ADDRESSES:
        address = pattern.search(content)
        if address:
            return address[1].decode("ascii", "replace")
    sites = Counter(site_of(link.decode("ascii", "replace")) for link in _LINK.findall(content))
    site, count = sites.most_common(1)[0] if sites else ("", 0)
    return f"http://{site}/" if count >= _FEWEST_LINKS else ""


def _by_number(path: Path) -> tuple[int, str]:
    digits = "".join(char for char in path.name.partition(".")[0] if char.isdigit())
    return int(digits or 0), path.name
