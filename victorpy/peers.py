"""Other people's cleaners as methods: functions from a page's bytes to its main text.

They are optional; the extra ``peers`` installs them all. Their parameters are those of their functions.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from victorpy.base.parameters import parse_settings
from victorpy.base.version import __version__
from victorpy.errors import ConfigError, VictorError, install_command, suggest

Extractor = Callable[[bytes], str]


class Peer(NamedTuple):
    """A cleaner that may be installed."""

    module: str
    make: Callable[..., Extractor]


def trafilatura(comments: bool = True) -> Extractor:
    """Use trafilatura with its defaults, or without readers' comments."""
    extract = _imported("trafilatura").extract
    return lambda page: extract(page, include_comments=comments) or ""


def resiliparse() -> Extractor:
    """Use Resiliparse's main content, with its own detection of encodings."""
    extract = _imported("resiliparse.extract.html2text").extract_plain_text
    encoding = _imported("resiliparse.parse.encoding")

    def extract_text(page: bytes) -> str:
        text = encoding.bytes_to_str(page, encoding.detect_encoding(page))
        return str(extract(text, main_content=True))

    return extract_text


def readability() -> Extractor:
    """Use the text of readability's summary, which is HTML. It needs decoded text: pages are read as UTF-8."""
    import lxml.html

    document = _imported("readability").Document

    def extract(page: bytes) -> str:
        summary = document(page.decode("utf-8", "replace")).summary()
        return str(lxml.html.fromstring(summary).xpath("string()"))

    return extract


def justext(language: str = "English") -> Extractor:
    """Use jusText's good paragraphs; it needs the language of a page."""
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
"""Cleaners by the names of their packages."""

_OTHER_NAMES = {name.lower(): name for name in PEERS} | {"readability": "readability-lxml"}


def is_peer(name: str) -> bool:
    """Whether a name is that of another cleaner, installed or not; case does not matter."""
    return name.lower() in _OTHER_NAMES


def installed_peers() -> list[str]:
    """Return the names of the other cleaners that are installed."""
    return [name for name, peer in PEERS.items() if importlib.util.find_spec(peer.module)]


def load_peer(name: str, settings: Sequence[str] = ()) -> Extractor:
    """Load another cleaner; `settings` are its parameters, each as ``NAME=VALUE``."""
    if not is_peer(name):
        raise VictorError(f"no cleaner {name!r}{suggest(name, PEERS)}; there are: {', '.join(PEERS)}")
    name = _OTHER_NAMES[name.lower()]
    if name not in installed_peers():
        raise VictorError(f"{name} is not installed: {install_command('peers')}")
    make = PEERS[name].make
    return make(**parse_settings(name, make, settings))


def show_peer(name: str, settings: Sequence[str] = ()) -> str:
    """Show how another cleaner is run, with all its parameters.

    >>> show_peer("justext", ["language=German"])
    "jusText(language='German')"
    """
    name = _OTHER_NAMES[name.lower()]
    make = PEERS[name].make
    defaults = {key: parameter.default for key, parameter in inspect.signature(make).parameters.items()}
    parameters = defaults | parse_settings(name, make, settings)
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})"


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of victorpy, of the other cleaners and of more packages, if they are installed."""
    from importlib.metadata import PackageNotFoundError, version  # which takes long to import

    installed = {"victorpy": __version__}
    for package in (*PEERS, *packages):
        with contextlib.suppress(PackageNotFoundError):
            installed[package] = version(package)
    return installed


def _imported(module: str) -> Any:
    """Import a module that is installed; raise with its name if that fails."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise VictorError(f"{module} is installed but cannot be used: {error}") from error
