"""The cleaners that are compared: victorpy's models, other people's programs, and keeping everything."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from victorpy import Cleaner, load_config, read_document

Extractor = Callable[[bytes], str]

EVERYTHING = "keep everything"
BASE = "trafilatura"
"""Whose time is 1."""

PACKAGES = ("victorpy", "trafilatura", "resiliparse", "readability-lxml", "jusText", "lxml", "numpy")


def find_cleaners(models: Sequence[str], favor: str | None) -> dict[str, Extractor]:
    """Load the models, find the other cleaners that are installed, and end with keeping everything."""
    own = {cleaner_name(model, favor): Cleaner.load(model, favor).clean for model in models}
    return {**own, **find_peers(), EVERYTHING: make_keep_everything()}


def cleaner_name(model: str, favor: str | None) -> str:
    """What a model is called in tables; the bundled default one is victorpy as such."""
    details = [Path(model).name] if model != "default" else []
    details += [f"favor {favor}"] if favor else []
    return f"victorpy ({', '.join(details)})" if details else "victorpy"


def make_keep_everything() -> Extractor:
    """Give all text of a page: a cleaner that does no better has learned nothing."""
    config = load_config("default")
    return lambda page: "\n".join(block.text for block in read_document(page, config).blocks)


def find_peers() -> dict[str, Extractor]:
    """Find the other cleaners that are installed."""
    makers = {
        "trafilatura": _trafilatura,
        "resiliparse": _resiliparse,
        "readability": _readability,
        "justext": _justext,
    }
    found: dict[str, Extractor] = {}
    for module, make in makers.items():
        if importlib.util.find_spec(module):
            found |= make()
    return found


def _trafilatura() -> dict[str, Extractor]:
    import trafilatura

    return {
        BASE: lambda page: trafilatura.extract(page) or "",
        f"{BASE} (no comments)": lambda page: trafilatura.extract(page, include_comments=False) or "",
    }


def _resiliparse() -> dict[str, Extractor]:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    def extract(page: bytes) -> str:
        return str(extract_plain_text(bytes_to_str(page, detect_encoding(page)), main_content=True))

    return {"resiliparse": extract}


def _readability() -> dict[str, Extractor]:
    import lxml.html
    import readability

    def extract(page: bytes) -> str:
        summary = readability.Document(page.decode("utf-8", "replace")).summary()
        return str(lxml.html.fromstring(summary).xpath("string()"))

    return {"readability-lxml": extract}


def _justext() -> dict[str, Extractor]:
    import justext

    stop_words = justext.get_stoplist("English")

    def extract(page: bytes) -> str:
        paragraphs = justext.justext(page, stop_words)
        return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return {"jusText": extract}


def versions() -> dict[str, str]:
    """The versions of everything that is compared, as far as it is installed."""
    found = {}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
