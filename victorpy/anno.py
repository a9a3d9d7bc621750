"""Victor's annotation files: a page with its labels, one block a line, that reads back exactly.

After a header of ``name: value`` lines and an empty line, every line is one block, in columns set apart by
tabs: its label, the probability of it (``-`` where a person gave it), the tags passed since the block before,
and its text, with the tags that stand inside it. Lines that begin with ``#`` are comments; the features of a
block stand there. Tags after the last block stand on a line labelled ``end``.

While a page is being annotated a block may have no label yet: ``?`` stands for it. `read_annotation` takes such a
file, block by block as it stands; `read_anno`, from which models learn, wants every label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from victorpy.config import Cuts
from victorpy.document import CleanPage, Document, Label
from victorpy.errors import AnnotationError, suggest
from victorpy.markup import TagWriter, escape, pieces, unescape
from victorpy.parse import VOID
from victorpy.same_blocks import find_difference
from victorpy.split import Splitter

MAGIC = "%victor-anno 1"
_HEADER = ("url", "title", "source", "encoding", "split")
_LOSS = "loss"
_END = "end"
UNLABELLED = "?"
"""Stands in the place of a label that nobody has given yet."""
_TAG = re.compile(r"<(/?)([\w:.-]+)((?: [^\s=<>]+=\"[^\"<>]*\")*)>")
_ATTRIBUTE = re.compile(r" ([^\s=<>]+)=\"([^\"<>]*)\"")


def write_anno(page: CleanPage) -> str:
    """Write a page and its labels."""
    comments = {
        number + 1: ("# " + " ".join(f"{name}={value}" for name, value in features.items()),)
        for number, features in enumerate(page.features)
    }
    # A method that does not say how sure it is counts as sure: without a number its labels would be a person's.
    probabilities = page.probabilities or ((1.0 if page.by_method else None),) * len(page.labels)
    return AnnotationWriter(page.document, comments).write(page.labels, probabilities)


class AnnotationWriter:
    """Writes one page again and again while its labels change; all that stays the same is made ready once."""

    def __init__(self, document: Document, comments: Mapping[int, Sequence[str]] | None = None) -> None:
        header = [MAGIC, *(f"{name}: {_escape_edges(getattr(document, name))}".rstrip() for name in _HEADER)]
        header += [f"{_LOSS}: {escape(loss)}" for loss in document.losses]
        before = comments or {}
        *self._ends, last = _line_ends(document)
        for number, end in enumerate(self._ends):
            self._ends[number] = end + "".join("\n" + comment for comment in before.get(number + 1, ()))
        self._head = "\n".join([*header, "", *before.get(0, ())]) + "\n"
        self._last = f"{_END}\t-\t{last}\n"

    def write(self, labels: Sequence[Label | None], probabilities: Sequence[float | None]) -> str:
        """Write the page with these labels; a probability of None says that a person gave the label."""
        rows = [
            f"{label or UNLABELLED}\t{'-' if probability is None else repr(probability)}\t{end}\n"
            for label, probability, end in zip(labels, probabilities, self._ends, strict=True)
        ]
        return self._head + "".join(rows) + self._last


def _escape_edges(value: str) -> str:
    """Escape a header's value, with the white space at its ends, which reading would strip."""
    inner = value.strip()
    before, _, after = value.partition(inner) if inner else (value, "", "")
    edges = ("".join(f"&#{ord(char)};" for char in edge) for edge in (before, after))
    return escape(inner).join(edges)


def _line_ends(document: Document) -> Iterator[str]:
    """Write what stands behind label and probability: tags and text of every block, then the tags after the last."""
    writer = TagWriter(document)
    for block in document.blocks:
        (before, first), *rest = pieces(block)
        markup = writer.write(before)
        gap = " " if block.spaced and not block.preformatted else ""
        text = gap + escape(first) + "".join(writer.write(tags) + escape(text) for tags, text in rest)
        yield f"{markup}\t{text}"
    yield f"{writer.write(document.trailing)}\t"


def is_anno(page: bytes | str) -> bool:
    """Whether a page is an annotation file."""
    return page.startswith(MAGIC) if isinstance(page, str) else page.startswith(MAGIC.encode())


def read_anno(text: str, cuts: Cuts, name: str = "annotation") -> CleanPage:
    """Read a page and its labels; where it was cut otherwise than `cuts` says, labels follow their text."""
    found = read_annotation_anew(text, cuts, name)
    labels = tuple(label for label in found.labels if label is not None)  # all of them are there
    probabilities = tuple(probability for probability in found.probabilities if probability is not None)
    return CleanPage(found.document, labels, probabilities if len(probabilities) == len(labels) else ())


def read_annotation_anew(text: str, cuts: Cuts, name: str = "annotation") -> Annotation:
    """Read a page whose blocks all have labels, cut as `cuts` says, with who gave each label."""
    header, rows, _ = _read_lines(text, name)
    _check_all_labelled(rows, name)
    as_written = _read_document(header, rows, cuts, name)  # every row is a block, whatever tags are in it
    kept = rows[:-1]
    labels = tuple(Label(row.label) for row in kept)
    probabilities = tuple(row.probability for row in kept)
    document = _build(header, rows, cuts)
    if find_difference(document, as_written) is None:
        return Annotation(document, labels, probabilities)
    return _cut_again(as_written, labels, probabilities, document)


def _check_all_labelled(rows: Sequence[_Row], name: str) -> None:
    missing = [row.line for row in rows if row.label == UNLABELLED]
    if missing:
        blocks = "1 block has" if len(missing) == 1 else f"{len(missing):,} blocks have"
        raise AnnotationError(f"{name}:{missing[0]}: {blocks} no label yet: finish it with annotate.py")


def _read_document(header: dict[str, list[str]], rows: list[_Row], cuts: Cuts, name: str) -> Document:
    document = _build(header, rows, replace(cuts, every=False, block_level=frozenset()), name)
    if not rows or rows[-1].label != _END:
        raise AnnotationError(f"{name}: the file is cut off: its last line must be labelled {_END!r}")
    return document


def _read_as_cut(header: dict[str, list[str]], rows: list[_Row], cuts: Cuts, name: str) -> Document | None:
    """Read a page that was cut as `cuts` says; None where it was not, or where something else is wrong with it."""
    try:
        return _build(header, rows, cuts, name) if rows and rows[-1].label == _END else None
    except AnnotationError:
        return None


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation file as it stands, finished or not."""

    document: Document
    labels: tuple[Label | None, ...]
    """None where nobody has given a label yet."""
    probabilities: tuple[float | None, ...]
    """None where a person gave the label."""
    comments: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The comment lines before each block's line, by its number."""

    @property
    def decided(self) -> tuple[bool, ...]:
        """Which blocks a person decided on."""
        return tuple(map(_is_decided, self.labels, self.probabilities))

    @property
    def decisions(self) -> tuple[Label | None, ...]:
        """The labels that a person gave; None where nobody has decided."""
        return tuple(label if ours else None for label, ours in zip(self.labels, self.decided, strict=True))


def read_annotation(text: str, cuts: Cuts, name: str = "annotation") -> Annotation:
    """Read a file to go on with it: every line is a block, however it was cut, and comments are kept."""
    header, rows, comments = _read_lines(text, name)
    split = header["split"][0]
    document = _read_as_cut(header, rows, cuts, name) if split == ("every" if cuts.every else "block") else None
    document = replace(document or _read_document(header, rows, cuts, name), split=split)
    labels = tuple(None if row.label == UNLABELLED else Label(row.label) for row in rows[:-1])
    return Annotation(document, labels, tuple(row.probability for row in rows[:-1]), comments)


def load_anno(path: Path, cuts: Cuts) -> CleanPage:
    """Read an annotation file."""
    return read_anno(_read_text(path), cuts, str(path))


def load_annotation(path: Path, cuts: Cuts) -> Annotation:
    """Read an annotation file, finished or not, to go on with it."""
    return read_annotation(_read_text(path), cuts, str(path))


def load_annotation_anew(path: Path, cuts: Cuts) -> Annotation:
    """Read an annotation file whose blocks all have labels, cut as `cuts` says."""
    return read_annotation_anew(_read_text(path), cuts, str(path))


def load_progress(path: Path) -> tuple[int, int]:
    """Read on how many blocks of an annotation file a person has decided, and how many there are."""
    _, rows, _ = _read_lines(_read_text(path), str(path))
    blocks = [row for row in rows if row.label != _END]
    return sum(_is_decided(row.label, row.probability) for row in blocks), len(blocks)


def _is_decided(label: str | None, probability: float | None) -> bool:
    """Whether a person gave a label: there is one, and no model's probability stands beside it."""
    return label not in {None, UNLABELLED} and probability is None


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise AnnotationError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise AnnotationError(f"{path}: not an annotation file: it is not UTF-8") from error


class _Row(NamedTuple):
    line: int
    label: str
    probability: float | None
    markup: str
    text: str


def _read_lines(text: str, name: str) -> tuple[dict[str, list[str]], list[_Row], dict[int, tuple[str, ...]]]:
    """Read the header, by name, the rows, of which the last is the end, and the comments before each row."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if lines[0].rstrip() != MAGIC:
        raise AnnotationError(f"{name}:1: not an annotation file: it does not begin with {MAGIC!r}")
    after_header = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
    header: dict[str, list[str]] = {"split": ["every"]}
    for number, line in enumerate(lines[1:after_header], 2):
        key, value = _read_header(line, f"{name}:{number}")
        header[key] = [*header.get(key, []), value] if key == _LOSS else [value]
    rows: list[_Row] = []
    comments: dict[int, tuple[str, ...]] = {}
    for number, line in enumerate(lines[after_header:], after_header + 1):
        if line.startswith("#"):
            comments[len(rows)] = (*comments.get(len(rows), ()), line)
        elif line.strip():
            rows.append(_read_row(line, number, f"{name}:{number}"))
    return header, rows, comments


def _read_header(line: str, place: str) -> tuple[str, str]:
    key, colon, value = line.partition(":")
    if not colon or key not in (*_HEADER, _LOSS):
        known = ", ".join([*_HEADER, _LOSS])
        raise AnnotationError(
            f"{place}: the header has lines 'name: value' and ends with an empty line; names: {known}"
        )
    value = unescape(value.strip())
    if key == "split" and value not in {"every", "block"}:
        raise AnnotationError(f"{place}: split is every or block, not {value!r}")
    return key, value


def _read_row(line: str, number: int, place: str) -> _Row:
    columns = line.split("\t")
    if len(columns) != 4:
        raise AnnotationError(f"{place}: expected label, probability, tags and text between tabs, found {line[:60]!r}")
    label, probability, markup, text = columns
    known = [*Label, _END]
    if label not in known and label != UNLABELLED:
        raise AnnotationError(f"{place}: unknown label {label!r}{suggest(label, known)}; there are {', '.join(Label)}")
    return _Row(number, label, _probability(probability, place), markup, text)


def _probability(text: str, place: str) -> float | None:
    if text == "-":
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise AnnotationError(f"{place}: a probability is '-' or a number from 0 to 1, not {text!r}")
    return value


def _build(header: dict[str, list[str]], rows: list[_Row], cuts: Cuts, name: str = "") -> Document:
    """Make a page of the rows; with a name, every row must be just one block."""
    splitter = Splitter(cuts)
    texts_after = []
    for row in rows:
        _feed(splitter, row, f"{name}:{row.line}")
        texts_after.append(splitter.texts)
        if name:
            splitter.cut()
    document = splitter.document()
    if name:
        _check_rows(rows, texts_after, document, name)

    def first(key: str) -> str:
        return header.get(key, [""])[0]

    return replace(
        document,
        url=first("url"),
        title=first("title"),
        source=first("source"),
        encoding=first("encoding"),
        losses=tuple(header.get(_LOSS, ())),
    )


def _check_rows(rows: list[_Row], texts_after: list[int], document: Document, name: str) -> None:
    """Refuse a row that is not just one block, but for the last, which has none."""
    begun = [0]
    for block in document.blocks:
        begun += [block.index + 1] * len(block.pieces)
    for before, (row, texts) in enumerate(zip(rows, texts_after, strict=True)):
        found = begun[texts] - before
        if found != (row.label != _END):
            raise AnnotationError(f"{name}:{row.line}: a line is one block, and this makes {found}: {row.text[:60]!r}")


def _feed(splitter: Splitter, row: _Row, place: str) -> None:
    """Give a line's tags and texts to the splitter."""
    if _TAG.sub("", row.markup).strip():
        raise AnnotationError(f"{place}: only tags stand in the third column, not {row.markup[:60]!r}")
    at = 0
    shown_by_image = False  # then the text behind the tag is the image's alt, and not wanted twice
    line = row.markup + row.text
    for found in _TAG.finditer(line):
        _feed_text(splitter, line[at : found.start()], place)
        shown_by_image = _feed_tag(splitter, found[1], found[2], found[3], place)
        at = found.end()
    if not shown_by_image:
        _feed_text(splitter, line[at:], place)


def _feed_text(splitter: Splitter, text: str, place: str) -> None:
    if "<" in text or ">" in text:
        raise AnnotationError(f"{place}: '<' and '>' in text are written &lt; and &gt;: {text[:60]!r}")
    if text:
        splitter.text(unescape(text))


def _feed_tag(splitter: Splitter, slash: str, tag: str, attributes: str, place: str) -> bool:
    """Pass a tag on; the answer is whether it was an image, whose text comes from its ``alt``."""
    if slash:
        if splitter.innermost != tag:
            raise AnnotationError(f"{place}: </{tag}> closes nothing: <{splitter.innermost}> is open")
        splitter.end()
        return False
    found = {key: unescape(value) for key, value in _ATTRIBUTE.findall(attributes)}
    splitter.start(tag, found)
    if tag in VOID:
        splitter.end()
    return tag == "img" and bool(found.get("alt", "").strip())


def _cut_again(
    as_written: Document, given: Sequence[Label], sure: Sequence[float | None], document: Document
) -> Annotation:
    """Give the blocks of a page that was cut by other rules the labels of the text that they are made of.

    A label is a person's only where a person labelled all of that text.
    """
    owners = [block.index for block in as_written.blocks for char in block.text if not char.isspace()]
    labels: list[Label] = []
    probabilities: list[float | None] = []
    at, before = 0, -1
    for block in document.blocks:
        stop = at + len("".join(block.text.split()))
        label = given[owners[at]]
        if owners[at] == before and label.is_content:
            label = Label.CONTINUATION
        labels.append(label)
        beside = [sure[owner] for owner in range(owners[at], owners[stop - 1] + 1)]
        probabilities.append(min((each for each in beside if each is not None), default=None))
        before = owners[stop - 1]
        at = stop
    return Annotation(document, tuple(labels), tuple(probabilities))
