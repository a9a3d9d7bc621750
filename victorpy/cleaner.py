"""A page's way through victorpy, in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from victorpy.base.variables import FAVORS
from victorpy.config import USES, Config
from victorpy.document import Document, Metadata
from victorpy.errors import ConfigError, suggest
from victorpy.labellers.base import Labeller, Labels
from victorpy.model.store import DEFAULT, load_model
from victorpy.outputs import CleanPage, find_output
from victorpy.outputs.anno import is_anno, read_anno
from victorpy.page.decode import decode
from victorpy.page.parse import Tree, parse_whole, prune
from victorpy.page.split import split

if TYPE_CHECKING:
    from victorpy.description.record import DocView


def read_document(
    page: bytes | str,
    config: Config,
    url: str | None = None,
    content_type: str | None = None,
    source: str = "",
) -> Document:
    """Take a page from bytes to blocks; an annotation file is a page too."""
    return _read(page, config, url, content_type, source, metadata=False)[0]


def _read(
    page: bytes | str, config: Config, url: str | None, content_type: str | None, source: str, metadata: bool
) -> tuple[Document, Metadata | None]:
    """Take a page from bytes to blocks; on request with its metadata, which pruning takes away."""
    if not isinstance(page, (bytes, bytearray, str)):
        raise TypeError(f"a page is bytes or text, not {type(page).__name__}")
    if is_anno(page):
        document = replace(read_anno(decode(page).text, config.cuts, source or "annotation").document, source=source)
        return document, _metadata(Tree(None, document.url, document.title), url) if metadata else None
    decoded = decode(page, content_type)
    whole = parse_whole(decoded.text, decoded.utf8)
    found = _metadata(whole, url) if metadata else None
    document = split(prune(whole, config.get("tag-delete")), config.cuts)
    losses = ((decoded.loss,) if decoded.loss else ()) + document.losses
    return replace(document, url=url or document.url, source=source, encoding=decoded.encoding, losses=losses), found


def _metadata(tree: Tree, url: str | None) -> Metadata:
    from victorpy.description.metadata import read_metadata  # only for those who ask

    return read_metadata(tree, url or "")


class Cleaner:
    """Cleans pages with one labeller, loaded once.

    >>> cleaner = Cleaner.load()
    >>> page = cleaner.document("<ul><li><a href='/'>Home</a><li><a href='/tea'>Tea</a></ul><p>Tea is a drink. It is "
    ...                         "made by pouring hot water over the cured leaves of the tea bush, and it is drunk hot.")
    >>> [str(label) for label in page.labels]
    ['other', 'other', 'paragraph']
    """

    def __init__(self, labeller: Labeller, config: Config) -> None:
        self.labeller = labeller
        self.config = config

    @classmethod
    def load(cls, model: str | Path = DEFAULT, favor: str | None = None) -> Cleaner:
        """Load a model by name or path, the bundled one by default, and let it favor precision or recall."""
        loaded = load_model(model)
        cleaner = cls(loaded.labeller, loaded.config)
        return cleaner if favor is None else cleaner.favoring(favor)

    def favoring(self, favor: str) -> Cleaner:
        """The same model, but wary of noise (precision), of losing content (recall), or of both alike (balanced)."""
        if favor not in FAVORS:
            raise ConfigError(f"favor is one of {', '.join(FAVORS)}, not {favor!r}{suggest(favor, FAVORS)}")
        changed = {**self.config.values, "decode": ("expected",), "favor": (favor,)}
        return self._using(replace(self.config, values=changed))

    def with_config(self, config: Config) -> Cleaner:
        """Use the same model as another config says: its way of decoding, its threshold, the shares of trees."""
        used = {name: config.get(name) for name in USES if config.get(name)}
        return self._using(replace(self.config, values={**self.config.values, **used}))

    def at_site(self, documents: Iterable[Document], labels: Labels = None) -> Cleaner:
        """The same method as it cleans pages of one site, after it has seen some of them."""
        return Cleaner(self.labeller.at_site(documents, labels), self.config)

    def _using(self, config: Config) -> Cleaner:
        return Cleaner(self.labeller.with_config(config), config)

    def document(
        self,
        page: bytes | str,
        url: str | None = None,
        content_type: str | None = None,
        source: str = "",
        features: bool = False,
        metadata: bool = False,
    ) -> CleanPage:
        """Clean a page: its blocks, their labels and probabilities, and on request their features and its metadata."""
        document, about = _read(page, self.config, url, content_type, source, metadata)
        labeller = self.labeller
        found, shown = labeller.label_with_features(document) if features else (labeller.label(document), ())
        return CleanPage(
            document, found.labels, found.probabilities, found.content, found.confidence, shown, about, by_method=True
        )

    def clean(
        self, page: bytes | str, url: str | None = None, format: str = "text", content_type: str | None = None
    ) -> str:
        """Clean a page and write it in a format."""
        output = find_output(format)
        cleaned = self.document(page, url, content_type, features=output.wants_features, metadata=output.wants_metadata)
        return output.alone(cleaned)


@cache
def _default_cleaner(favor: str | None) -> Cleaner:
    return Cleaner.load(favor=favor)


def clean(page: bytes | str, url: str | None = None, format: str = "text", favor: str | None = None) -> str:
    r"""Clean a web page with the bundled model.

    The page is HTML as text or as bytes of any encoding; `format` is one of text, markdown, html, jsonl,
    cleaneval and anno; `favor` is precision, balanced or recall.

    >>> clean("<nav><a href='/'>Home</a> <a href='/tea'>Tea</a></nav><p>Tea is <b>hot</b>. It is made by pouring water "
    ...       "over the cured leaves of the tea bush, and it is drunk all over the world.</p>", format="markdown")
    'Tea is **hot**. It is made by pouring water over the cured leaves of the tea bush, and it is drunk all over the
    world.\n'
    """
    return _default_cleaner(favor).clean(page, url, format)


def docview(page: bytes | str, url: str | None = None, favor: str | None = None, **parameters: Any) -> DocView:
    """Say what a web page is about: its type, title, keywords, abstract, content, links, author, date and more.

    Parameters are those of `victorpy.description.record.Parameters`: ``keywords=5``, ``sentences=3``. Needs the extra
    ``docview``.

    >>> record = docview("<title>Tea</title><p>Tea is a drink. It is made by pouring water over the leaves of the "
    ...                  "tea bush, and it is drunk all over the world.</p>", keywords=2)
    >>> record.type, record.title, record.language, record.keywords
    ('topic', 'Tea', 'en', ('tea', 'drink'))
    """
    from victorpy.description.record import Parameters, describe  # only for those who ask

    return describe(_default_cleaner(favor).document(page, url, metadata=True), Parameters(**parameters))
