"""View: write a page that shows every block of a web page, coloured by its label.

examples:
  victor view page.html -o view.html                        what the bundled model keeps and drops
  victor view page.html --gold page.anno -o view.html       and where it disagrees with a person
  victor view page.html --against trafilatura -o view.html  beside another cleaner, or another model

Colours are labels, their strength is probability, what is dropped is grey. Pointing at a block or stepping to
it with j and k shows its features. The file needs no network and runs nothing of the page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from victorpy.base.parameters import split_name
from victorpy.cleaner import Cleaner
from victorpy.commands import Arguments
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
from victorpy.research.datasets.cleaneval import has_tags, parse_gold
from victorpy.research.report.views import Column, render_view


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("page", type=Path, metavar="PAGE", help="an HTML file")
    parser.add_argument("--gold", type=Path, help="an .anno file, or a text, with CleanEval's tags or without")
    against = "another program that is installed, such as trafilatura, or another method or model"
    parser.add_argument("--against", metavar="OTHER", help=against)
    parser.add_argument("-m", "--model", default=DEFAULT, help="a model directory or the name of a bundled model")
    parser.add_argument("--url", help="the address of the page")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write (default: standard output)")


def run(arguments: Arguments) -> int:
    """Clean the page and write the view."""
    cleaner = Cleaner.load(arguments.model)
    content = arguments.page.read_bytes()
    page = cleaner.document(content, arguments.url, source=str(arguments.page), features=True)
    gold = _gold_labels(arguments.gold, page, cleaner) if arguments.gold else None
    columns = [Column(f"victorpy ({arguments.model})", page)]
    if arguments.against:
        columns.append(Column(arguments.against, _clean_by_other(arguments.against, content, page, cleaner)))
    view = render_view(page.document.title or str(arguments.page), columns, gold)
    if arguments.output:
        arguments.output.write_text(view, encoding="utf-8")
    else:
        sys.stdout.write(view)
    return 0


def _gold_labels(path: Path, page: CleanPage, cleaner: Cleaner) -> tuple[Label, ...]:
    if path.suffix == ".anno":
        annotated = load_anno(path, cleaner.config.cuts)
        if [block.text for block in annotated.document.blocks] != [block.text for block in page.document.blocks]:
            raise DataError(f"{path}: its blocks are not those of the page")
        return annotated.labels
    text = decode(path.read_bytes()).text
    _, segments = parse_gold(text)
    if not has_tags(text):  # then the page's markup says what is a heading or an item
        segments = tuple(Gold(segment.text) for segment in segments)
    return align(page.document, segments, cleaner.config.cuts.block_level)


def _clean_by_other(name: str, content: bytes, page: CleanPage, cleaner: Cleaner) -> CleanPage:
    """Label the same blocks by another method, or by aligning them with the text of another program."""
    if is_peer(name):
        text = load_peer(name)(content)
    else:
        other = load_method(*split_name(name))
        if other.labeller.learns_from is LearnsFrom.SITE:
            raise DataError(f"--against {name}: learns from several pages of a site, and a view has one page")
        if other.config.cuts == cleaner.config.cuts:
            labelling = other.labeller.label(page.document)
            return CleanPage(page.document, labelling.labels, labelling.probabilities, labelling.content)
        text = other.clean(content)
    return CleanPage(page.document, align(page.document, [Gold(text)], cleaner.config.cuts.block_level))
