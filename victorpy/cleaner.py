"""Clean a page: read it, label its blocks and write the output."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from victorpy.base.files import read_regular
from victorpy.base.language import MOST_DETECTED, language_of
from victorpy.base.memory import trim_memory
from victorpy.base.variables import FAVORS
from victorpy.config import USES, Config
from victorpy.document import Document, Metadata
from victorpy.errors import ConfigError, suggest
from victorpy.labellers.base import Labeller, Labels
from victorpy.model.labeller import ModelLabeller, role_trees_of
from victorpy.model.parts import DEFAULT_PARTS, Parts, choose_parts, drop_by_default
from victorpy.model.roles import assign_roles
from victorpy.model.store import DEFAULT, load_model
from victorpy.outputs.base import CleanPage, Output, find_output
from victorpy.page.decode import decode
from victorpy.page.parse import Tree, parse_whole, prune
from victorpy.page.sections import MOST_BLOCKS
from victorpy.page.split import split

if TYPE_CHECKING:
    from victorpy.description.record import DocView
    from victorpy.outputs.layout import Layout

BUILT_BY_SCRIPTS = "the page has almost no text; scripts seem to build it, so save it in a browser and clean that file"
"""Loss that is reported if nothing was kept because the page contains no text."""

_SHELL_CONFIDENCE = 0.4  # maximum confidence that such a page is empty; in WCXB's development set, four of ten are
_SHELL_BYTES = 500  # minimum size of a page that scripts build
_SHELL_SHARE = 0.01  # maximum share of text in it
_SHELL_NOTE = 300  # maximum length of a text that asks for JavaScript


def read_document(
    page: bytes | str,
    config: Config,
    url: str | None = None,
    content_type: str | None = None,
    source: str = "",
    annotation: bool = False,
) -> Document:
    """Read a page and split it into blocks by the rules of a config.

    The page is bytes or text, as in `clean`. `content_type` is the header that the page was sent with, and `source` the
    name of the file that it was read from. With `annotation`, the page is the content of an annotation file.

    >>> from victorpy import load_config
    >>> document = read_document("<h1>Tea</h1><p>Tea is <b>hot</b>.</p>", load_config("blocks"))
    >>> [(block.text, block.containers[-1]) for block in document.blocks]
    [('Tea', 'h1'), ('Tea is hot.', 'p')]
    """
    return _read(page, config, url, content_type, source, metadata=False, layout=False, annotation=annotation)[0]


def _read(
    page: bytes | str,
    config: Config,
    url: str | None,
    content_type: str | None,
    source: str,
    *,
    metadata: bool,
    layout: bool,
    annotation: bool,
) -> tuple[Document, Metadata | None, Layout | None]:
    """Read a page. On request, also read its metadata and its layout, before pruning removes them."""
    if not isinstance(page, (bytes, bytearray, str)):
        raise TypeError(f"a page is bytes or text, not {type(page).__name__}")
    if annotation:
        from victorpy.outputs.anno import read_anno

        document = replace(read_anno(decode(page).text, config.cuts, source or "annotation").document, source=source)
        about = _metadata(Tree(None, document.url, document.title), url, "") if metadata else None
        return document, about, None
    decoded = decode(page, content_type)
    uses_styles = config.one("style-sheets", "ignore") == "inline"
    delete = config.get("tag-delete")
    cuts = config.cuts
    reads_all = layout or uses_styles
    unread, read = ((), None) if reads_all else (delete, cuts.attributes)
    not_inline = frozenset() if cuts.every else cuts.block_level.union(delete, ["img"])
    tree = parse_whole(decoded.page, unread, read, not_inline, metadata)
    if metadata or reads_all:
        prune(tree, ())
    about = _metadata(tree, url, decoded.page) if metadata else None
    reader = None
    if layout:
        from victorpy.outputs.layout import LayoutReader  # only on request

        reader = LayoutReader(tree, url or "")
    if uses_styles and tree.root is not None:
        from victorpy.page.styles import inline_styles

        sheets = (read_regular(path) for path in config.files("style-files"))
        inline_styles(tree.root, [sheet.decode("utf-8", "replace") for sheet in sheets])
    losses = ((decoded.loss,) if decoded.loss else ()) + tree.losses + (about.losses if about else ())
    values = {"url": url or tree.url, "source": source, "encoding": decoded.encoding, "losses": losses}
    document = split(tree, cuts, delete, **values)
    markup = reader.read(prune(tree, delete), cuts)._replace(source=decoded.text) if reader else None
    return document, about, markup


def _metadata(tree: Tree, url: str | None, source: str | bytes) -> Metadata:
    from victorpy.description.metadata import read_metadata  # only on request

    return read_metadata(tree, url or "", source)


class Cleaner:
    """Cleans pages with one model or method, loaded once.

    >>> cleaner = Cleaner.load()
    >>> page = cleaner.document("<ul><li><a href='/'>Home</a><li><a href='/tea'>Tea</a></ul><p>Tea is a drink. It is "
    ...                         "made by pouring hot water over the cured leaves of the tea bush, and it is drunk hot.")
    >>> [str(label) for label in page.labels]
    ['other', 'other', 'paragraph']
    >>> page.confidence > 0.9
    True
    """

    def __init__(self, labeller: Labeller, config: Config, name: str = "") -> None:
        self.labeller = labeller
        self.config = config
        self.name = name or config.name  # name of the model, or of the config if there is no model

    def __repr__(self) -> str:
        return f"<Cleaner {self.name!r}, labeller={type(self.labeller).__name__}>"

    @classmethod
    def load(cls, model: str | Path = DEFAULT, favor: str | None = None, allow_code: bool = False) -> Cleaner:
        """Load a model: the name of a bundled model (``victor list models``) or the path of a model directory.

        `favor` is as in `favoring`. A model may contain Python code, its feature modules; pass ``allow_code=True`` to
        run it. Raises ModelError if there is no such model, if it is damaged, or if its code is not allowed to run.

        >>> Cleaner.load("default", favor="recall").config.one("favor", "")
        'recall'
        """
        loaded = load_model(model, allow_code)
        cleaner = cls(loaded.labeller, loaded.config, Path(str(model)).name)
        return cleaner if favor is None else cleaner.favoring(favor)

    def favoring(self, favor: str) -> Cleaner:
        """Return a cleaner that keeps less noise (``precision``), loses less content (``recall``), or is balanced.

        >>> html = "<p>Tea is made by pouring water over the leaves of the tea bush.</p><p>Share this page"
        >>> [Cleaner.load().favoring(favor).document(html).is_empty for favor in ("precision", "recall")]
        [False, False]
        """
        if favor not in FAVORS:
            raise ConfigError(f"favor must be one of {', '.join(FAVORS)}, not {favor!r}{suggest(favor, FAVORS)}")
        changed = {**self.config.values, "decode": ("expected",), "favor": (favor,)}
        return self._using(replace(self.config, values=changed))

    def with_config(self, config: Config) -> Cleaner:
        """Return a cleaner with the same model and the decoding and thresholds of another config.

        >>> from victorpy import load_config
        >>> Cleaner.load().with_config(load_config("crf"))
        <Cleaner 'default', ...>
        """
        used = {name: config.get(name) for name in USES if config.get(name)}
        return self._using(replace(self.config, values={**self.config.values, **used}))

    def at_site(self, documents: Iterable[Document], labels: Labels = None) -> Cleaner:
        """Return a cleaner for the pages of one site, after it has seen some of them.

        `labels` contains the labels of each annotated page, and None for other pages. The bundled model ``site`` and
        methods such as ``sst`` learn which parts the site repeats. Other methods do not change.

        >>> pages = [f"<ul><li><a href='/'>Tea shop</a></ul><p>Tea number {n} is hot." for n in range(5)]
        >>> cleaner = Cleaner.load("site")
        >>> at_site = cleaner.at_site([read_document(page, cleaner.config) for page in pages])
        >>> [str(label) for label in at_site.document(pages[0]).labels][:1]
        ['other']
        """
        return Cleaner(self.labeller.at_site(documents, labels), self.config, self.name)

    def _using(self, config: Config) -> Cleaner:
        return Cleaner(self.labeller.with_config(config), config, self.name)

    def document(
        self,
        page: bytes | str,
        url: str | None = None,
        content_type: str | None = None,
        source: str = "",
        features: bool = False,
        metadata: bool = False,
        layout: bool = False,
        annotation: bool = False,
        roles: bool = False,
        parts: Parts = DEFAULT_PARTS,
    ) -> CleanPage:
        """Clean a page and return its blocks, their labels and probabilities.

        The page and `url` are as in `clean`, and `content_type`, `source` and `annotation` as in `read_document`.
        `features`, `metadata` (title, author, date and others) and `roles` request additional results. `layout`
        requests the markup of the page, which the format ``page`` needs. `parts` are the parts of the page to keep or
        drop.

        >>> Cleaner.load().document("<title>Tea</title><p>Tea is hot.", metadata=True).metadata.title
        'Tea'
        >>> from victorpy import Parts
        >>> html = "<p>Tea is <a href='/hot'>hot</a>. It is made by pouring water over the leaves of the tea bush."
        >>> Cleaner.load().document(html, parts=Parts.of(exclude="links")).to("markdown")
        'Tea is hot. It is made by pouring water over the leaves of the tea bush.\\n'
        """
        if not isinstance(parts, Parts):
            raise TypeError(f"parts must be Parts, such as Parts.of(exclude='links'), not {parts!r}")
        document, about, markup = _read(
            page, self.config, url, content_type, source, metadata=metadata, layout=layout, annotation=annotation
        )
        is_large = len(document.texts) > MOST_BLOCKS
        if is_large:
            trim_memory()  # frees the memory of the tree
        labelling, shown, columns = self.labeller.examine(document, features)
        if labelling.warnings:
            document = replace(document, losses=document.losses + labelling.warnings)
        trees = role_trees_of(self.labeller)
        cleaned = CleanPage.of(document, labelling, features=shown, metadata=about, layout=markup, by_method=True)
        if roles or "roles" in parts.included:
            cleaned = replace(cleaned, roles=assign_roles(document, labelling.labels, columns, trees))
        if isinstance(self.labeller, ModelLabeller):
            cleaned = drop_by_default(cleaned, parts, columns, trees)
        cleaned = choose_parts(cleaned, parts, columns, trees)
        if is_large:
            trim_memory()  # of arrays
        if cleaned.is_empty and not annotation and lacks_text(page, document.texts):
            document = replace(document, losses=(*document.losses, BUILT_BY_SCRIPTS))
            confidence = None if cleaned.confidence is None else round(_SHELL_CONFIDENCE * cleaned.confidence, 6)
            cleaned = replace(cleaned, document=document, confidence=confidence)
        if about is not None:
            cleaned = replace(cleaned, language=detect_language(cleaned, about.language))
        return cleaned

    def clean(
        self,
        page: bytes | str,
        url: str | None = None,
        format: str = "text",
        content_type: str | None = None,
        parts: Parts = DEFAULT_PARTS,
    ) -> str:
        """Clean a page and return it in a format; the parameters are as in the function `clean`.

        >>> Cleaner.load().clean("<p>Tea is made by pouring hot water over the cured leaves of the tea bush.")
        'Tea is made by pouring hot water over the cured leaves of the tea bush.\\n'
        """
        output = find_output(format)
        cleaned = self.document(
            page,
            url,
            content_type,
            features=output.wants_features,
            metadata=needs_metadata(output, parts),
            layout=output.wants_layout,
            parts=parts,
        )
        return output.alone(cleaned)


def needs_metadata(output: Output, parts: Parts) -> bool:
    """Return whether a format, or the parts that the user wants, need the metadata of a page."""
    wants_facts = output.wants_facts or "facts" in parts.included
    return output.wants_metadata or (wants_facts and "facts" not in parts.excluded)


def lacks_text(page: bytes | str, texts: Sequence[str]) -> bool:
    """Whether scripts seem to build a page: it has almost no text, or only a text that asks for JavaScript."""
    length = sum(map(len, texts))
    asks_for_scripts = length <= _SHELL_NOTE and any("javascript" in text.lower() for text in texts)
    return asks_for_scripts or (len(page) >= _SHELL_BYTES and length < _SHELL_SHARE * len(page))


def detect_language(page: CleanPage, claimed: str) -> str:
    """Return the language of the kept text. If there is too little text, return the language that the page declares."""
    kept: list[str] = []
    length = 0
    for text, label in zip(page.document.texts, page.labels, strict=True):
        if label.is_content:
            kept.append(text)
            length += len(text)
            if length >= MOST_DETECTED:
                break
    return language_of("\n".join(kept), claimed)


_PLACE = re.compile(r"^(https?|ftp|file)://.|^www\.\w|.\.(x?html?|php|aspx?|anno|txt|xml|warc|gz|zip)$", re.IGNORECASE)
_LONGEST_PLACE = 2_000


@cache
def _default_cleaner(favor: str | None) -> Cleaner:
    return Cleaner.load(favor=favor)


def clean(
    page: bytes | str,
    url: str | None = None,
    format: str = "text",
    favor: str | None = None,
    timeout: float | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    headline: str = "",
) -> str:
    r"""Clean a web page with the bundled model.

    The page is HTML, as text or as bytes of any encoding. `url` is the page address, which relative links are resolved
    against. `format` is the name of an output format, such as text, markdown, html or jsonl; ``victor list formats``
    shows all of them. `favor` is precision (to keep less noise), recall (to lose less content) or balanced.

    With `timeout` the page is cleaned in a child process, which is reused. Raises TimeLimitError after that many
    seconds, and ChildError if the page crashes the process or takes more than 1 GB of memory.

    `include` and `exclude` name parts of the page to keep or drop, such as comments, tables or links; ``victor list
    parts`` shows all of them. `headline` is ``always``, ``never``, or ``model`` (as the model decides). By default the
    headline is kept unless it is almost certainly noise.

    Warns if the page looks like a path or an address: read the file or fetch the address first.

    >>> clean("<nav><a href='/'>Home</a> <a href='/tea'>Tea</a></nav><p>Tea is <b>hot</b>. It is made by pouring water "
    ...       "over the cured leaves of the tea bush, and it is drunk all over the world.</p>", format="markdown")
    'Tea is **hot**. It is made by pouring water over the cured leaves of the tea bush, and it is drunk all over the
    world.\n'
    >>> clean("<p>Tea is <b>hot</b>. It is drunk all over the world.", format="markdown", exclude=["formatting"])
    'Tea is hot. It is drunk all over the world.\n'
    """
    parts = Parts.of(include, exclude, headline)
    words = page.split(None, 1) if isinstance(page, str) and len(page) < _LONGEST_PLACE else []
    if len(words) == 1 and "<" not in page and _PLACE.search(words[0]):
        kind, instead = "path", "read the file first: victorpy.clean(Path(...).read_bytes())"
        if "://" in words[0] or words[0].startswith("www."):
            kind, instead = "address", "fetch it first, and give its content: victorpy.clean(content, url=...)"
        warnings.warn(
            f"{words[0]!r} looks like the {kind} of a page, but it is cleaned as text; {instead}", stacklevel=2
        )
    if timeout is None:
        return _clean_here(page, url, format, favor, parts)
    from victorpy.base import child  # only on request

    function, prepare = f"{__name__}:_clean_here", f"{__name__}:_prepare"
    return str(child.call(function, (page, url, format, favor, parts), timeout, prepare))


def _prepare(page: bytes | str, url: str | None, format: str, favor: str | None, parts: Parts) -> None:
    """Load what `_clean_here` needs."""
    _clean_first_page(format, favor, parts)


@cache
def _clean_first_page(format: str, favor: str | None, parts: Parts) -> None:
    _clean_here("<p>Tea is hot.", None, format, favor, parts)


def _clean_here(page: bytes | str, url: str | None, format: str, favor: str | None, parts: Parts) -> str:
    return _default_cleaner(favor).clean(page, url, format, parts=parts)


def docview(page: bytes | str, url: str | None = None, favor: str | None = None, **parameters: Any) -> DocView:
    """Describe a web page: its type, title, keywords, abstract, content, links, author, date and more.

    `page`, `url` and `favor` are as in `clean`. The other parameters are those of
    `victorpy.description.record.Parameters`, such as ``keywords=5`` and ``sentences=3``. Needs the extra ``docview``.

    >>> record = docview("<title>Tea</title><p>Tea is a drink. It is made by pouring water over the leaves of the "
    ...                  "tea bush, and it is drunk all over the world.</p>", keywords=2)
    >>> record.type, record.title, record.language, record.keywords
    ('topic', 'Tea', 'en', ('tea', 'drink'))
    """
    from victorpy.description.record import Parameters, describe  # only on request

    return describe(_default_cleaner(favor).document(page, url, metadata=True), Parameters(**parameters))
