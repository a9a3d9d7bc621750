"""Errors that users can cause. Each message says what is wrong and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "victor-clean"
"""Name on the package index; the package is imported as victorpy."""


class VictorError(Exception):
    """The parent of every error that victorpy raises on purpose."""


class ConfigError(VictorError):
    """A configuration file or value is wrong."""


class TemplateError(VictorError):
    """A template file is wrong."""


class ModelError(VictorError):
    """A model directory is missing, damaged or of another version."""


class AnnotationError(VictorError):
    """An annotation file is wrong."""


class DataError(VictorError):
    """A page or a training set cannot be used as it is."""


class DecodeError(DataError):
    """The bytes of a page cannot be read as text."""


class ParseError(DataError):
    """The text of a page cannot be parsed."""


class OutputError(VictorError):
    """Output cannot be written."""


def missing(package: str, extra: str, purpose: str) -> VictorError:
    """Return an error that names a missing package and how to install it."""
    return VictorError(f"{purpose} needs {package}: {install_command(extra)}")


def install_command(extra: str, package: Path = Path(__file__).parent) -> str:
    """Return the command that installs an extra for this copy of the package, which may be a checkout.

    >>> install_command("docview", Path("/usr/lib/python3/site-packages/victorpy"))
    "pip install 'victor-clean[docview]'"
    """
    project = package.parent
    if (project / "pyproject.toml").is_file():  # a checkout, which an editable install refers to
        return f"pip install -e '.[{extra}]' in {project}"
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def require(packages: Iterable[str], extra: str, purpose: str) -> None:
    """Raise an error that names all missing packages, before any work is done.

    >>> require(["json", "no_such_package"], "docview", "DocView")
    Traceback (most recent call last):
    victorpy.errors.VictorError: DocView needs no_such_package: pip install ...[docview]'...
    """
    absent = [package for package in packages if find_spec(package) is None]
    if absent:
        raise missing(", ".join(absent), extra, purpose)


def suggest(name: str, known: Iterable[str]) -> str:
    """Say which known name was probably meant.

    >>> suggest("containr.p", ["container.p", "position"])
    " (did you mean 'container.p'?)"
    >>> suggest("zzz", ["position"])
    ''
    """
    import difflib  # only when something is wrong

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean {str(close[0])!r}?)" if close else ""


def plural(count: int, noun: str) -> str:
    """Format a number with its noun.

    >>> plural(1, "page"), plural(2000, "page")
    ('1 page', '2,000 pages')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"
