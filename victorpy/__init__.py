"""victorpy extracts the main content of web pages.

>>> import victorpy
>>> print(victorpy.clean("<ul><li><a href='/'>Home</a></ul><p>Tea is made by pouring hot water over tea leaves.</p>"))
Tea is made by pouring hot water over tea leaves.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from victorpy.base.version import __version__

if TYPE_CHECKING:
    from victorpy.batch.outcome import clean_record
    from victorpy.cleaner import Cleaner, clean, docview, read_document
    from victorpy.config import Config, load_config
    from victorpy.document import Block, Document, Elements, Label, Labelling, Metadata, Piece
    from victorpy.errors import (
        AnnotationError,
        ChildError,
        ConfigError,
        DataError,
        DecodeError,
        MissingError,
        ModelError,
        OutputError,
        ParseError,
        TemplateError,
        TimeLimitError,
        VictorError,
    )
    from victorpy.model.parts import Parts
    from victorpy.outputs import CleanPage

__all__ = [
    "AnnotationError",
    "Block",
    "ChildError",
    "CleanPage",
    "Cleaner",
    "Config",
    "ConfigError",
    "DataError",
    "DecodeError",
    "Document",
    "Elements",
    "Label",
    "Labelling",
    "Metadata",
    "MissingError",
    "ModelError",
    "OutputError",
    "ParseError",
    "Parts",
    "Piece",
    "TemplateError",
    "TimeLimitError",
    "VictorError",
    "__version__",
    "clean",
    "clean_record",
    "docview",
    "load_config",
    "read_document",
]

_HOMES = ("errors", "document", "config", "outputs", "model.parts", "cleaner", "batch.outcome")
"""Modules with public names, the fastest to import first."""


def __getattr__(name: str) -> Any:
    """Import a public name or a module when it is first used."""
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"{__name__}.{home}")
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    elif not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ImportError as error:
            if error.name != f"{__name__}.{name}":  # another package is missing; hasattr must not fail
                raise AttributeError(f"{__name__}.{name} cannot be imported: {error}") from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
