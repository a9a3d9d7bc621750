"""Build a style tree from the pages of a site, add pages to it, or show what the site repeats.

examples:
  victor sst build crawl/example.org/ -o example.sst         use a random sample of at most 500 pages
  victor sst add example.sst more-pages/                     add pages to the tree
  victor sst show example.sst                                print the tree: - marks noise, + content
  victor sst show example.sst -o example.html                write an HTML page, coloured by importance
  victor sst show crawl/ --styles paper --param gamma=0.8    set parameters of the method sst
  victor clean --method sst --site example.sst page.html     clean with the tree

All pages are taken as one site. The threshold t is chosen from the pages, and build saves it in the tree.
"""

from __future__ import annotations

import argparse
import glob
from pathlib import Path

from tqdm import tqdm

from victorpy.base.files import open_output
from victorpy.base.parameters import AUTO, parse_settings
from victorpy.batch.inputs import find_records
from victorpy.batch.site_model import documents_of
from victorpy.commands import Arguments
from victorpy.commands._shared import add_number
from victorpy.config import load_config
from victorpy.document import Document
from victorpy.errors import ConfigError, DataError
from victorpy.labellers.site_style_tree import SiteStyleTree, add_pages
from victorpy.methods import CONFIG
from victorpy.research.report.style_tree import as_html, as_text
from victorpy.sites.grouping import SAMPLE, draw_sample
from victorpy.sites.page_tree import STYLES
from victorpy.sites.store import is_tree, load_tree, save_tree
from victorpy.sites.style_tree import StyleTree


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    actions = "make a tree, add pages to one, or show one"
    add("action", choices=["build", "add", "show"], metavar="build|add|show", help=actions)
    add("inputs", nargs="+", metavar="FILE", help="pages (build), tree and pages (add), tree or pages (show)")
    add("-o", "--output", type=Path, metavar="OUT", help="tree (build, add) or HTML page (show) to write")
    add_number(parser, "--sample", default=SAMPLE, help="maximum number of pages to read")
    styles = "compare elements by tag, classes and id (modern, the default), or by tag and attributes (paper)"
    add("--styles", choices=STYLES, default=STYLES[0], help=styles)
    threshold = "importance below which an element is noise, from 0 to 1, or auto (default)"
    add("-t", type=_threshold, default=AUTO, metavar="T", help=threshold)
    param = "set any parameter of the method sst, such as gamma=0.8 or virtual_leaves=no"
    add("--param", action="append", default=[], metavar="NAME=VALUE", help=param)
    add("--full", action="store_true", help="also show what is inside noise and content")


def _threshold(value: str) -> float | str:
    try:
        return AUTO if value == AUTO else float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected {AUTO} or a number from 0 to 1, not {value!r}") from None


def run(arguments: Arguments) -> int:
    options = [f"sample={arguments.sample}", f"styles={arguments.styles}", f"t={arguments.t}"]
    method = SiteStyleTree(**parse_settings("--param", SiteStyleTree, [*options, *arguments.param]))
    if method.t != AUTO and not 0 <= method.t <= 1:
        raise DataError(f"-t must be from 0 to 1, not {method.t}")
    if method.sample < 2:
        raise DataError(f"--sample must be at least 2, not {method.sample}")
    try:
        method.check()
    except ConfigError as error:
        raise DataError(str(error).replace("sst:", "--param", 1)) from None
    first, *others = arguments.inputs
    target = arguments.output
    if arguments.action == "show":
        is_built = is_tree(Path(first)) and not others
        tree, pages = (load_tree(Path(first)), []) if is_built else _build_tree(arguments, method)
        judgement = method.with_tree(tree, pages=pages, name=first).judgement_
        assert judgement is not None
        chosen = f"t={judgement.t:g}, {method.reason_}"
        arguments.say(chosen)
        if target is None:
            print(as_text(tree, judgement, arguments.full), end="")
        else:
            title = f"Style tree of {Path(first).name}: {tree.page_count} pages; {chosen}"
            with open_output(target, arguments.note) as file:
                file.write(as_html(tree, judgement, title, arguments.full))
        return 0
    if arguments.action == "build":
        if target is None:
            raise DataError("build needs an output file; give -o FILE")
        tree, pages = _build_tree(arguments, method)
        save_tree(tree, target)
        judgement = method.with_tree(load_tree(target), pages=pages).judgement_  # a copy, because this merges nodes
        assert judgement is not None
        tree.t = judgement.t
        threshold = f"; t={tree.t:g}, {method.reason_}"
    else:
        if not others:
            raise DataError(f"{first}: name the pages to add after the tree")
        tree, target = load_tree(Path(first)), target or Path(first)
        _add_pages(arguments, tree, others, method.sample)
        threshold = ""
    save_tree(tree, target)
    arguments.say(f"{target}: a tree of {tree.page_count} pages{threshold}")
    return 0


def _build_tree(arguments: Arguments, method: SiteStyleTree) -> tuple[StyleTree, list[Document]]:
    tree = StyleTree(method.styles, method.virtual_leaves)
    pages = _add_pages(arguments, tree, arguments.inputs, method.sample)
    if tree.page_count < 2:
        names = ", ".join(arguments.inputs)
        raise DataError(f"a style tree needs at least two pages with text; {names} has {tree.page_count}")
    return tree, pages


def _add_pages(arguments: Arguments, tree: StyleTree, pages: list[str], sample: int) -> list[Document]:
    if not any(name == "-" or glob.has_magic(name) or Path(name).exists() for name in pages):
        raise DataError(f"{', '.join(pages)}: no such directory, page or tree")
    records = draw_sample(list(find_records(pages)), sample)
    documents = documents_of(tqdm(records, unit="page", disable=None), load_config(CONFIG), arguments.say)
    return add_pages(tree, documents)[1]
