"""A site's pages as documents."""

from __future__ import annotations

import time

from victorpy.cleaner import read_document
from victorpy.config import Config, Cuts
from victorpy.document import Document
from victorpy.errors import VictorError
from victorpy.mining.pages import MinedPage


class Reader:
    """A site's pages as documents, read once for all methods that cut pages alike."""

    def __init__(self, pages: list[MinedPage], config: Config) -> None:
        self.warnings: list[str] = []
        began = time.process_time()
        pairs = [(page, self._try(page, config)) for page in pages]
        self.pages = [page for page, document in pairs if document is not None]
        documents = [document for _, document in pairs if document is not None]
        self._read = {_way_of_cutting(config): (documents, time.process_time() - began)}

    def _try(self, page: MinedPage, config: Config) -> Document | None:
        """Read a page for the first time; one that cannot be read is left out from then on."""
        try:
            return _document(page, config)
        except VictorError as error:
            self.warnings.append(f"{page.name}: {error}")
            return None

    def read(self, config: Config) -> tuple[list[Document], float]:
        """The documents as a config cuts them, and the CPU seconds that it took."""
        key = _way_of_cutting(config)
        if key not in self._read:
            began = time.process_time()
            documents = [_document(page, config) for page in self.pages]
            self._read[key] = documents, time.process_time() - began
        return self._read[key]


def _way_of_cutting(config: Config) -> tuple[Cuts, tuple[str, ...]]:
    return config.cuts, config.get("tag-delete")


def _document(page: MinedPage, config: Config) -> Document:
    return read_document(page.html, config, page.url or None, source=page.name)
