"""Clean web pages: print the text that somebody wrote, without menus, advertisements and footers.

examples:
  clean.py page.html                           the text of a page
  curl -s URL | clean.py --format markdown     a page from standard input, as Markdown
  clean.py crawl/ -o clean/                    every page below a directory, to a directory
  clean.py 'pages/*.html' --format jsonl -o pages.jsonl
  clean.py --favor recall page.html            rather too much than too little
  clean.py --config cleaneval --format cleaneval page.html
  clean.py --site crawl/example.org/ -o clean/ pages of one site, with what the site repeats in sight
  clean.py --method sst --param t=0.6 crawl/example.org/ -o clean/

exit codes: 0 all well, 1 some pages failed (named on stderr), 2 wrong usage
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm
from w3lib.encoding import resolve_encoding

from victorpy.batch.outcome import Outcome, Status, clean_record
from victorpy.batch.records import Record, find_records
from victorpy.batch.site import learn_site, use_tree
from victorpy.batch.writers import open_writer
from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.errors import ConfigError, DataError
from victorpy.labellers.base import LearnsFrom
from victorpy.labellers.site_style_tree import SAMPLE
from victorpy.methods import load_method, method_names
from victorpy.model import DEFAULT
from victorpy.outputs import OUTPUTS
from victorpy.sites.store import is_tree
from victorpy.variables import FAVORS

# Of an empty page that the model is surer of than this nothing more is said.
SURE = 0.98


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    formats = "; ".join(f"{name}: {OUTPUTS.get(name).description}" for name in OUTPUTS)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="files, directories or patterns; - or none: stdin")
    parser.add_argument("-o", "--output", metavar="OUT", help="a file, or a directory for many pages (default: stdout)")
    parser.add_argument("-f", "--format", default="text", metavar="F", help=formats)
    parser.add_argument("-m", "--model", help="a model directory or the name of a bundled model (default: default)")
    parser.add_argument("-c", "--config", help="use the model that was trained with this config")
    parser.add_argument(
        "--method",
        metavar="NAME",
        help=f"clean by another method, {', '.join(method_names())}; all pages are then taken to be of one site",
    )
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    parser.add_argument(
        "--site",
        metavar="DIR",
        help="pages of one site to learn from, and to clean where no others are named; or a tree of victor sst",
    )
    parser.add_argument(
        "--labelled",
        nargs="+",
        default=[],
        metavar="FILE.anno",
        help="annotated pages of the site, to tune a method by",
    )
    parser.add_argument("--sample", type=int, default=SAMPLE, metavar="N", help="learn from N pages (default: 500)")
    parser.add_argument(
        "--favor",
        choices=FAVORS,
        help="be wary of noise that stays (precision), of content that goes (recall), or of both alike (balanced)",
    )
    parser.add_argument("--url", help="the address of the page, for its links and its identity")
    parser.add_argument("--charset", help="the encoding that the page was sent with")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no warnings, no summary")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Clean the pages, each to its outcome."""
    output = OUTPUTS.get(arguments.format)
    inputs = arguments.pages or ([arguments.site] if arguments.site and Path(arguments.site).is_dir() else [])
    records = list(find_records(inputs))
    cleaner = _at_site(arguments, _chosen(arguments), records)
    write = open_writer(arguments.output, output, records)
    content_type = _content_type(arguments.charset)
    counts: Counter[Status] = Counter()
    # None: a bar only where stderr is a terminal
    for record in tqdm(records, unit="page", disable=True if len(records) < 2 or arguments.quiet else None):
        outcome = clean_record(record, cleaner, output, arguments.url, content_type)
        counts[outcome.status] += 1
        _report(record, outcome, arguments.quiet)
        if outcome.status is not Status.FAILED:
            write(record, outcome.text)
    if len(records) > 1 and not arguments.quiet:
        shown = ", ".join(f"{counts[status]} {status}" for status in Status)
        print(f"clean: {len(records)} pages: {shown}", file=sys.stderr)
    return 1 if counts[Status.FAILED] else 0


def _content_type(charset: str | None) -> str | None:
    if charset is None:
        return None
    if resolve_encoding(charset) is None:
        raise ConfigError(f"no encoding is called {charset!r}")
    return f"text/html; charset={charset}"


def _chosen(arguments: argparse.Namespace) -> Cleaner:
    """The method or model that was asked for; for pages of one site, unless another is named, the hybrid one."""
    method = arguments.method or ("hybrid" if arguments.site and not (arguments.model or arguments.config) else None)
    if method and (arguments.model or arguments.config):
        raise ConfigError("--method is another way to clean than a model: give it without --model and --config")
    if arguments.param and not method:
        raise ConfigError(f"--param {arguments.param[0]}: parameters are of a --method; a model has its config")
    cleaner = load_method(method, arguments.param) if method else _cleaner(arguments.model, arguments.config)
    if arguments.favor and cleaner.labeller.learns_from is not LearnsFrom.LABELS:
        raise ConfigError(f"--favor: the method {method} has no probabilities to move the cut by")
    return cleaner.favoring(arguments.favor) if arguments.favor else cleaner


def _at_site(arguments: argparse.Namespace, cleaner: Cleaner, records: Sequence[Record]) -> Cleaner:
    """Let the method see the pages of the site, where it learns from them."""
    labelled = [Path(name) for name in arguments.labelled]
    if arguments.site and is_tree(Path(arguments.site)):
        return use_tree(cleaner, Path(arguments.site), labelled)
    single = arguments.method is None and len(records) < 2  # a model for sites cleans a page by itself too
    if not arguments.site and (single or not cleaner.labeller.wants_site):
        if labelled:
            raise ConfigError(f"--labelled {labelled[0]}: only a method that learns from a site has a use for it")
        return cleaner
    pages = list(find_records([arguments.site])) if arguments.site else records
    if arguments.site and not any(page.file is None or page.file.exists() for page in pages):
        raise DataError(f"{arguments.site}: there is no such directory of pages, and no such tree")
    warn = (lambda said: None) if arguments.quiet else (lambda said: tqdm.write(f"clean: {said}", file=sys.stderr))
    return learn_site(cleaner, pages, labelled, arguments.sample, warn)


def _cleaner(model: str | None, config: str | None) -> Cleaner:
    """Load the model that was asked for; a config by itself names the model that was trained with it."""
    if config is None:
        return Cleaner.load(model or DEFAULT)
    wanted = load_config(config)
    cleaner = Cleaner.load(model or wanted.name)
    differing = cleaner.config.differences(wanted)
    if differing:
        differing = differing[:3] + ([f"{len(differing) - 3} more"] if len(differing) > 3 else [])
        raise ConfigError(
            f"the model {model or wanted.name!r} was trained with another {', '.join(differing)} than {config!r} has; "
            f"train one with: learn.py --config {config} FILES.anno"
        )
    return cleaner.with_config(wanted)


def _report(record: Record, outcome: Outcome, quiet: bool) -> None:
    """Say on stderr what a user should know of a page; failures always."""
    if outcome.status is Status.FAILED:
        tqdm.write(f"clean: {record.name}: failed: {outcome.reason}", file=sys.stderr)
    elif not quiet:
        for loss in outcome.losses:
            tqdm.write(f"clean: {record.name}: {loss}", file=sys.stderr)
        if outcome.status is Status.EMPTY:
            tqdm.write(f"clean: {record.name}: no content was found{_hint(outcome)}", file=sys.stderr)


def _hint(outcome: Outcome) -> str:
    """Where the model was not sure that there is nothing, say so, and how to have its best guess."""
    if outcome.confidence is None or outcome.confidence > SURE:
        return ""
    return f" (sure by {outcome.confidence:.2f}; --favor recall gives the best guess)"
