"""Options, checks and messages that several commands share."""

from __future__ import annotations

import argparse
import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from victorpy.base.digests import META
from victorpy.base.files import write_atomically
from victorpy.base.variables import FAVORS
from victorpy.batch.plan import Dedup, Limits, Plan
from victorpy.batch.sinks import SINKS, sink_name
from victorpy.batch.sources import ReadOptions
from victorpy.commands import Arguments
from victorpy.config import load_config
from victorpy.dedup.base import DETECTORS, KEEP, Keep
from victorpy.errors import ConfigError, ModelError, OutputError
from victorpy.methods import OLD_NAMES, Method
from victorpy.model.store import bundled_models, find_model
from victorpy.sites.grouping import SAMPLE, SITE_KEYS


def add_data(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add --data, which may be repeated."""
    options: dict[str, Any] = {"nargs": "+", "action": "extend", "required": required, "metavar": "KIND:DIR"}
    parser.add_argument("-d", "--data", default=[], help="gold standards: victor list datasets", **options)


def add_sample(parser: argparse.ArgumentParser) -> None:
    """Add --sample of methods that learn from a site."""
    sample = f"learn a site from at most N of its pages (default: {SAMPLE})"
    parser.add_argument("--sample", type=int, default=SAMPLE, metavar="N", help=sample)


def add_method(parser: argparse.ArgumentParser) -> None:
    """Add what cleans, and how: the model or method, the format of the texts, and --quiet."""
    add = parser.add_argument
    add("-f", "--format", metavar="F", help="text (default), markdown, html, jsonl or another: victor list formats")
    add("-m", "--model", help="a model directory or the name of a bundled model (default: default)")
    add("-c", "--config", help="use the model that was trained with this config")
    add("--method", metavar="NAME", help="how to clean: a model, sst or another (victor list methods)")
    add("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    add("--sample", type=int, metavar="N", help=f"learn a site from at most N of its pages (default: {SAMPLE})")
    add(
        "--favor", choices=FAVORS, help="avoid noise (precision), keep all content (recall), or balance both (balanced)"
    )
    add("-q", "--quiet", action="store_true", help="no progress, no warnings, no summary")


def add_batch(group: argparse._ActionsContainer) -> None:
    """Add the options for many pages. Those that are not given are None or empty."""
    add = group.add_argument
    add("--dedup", metavar="METHOD", help="leave out pages that repeat others, by fingerprint or another method")
    add("--keep", choices=KEEP, help="which of pages that repeat each other stays (default: first)")
    add("--dedup-param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of that method")
    add("--timeout", type=float, metavar="S", help="seconds that a page may take (default: 10)")
    add("--memory", type=float, metavar="MB", help="memory that a page may take (default: 1000)")
    add("--max-size", type=float, metavar="MB", help="skip pages that are larger (default: 32)")
    add("--html-field", metavar="NAME", help="where JSON lines and tables have the page (default: html)")
    add("--url-field", metavar="NAME", help="where they have its address (default: url)")
    add("--check-digests", action="store_true", help="fail WARC records that do not match their digest")
    add("--summary", type=Path, metavar="S.json", help="write the counts as JSON")
    add("--by-site", action="store_true", help="learn every site from --sample of its pages (--method sst, site)")
    site_key = "what pages of a site share: the registered domain of their addresses (default), or the host"
    add("--site-key", choices=SITE_KEYS, help=f"with --by-site, {site_key}")


def tell_model(arguments: Arguments) -> None:
    """Say which model is used if the name means two models, or if only a config was named.

    A plain name means a bundled model, or else a model in ./models. Raises if no model was trained with a config.
    """
    typed = arguments.model or arguments.method
    name = arguments.model or OLD_NAMES.get(arguments.method, arguments.method)
    if not typed and arguments.config:
        typed = name = load_config(arguments.config).name
        try:
            find_model(name)
        except ModelError as error:
            advice = f"train one with: victor learn --config {arguments.config} FILES.anno"
            raise ModelError(f"there is no model of the config {arguments.config!r} yet; {advice}") from error
    own = Path("models") / (typed or "")
    if not typed or not (own / META).is_file():
        return
    if name in bundled_models():
        arguments.note(f"using the bundled model {name}; to use the one in {own}: --model {own}")
    elif not (arguments.model or arguments.method):
        arguments.note(f"using the model {own}")


def method_of(arguments: Arguments, at_site: bool) -> Method:
    """Return the method or model to clean with; for pages of a site the default is the model site."""
    method = arguments.method
    if at_site and not (method or arguments.model or arguments.config):
        method = "site"
    if arguments.site_key and not arguments.by_site:
        raise ConfigError(f"--site-key {arguments.site_key}: says how pages are grouped by --by-site: give that too")
    tell_model(arguments)
    chosen = Method(method, tuple(arguments.param), arguments.model, arguments.config, arguments.favor)
    if arguments.by_site and not learns_from_site(chosen):
        raise ConfigError("--by-site is for methods that learn from a site: --method sst, site or another such")
    return chosen


def plan_of(arguments: Arguments, method: Method, jobs: int = 1, **settings: Any) -> Plan:
    """Return the plan of a run: the settings that all commands over many pages have, and others."""
    limits, reading = Limits(), ReadOptions()
    memory = positive(arguments, "memory", limits.memory / 1e6)
    largest = positive(arguments, "max_size", reading.most_bytes / 1e6)
    return Plan(
        format=arguments.format,
        method=method,
        limits=Limits(jobs, positive(arguments, "timeout", limits.deadline), int(memory * 1e6)),
        read=ReadOptions(
            html_field=arguments.html_field or reading.html_field,
            url_field=arguments.url_field or reading.url_field,
            check_digests=arguments.check_digests,
            most_bytes=int(largest * 1e6),
        ),
        by_site=arguments.by_site,
        site_key=arguments.site_key or SITE_KEYS[0],
        sample=int(positive(arguments, "sample", SAMPLE)),
        dedup=dedup_of(arguments),
        **settings,
    )


def dedup_of(arguments: Arguments) -> Dedup | None:
    """Return how to find replicas; None if they are not to be removed."""
    if arguments.dedup is None:
        if arguments.keep or arguments.dedup_param:
            option = "--keep" if arguments.keep else "--dedup-param"
            raise ConfigError(f"{option} says how replicas are dealt with: give --dedup {' or '.join(DETECTORS)} too")
        return None
    dedup = Dedup(arguments.dedup, tuple(arguments.dedup_param), arguments.keep or Keep.FIRST)
    dedup.detector()
    return dedup


def learns_from_site(method: Method) -> bool:
    """Whether a method or model uses other pages of a page's site. The default model does not."""
    is_named = method.method or method.model or method.config
    return bool(is_named) and method.load().labeller.wants_site


def name_of(method: Method) -> str:
    """Return the method or model as the user typed it."""
    options = {"--method": method.method, "--model": method.model, "--config": method.config}
    return next((f"{option} {value}" for option, value in options.items() if value), "the default model")


def positive(arguments: Arguments, name: str, default: float) -> float:
    """Return the value of an option, or its default. Raises if it is not above 0."""
    value: float | None = getattr(arguments, name)
    if value is not None and not value > 0:
        raise ConfigError(f"{arguments.options[name]} {value:g}: a number above 0 is wanted")
    return default if value is None else value


def retry_defaults(arguments: Arguments, previous: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a retry takes over from the settings of the run before, by name of the argument."""
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
    if previous.get("dedup") and not arguments.dedup:
        settings = dict(previous["dedup"])
        defaults |= {"dedup": settings.pop("method"), "keep": settings.pop("keep")}
        defaults["dedup_param"] = [f"{name}={value}" for name, value in settings.items()]
    return defaults


def check_summary(path: Path | None) -> None:
    """Raise if a summary cannot be written, before hours are spent on the run."""
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        import tempfile

        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise OutputError(f"--summary {path}: cannot be written: {error.strerror or error}") from error


def write_summary(path: Path | None, summary: dict[str, Any]) -> None:
    """Write the counts as JSON, if there is a path."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(summary, indent=2).encode() + b"\n")
