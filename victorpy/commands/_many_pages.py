"""The arguments that all commands over many pages share, and what they come to."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from victorpy.batch.choice import Choice
from victorpy.batch.guard import Limits
from victorpy.batch.retry import settings_beside
from victorpy.batch.sinks import SINKS, sink_name
from victorpy.batch.sources import ReadOptions
from victorpy.commands._dedup import inherit_dedup
from victorpy.errors import ConfigError


def add_arguments(group: argparse._ActionsContainer) -> None:
    """Add what limits pages and says where they are; what is not given stays None."""
    group.add_argument("--timeout", type=float, metavar="S", help="seconds that a page may take (default: 10)")
    group.add_argument("--memory", type=float, metavar="MB", help="memory that a page may take (default: 1000)")
    group.add_argument("--max-size", type=float, metavar="MB", help="skip pages that are larger (default: 32)")
    group.add_argument("--html-field", metavar="NAME", help="where JSON lines and tables have the page (default: html)")
    group.add_argument("--url-field", metavar="NAME", help="where they have its address (default: url)")
    group.add_argument("--check-digests", action="store_true", help="fail WARC records that do not match their digest")
    group.add_argument("--summary", type=Path, metavar="S.json", help="write the counts as JSON")
    group.add_argument(
        "--by-site", action="store_true", help="learn every site from --sample of its pages (--method sst, hybrid)"
    )


def limits_of(arguments: argparse.Namespace, jobs: int = 1) -> Limits:
    """What a page may cost."""
    usual = Limits()
    memory = positive(arguments.memory, "--memory", usual.memory / 1e6)
    return Limits(jobs, positive(arguments.timeout, "--timeout", usual.deadline), int(memory * 1e6))


def read_options_of(arguments: argparse.Namespace) -> ReadOptions:
    """How sources are read."""
    usual = ReadOptions()
    return ReadOptions(
        html_field=arguments.html_field or usual.html_field,
        url_field=arguments.url_field or usual.url_field,
        check_digests=arguments.check_digests,
        most_bytes=int(positive(arguments.max_size, "--max-size", usual.most_bytes / 1e6) * 1e6),
    )


def choice_of(arguments: argparse.Namespace, at_site: bool) -> Choice:
    """The method or model that was asked for; for pages of a site, unless another is named, the hybrid one."""
    method = arguments.method
    if at_site and not (method or arguments.model or arguments.config):
        method = "hybrid"
    choice = Choice(method, tuple(arguments.param), arguments.model, arguments.config, arguments.favor)
    if arguments.by_site and not learns_from_site(choice):
        raise ConfigError("--by-site is for methods that learn from a site: --method sst, hybrid or another such")
    return choice


def learns_from_site(choice: Choice) -> bool:
    """Whether a method or model looks at other pages of a page's site; the default one does not."""
    is_named = choice.method or choice.model or choice.config
    return bool(is_named) and choice.load().labeller.wants_site


def name_of(choice: Choice) -> str:
    """What was asked for, as it was typed."""
    named = {"--method": choice.method, "--model": choice.model, "--config": choice.config}
    return next((f"{option} {value}" for option, value in named.items() if value), "the default model")


def positive(value: float | None, option: str, default: float) -> float:
    """The value of an option that has to be above 0."""
    if value is not None and not value > 0:
        raise ConfigError(f"{option} {value:g}: a number above 0 is wanted")
    return default if value is None else value


def inherit(arguments: argparse.Namespace) -> None:
    """What is not said is as usual; where pages are tried again, as it was the first time."""
    before = settings_beside(arguments.retry) if arguments.retry else {}
    arguments.format = arguments.format or before.get("format", "text")
    arguments.before = before.get("inputs", [])
    if not before:
        return
    if before["to"] in SINKS and not sink_name(arguments.output or ""):
        arguments.to = arguments.to or before["to"]
    arguments.html_field = arguments.html_field or before["html field"]
    arguments.url_field = arguments.url_field or before["url field"]
    arguments.max_size = arguments.max_size or before["largest page"] / 1e6
    arguments.url = arguments.url or before["url"]
    arguments.charset = arguments.charset or (before["content type"] or "").rpartition("charset=")[2] or None
    if not (arguments.method or arguments.model or arguments.config):
        _inherit_method(arguments, before)
    if before.get("dedup") and not arguments.dedup:
        inherit_dedup(arguments, before["dedup"])


def _inherit_method(arguments: argparse.Namespace, before: Mapping[str, Any]) -> None:
    """Clean as before: by the same method or model, at the same sites."""
    choice = before["choice"]
    arguments.method, arguments.model, arguments.config = (choice.get(name) for name in ("method", "model", "config"))
    arguments.param = arguments.param or list(choice.get("parameters", ()))
    arguments.favor = arguments.favor or choice.get("favor")
    if before["site"] and not arguments.site:
        arguments.site, *arguments.labelled = before["site"]
    arguments.by_site = arguments.by_site or bool(before["by site"])
    if arguments.sample is None:
        (arguments.sample,) = before["by site"] or [before.get("sample")]
