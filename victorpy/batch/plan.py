"""The plan of a run: its inputs, how they are cleaned, and the kind of output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from victorpy.base.language import known_languages
from victorpy.base.version import __version__
from victorpy.batch.record import MOST_BYTES
from victorpy.batch.sources import ReadOptions
from victorpy.cleaner import Cleaner, needs_metadata
from victorpy.dedup.base import Detector, Keep, load_detector
from victorpy.errors import ConfigError, suggest
from victorpy.methods import Method
from victorpy.model.labeller import ModelLabeller
from victorpy.model.parts import DEFAULT_PARTS, Parts
from victorpy.outputs import find_output
from victorpy.sites.grouping import SAMPLE, SITE_KEY, site_of


@dataclass(frozen=True, slots=True)
class Limits:
    """The number of workers, and the time and memory that a page may use."""

    jobs: int = 1
    deadline: float = 10.0
    """Seconds per page."""
    memory: int = 1_000_000_000
    """Bytes per page, in addition to what an idle worker uses."""


PARAGRAPH_FORMATS = ("text", "markdown")
"""Formats with blank lines between paragraphs."""


@dataclass(frozen=True, slots=True)
class Dedup:
    """How to find replicas, and which copy to keep."""

    method: str
    settings: tuple[str, ...] = ()
    """Parameters of the method, as ``NAME=VALUE``."""
    keep: str = Keep.FIRST
    drop: bool = False
    """Whether rows of replicas lose their text."""

    @property
    def by_paragraph(self) -> bool:
        """Whether paragraphs are compared instead of pages."""
        return self.method == "paragraphs"

    def detector(self) -> Detector:
        return load_detector(self.method, self.settings)

    def identity(self) -> dict[str, Any]:
        """Return the settings that determine which records are replicas."""
        return {"method": self.method, **self.detector().parameters(), "keep": str(self.keep), "drop": self.drop}

    def __str__(self) -> str:
        return f"by {self.method}, keeping the {self.keep}"


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that the text of a page must meet. Other pages are skipped."""

    min_words: int = 0
    min_confidence: float = 0.0
    languages: tuple[str, ...] = ()
    """Codes of detected languages, such as ``en``. All languages if empty."""

    def check(self, cleaner: Cleaner) -> None:
        """Raise an error if a language is unknown, or if the method estimates no confidence."""
        known = known_languages() if self.languages else frozenset()
        for code in sorted(set(self.languages) - known):
            raise ConfigError(f"unknown language {code!r}{suggest(code, known - {'zxx'})}; give codes such as en,de")
        if self.min_confidence and not isinstance(cleaner.labeller, ModelLabeller):
            raise ConfigError("a minimum confidence needs a model: other methods have no confidence")


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Plan:
    """A run over many pages, as plain data that every process of the run receives."""

    inputs: tuple[str, ...] = ()
    """Files, directories, patterns and ``@LIST``s. In a retry with `by_site`, the pages to learn sites from."""
    output: Path | str | None = None
    """Output directory; None if a function receives the texts."""
    to: str = "folder"
    """Kind of output."""
    format: str = "text"
    parts: Parts = DEFAULT_PARTS
    """Parts of the pages to keep or drop."""
    filters: Filters = NO_FILTERS
    method: Method = field(default_factory=Method)
    make: Callable[[], Cleaner] | None = None
    """Returns the cleaner if `method.load` cannot be used, for example because it has learned from a site."""
    learned_from: tuple[str, ...] = ()
    """Pages that the cleaner has learned from, if they are not the inputs."""
    learned: bool = False
    """Whether the cleaner has learned from `sample` pages."""
    url: str | None = None
    content_type: str | None = None
    limits: Limits = field(default_factory=Limits)
    read: ReadOptions = field(default_factory=ReadOptions)
    by_site: bool = False
    """Whether to learn every site from `sample` of its pages."""
    site_key: str = SITE_KEY
    """How pages are grouped into sites with `by_site`: by domain or host."""
    sample: int = SAMPLE
    dedup: Dedup | None = None
    retry: Path | None = None
    """The failed.jsonl whose records are cleaned again."""
    part: tuple[int, int] | None = None
    """Clean only a part of the inputs: its number, from 1, and the number of parts."""
    plain: bool = False
    """Whether this is a plain run, which writes only texts: no manifest, no index, no size limit, but all warnings."""
    shard_records: int | None = None
    """Maximum number of records in a part of a local run's output. By default, the kind of output decides."""
    shard_files: int | None = None
    """Number of input files per Spark shard. A large file counts as several. By default, the size decides."""
    buckets: int = 16
    """Number of Spark shards with `by_site`."""

    @property
    def has_rows(self) -> bool:
        """Whether the output has a row for each page. A folder has a file for each page instead."""
        return not self.plain and self.to != "folder"

    @property
    def wants_metadata(self) -> bool:
        """Whether rows, the format or the chosen parts need the metadata of pages."""
        wants_facts = self.has_rows and "facts" not in self.parts.excluded
        return wants_facts or needs_metadata(find_output(self.format), self.parts)

    @property
    def most_bytes(self) -> int:
        """Maximum size of a page."""
        return MOST_BYTES if self.plain else self.read.most_bytes

    def load(self) -> Cleaner:
        return (self.make or self.method.load)()

    def check(self) -> None:
        """Raise an error if a name is wrong or a package is missing, because otherwise every page would fail."""
        find_output(self.format)
        site_of("", self.site_key)
        self.filters.check(self.load())
        if self.dedup is not None:
            self.dedup.detector().sign("Tea is made by pouring hot water over the leaves of the tea bush. " * 2)
            if self.dedup.by_paragraph and self.format.partition("(")[0] not in PARAGRAPH_FORMATS:
                formats = " and ".join(PARAGRAPH_FORMATS)
                raise ConfigError(f"--dedup paragraphs works with the formats {formats}, not {self.format}")

    def identity(self, input_digest: str) -> dict[str, Any]:
        """Return the settings that determine the output bytes. A resumed run may change all other settings.

        The version is included because another version may store records in another form.
        """
        identity = {
            "victorpy": __version__,
            "inputs": list(self.inputs),
            "input files": input_digest,
            **self.method.identity(),
            "format": self.format,
            "to": self.to,
            "url": self.url,
            "content type": self.content_type,
            "records a part": self.shard_records,
            "files a shard": self.shard_files,
            "html field": self.read.html_field,
            "url field": self.read.url_field,
            "check digests": self.read.check_digests,
            "largest page": self.read.most_bytes,
            "site": list(self.learned_from) if any(self.learned_from) else None,
            "by site": [self.sample] if self.by_site else None,
        }
        if self.parts != DEFAULT_PARTS:
            identity["parts"] = self.parts.identity()
        if self.filters != NO_FILTERS:
            identity["filters"] = {**asdict(self.filters), "languages": list(self.filters.languages)}  # as in JSON
        if self.by_site:
            identity |= {"site key": self.site_key, "buckets": self.buckets}
        if self.learned:
            identity["sample"] = self.sample
        if self.dedup:
            identity["dedup"] = self.dedup.identity()
        if self.part:
            identity["part"] = list(self.part)
        if self.retry:  # limits identify a retry, because a second retry usually raises them
            identity |= {"retry": str(self.retry), "timeout": self.limits.deadline, "memory": self.limits.memory}
        return identity

    def notes(self) -> dict[str, Any]:
        """Return further settings that a retry needs. A resumed run may change them."""
        return {"choice": asdict(self.method)}
