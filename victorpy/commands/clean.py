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
  clean.py crawl-*.warc.gz -o corpus.jsonl.gz/ guarded workers on all cores; the same command again goes on
  clean.py --retry corpus.jsonl.gz/failed.jsonl --timeout 60

exit codes: 0 all well, 1 some pages failed (named on stderr), 2 wrong usage
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tqdm import tqdm
from w3lib.encoding import resolve_encoding

from victorpy.batch.choice import Choice
from victorpy.batch.dedup import Dedup
from victorpy.batch.inputs import find_files, find_records
from victorpy.batch.outcome import Outcome, Status, clean_record
from victorpy.batch.progress import summary_table
from victorpy.batch.records import Record
from victorpy.batch.run import SHARD_RECORDS, Job, check_summary, failed_path, run_job
from victorpy.batch.sinks import SINKS, sink_name
from victorpy.batch.site import learn_site, use_tree
from victorpy.batch.site_models import SiteModel, at_site_bytes
from victorpy.batch.sources import source_of
from victorpy.batch.writers import Writer, open_stream, open_writer
from victorpy.cleaner import Cleaner
from victorpy.commands._dedup import configure_dedup, dedup_of
from victorpy.commands._many_pages import (
    add_arguments,
    choice_of,
    inherit,
    learns_from_site,
    limits_of,
    name_of,
    positive,
    read_options_of,
)
from victorpy.errors import ConfigError, DataError
from victorpy.labellers.site_style_tree import SAMPLE
from victorpy.methods import method_names
from victorpy.outputs import OUTPUTS, Output, find_output
from victorpy.replicas.base import Keep
from victorpy.sites.store import is_tree
from victorpy.variables import FAVORS

# Of an empty page that the model is surer of than this nothing more is said.
SURE = 0.98

# More pages than this are cleaned into a directory by guarded workers, with a manifest and an index.
MANY = 50

HERE = (Status.KEPT, Status.EMPTY, Status.FAILED)
"""What may become of a few pages."""

BATCH_OPTIONS = (
    *("jobs", "to", "timeout", "memory", "max_size", "shard_records", "html_field", "url_field", "check_digests"),
    *("summary", "by_site", "dedup"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    formats = "; ".join(f"{name}: {OUTPUTS.get(name).description}" for name in OUTPUTS)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="files, directories or patterns; - or none: stdin")
    parser.add_argument("-o", "--output", metavar="OUT", help="a file, or a directory for many pages (default: stdout)")
    parser.add_argument("-f", "--format", metavar="F", help=f"{formats} (default: text)")
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
        action="append",
        default=[],
        metavar="FILE.anno",
        help="an annotated page of the site, to tune a method by; may be repeated",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="learn from N pages (default: 500)")
    parser.add_argument(
        "--favor",
        choices=FAVORS,
        help="be wary of noise that stays (precision), of content that goes (recall), or of both alike (balanced)",
    )
    parser.add_argument("--url", help="the address of the page, for its links and its identity")
    parser.add_argument("--charset", help="the encoding that the page was sent with")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no warnings, no summary")
    _configure_batch(parser.add_argument_group("many pages", "for whole crawls: see docs/batch.md"))
    parser.set_defaults(run=run)


def _configure_batch(group: argparse._ArgumentGroup) -> None:
    group.add_argument("-j", "--jobs", type=int, metavar="N", help="worker processes (default: as many as cores)")
    group.add_argument("--to", metavar="KIND", help=f"what the output directory is made of: {', '.join(SINKS)}")
    group.add_argument("--shard-records", type=int, metavar="N", help="records in a part of the output (default: 1000)")
    configure_dedup(group)
    group.add_argument(
        "--retry", type=Path, metavar="failed.jsonl", help="clean the pages again that a run before has failed on"
    )
    add_arguments(group)


def run(arguments: argparse.Namespace) -> int:
    """Clean the pages: a few here and now, many in guarded workers."""
    inherit(arguments)
    arguments.sample = int(positive(arguments.sample, "--sample", SAMPLE))
    if arguments.by_site and arguments.labelled:
        raise ConfigError(f"--labelled {arguments.labelled[0]}: is of one site: give --site instead of --by-site")
    dedup_of(arguments)  # wrong names and values are said first, however many pages there are
    output = find_output(arguments.format)
    at_site = arguments.site and Path(arguments.site).is_dir() and not arguments.retry
    inputs = arguments.pages or ([arguments.site] if at_site else [])
    if _is_batch(arguments, inputs):
        return _run_batch(arguments, inputs)
    return _run_here(arguments, output, inputs)


def _run_here(arguments: argparse.Namespace, output: Output, inputs: Sequence[str]) -> int:
    """Clean a few pages, each to its outcome."""
    records = list(find_records(inputs))
    cleaner = _at_site(arguments, _choice(arguments).load(), records)
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
        shown = ", ".join(f"{counts[status]} {status}" for status in HERE)
        print(f"clean: {len(records)} pages: {shown}", file=sys.stderr)
    return 1 if counts[Status.FAILED] else 0


def _is_batch(arguments: argparse.Namespace, inputs: Sequence[str]) -> bool:
    """Whether there is much to do, or what only a batch run has is asked for."""
    given = (getattr(arguments, name) for name in BATCH_OPTIONS)
    if arguments.retry or any(value is not None and value is not False for value in given):  # 0 is given, and refused
        return True
    target = arguments.output or "-"
    one_file = target == "-" or (sink_name(target) == "jsonl" and find_output(arguments.format).joins)
    if sink_name(target) and not one_file:
        return True
    few = one_file or arguments.site or learns_from_site(_choice(arguments))  # however many: as it always was
    files = find_files([name for name in inputs if name != "-"])
    return any(source_of(file.path) or (number >= MANY and not few) for number, file in enumerate(files))


def _run_batch(arguments: argparse.Namespace, inputs: Sequence[str]) -> int:
    """Clean many pages in guarded workers."""
    if "-" in inputs or not (inputs or arguments.retry):
        raise ConfigError("a batch run reads files: name some, or directories, patterns, @LIST")
    if arguments.retry and arguments.pages:
        raise ConfigError(f"--retry cleans the pages that it names and no others: leave out {arguments.pages[0]}")
    if arguments.retry and arguments.by_site and not arguments.before:
        raise ConfigError(
            f"--by-site --retry {arguments.retry}: to learn sites again, the run's manifest is wanted beside it"
        )
    job = _job(arguments, arguments.before if arguments.retry else inputs)
    _refuse_inputs(arguments.output, job, inputs)
    if job.summary is not None:
        check_summary(job.summary)
    write = None
    if job.directory is None:
        writer = open_stream(arguments.output, find_output(arguments.format))
        write = partial(_written, writer)
    summary = run_job(job, sys.stderr, write)
    if not arguments.quiet:
        print(summary_table(summary), file=sys.stderr)
        if job.directory is not None and summary["failed"]:
            failed = failed_path(job, job.directory)
            print(f"clean: what failed is in {failed}; to try it again: --retry {failed}", file=sys.stderr)
    return 1 if summary["failed"] else 0


def _refuse_inputs(target: str | None, job: Job, inputs: Sequence[str]) -> None:
    """Never write over what is to be read, nor among it what could be taken for more of it."""
    if job.directory is None and target not in {None, "-"}:
        path = Path(str(target)).resolve()
        if any(file.path.resolve() == path for file in find_files(inputs)):
            raise DataError(f"{target}: is one of the inputs; it would be overwritten: choose another output")
    if job.directory is not None and job.to != "folder":
        place = job.directory.resolve()
        if any(Path(name).is_dir() and Path(name).resolve() == place for name in inputs):
            raise DataError(f"{job.directory}: is one of the inputs: choose another directory for the output")


def _written(writer: Writer, record: Record, outcome: Outcome) -> None:
    if outcome.status in {Status.KEPT, Status.EMPTY}:
        writer(record, outcome.text)


def _job(arguments: argparse.Namespace, inputs: Sequence[str]) -> Job:
    choice = _choice(arguments)
    make = _learned(arguments, choice, inputs)
    return Job(
        inputs=tuple(inputs),
        directory=_directory(arguments, inputs),
        to=_container(arguments),
        format=arguments.format,
        choice=choice,
        make=make,
        site=(arguments.site or "", *arguments.labelled),
        learned=make is not None,
        url=arguments.url,
        content_type=_content_type(arguments.charset),
        limits=limits_of(arguments, jobs=int(positive(arguments.jobs, "--jobs", _cores()))),
        read=read_options_of(arguments),
        shard_records=int(positive(arguments.shard_records, "--shard-records", SHARD_RECORDS)),
        retry=arguments.retry,
        by_site=arguments.by_site,
        sample=arguments.sample,
        dedup=_dedup(arguments),
        summary=arguments.summary,
        quiet=arguments.quiet,
    )


def _dedup(arguments: argparse.Namespace) -> Dedup | None:
    dedup = dedup_of(arguments)
    if dedup and dedup.keep == Keep.LONGEST and arguments.output in {None, "-"} and not arguments.retry:
        raise ConfigError("--keep longest lays all pages aside before it writes any: give -o DIRECTORY")
    return dedup


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _directory(arguments: argparse.Namespace, inputs: Sequence[str]) -> Path | None:
    """Where parts go; None where the texts go into one stream."""
    target = arguments.output
    if target is None and arguments.retry:
        return Path(arguments.retry).parent
    if target is None or target == "-":
        if arguments.by_site or arguments.to:
            raise ConfigError("where should the output go? give -o DIRECTORY")
        return None
    path = Path(target)
    names_file = path.suffix and not path.is_dir() and not target.endswith("/") and not arguments.to
    if names_file and find_output(arguments.format).joins and sink_name(target) in {None, "jsonl"}:
        return None  # one file, as for a few pages
    if names_file and not path.exists() and not sink_name(target):
        raise DataError(f"{target}: many pages go into a directory; if that is what you mean, write {target}/")
    return path


def _container(arguments: argparse.Namespace) -> str:
    """The kind of output: named, told by the directory's name, or files."""
    if arguments.to:
        SINKS.get(arguments.to)
        return str(arguments.to)
    return sink_name(arguments.output or "") or "folder"


def _learned(arguments: argparse.Namespace, choice: Choice, inputs: Sequence[str]) -> Callable[[], Cleaner] | None:
    """A method that has seen the pages of one site, as workers get it."""
    if arguments.by_site or not (arguments.site or learns_from_site(choice)):
        return None
    if not arguments.site and any(source_of(file.path) for file in find_files(inputs)):
        raise ConfigError(f"{name_of(choice)} learns from a site: for files with pages of many give --by-site")
    base = choice.load()
    cleaner = _at_site(arguments, base, list(find_records(inputs)))
    return SiteModel(choice, at_site_bytes(cleaner, base)).load


def _content_type(charset: str | None) -> str | None:
    if charset is None:
        return None
    if resolve_encoding(charset) is None:
        raise ConfigError(f"no encoding is called {charset!r}")
    return f"text/html; charset={charset}"


def _choice(arguments: argparse.Namespace) -> Choice:
    return choice_of(arguments, at_site=bool(arguments.site or arguments.by_site))


def _at_site(arguments: argparse.Namespace, cleaner: Cleaner, records: Sequence[Record]) -> Cleaner:
    """Let the method see the pages of the site, where it learns from them."""
    labelled = [Path(name) for name in arguments.labelled]
    if labelled and not cleaner.labeller.tunes:
        raise ConfigError(f"--labelled {labelled[0]}: only a method that learns from a site's labels has a use for it")
    if arguments.site and is_tree(Path(arguments.site)):
        if arguments.sample != SAMPLE:
            raise ConfigError(f"--sample {arguments.sample}: {arguments.site} is built already, from pages of its own")
        return use_tree(cleaner, Path(arguments.site), labelled)
    single = arguments.method is None and len(records) < 2  # a model for sites cleans a page by itself too
    if not arguments.site and (single or not cleaner.labeller.wants_site):
        return cleaner
    pages = list(find_records([arguments.site])) if arguments.site else records
    if arguments.site and not any(page.file is None or page.file.exists() for page in pages):
        raise DataError(f"{arguments.site}: there is no such directory of pages, and no such tree")
    warn = (lambda said: None) if arguments.quiet else (lambda said: tqdm.write(f"clean: {said}", file=sys.stderr))
    return learn_site(cleaner, pages, labelled, arguments.sample, warn)


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
