"""Clean web pages: print the main content, without menus, advertisements and footers.

examples:
  victor clean page.html                             print the text of a page
  curl -s URL | victor clean --format markdown       read standard input, write Markdown
  victor clean crawl/ -o clean/                      clean every page below a directory
  victor clean 'pages/*.html' --format jsonl -o pages.jsonl
  victor clean --format markdown --without links,images --front-matter page.html
  victor clean crawl/ -o corpus.jsonl/ --language en,de --min-words 50 --min-confidence 0.6
  victor clean --favor recall page.html              keep more text, even if some of it is noise
  victor clean --site crawl/example.org/ -o clean/   learn from the pages of a site, then clean them
  victor clean crawl-*.warc.gz -o corpus.jsonl.gz/   clean a crawl on all cores; repeat the command to resume, or
                                                     to clean what has changed
  victor clean @paths.txt --part 3/100 -o out.parquet/    part 3 of 100; after all parts: victor merge out.parquet/
  victor clean --retry corpus.jsonl.gz/failed.jsonl --timeout 60

exit codes: 0 success, 1 some pages failed (named on stderr), 2 wrong usage, 130 or 143 stopped by a signal
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from w3lib.encoding import resolve_encoding

from victorpy import native
from victorpy.base.files import errors_of, open_output, temporary_of
from victorpy.batch.inputs import BESIDE, Survey, find_files, find_records, is_output, names_one_page, survey
from victorpy.batch.local.progress import summary_table
from victorpy.batch.local.run import failed_path, run_plan
from victorpy.batch.outcome import Outcome
from victorpy.batch.plan import Plan
from victorpy.batch.record import Record, Status
from victorpy.batch.sinks import SINKS, Write, sink_name
from victorpy.batch.sources import source_of
from victorpy.batch.store import settings_beside
from victorpy.cleaner import Cleaner
from victorpy.commands import EXIT_FAILED, Arguments, _shared
from victorpy.dedup.base import Keep
from victorpy.errors import ConfigError, DataError, OutputError, plural, visible
from victorpy.labellers.base import LearnsFrom
from victorpy.methods import Method
from victorpy.outputs import Output, find_output
from victorpy.sites.grouping import SAMPLE

COMPRESSED = {".gz", ".zst", ".bz2", ".xz", ".zip"}  # refused endings for texts, which are not compressed
DOCUMENTS = {".doc", ".docx", ".odt", ".pdf", ".rtf", ".epub", ".xlsx"}  # endings that no format writes
FEW = 50  # maximum number of pages that are cleaned in this process, because starting workers takes longer

BATCH_OPTIONS = (
    *("jobs", "to", "timeout", "memory", "max_size", "shard_records", "html_field", "url_field", "check_digests"),
    *("summary", "by_site", "dedup", "retry", "part"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    pages = "files, directories, patterns or @LIST; omit or use - for standard input"
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=pages)
    parser.add_argument("-o", "--output", metavar="OUT", help="output file, or directory for several pages")
    page, site, many = _shared.add_cleaning(parser)
    page.add_argument("--url", type=_address, metavar="URL", help="address of the page, to resolve its links")
    page.add_argument("--charset", metavar="NAME", help="encoding from the page's HTTP header")
    directory = "learn from pages in DIR, or from a tree of victor sst; without PAGE, clean DIR"
    site.add_argument("--site", metavar="DIR", help=directory)
    labelled = "tune the method with an annotated page of the site"
    site.add_argument("--labelled", action="append", default=[], metavar="FILE.anno", help=labelled)
    many.add_argument("-j", "--jobs", type=int, metavar="N", help="worker processes (default: number of cores)")
    many.add_argument("--to", metavar="KIND", help=f"kind of output: {', '.join(SINKS)}")
    many.add_argument("--shard-records", type=int, metavar="N", help="maximum number of records per output file")
    part = "clean part K of N, for example on one of N machines; after all parts, run victor merge OUT"
    many.add_argument("--part", type=_part, metavar="K/N", help=part)
    many.add_argument("--log-json", type=Path, metavar="FILE", help="add progress and failures to a file of JSON lines")
    many.add_argument("--retry", type=Path, metavar="failed.jsonl", help="clean the failed pages of a run again")


def _address(value: str) -> str:
    if not re.match(r"[a-z][a-z\d+.-]*://[^\s/]|file:", value, re.IGNORECASE):
        raise argparse.ArgumentTypeError(f"expected an address such as https://example.org/page, not {value!r}")
    return value


def _part(value: str) -> tuple[int, int]:
    number, _, count = value.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError(f"expected a part such as 3/100, not {value!r}")
    return int(number), int(count)


def run(arguments: Arguments) -> int:
    _shared.positive(arguments, "sample", SAMPLE)
    previous = settings_beside(arguments.retry) if arguments.retry else {}
    for name, value in (_shared.retry_defaults(arguments, previous) if previous else {}).items():
        if not getattr(arguments, name):
            setattr(arguments, name, value)
    arguments.format = _shared.format_of(arguments)
    inputs = arguments.pages or ([arguments.site] if arguments.site and Path(arguments.site).is_dir() else ["-"])
    if arguments.retry:
        inputs = previous.get("inputs", [])
    _check_options(arguments, inputs)
    output = find_output(arguments.format)
    if not arguments.quiet and native.why_not() == native.NOT_BUILT:
        _suggest_core(arguments)
    seen = None if arguments.retry else survey(inputs)
    plan, pages = _make_plan(arguments, inputs, output, seen)
    _refuse_inputs(arguments.output, plan)
    if plan.output is None and not arguments.quiet:
        _explain_format(arguments, output)
    _shared.check_written("--summary", arguments.summary)
    _shared.check_written("--log-json", arguments.log_json)
    plan.check()  # before the output is created
    with ExitStack() as stack:
        write = None
        if plan.output is None:
            several = pages != 1 and not names_one_page(inputs)
            write = stack.enter_context(_open_stream(arguments, output, several))
        options = {"quiet": arguments.quiet, "force": arguments.force, "log": arguments.log_json, "seen": seen}
        summary = run_plan(plan, sys.stderr, write, guarded=not 0 < pages <= FEW, **options)
    _shared.write_summary(arguments, summary)
    if not arguments.quiet and pages != 1:
        _print_summary(arguments, plan, summary)
    return EXIT_FAILED if summary["failed"] else 0


def _check_options(arguments: Arguments, inputs: Sequence[str]) -> None:
    """Raise an error if a value is wrong, or if options cannot be combined."""
    if arguments.by_site and arguments.labelled:
        raise ConfigError(f"--labelled {arguments.labelled[0]} needs --site DIR; it does not work with --by-site")
    _shared.dedup_of(arguments)
    if arguments.retry and arguments.force:
        raise ConfigError("--retry always cleans the failed pages; leave out --force")
    if arguments.retry and arguments.pages:
        raise ConfigError(f"--retry reads only the failed pages; leave out {arguments.pages[0]}")
    if arguments.retry and arguments.by_site and not inputs:
        raise ConfigError(f"--by-site --retry {arguments.retry} needs the run's manifest.jsonl in the same directory")
    if arguments.part and arguments.dedup:
        raise ConfigError(
            "--part does not work with --dedup, which needs all pages; leave out --part, or use spark-clean"
        )
    if arguments.part and arguments.retry:
        raise ConfigError(
            "--part does not work with --retry; merge the parts, then clean the failed pages of all parts"
        )
    if arguments.charset and resolve_encoding(arguments.charset) is None:
        raise ConfigError(f"unknown encoding {arguments.charset!r}")


def _explain_format(arguments: Arguments, output: Output) -> None:
    """Print which format is written if the user may expect another one."""
    target = arguments.output or "-"
    suffix = Path(target).suffix.lower()
    is_read = target != "-" or sys.stdout.isatty()
    if output.together and is_read and suffix not in {".jsonl", ".json"}:
        arguments.say(
            f"several formats are written as one JSON object per page, with a field for each of {output.name}"
        )


def _print_summary(arguments: Arguments, plan: Plan, summary: dict[str, Any]) -> None:
    if plan.plain:
        shown = (Status.KEPT, Status.EMPTY, *([Status.SKIPPED] if summary["skipped"] else []), Status.FAILED)
        counts = ", ".join(f"{summary[status]:,} {status}" for status in shown)
        arguments.say(f"{summary['pages']:,} pages: {counts}")
        return
    print(summary_table(summary), file=sys.stderr)
    if plan.part:
        arguments.say(f"after all {plan.part[1]} parts: victor merge {plan.output}")
    elif plan.output is not None and summary["failed"]:
        failed = failed_path(plan, Path(plan.output))
        arguments.say(_shared.describe_failed(summary, failed, f"--retry {failed}"))


def _suggest_core(arguments: Arguments) -> None:
    """Print once per user that the native core is missing. An empty file records that this was done."""
    with suppress(OSError, RuntimeError):  # there is no home directory, or it is not writable, or the file exists
        remembered = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "victor-clean" / "native-hint"
        remembered.parent.mkdir(parents=True, exist_ok=True)
        remembered.touch(exist_ok=False)
        arguments.say(
            "victorpy cleans faster with its native core; install a C++ compiler, then install victorpy again "
            "(docs/guides/native.md; this hint is shown once)"
        )


def _make_plan(arguments: Arguments, inputs: Sequence[str], output: Output, seen: Survey | None) -> tuple[Plan, int]:
    """Return the plan, and the number of pages if this is a plain run."""
    method = _shared.method_of(arguments, at_site=bool(arguments.site or arguments.by_site))
    is_plain = seen is not None and seen.sources == 0 and _is_plain(arguments, output)
    if not is_plain and "-" in inputs:
        raise ConfigError("a batch run does not read standard input; name files, directories, patterns or @LIST")
    pages = seen.pages if seen and is_plain else 0
    is_few = 0 < pages <= FEW
    is_single = names_one_page(inputs)
    if arguments.url and not (is_single or arguments.retry):
        raise ConfigError(f"--url {arguments.url} is the address of one page; leave it out, or name only that page")
    directory = _find_directory(arguments, output, is_plain, is_single)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    jobs = int(_shared.positive(arguments, "jobs", 1 if is_few else cores))
    dedup = _shared.dedup_of(arguments)
    if dedup and dedup.keep == Keep.LONGEST and directory is None:
        raise ConfigError("--keep longest reads all pages before it writes any; give -o DIRECTORY")
    base = method.load()
    cleaner = base if arguments.by_site else _at_site(arguments, method, base, inputs)
    make: Callable[[], Cleaner] | None = None
    learned = False
    if cleaner is not base:
        from victorpy.batch.site_model import SiteModel, at_site_bytes
        from victorpy.sites.store import is_tree

        learned = not (arguments.site and is_tree(Path(arguments.site)))
        make = (lambda: cleaner) if is_few else SiteModel(method, at_site_bytes(cleaner, base)).load
    plan = _shared.plan_of(
        arguments,
        method,
        jobs,
        inputs=tuple(inputs),
        output=directory,
        to="folder" if is_plain or directory is None else arguments.to or sink_name(arguments.output or "") or "folder",
        make=make,
        learned_from=(arguments.site or "", *arguments.labelled),
        learned=learned,
        url=arguments.url,
        content_type=f"text/html; charset={arguments.charset}" if arguments.charset else None,
        retry=arguments.retry,
        part=arguments.part,
        plain=is_plain,
        shard_records=int(_shared.positive(arguments, "shard_records", 0)) or None,
    )
    return plan, pages


def _is_plain(arguments: Arguments, output: Output) -> bool:
    """Whether neither an option nor the output asks for a batch run."""
    target = arguments.output or "-"
    is_joined_file = sink_name(target) == "jsonl" == output.suffix.lstrip(".") and not target.endswith("/")
    options = (getattr(arguments, name) for name in BATCH_OPTIONS)
    return not (
        any(value is not None and value is not False for value in options)  # 0 counts as given, and is rejected later
        or (sink_name(target) and not is_joined_file)
        or (target != "-" and is_output(Path(target)))
    )


def _find_directory(arguments: Arguments, output: Output, is_plain: bool, is_single: bool) -> Path | None:
    """Return the output directory; None if all texts go to standard output or into one file."""
    target = arguments.output
    if arguments.to:
        SINKS.get(arguments.to)  # raises if the kind does not exist
    if target is None and arguments.retry:
        side = Path(arguments.retry).parent
        directory = Path(str(side).removesuffix(BESIDE) or side)
        return directory if directory.is_dir() else side
    if target is None or target == "-":
        if arguments.by_site or arguments.to or arguments.part:
            raise ConfigError("--by-site, --part and --to write a directory; give -o DIRECTORY")
        return None
    path = Path(target)
    if arguments.part and (arguments.to or sink_name(target) or "folder") == "folder":
        raise ConfigError("--part cannot write a folder of texts; add --to jsonl.gz, parquet or another kind")
    if arguments.to or path.is_dir() or target.endswith("/"):
        return path
    if path.suffix.lower() in COMPRESSED and not sink_name(target):
        raise DataError(f"{target}: texts are not compressed; choose a name without {path.suffix}, or --to jsonl.gz")
    if path.suffix.lower() in DOCUMENTS:
        raise DataError(f"{target}: no format writes {path.suffix} files; choose another name, such as {path.stem}.md")
    if path.suffix.lower() == ".json" and not output.suffix.startswith(".json"):
        raise DataError(f"{target}: {output.name} is not JSON; add --format jsonl, or choose another name")
    joins_always = is_plain and not output.is_titled and not any(output.around)  # regardless of the name
    is_one_file = sink_name(target) is None or sink_name(target) == "jsonl" == output.suffix.lstrip(".")
    if is_one_file and (is_single or (output.joins and (path.suffix or joins_always))):
        return None
    if path.suffix and not sink_name(target):
        if path.exists():
            raise DataError(f"{target} is a file; several pages need an output directory")
        raise DataError(f"{target} looks like a file; several pages need an output directory, such as {target}/")
    return path


def _refuse_inputs(target: str | None, plan: Plan) -> None:
    """Raise an error if the output would overwrite an input, or if a later run would read it as input."""
    if plan.output is None and target not in {None, "-"}:
        path = Path(str(target)).resolve()
        if any(file.path.resolve() == path for file in find_files(plan.inputs)):
            raise DataError(f"{target} is an input and would be overwritten; choose another output")
    if plan.output is not None and plan.to != "folder":
        directory = Path(plan.output).resolve()
        if any(Path(name).is_dir() and Path(name).resolve() == directory for name in plan.inputs):
            raise DataError(f"{plan.output} is an input; choose another output directory")


@contextmanager
def _open_stream(arguments: Arguments, output: Output, several: bool) -> Iterator[Write]:
    """Open standard output or a file for texts.

    An existing file is replaced at the end, unless all pages have failed. If the run ends early, the pages that it has
    cleaned are in a file beside it, all of them whole.
    """
    path = None if arguments.output in {None, "-"} else Path(arguments.output)
    temporary = None  # pipes and devices are written directly
    if path and (path.is_file() or not path.exists()):
        path = path.resolve()
        temporary = temporary_of(path)
    with errors_of(path, temporary):
        stream = sys.stdout if path is None else open_output(temporary or path, arguments.note)
    titled = several and (output.is_titled or not output.joins)
    before, after = output.around if several else ("", "")
    saved = {Status.KEPT} if several and output.omits_empty else {Status.KEPT, Status.EMPTY}
    written, failed, size = 0, 0, 0

    def write(record: Record, outcome: Outcome) -> None:
        nonlocal written, failed, size
        failed += outcome.status == Status.FAILED
        if outcome.status not in saved:
            return
        if titled:
            stream.write(f"{chr(10) if written else ''}==> {visible(record.name)} <==\n")
        stream.write(outcome.text if written and not titled else output.header + outcome.text)
        stream.flush()
        written, size = written + 1, stream.tell() if temporary else 0

    try:
        stream.write(before)
        yield write
        stream.write(after)
        stream.flush()
        if path and temporary and (written or not failed):
            stream.close()
            _replace(path, temporary)
    except BaseException:
        if written and several:
            place = ""
            if path and temporary:
                place = _keep(stream, path, temporary, size, after)
                temporary = None
            else:
                with suppress(OSError):
                    stream.write(after)
                    stream.flush()
            arguments.say(f"stopped: {plural(written, 'page')} written{place}")
        raise
    finally:
        if path is not None:
            with suppress(OSError):  # the disk is full, which was reported before
                stream.close()
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _replace(path: Path, temporary: Path) -> None:
    try:
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    except FileNotFoundError as error:
        raise OutputError(f"{path}: the directory was removed during the run") from error


def _keep(stream: TextIO, path: Path, temporary: Path, size: int, after: str) -> str:
    """Keep the pages of a run that has ended early beside the output. Return where they are.

    The first `size` bytes are whole pages.
    """
    with suppress(OSError):  # the disk is full
        stream.close()
    try:
        os.truncate(temporary, size)
    except OSError:
        return ", but the directory was removed"
    with suppress(OSError), temporary.open("a", encoding="utf-8") as file:
        file.write(after)
    partial = path.with_name(f"{path.name}.partial")
    try:
        temporary.replace(partial)
    except OSError:  # it is a directory, or the name is too long
        partial = temporary
    return f" to {partial}; the same command starts over (-o DIRECTORY would resume)"


def _at_site(arguments: Arguments, method: Method, cleaner: Cleaner, inputs: Sequence[str]) -> Cleaner:
    """Return the cleaner after it has learned from the pages of the site, if the method does so."""
    labelled = [Path(name) for name in arguments.labelled]
    if labelled and not cleaner.labeller.tunes:
        raise ConfigError(f"--labelled {labelled[0]}: {_shared.name_of(method)} cannot be tuned by labels")
    if not arguments.site and not cleaner.labeller.wants_site:
        return cleaner
    from victorpy.batch.site_model import learn_site, use_tree
    from victorpy.sites.store import is_tree

    if arguments.site and is_tree(Path(arguments.site)):
        if arguments.sample is not None:
            raise ConfigError(f"--sample {arguments.sample} has no effect: {arguments.site} is already built")
        return use_tree(cleaner, Path(arguments.site), labelled)
    if arguments.site:
        pages = list(find_records([arguments.site]))
        if not any(page.file is None or page.file.exists() for page in pages):
            raise DataError(f"{arguments.site}: no such directory of pages or style tree")
    else:
        if any(source_of(file.path) for file in find_files(inputs)):
            raise ConfigError(
                f"{_shared.name_of(method)} learns from one site; for files with pages of many sites add --by-site"
            )
        pages = list(find_records(inputs))
        if cleaner.labeller.learns_from is LearnsFrom.LABELS and len(pages) < 2:
            return cleaner  # a model for sites can also clean a single page
    return learn_site(cleaner, pages, labelled, arguments.sample or SAMPLE, arguments.note)
