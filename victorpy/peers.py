"""Other people's cleaners as methods: each takes a page's bytes and gives the text that it keeps.

None is needed to run victorpy; ``pip install 'victorpy[peers]'`` installs all. Like every method they may be given
parameters, which are those of the functions here.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from victorpy.errors import ConfigError, VictorError, suggest
from victorpy.settings import parse_settings

Extractor = Callable[[bytes], str]


class Peer(NamedTuple):
    """A cleaner that may be installed."""

    module: str
    make: Callable[..., Extractor]


def trafilatura(comments: bool = True) -> Extractor:
    """Take trafilatura as it comes, or told to leave readers' comments out."""
    extract = _imported("trafilatura").extract
    if comments:
        return lambda page: extract(page) or ""
    return lambda page: extract(page, include_comments=False) or ""


def resiliparse() -> Extractor:
    """Take Resiliparse's main content; it detects encodings itself."""
    extract = _imported("resiliparse.extract.html2text").extract_plain_text
    encoding = _imported("resiliparse.parse.encoding")
    return lambda page: str(
        extract(encoding.bytes_to_str(page, encoding.detect_encoding(page)), main_content=True),
    )


def readability() -> Extractor:
    """Take the text of readability's summary, which is HTML; it takes text, so pages are read as UTF-8."""
    import lxml.html

    document = _imported("readability").Document

    def extract(page: bytes) -> str:
        summary = document(page.decode("utf-8", "replace")).summary()
        return str(lxml.html.fromstring(summary).xpath("string()"))

    return extract


def justext(language: str = "English") -> Extractor:
    """Take jusText's good paragraphs; it has to be told the language of a page."""
    module = _imported("justext")
    try:
        stop_words = module.get_stoplist(language)
    except ValueError:
        known = ", ".join(sorted(module.get_stoplists()))
        raise ConfigError(f"jusText knows no language {language!r}; it knows: {known}") from None

    def extract(page: bytes) -> str:
        paragraphs = module.justext(page, stop_words)
        return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return extract


PEERS = {
    "trafilatura": Peer("trafilatura", trafilatura),
    "resiliparse": Peer("resiliparse", resiliparse),
    "readability-lxml": Peer("readability", readability),
    "jusText": Peer("justext", justext),
}
"""The cleaners by the names of their packages."""

_OTHER_NAMES = {name.lower(): name for name in PEERS} | {"readability": "readability-lxml"}


def is_peer(name: str) -> bool:
    """Whether a name is that of another cleaner, installed or not; capitals do not matter."""
    return name.lower() in _OTHER_NAMES


def installed_peers() -> list[str]:
    """The names of the other cleaners that are installed."""
    return [name for name, peer in PEERS.items() if importlib.util.find_spec(peer.module)]


def load_peer(name: str, settings: Sequence[str] = ()) -> Extractor:
    """Make another cleaner ready; `settings` are its parameters, each as ``NAME=VALUE``."""
    if not is_peer(name):
        raise VictorError(f"no cleaner {name!r}{suggest(name, PEERS)}; there are: {', '.join(PEERS)}")
    name = _OTHER_NAMES[name.lower()]
    if name not in installed_peers():
        raise VictorError(f"{name} is not installed: pip install 'victorpy[peers]'")
    make = PEERS[name].make
    return make(**parse_settings(name, make, settings))


def show_peer(name: str, settings: Sequence[str] = ()) -> str:
    """How another cleaner is run, with all its parameters.

    >>> show_peer("justext", ["language=German"])
    "jusText(language='German')"
    """
    name = _OTHER_NAMES[name.lower()]
    make = PEERS[name].make
    defaults = {key: found.default for key, found in inspect.signature(make).parameters.items()}
    parameters = defaults | parse_settings(name, make, settings)
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})"


def versions(*packages: str) -> dict[str, str]:
    """The versions of victorpy, of the other cleaners and of more packages, as far as they are installed."""
    found = {}
    for package in ("victorpy", *PEERS, *packages):
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _imported(module: str) -> Any:
    """Import what is installed; what is installed but does not run is named."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise VictorError(f"{module} is installed but cannot be used: {error}") from error
