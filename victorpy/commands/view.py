"""Write an HTML page that shows every block of a web page, coloured by its label.

examples:
  victor view page.html -o view.html                        show what the default model keeps and drops
  victor view page.html --gold page.anno -o view.html       also show disagreements with an annotator
  victor view page.html --against trafilatura -o view.html  compare with another program, method or model

The colour of a block shows its label, and the strength of the colour its probability. Dropped blocks are grey. Point at
a block, or step to it with j and k, to see its features. The view needs no network and runs no script of the page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from victorpy.base.files import open_output, read_regular
from victorpy.base.parameters import split_name
from victorpy.base.words import SEGMENT_TAG
from victorpy.cleaner import Cleaner
from victorpy.commands import Arguments
from victorpy.commands._shared import add_allow_code
from victorpy.document import Label
from victorpy.errors import DataError
from victorpy.labellers.base import LearnsFrom
from victorpy.methods import load_method
from victorpy.model.store import DEFAULT
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import load_anno
from victorpy.page.decode import decode
from victorpy.peers import is_peer, load_peer
from victorpy.research.align import Gold, align
from victorpy.research.datasets import parse_cleaneval
from victorpy.research.gold import is_gold_of
from victorpy.research.report.views import render_view


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("page", type=Path, metavar="PAGE", help="an HTML file")
    add("--gold", type=Path, help="an .anno file or a text file, with or without CleanEval's tags")
    against = "an installed program such as trafilatura, a method, or another model"
    add("--against", metavar="OTHER", help=against)
    model = "name of a bundled model, or a model directory (default: default)"
    add("-m", "--model", metavar="NAME", default=DEFAULT, help=model)
    add_allow_code(add)
    add("--url", help="address of the page")
    add("-o", "--output", type=Path, metavar="FILE", help="output file (default: standard output)")


def run(arguments: Arguments) -> int:
    cleaner = Cleaner.load(arguments.model, allow_code=arguments.allow_code)
    content = read_regular(arguments.page)
    is_annotation = arguments.page.suffix == ".anno"
    page = cleaner.document(content, arguments.url, source=str(arguments.page), features=True, annotation=is_annotation)
    gold = _gold_labels(arguments, page, cleaner) if arguments.gold else None
    pages = {f"victorpy ({arguments.model})": page}
    if arguments.against:
        pages[arguments.against] = _clean_by_other(arguments.against, content, page, cleaner, arguments.allow_code)
    view = render_view(page.document.title or str(arguments.page), pages, gold)
    if arguments.output:
        with open_output(arguments.output, arguments.note) as file:
            file.write(view)
    else:
        sys.stdout.write(view)
    return 0


def _gold_labels(arguments: Arguments, page: CleanPage, cleaner: Cleaner) -> tuple[Label, ...]:
    path: Path = arguments.gold
    if path.suffix == ".anno":
        annotated = load_anno(path, cleaner.config.cuts)
        if [block.text for block in annotated.document.blocks] != [block.text for block in page.document.blocks]:
            raise DataError(f"{path} is not an annotation of this page, or it was split by another config")
        return annotated.labels
    text = decode(read_regular(path)).text
    _, segments = parse_cleaneval(text)
    if not SEGMENT_TAG.search(text):  # the markup of the page decides which blocks are headings and list items
        segments = tuple(Gold(segment.text) for segment in segments)
    labels = align(page.document, segments, cleaner.config.cuts.block_level)
    if not is_gold_of(page.document, labels, segments):
        arguments.say(f"{path}: most words of the gold are not on the page; it may be the gold of another page")
    return labels


def _clean_by_other(name: str, content: bytes, page: CleanPage, cleaner: Cleaner, allow_code: bool) -> CleanPage:
    """Label the blocks with another method, or by aligning them with the output of another program."""
    if is_peer(name):
        text = load_peer(name)(content)
    else:
        other = load_method(*split_name(name), allow_code)
        if other.labeller.learns_from is LearnsFrom.SITE:
            raise DataError(f"--against {name} is not possible: this method learns from several pages of a site")
        if other.config.cuts == cleaner.config.cuts:
            return CleanPage.of(page.document, other.labeller.label(page.document))
        text = other.clean(content)
    return CleanPage(page.document, align(page.document, [Gold(text)], cleaner.config.cuts.block_level))
