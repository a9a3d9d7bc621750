"""Annotation files: a page with its labels, one block per line. Reading a file restores the page exactly.

A file starts with ``name: value`` header lines and an empty line. Each following line is a block with four columns
separated by tabs: label, probability of the label (``-`` if a person chose it), tags since the previous block, and
text with inner tags. Lines that start with ``#`` are comments, for example the features of a block. A last line
labelled ``end`` has the tags after the last block.

During annotation, blocks without a label have ``?``. `read_annotation` accepts such files. `read_anno`, which models
learn from, requires a label for every block.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from victorpy.base.files import open_regular, read_bounded
from victorpy.config import Cuts
from victorpy.document import STRIDE, Document, Label, Role
from victorpy.errors import AnnotationError, suggest
from victorpy.outputs.base import MAGIC, CleanPage, output
from victorpy.page.markup import TagWriter, escape, unescape
from victorpy.page.parse import VOID
from victorpy.page.same_blocks import find_difference
from victorpy.page.split import Splitter

_HEADER = ("url", "title", "source", "encoding", "split")
_LOSS = "loss"
_END = "end"
_LABELS = [*Label, _END]
_ROLE = "# role="
UNLABELLED = "?"
MOST_BYTES = 500_000_000
"""Maximum size of an annotation file and of its journal."""
_TAG = re.compile(r"<(/?)([\w:.-]+)((?: [^\s=<>]+=\"[^\"<>]*\")*)>")
_ATTRIBUTE = re.compile(r" ([^\s=<>]+)=\"([^\"<>]*)\"")


@output("anno", ".anno", wants_features=True, writes_roles=True)
def write_anno(page: CleanPage) -> str:
    """Annotation file: one block per line with label, probability, tags, text and features."""
    comments = {
        number + 1: ("# " + " ".join(f"{name}={value}" for name, value in features.items()),)
        for number, features in enumerate(page.features)
    }
    for number, spans in enumerate(page.spans, 1):
        if spans is not None:  # labels always apply to whole blocks
            kept = ",".join(f"{start}-{stop}" for start, stop in spans)
            comments[number] = (*comments.get(number, ()), f"# kept={kept}")
    for number, role in enumerate(page.roles, 1):
        comments[number] = (*comments.get(number, ()), f"{_ROLE}{role}")
    # Labels without a probability count as labels of a person, so methods without probabilities write 1.0.
    probabilities = page.probabilities or ((1.0 if page.by_method else None),) * len(page.labels)
    return AnnotationWriter(page.document, comments).write(page.labels, probabilities)


class AnnotationWriter:
    """Writes a page repeatedly while its labels change. Everything else in the file is prepared once."""

    def __init__(self, document: Document, comments: Mapping[int, Sequence[str]] | None = None) -> None:
        comments = comments or {}
        header = [MAGIC, *(f"{name}: {_escape_edges(getattr(document, name))}".rstrip() for name in _HEADER)]
        header += [f"{_LOSS}: {escape(loss)}" for loss in document.losses]
        self._head = "\n".join([*header, "", *comments.get(0, ())]) + "\n"
        self._line_ends = []  # tags and text of every block, and the comments after it
        tag_writer = TagWriter(document)
        for number, block in enumerate(document.each_block(), 1):
            (first, first_text), *rest = block.each_piece()
            gap = " " if block.spaced and not block.preformatted else ""
            line = f"{tag_writer.write(first.distance)}\t{gap}{escape(first_text)}"
            line += "".join(tag_writer.write(piece.distance) + escape(text) for piece, text in rest)
            self._line_ends.append("\n".join([line, *comments.get(number, ())]))
        last_lines = [
            f"{_END}\t-\t{tag_writer.write(document.trailing)}\t",
            *comments.get(len(self._line_ends) + 1, ()),
        ]
        self._last_line = "".join(f"{line}\n" for line in last_lines)

    def write(self, labels: Sequence[Label | None], probabilities: Sequence[float | None]) -> str:
        """Write the page with these labels. A probability of None marks a label that a person chose."""
        rows = (
            f"{label or UNLABELLED}\t{'-' if probability is None else repr(probability)}\t{end}\n"
            for label, probability, end in zip(labels, probabilities, self._line_ends, strict=True)
        )
        # Join a few thousand rows at a time, because all rows as objects would take much memory.
        joined = iter(lambda: "".join(islice(rows, STRIDE)), "")
        return "".join([self._head, *joined, self._last_line])


def _escape_edges(value: str) -> str:
    """Escape a header value. White space at its ends is escaped too, because it would be stripped on reading."""
    inner = value.strip()
    before, _, after = value.partition(inner) if inner else (value, "", "")
    edges = ("".join(f"&#{ord(char)};" for char in edge) for edge in (before, after))
    return escape(inner).join(edges)


@dataclass(frozen=True, slots=True)
class Annotation:
    """The content of an annotation file, which may be unfinished."""

    document: Document
    labels: tuple[Label | None, ...]  # None for blocks that have no label yet
    probabilities: tuple[float | None, ...]  # None for labels that a person chose
    comments: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """The comment lines before each block, by block number."""

    @property
    def decided(self) -> tuple[bool, ...]:
        """Whether a person chose the label of each block."""
        return tuple(label is not None for label in self.decisions)

    @property
    def decisions(self) -> tuple[Label | None, ...]:
        """The labels that a person chose, and None for other blocks."""
        pairs = zip(self.labels, self.probabilities, strict=True)
        return tuple(label if probability is None else None for label, probability in pairs)


def read_annotation(text: str, cuts: Cuts, name: str = "annotation", recut: bool = False) -> Annotation:
    """Read a finished or unfinished annotation file.

    Every line is a block, even if `cuts` would cut the page differently.

    With `recut`, the page is cut again according to `cuts`, and labels follow their text. In this case, every block
    must have a label.
    """
    file = _parse(text, name)
    if recut:
        return _recut(file, cuts)
    document = None
    if file.header["split"] == ("every" if cuts.every else "block"):
        # Most files were cut according to `cuts`. Errors are reported below.
        with contextlib.suppress(AnnotationError):
            document = _build(file, cuts)
    document = replace(document or _build(file, _without_cuts(cuts)), split=file.header["split"])
    labels = tuple(None if row.label == UNLABELLED else Label(row.label) for row in file.rows[:-1])
    return Annotation(document, labels, tuple(row.probability for row in file.rows[:-1]), file.comments)


def read_anno(text: str, cuts: Cuts, name: str = "annotation") -> CleanPage:
    """Read a page and its labels. If it was cut differently from `cuts`, labels follow their text."""
    annotation = _recut(_parse(text, name), cuts)
    labels = tuple(label for label in annotation.labels if label is not None)  # all blocks have labels here
    probabilities = tuple(value for value in annotation.probabilities if value is not None)
    roles = tuple(role for number in range(len(labels)) if (role := _role(annotation.comments.get(number + 1, ()))))
    return CleanPage(
        *(annotation.document, labels, probabilities if len(probabilities) == len(labels) else ()),
        roles=roles if len(roles) == len(labels) else (),
    )


def _role(comments: Sequence[str]) -> Role | None:
    """Return the role in the comments after a block, if there is a valid one."""
    names = [line.removeprefix(_ROLE).strip() for line in comments if line.startswith(_ROLE)]
    return Role(names[-1]) if names and names[-1] in set(Role) else None


def load_anno(path: Path, cuts: Cuts) -> CleanPage:
    """Read an annotation file with `read_anno`."""
    return read_anno(_read_text(path), cuts, str(path))


def load_annotation(path: Path, cuts: Cuts, recut: bool = False) -> Annotation:
    """Read an annotation file with `read_annotation`."""
    return read_annotation(_read_text(path), cuts, str(path), recut)


def load_progress(path: Path) -> tuple[int, int]:
    """Return the number of labels in an annotation file that a person chose, and the number of blocks."""
    rows = [row for row in _parse(_read_text(path), str(path)).rows if row.label != _END]
    return sum(row.label != UNLABELLED and row.probability is None for row in rows), len(rows)


def read_source(path: Path) -> str:
    """Return the page's file name from the header of an annotation file, or an empty string."""
    try:
        with io.TextIOWrapper(open_regular(path, MOST_BYTES), encoding="utf-8", errors="replace") as lines:
            if next(lines, "").rstrip() != MAGIC:
                return ""
            for line in lines:
                key, _, value = line.partition(":")
                if key == "source" or not line.strip():
                    return unescape(value.strip())
    except OSError:
        pass
    return ""


def _read_text(path: Path) -> str:
    try:
        return read_bounded(path, MOST_BYTES).decode("utf-8")
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


class _File(NamedTuple):
    name: str
    header: dict[str, str]
    losses: list[str]
    rows: list[_Row]  # in a complete file, the last row is labelled `end`
    comments: dict[int, list[str]]  # the comment lines before each row


def _parse(text: str, name: str) -> _File:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if lines[0].rstrip() != MAGIC:
        raise AnnotationError(f"{name}:1: not an annotation file: the first line must be {MAGIC!r}")
    file = _File(name, {"split": "every"}, [], [], {})
    header_stop = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    for number, line in enumerate(lines[1:header_stop], 2):
        key, colon, value = line.partition(":")
        value = unescape(value.strip())
        if not colon or key not in (*_HEADER, _LOSS):
            names = ", ".join([*_HEADER, _LOSS])
            problem = f"expected a header line 'name: value' or an empty line after the header; names are {names}"
            raise AnnotationError(f"{name}:{number}: {problem}")
        if key == "split" and value not in {"every", "block"}:
            raise AnnotationError(f"{name}:{number}: split must be every or block, not {value!r}")
        if key == _LOSS:
            file.losses.append(value)
        else:
            file.header[key] = value
    for number, line in enumerate(lines[header_stop:], header_stop + 1):
        if line.startswith("#"):
            file.comments.setdefault(len(file.rows), []).append(line)
        elif line.strip():
            file.rows.append(_parse_row(line, number, f"{name}:{number}"))
    for row in file.rows[:-1]:
        if row.label == _END:
            raise AnnotationError(f"{name}:{row.line}: only the last line can be labelled {_END!r}")
    return file


def _parse_row(line: str, number: int, place: str) -> _Row:
    columns = line.split("\t")
    if len(columns) != 4:
        problem = f"expected label, probability, tags and text separated by tabs, found {line[:60]!r}"
        raise AnnotationError(f"{place}: {problem}")
    label, probability, markup, text = columns
    if label not in _LABELS and label != UNLABELLED:
        message = f"{place}: unknown label {label!r}{suggest(label, _LABELS)}; the labels are {', '.join(Label)}"
        raise AnnotationError(message)
    if probability == "-":
        return _Row(number, label, None, markup, text)
    try:
        value = float(probability)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise AnnotationError(f"{place}: a probability is '-' or a number from 0 to 1, not {probability!r}")
    return _Row(number, label, value, markup, text)


def _without_cuts(cuts: Cuts) -> Cuts:
    """Return cuts that leave each row of a file whole, regardless of its tags."""
    return replace(cuts, every=False, block_level=frozenset())


def _build(file: _File, cuts: Cuts, row_by_row: bool = True) -> Document:
    """Build a page from its rows. If `row_by_row`, each row except the last must be exactly one block."""
    splitter = Splitter(cuts)
    texts_after = []
    for row in file.rows:
        _feed(splitter, row, f"{file.name}:{row.line}")
        texts_after.append(splitter.texts)
        if row_by_row:
            splitter.cut()
    document = splitter.document()
    if row_by_row:
        blocks_after = [0]  # blocks started before each text
        for block in document.blocks:
            blocks_after += [block.index + 1] * len(block.pieces)
        for number, (row, texts) in enumerate(zip(file.rows, texts_after, strict=True)):
            count = blocks_after[texts] - number
            if count != (row.label != _END):
                problem = f"a line must be one block, but this line makes {count}: {row.text[:60]!r}"
                raise AnnotationError(f"{file.name}:{row.line}: {problem}")
        if not file.rows or file.rows[-1].label != _END:
            raise AnnotationError(f"{file.name}: the file is incomplete: its last line must be labelled {_END!r}")
    header: dict[str, Any] = {name: file.header.get(name, "") for name in ("url", "title", "source", "encoding")}
    return replace(document, **header, losses=tuple(file.losses))


def _feed(splitter: Splitter, row: _Row, place: str) -> None:
    """Pass the tags and texts of a row to the splitter."""
    if _TAG.sub("", row.markup).strip():
        raise AnnotationError(f"{place}: the third column may only contain tags, not {row.markup[:60]!r}")
    first_text, *rest = _TAG.split(row.markup + row.text)
    tags = [("", "", "", first_text), *zip(rest[::4], rest[1::4], rest[2::4], rest[3::4], strict=True)]
    for number, (slash, tag, attribute_text, text) in enumerate(tags, 1):
        is_alt_text = False
        if slash:
            if splitter.innermost != tag:
                raise AnnotationError(f"{place}: </{tag}> does not match the open <{splitter.innermost}>")
            splitter.end()
        elif tag:
            attributes = {key: unescape(value) for key, value in _ATTRIBUTE.findall(attribute_text)}
            splitter.start(tag, attributes)
            if tag in VOID:
                splitter.end()
            is_alt_text = tag == "img" and bool(attributes.get("alt", "").strip())
        if is_alt_text and number == len(tags):
            continue  # the splitter reads the text of an image from its tag
        if "<" in text or ">" in text:
            raise AnnotationError(f"{place}: write '<' and '>' in text as &lt; and &gt;: {text[:60]!r}")
        if text:
            splitter.text(unescape(text))


def _recut(file: _File, cuts: Cuts) -> Annotation:
    """Cut a page according to `cuts`, and give its blocks the labels of their text.

    A new block gets the label of the old block at its start. Later new blocks in the same old block are continuations.
    A label counts as given by a person only if a person labelled all of the new block's text.
    """
    unlabelled = [row.line for row in file.rows if row.label == UNLABELLED]
    if unlabelled:
        blocks = "1 block has" if len(unlabelled) == 1 else f"{len(unlabelled):,} blocks have"
        raise AnnotationError(f"{file.name}:{unlabelled[0]}: {blocks} no label yet: finish the annotation first")
    as_written = _build(file, _without_cuts(cuts))
    document = _build(file, cuts, row_by_row=False)
    old_labels = tuple(Label(row.label) for row in file.rows[:-1])
    old_probabilities = tuple(row.probability for row in file.rows[:-1])
    if find_difference(document, as_written) is None:
        return Annotation(document, old_labels, old_probabilities, file.comments)
    old_blocks = [block.index for block in as_written.blocks for char in block.text if not char.isspace()]
    labels: list[Label] = []
    probabilities: list[float | None] = []
    offset, previous = 0, -1
    for block in document.blocks:
        stop = offset + len("".join(block.text.split()))
        first, last = old_blocks[offset], old_blocks[stop - 1]
        label = old_labels[first]
        labels.append(Label.CONTINUATION if first == previous and label.is_content else label)
        by_model = [value for value in old_probabilities[first : last + 1] if value is not None]
        probabilities.append(min(by_model, default=None))
        offset, previous = stop, last
    return Annotation(document, tuple(labels), tuple(probabilities))
