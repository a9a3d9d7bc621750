"""victorpy cleans web pages: HTML goes in, the text that somebody wrote comes out."""

from victorpy.base.version import __version__
from victorpy.batch.api import clean_record
from victorpy.cleaner import Cleaner, clean, docview, read_document
from victorpy.config import Config, load_config
from victorpy.document import Block, CleanPage, Document, Elements, Label, Labelling, Metadata, Piece
from victorpy.errors import AnnotationError, ConfigError, DataError, ModelError, TemplateError, VictorError

__all__ = [
    "AnnotationError",
    "Block",
    "CleanPage",
    "Cleaner",
    "Config",
    "ConfigError",
    "DataError",
    "Document",
    "Elements",
    "Label",
    "Labelling",
    "Metadata",
    "ModelError",
    "Piece",
    "TemplateError",
    "VictorError",
    "__version__",
    "clean",
    "clean_record",
    "docview",
    "load_config",
    "read_document",
]
