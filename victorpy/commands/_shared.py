"""Options and checks that several commands share."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from victorpy.base.digests import META
from victorpy.base.files import open_output, write_atomically
from victorpy.base.language import primary
from victorpy.base.variables import FAVORS
from victorpy.batch.plan import Dedup, Filters, Limits, Plan
from victorpy.batch.record import Kind
from victorpy.batch.sinks import SINKS, sink_name
from victorpy.batch.sources import ReadOptions
from victorpy.commands import Arguments, reason_of
from victorpy.config import load_config
from victorpy.dedup.base import DETECTORS, KEEP, Keep
from victorpy.errors import ConfigError, ModelError, OutputError
from victorpy.methods import Method
from victorpy.model.parts import HEADLINES, PARTS, Parts
from victorpy.model.store import bundled_models, find_model
from victorpy.outputs import find_output
from victorpy.sites.grouping import SAMPLE, SITE_KEY, SITE_KEYS

_MOST = 1_000_000_000
"""Largest allowed number of seconds, megabytes or pages."""


FORMATS = {
    **{".md": "markdown", ".html": "html", ".htm": "html", ".xml": "xml", ".csv": "csv"},
    **{".anno": "anno", ".vert": "vertical", ".prevert": "prevertical"},
}
"""The format for each file name ending of the output."""


def add_data(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add --data, which may be repeated."""
    options: dict[str, Any] = {"nargs": "+", "action": "extend", "required": required, "metavar": "KIND:DIR"}
    parser.add_argument("-d", "--data", default=[], help="gold standards; victor list datasets shows kinds", **options)


def add_number(group: argparse._ActionsContainer, *flags: str, default: int, help: str) -> None:
    """Add an option with a whole number. The default is added to the help."""
    group.add_argument(*flags, type=int, default=default, metavar="N", help=f"{help} (default: {default})")


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """Add the options that evaluate, compare and mine have in common."""
    add_data(parser)
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="directory for the report")
    add_number(parser, "--sample", default=SAMPLE, help="maximum number of pages to learn a site from")
    add_site_key(parser)
    add_number(parser, "--seed", default=1, help="random seed")


def add_site_key(group: argparse._ActionsContainer, default: str | None = SITE_KEY) -> None:
    """Add --site-key, for commands that group pages by site."""
    text = f"group pages into sites by registered domain or by host (default: {SITE_KEY})"
    group.add_argument("--site-key", choices=SITE_KEYS, default=default, help=text)


def add_cleaning(parser: argparse.ArgumentParser) -> tuple[argparse._ArgumentGroup, ...]:
    """Add the options of commands that clean pages. Options that are not given are None, False or empty.

    Returns the groups "input", "sites" and "many pages", to which a command may add its own options.
    """
    formats = "text (default), markdown, html, jsonl or another; victor list formats shows all"
    parser.add_argument("-f", "--format", metavar="NAME", help=formats)
    parser.add_argument("-q", "--quiet", action="store_true", help="print no progress, warnings or summary")

    add = parser.add_argument_group("model or method").add_argument
    add("-m", "--model", metavar="NAME", help="a bundled model, or a model directory (default: default)")
    add_allow_code(add)
    add("-c", "--config", metavar="NAME", help="use the model that was trained with this config")
    add("--method", metavar="NAME", help="a method such as sst; victor list methods shows all")
    add("--param", action="append", default=[], metavar="NAME=VALUE", help="set a parameter of the method")
    add("--favor", choices=FAVORS, help="avoid noise (precision) or avoid losing content (recall)")

    add = parser.add_argument_group("parts of the page (docs/guides/cleaning.md)").add_argument
    names: dict[str, Any] = {"action": "append", "default": [], "metavar": "PARTS"}
    add("--with", dest="include", help="keep these parts, separated by commas: comments, byline, tags, ...", **names)
    add("--without", dest="exclude", help=f"drop these parts: {', '.join(PARTS)}", **names)
    add(
        "--headline",
        choices=HEADLINES,
        help="keep the headline always, never, or if the model does (default: unless it is almost surely noise)",
    )
    add("--front-matter", action="store_true", help="begin Markdown with title, author, date and more, as YAML")

    add = parser.add_argument_group("filters: skip pages, with a reason").add_argument
    add("--min-words", type=int, metavar="N", help="skip texts with fewer words")
    add("--min-confidence", type=float, metavar="P", help="skip texts with a lower expected F1, from 0 to 1")
    add("--language", action="append", default=[], metavar="CODES", help="skip other languages, as detected: en,de")

    page = parser.add_argument_group("input")
    add = page.add_argument
    add("--html-field", metavar="NAME", help="field of JSON lines or tables with the page (default: html)")
    add("--url-field", metavar="NAME", help="field with the page's address (default: url)")
    add("--max-size", type=float, metavar="MB", help="skip larger pages (default: 32)")
    add("--check-digests", action="store_true", help="fail WARC records that do not match their digest")

    site = parser.add_argument_group("sites (docs/guides/sites.md)")
    site.add_argument("--by-site", action="store_true", help="group pages by site, and learn from each site's pages")
    add_site_key(site, default=None)
    sample = f"maximum number of pages to learn a site from (default: {SAMPLE})"
    site.add_argument("--sample", type=int, metavar="N", help=sample)

    many = parser.add_argument_group("many pages (docs/guides/batch.md)")
    add = many.add_argument
    add("--timeout", type=float, metavar="S", help="seconds of CPU time per page (default: 10)")
    memory = "memory per page, besides 3 times --max-size and 32 MB to read pages (default: 1000)"
    add("--memory", type=float, metavar="MB", help=memory)
    add("--force", action="store_true", help="start over: clean all pages again, and replace an earlier run's output")
    add("--summary", type=Path, metavar="FILE", help="write the counts to a JSON file")

    add = parser.add_argument_group("duplicates (docs/guides/deduplication.md)").add_argument
    add("--dedup", metavar="METHOD", help="find copies: pages, paragraphs, or fingerprint (the method of DocView)")
    add("--keep", choices=KEEP, help="which of several copies to keep (default: first)")
    add("--drop-replicas", action="store_true", help="leave the texts of copies out of the rows of the output")
    add("--dedup-param", action="append", default=[], metavar="NAME=VALUE", help="set a parameter of --dedup")
    return page, site, many


def add_allow_code(add: Callable[..., object]) -> None:
    """Add --allow-code, for commands that load models."""
    add("--allow-code", action="store_true", help="run the Python code in a model; only if you trust its author")


def method_of(arguments: Arguments, at_site: bool) -> Method:
    """Return the method or model to clean with. For pages of a site, the default is the model ``site``."""
    method = arguments.method
    if at_site and not (method or arguments.model or arguments.config):
        method = "site"
    if arguments.site_key and not arguments.by_site:
        raise ConfigError(f"--site-key {arguments.site_key} needs --by-site")
    announce_model(arguments)
    chosen = Method(
        *(method, tuple(arguments.param), arguments.model, arguments.config, arguments.favor),
        allow_code=arguments.allow_code,
    )
    if arguments.by_site and not learns_from_site(chosen):
        raise ConfigError(
            f"{name_of(chosen)} does not learn from sites; leave out --by-site, or use --method site or sst"
        )
    return chosen


def announce_model(arguments: Arguments) -> None:
    """Print which model is used if its name is ambiguous, or if the user named only a config.

    A plain name refers to a bundled model, or else to a model in ./models. Raises if the config has no model.
    """
    typed = arguments.model or arguments.method
    name = typed
    if not typed and arguments.config:
        typed = name = load_config(arguments.config).name
        try:
            find_model(name)
        except ModelError as error:
            advice = f"train one with: victor learn --config {arguments.config} FILES.anno"
            raise ModelError(f"no model has been trained with the config {arguments.config!r} yet; {advice}") from error
    own = Path("models") / (typed or "")
    if not typed or not (own / META).is_file():
        return
    if name in bundled_models() or not (arguments.model or arguments.method):
        arguments.note(describe_model(name, own))


def describe_model(name: str, own: Path) -> str:
    """Return a message about the model that a name refers to. `own` is the directory of the user's models."""
    if name not in bundled_models():
        return f"using the model {own}"
    return f"using the bundled model {name}" + (f"; to use your own: --model {own}" if (own / META).is_file() else "")


def learns_from_site(method: Method) -> bool:
    """Whether a method or model uses other pages of the same site. The default model does not."""
    is_default = not (method.method or method.model or method.config)
    return not is_default and method.load().labeller.wants_site


def name_of(method: Method) -> str:
    """Return the method or model as the user typed it."""
    options = {"--method": method.method, "--model": method.model, "--config": method.config}
    return next((f"{option} {value}" for option, value in options.items() if value), "the default model")


def plan_of(arguments: Arguments, method: Method, jobs: int = 1, **settings: Any) -> Plan:
    """Return the plan of a run, with the options of `add_cleaning` and other settings."""
    limits, reading = Limits(), ReadOptions()
    memory = positive(arguments, "memory", limits.memory / 1e6)
    largest = positive(arguments, "max_size", reading.most_bytes / 1e6)
    return Plan(
        format=arguments.format,
        parts=Parts.of(arguments.include, arguments.exclude, arguments.headline or ""),
        filters=filters_of(arguments),
        method=method,
        limits=Limits(jobs, positive(arguments, "timeout", limits.deadline), int(memory * 1e6)),
        read=ReadOptions(
            html_field=arguments.html_field or reading.html_field,
            url_field=arguments.url_field or reading.url_field,
            check_digests=arguments.check_digests,
            most_bytes=int(largest * 1e6),
        ),
        by_site=arguments.by_site,
        site_key=arguments.site_key or SITE_KEY,
        sample=int(positive(arguments, "sample", SAMPLE)),
        dedup=dedup_of(arguments),
        **settings,
    )


def filters_of(arguments: Arguments) -> Filters:
    """Return the conditions that texts must meet. Raises if a value is wrong."""
    confidence = arguments.min_confidence or 0.0
    if not 0 <= confidence <= 1:
        raise ConfigError(f"--min-confidence must be from 0 to 1, not {confidence:g}")
    codes = [primary(code) for codes in arguments.language for code in codes.split(",") if code.strip()]
    return Filters(int(positive(arguments, "min_words", 0)), confidence, tuple(dict.fromkeys(codes)))


def format_of(arguments: Arguments) -> str:
    """Return the format with its parameters. If none is given, the ending of the output may choose one."""
    ending = Path(getattr(arguments, "output", None) or "").suffix.lower()
    name: str = arguments.format or FORMATS.get(ending, "text")
    if "roles" in Parts.of(arguments.include).included and not find_output(name).writes_roles:
        raise ConfigError(f"--with roles needs --format jsonl or anno; {name} has no roles")
    if not arguments.front_matter:
        return name
    if name != "markdown":
        raise ConfigError("--front-matter needs --format markdown")
    return "markdown(front_matter=true)"


def positive(arguments: Arguments, name: str, default: float) -> float:
    """Return the value of an option, or its default. Raises an error if it is not above 0, or too large."""
    value: float | None = getattr(arguments, name)
    if value is not None and not 0 < value <= _MOST:
        bound = f"at most {_MOST:,}" if value > _MOST else "above 0"
        raise ConfigError(f"{arguments.options[name]} must be {bound}, not {value:g}")
    return default if value is None else value


def dedup_of(arguments: Arguments) -> Dedup | None:
    """Return the settings of deduplication, or None without --dedup."""
    if arguments.dedup is None:
        given = [name for name in ("keep", "dedup_param", "drop_replicas") if getattr(arguments, name)]
        if given:
            raise ConfigError(f"--{given[0].replace('_', '-')} needs --dedup {' or '.join(DETECTORS)}")
        return None
    settings, keep = tuple(arguments.dedup_param), arguments.keep or Keep.FIRST
    dedup = Dedup(arguments.dedup, settings, keep, arguments.drop_replicas)
    dedup.detector()  # raises an error if a name or value is wrong
    return dedup


def retry_defaults(arguments: Arguments, previous: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a retry takes from the settings of the previous run."""
    defaults: dict[str, Any] = {
        "format": previous["format"],
        "html_field": previous["html field"],
        "url_field": previous["url field"],
        "max_size": previous["largest page"] / 1e6,
        "url": previous["url"],
        "charset": (previous["content type"] or "").rpartition("charset=")[2] or None,
    }
    if previous["to"] in SINKS and not sink_name(arguments.output or ""):
        defaults["to"] = previous["to"]
    if not (arguments.method or arguments.model or arguments.config):
        choice = previous["choice"]
        site, *labelled = previous["site"] or [None]
        (sample,) = previous["by site"] or [previous.get("sample")]
        defaults |= {name: choice.get(name) for name in ("method", "model", "config", "favor")}
        defaults["param"] = list(choice.get("parameters", ()))
        defaults |= {"site": site, "labelled": labelled, "by_site": bool(previous["by site"]), "sample": sample}
        if previous["by site"]:  # versions before 0.2 grouped pages by host
            defaults["site_key"] = previous.get("site key", "host")
    if "parts" in previous and not (arguments.include or arguments.exclude or arguments.headline):
        defaults |= previous["parts"]
    if "filters" in previous:
        filters = dict(previous["filters"])
        filters["language"] = filters.pop("languages")
        defaults |= {name: value for name, value in filters.items() if value}
    if previous.get("dedup") and not arguments.dedup:
        settings = dict(previous["dedup"])
        defaults |= {"dedup": settings.pop("method"), "keep": settings.pop("keep")}
        defaults["drop_replicas"] = settings.pop("drop", True)
        defaults["dedup_param"] = [f"{name}={value}" for name, value in settings.items()]
    return defaults


def describe_failed(summary: Mapping[str, Any], failed: Path | str, command: str) -> str:
    """Return where failed pages are listed, with a command that cleans them again if one of them may succeed."""
    again = f"; clean them again with {command}" if any(Kind(kind).may_pass for kind in summary["kinds"]) else ""
    return f"failed pages are listed in {failed}{again}"


def check_written(option: str, path: Path | None) -> None:
    """Raise before the run if a file that an option names cannot be written."""
    if path is None:
        return
    try:
        directory = path.resolve().parent
        directory.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.exists() and not path.is_file():
            return  # pipes and devices are not replaced
        import tempfile

        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise OutputError(f"{option} {path}: cannot be written: {reason_of(error)}") from error


def write_summary(arguments: Arguments, summary: dict[str, Any]) -> None:
    """Write the counts as JSON if --summary was given."""
    path: Path | None = arguments.summary
    text = json.dumps(summary, indent=2) + "\n"
    if path is not None and path.exists() and not path.is_file():  # a pipe or a device
        with open_output(path, arguments.note) as file:
            file.write(text)
    elif path is not None:
        path = path.resolve()  # the file that a link names
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode())


@contextmanager
def one_line(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows messages in one line, which each message replaces. Outside a terminal they add up."""
    from tqdm import tqdm  # most commands need no progress in one line

    with tqdm(bar_format="{desc}", disable=quiet or None, leave=False) as bar:

        def show(message: str) -> None:
            if not bar.disable:
                bar.set_description_str(message)
            elif not quiet:
                print(message, file=sys.stderr, flush=True)

        yield show
