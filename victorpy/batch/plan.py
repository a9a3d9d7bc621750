"""The plan of a run: which pages are cleaned how, and what their texts become."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from victorpy.base.version import __version__
from victorpy.batch.sources import ReadOptions
from victorpy.cleaner import Cleaner
from victorpy.dedup.base import Detector, Keep, load_detector
from victorpy.methods import Method
from victorpy.outputs import find_output
from victorpy.sites.grouping import SAMPLE, SITE_KEYS, site_of


@dataclass(frozen=True, slots=True)
class Limits:
    """How much time and memory a page may take, and how many workers there are."""

    jobs: int = 1
    deadline: float = 10.0
    """Seconds for a page."""
    memory: int = 1_000_000_000
    """Bytes for a page, beyond what a worker needs for itself."""
    recycle: int = 200
    """Batches after which a worker is replaced, because C libraries leak."""


@dataclass(frozen=True, slots=True)
class Dedup:
    """How to find replicas, and which of them to keep."""

    method: str
    settings: tuple[str, ...] = ()
    """Parameters of the method, as ``NAME=VALUE``."""
    keep: str = Keep.FIRST

    def detector(self) -> Detector:
        """Return the method, ready to run."""
        return load_detector(self.method, self.settings)

    def identity(self) -> dict[str, Any]:
        """Return the settings that decide which records are removed."""
        return {"method": self.method, **self.detector().parameters(), "keep": str(self.keep)}

    def __str__(self) -> str:
        return f"by {self.method}, the {self.keep} is kept"


@dataclass(frozen=True, slots=True)
class Plan:
    """A run over many pages, as plain data that every process of it receives.

    Whatever its `identity` leaves out may change when a run is resumed.
    """

    inputs: tuple[str, ...] = ()
    """Files, directories, patterns and lists of them. With `retry` and `by_site`, the other pages of the sites."""
    output: Path | str | None = None
    """Output directory; None if a function receives the texts instead."""
    to: str = "folder"
    """Kind of output."""
    format: str = "text"
    """Format of the texts."""
    method: Method = field(default_factory=Method)
    make: Callable[[], Cleaner] | None = None
    """Returns the cleaner, if it is not just loaded: it may have learned from a site."""
    learned_from: tuple[str, ...] = ()
    """Pages that the cleaner has learned from, if they are not the inputs."""
    learned: bool = False
    """Whether the cleaner has learned from `sample` pages."""
    url: str | None = None
    content_type: str | None = None
    limits: Limits = field(default_factory=Limits)
    read: ReadOptions = field(default_factory=ReadOptions)
    by_site: bool = False
    """Whether every site is learned from `sample` of its pages."""
    site_key: str = SITE_KEYS[0]
    """What the pages of a site have in common, with `by_site`."""
    sample: int = SAMPLE
    dedup: Dedup | None = None
    """How replicas are found, if they are to be left out."""
    retry: Path | None = None
    """The failed.jsonl whose records are cleaned again."""
    plain: bool = False
    """Whether only the texts are wanted: no limit of size, all warnings, and no manifest or index that stays."""
    shard_records: int = 1_000
    """Records in a part of the output of a local run."""
    shard_files: int = 64
    """Input files, or stretches of large ones, in a shard of a run on Spark ..."""
    buckets: int = 16
    """... and its number of shards with `by_site`."""

    @property
    def most_bytes(self) -> int | None:
        """Size of the largest page that is cleaned."""
        return None if self.plain else self.read.most_bytes

    def load(self) -> Cleaner:
        """Return the cleaner."""
        return (self.make or self.method.load)()

    def check(self) -> None:
        """Raise if a name is wrong or a package is missing: otherwise every page would fail, one after the other."""
        find_output(self.format)
        site_of("", self.site_key)
        self.load()
        if self.dedup is not None:
            detector = self.dedup.detector()
            detector.keys(detector.sign("Tea is made by pouring hot water over the leaves of the tea bush. " * 2))

    def identity(self, input_digest: str) -> dict[str, Any]:
        """Return what decides the output's bytes. The number of workers and the limits of a page do not.

        The version is part of it: what a run keeps to be resumed, site models and spilled records, are pickled
        classes, which only the same version can read.
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
        if self.by_site:
            identity |= {"site key": self.site_key, "buckets": self.buckets}
        if self.learned:
            identity["sample"] = self.sample
        if self.dedup:
            identity["dedup"] = self.dedup.identity()
        if self.retry:  # here the limits count, because another retry usually raises them
            identity |= {"retry": str(self.retry), "timeout": self.limits.deadline, "memory": self.limits.memory}
        return identity

    def notes(self) -> dict[str, Any]:
        """Return what a retry takes over besides the identity; it may differ when a run is resumed."""
        return {"choice": asdict(self.method)}
