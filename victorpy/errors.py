"""Errors that users can cause. Each message explains what is wrong and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

_LONGEST_NAME = 200
_LONGEST_MESSAGE = 4_000
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

DISTRIBUTION = "victor-clean"
"""Name on the package index. The package is imported as victorpy."""


def visible(text: str, keep_lines: bool = False) -> str:
    r"""Replace control characters and text-direction marks with their code points, so that they have no effect in a
    terminal.

    All text from pages, archives, file names and models passes through this function before a terminal or a log.
    With `keep_lines`, tabs and line ends are kept.

    >>> visible("red: \x1b[31m")
    'red: ⟨U+001B⟩[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub(
        lambda match: match[0] if keep_lines and match[0] in "\n\t" else f"⟨U+{ord(match[0]):04X}⟩", text
    )


class VictorError(Exception):
    """Base class of errors about pages, files, models and settings. Their messages say what to do."""

    def __str__(self) -> str:
        message = visible(super().__str__())
        return message if len(message) <= _LONGEST_MESSAGE else f"{message[:3_000]} ... {message[-500:]}"


class ConfigError(VictorError):
    """A config file, a parameter or an option is wrong."""


class TemplateError(VictorError):
    """A template file is wrong."""


class ModelError(VictorError):
    """A model directory is missing, damaged or from another version."""


class AnnotationError(VictorError):
    """An annotation file is wrong."""


class DataError(VictorError):
    """A page or a data set cannot be used."""


class DecodeError(DataError):
    """The bytes of a page are not text."""


class ParseError(DataError):
    """The text of a page cannot be parsed."""


class TimeLimitError(VictorError, TimeoutError):
    """Cleaning a page took longer than the time limit."""


class ChildError(VictorError):
    """The process that cleaned a page crashed or took too much memory."""


class OutputError(VictorError):
    """Output cannot be written."""


class MissingError(VictorError, ImportError):
    """A package is not installed."""


def missing(package: str, extra: str, purpose: str) -> MissingError:
    """Return an error with the command that installs a missing package."""
    return MissingError(f"{purpose} needs {package}: {install_command(extra)}")


def install_command(extra: str, package: Path = Path(__file__).parent) -> str:
    """Return the command that installs an extra for this copy of the package.

    >>> install_command("docview", Path("/usr/lib/python3/site-packages/victorpy"))
    "pip install 'victor-clean[docview]'"
    """
    project = package.parent
    if (project / "pyproject.toml").is_file():  # a checkout
        return f"pip install -e '.[{extra}]' in {project}"
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def require(packages: Iterable[str], extra: str, purpose: str) -> None:
    """Raise an error that lists all missing packages.

    >>> require(["json", "no_such_package"], "docview", "DocView")
    Traceback (most recent call last):
    victorpy.errors.MissingError: DocView needs no_such_package: pip install ...[docview]'...
    """
    absent = [package for package in packages if find_spec(package) is None]
    if absent:
        raise missing(", ".join(absent), extra, purpose)


def suggest(name: object, known: Iterable[str]) -> str:
    """Return a hint with the most similar name, or an empty string.

    >>> suggest("containr.p", ["container.p", "position"])
    " (did you mean 'container.p'?)"
    >>> suggest("zzz", ["position"])
    ''
    """
    import difflib  # slow to import, and only needed for errors

    text = str(name)
    if len(text) > _LONGEST_NAME:  # difflib takes time quadratic in the length of a name
        return ""
    close = difflib.get_close_matches(text, list(known), n=1, cutoff=0.6)
    return f" (did you mean {str(close[0])!r}?)" if close else ""


def plural(count: float, noun: str) -> str:
    """Format a number with a noun.

    >>> plural(1, "page"), plural(2000, "page"), plural(1.0, "second"), plural(1.5, "second")
    ('1 page', '2,000 pages', '1 second', '1.5 seconds')
    """
    return f"{count:,.15g} {noun}{'s' * (count != 1)}"
