"""Other programs as methods: functions from the bytes of a page to its main text.

The extra ``peers`` installs the Python programs. ``npm install defuddle @mozilla/readability jsdom@26`` in the current
directory installs the programs for Node.js. The arguments of each function are the parameters of the method.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from victorpy.base.child import survive_broken_pipes
from victorpy.base.parameters import parse_settings
from victorpy.base.version import __version__
from victorpy.config import load_config
from victorpy.errors import ConfigError, VictorError, install_command, suggest
from victorpy.page.decode import decode
from victorpy.page.parse import parse
from victorpy.page.split import split

Extractor = Callable[[bytes], str]


class Peer(NamedTuple):
    """Another program, which may be installed."""

    module: str
    """The Python module or Node.js package of the program."""
    make: Callable[..., Extractor]
    in_node: bool = False

    @property
    def is_installed(self) -> bool:
        """Whether the program is installed."""
        return self.module in _node_versions() if self.in_node else importlib.util.find_spec(self.module) is not None


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
    document = _imported("readability").Document
    return lambda page: _text_of(document(page.decode("utf-8", "replace")).summary())


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


def mozilla_readability() -> Extractor:
    """Mozilla's Readability, which runs in Node.js. Pages are decoded by victorpy."""
    extract = NodeProgram("@mozilla/readability")
    return lambda page: _text_of(extract(decode(page).text))


def defuddle() -> Extractor:
    """Defuddle, which runs in Node.js. Pages are decoded by victorpy."""
    extract = NodeProgram("defuddle")
    return lambda page: _text_of(extract(decode(page).text))


PEERS = {
    "trafilatura": Peer("trafilatura", trafilatura),
    "resiliparse": Peer("resiliparse", resiliparse),
    "readability-lxml": Peer("readability", readability),
    "jusText": Peer("justext", justext),
    "mozilla-readability": Peer("@mozilla/readability", mozilla_readability, in_node=True),
    "defuddle": Peer("defuddle", defuddle, in_node=True),
}
"""Other programs by package name."""

_OTHER_NAMES = {name.lower(): name for name in PEERS} | {"readability": "readability-lxml"}


def is_peer(name: str) -> bool:
    """Whether this is the name of another program, installed or not. Ignores case."""
    return name.lower() in _OTHER_NAMES


def installed_peers() -> list[str]:
    """Return the names of the other programs that are installed."""
    return [name for name, peer in PEERS.items() if peer.is_installed]


def load_peer(name: str, settings: Sequence[str] = ()) -> Extractor:
    """Load another program with its parameters, each as ``NAME=VALUE``."""
    if not is_peer(name):
        raise VictorError(f"no program {name!r}{suggest(name, PEERS)}; choose from {', '.join(PEERS)}")
    name = _OTHER_NAMES[name.lower()]
    peer = PEERS[name]
    if not peer.is_installed:
        install = f"npm install {peer.module} jsdom@26" if peer.in_node else install_command("peers")
        raise VictorError(f"{name} is not installed: {install}")
    make = peer.make
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

    in_node = _node_versions()
    installed = {"victorpy": __version__}
    installed |= {name: in_node[peer.module] for name, peer in PEERS.items() if peer.module in in_node}
    for package in (*PEERS, *packages):
        with contextlib.suppress(PackageNotFoundError):
            installed[package] = version(package)
    return installed


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise VictorError(f"{module} is installed but cannot be used: {error}") from error


def _text_of(html: str) -> str:
    """Return the text of cleaned HTML, with a line for each block."""
    return "\n".join(split(parse(html), load_config("blocks").cuts).texts)


_NODE_PROGRAM = Path(__file__).with_suffix(".mjs")
_seconds_in_node = 0.0


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its Node.js programs."""
    return time.process_time() + _seconds_in_node


@cache
def _node_versions() -> dict[str, str]:
    """Return the versions of installed Node.js packages."""
    node = shutil.which("node")
    if node is None:
        return {}
    answer = subprocess.run([node, _NODE_PROGRAM], capture_output=True, check=False)
    versions: dict[str, str] = json.loads(answer.stdout or "{}")
    return versions


class NodeProgram:
    """A cleaner in Node.js: a function from the text of a page to its content as HTML or Markdown.

    The program runs in a separate process, which is reused and ends with this process.
    """

    def __init__(self, *arguments: str) -> None:
        command = ["node", str(_NODE_PROGRAM), *arguments]
        survive_broken_pipes()
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, html: str, url: str = "") -> str:
        global _seconds_in_node  # noqa: PLW0603
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"html": html, "url": url}).encode() + b"\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
        except (OSError, ValueError) as error:
            raise VictorError(f"the program in Node.js stopped: {error}") from error
        _seconds_in_node += answer["seconds"]
        if "error" in answer:
            raise VictorError(answer["error"])
        return str(answer["content"])
