"""Other programs as methods: functions from the bytes of a page to its main text.

The extra ``peers`` installs all of them. The arguments of each function are the parameters of the method.
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
    """Another program, which may be installed."""

    module: str
    make: Callable[..., Extractor]


def trafilatura(comments: bool = True) -> Extractor:
    """trafilatura with its defaults; comments=no drops readers' comments."""
    extract = _imported("trafilatura").extract
    return lambda page: extract(page, include_comments=comments) or ""


def resiliparse() -> Extractor:
    """Resiliparse's main content extraction and encoding detection."""
    extract = _imported("resiliparse.extract.html2text").extract_plain_text
    encoding = _imported("resiliparse.parse.encoding")

    def extract_text(page: bytes) -> str:
        text = encoding.bytes_to_str(page, encoding.detect_encoding(page))
        return str(extract(text, main_content=True))

    return extract_text


def readability() -> Extractor:
    """The text of readability's summary. Pages are decoded as UTF-8."""
    import lxml.html

    document = _imported("readability").Document

    def extract(page: bytes) -> str:
        summary = document(page.decode("utf-8", "replace")).summary()
        return str(lxml.html.fromstring(summary).xpath("string()"))

    return extract


def justext(language: str = "English") -> Extractor:
    """jusText's good paragraphs; language=German sets the language of the pages."""
    module = _imported("justext")
    try:
        stop_words = module.get_stoplist(language)
    except ValueError:
        languages = ", ".join(sorted(module.get_stoplists()))
        raise ConfigError(f"jusText does not support the language {language!r}; choose from {languages}") from None

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
"""Other programs by package name."""

_OTHER_NAMES = {name.lower(): name for name in PEERS} | {"readability": "readability-lxml"}


def is_peer(name: str) -> bool:
    """Whether this is the name of another program, installed or not. Ignores case."""
    return name.lower() in _OTHER_NAMES


def installed_peers() -> list[str]:
    """Return the names of the other programs that are installed."""
    return [name for name, peer in PEERS.items() if importlib.util.find_spec(peer.module)]


def load_peer(name: str, settings: Sequence[str] = ()) -> Extractor:
    """Load another program with its parameters, each as ``NAME=VALUE``."""
    if not is_peer(name):
        raise VictorError(f"no program {name!r}{suggest(name, PEERS)}; choose from {', '.join(PEERS)}")
    name = _OTHER_NAMES[name.lower()]
    if name not in installed_peers():
        raise VictorError(f"{name} is not installed: {install_command('peers')}")
    make = PEERS[name].make
    return make(**parse_settings(name, make, settings))


def show_peer(name: str, settings: Sequence[str] = ()) -> str:
    """Return the name of another program with all its parameters.

    >>> show_peer("justext", ["language=German"])
    "jusText(language='German')"
    """
    name = _OTHER_NAMES[name.lower()]
    make = PEERS[name].make
    defaults = {key: parameter.default for key, parameter in inspect.signature(make).parameters.items()}
    parameters = defaults | parse_settings(name, make, settings)
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})"


def versions(*packages: str) -> dict[str, str]:
    """Return the installed versions of victorpy, the other programs and the given packages."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    installed = {"victorpy": __version__}
    for package in (*PEERS, *packages):
        with contextlib.suppress(PackageNotFoundError):
            installed[package] = version(package)
    return installed


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise VictorError(f"{module} is installed but cannot be used: {error}") from error
