"""Find replicas among signed texts, in a database on disk, so that memory does not grow with the number of texts.

The steps are functions of plain data, so that a cluster can perform them too:

1. `frame_of`: finds the frame of a site, the words that most pages of a sample have in common. 2. `keys_of`: computes
the keys of each text, from words that are not in the frame. 3. `pairs_of`: pairs texts that share a key. 4. `resolve`:
compares each text, in order, with its most promising kept partners.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property, lru_cache, partial
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from victorpy.base.hashes import hash_text
from victorpy.dedup.base import KEEP, NO_WORDS, Detector, Frame, Keep, Signature, Signed, Words, load_detector
from victorpy.errors import ConfigError, suggest

if TYPE_CHECKING:
    import sqlite3

Id = TypeVar("Id")

SAMPLE = 64
"""Number of pages with different texts from which the frame of a site is computed."""
CRAWL_SAMPLE = 4_096
"""Number of pages from which the rare words of the crawl are computed."""
FRAME_SHARE, ALWAYS_SHARE, TITLE_SHARE, FRAME_PAGES = 0.2, 0.8, 0.5, 8
"""Thresholds for a word of the frame: minimum shares of sampled pages or titles with it, and minimum number of pages.
"""
SHARED = 16
"""Maximum number of texts with the same key that are all paired.

If there are more, they are either copies of the first one, or the key is a common word. So each is paired with the
first one only, and the pair must share another key.
"""
CANDIDATES = 16
"""Number of partners that a text is compared with. Partners that share more keys come first."""

LOSS_SHARE, LOSS_PAGES = 0.3, 10
"""A site is reported if it has at least LOSS_PAGES pages and loses more than LOSS_SHARE of them."""

_CACHE_KIB = 32 * 1024
_CACHED = 1_000
_NUMBER_BITS, _LENGTH_BITS, _MOST_RUN = 42, 17, 15
_MOST_LENGTH = (1 << _LENGTH_BITS) - 1


def common_words(pages: Iterable[Words], fewest: float) -> tuple[Words, npt.NDArray[np.int64]]:
    """Return the words of at least `fewest` pages, and the number of pages that have them."""
    words, counts = np.unique(np.concatenate([NO_WORDS, *map(np.unique, pages)]), return_counts=True)
    return words[counts >= fewest], counts[counts >= fewest]


def frame_of(pages: Sequence[Signature]) -> bytes:
    """Return the words that many of a site's pages have in common."""
    words, counts = common_words(map(all_words, pages), max(FRAME_SHARE * len(pages), FRAME_PAGES))
    titles = common_words((page.title for page in pages), max(TITLE_SHARE * len(pages), FRAME_PAGES))[0]
    return Signature(0, titles, words, words[counts >= ALWAYS_SHARE * len(pages)]).as_bytes()


def all_words(page: Signature) -> Words:
    """Return all words of a page. Some may occur twice."""
    return np.concatenate(page[1:])


def with_site(crawl: Frame, frame: bytes | None) -> Frame:
    """Combine the frame of a site with the common words of the crawl."""
    if not frame:
        return crawl
    site = Signature.from_bytes(frame)
    return crawl._replace(title=site.title, site=site.text, always=site.rest)


def keys_of(detector: Detector, signature: Signature, frame: Frame) -> list[int]:
    """Return the keys of a text as signed integers of 64 bits. The first is its digest."""
    digest = np.array([signature.digest], dtype=np.uint64)
    keys: list[int] = np.concatenate([digest, detector.keys(signature, frame)]).view(np.int64).tolist()
    return keys


def rank_of(signed: Signed, keep: str) -> int:
    """Return a number that sorts texts in the order in which they are decided. Texts of equal rank keep their order."""
    return _MOST_LENGTH - min(signed.length, _MOST_LENGTH) if keep == Keep.LONGEST else 0


def pairs_of(ids: Iterable[Id]) -> Iterator[tuple[Id, Id, int]]:
    """Pair the texts that share a key, in order. Pairs are compared if their weights add up to 2 or more."""
    rest = iter(ids)
    some = list(islice(rest, SHARED + 1))
    if len(some) > SHARED:
        return ((text_id, some[0], 1) for text_id in chain(some[1:], rest))
    return ((text_id, other, 2) for number, text_id in enumerate(some) for other in some[:number])


def resolve(
    partners: Iterable[tuple[Id, bool]], repeats: Callable[[Id], Id | None], is_replica: Callable[[Id], bool]
) -> Id | None:
    """Return the kept text that a text repeats, or None. Texts are resolved in order.

    Each partner is given with a flag: whether it has the same digest. `repeats` returns the kept text that a partner
    repeats. A replica of a replica is kept, unless it also repeats a kept text or has the replica's digest.
    """
    for other, is_equal in partners:
        kept = repeats(other)
        if is_equal:
            return other if kept is None else kept
        if kept is None and is_replica(other):
            return other
    return None


class Loss(NamedTuple):
    """A site that loses many of its pages as replicas."""

    site: str
    pages: int
    replicas: int


@contextmanager
def open_database(path: Path | None = None, work: Path | None = None) -> Iterator[sqlite3.Connection]:
    """Open a database, or a temporary one, and begin a transaction, which the caller has to commit.

    `work` is a second database, for tables that are not needed later. Database errors are raised as OSError.
    """
    import sqlite3  # only needed for deduplication

    try:
        with closing(sqlite3.connect(path or "", isolation_level=None)) as database:
            database.execute("attach ? as work", (str(work or ""),))
            for name in ("main", "work"):
                database.execute(f"pragma {name}.cache_size = -{_CACHE_KIB}")
            database.execute("begin")
            yield database
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error), str(path or "a temporary database")) from error


class Index:
    """A database of signed texts that finds the replicas among them.

    A run adds all of its texts and then calls `decide`. If it is interrupted, it resumes after the last completed step.
    A later run is compared with the kept texts of earlier runs.
    """

    def __init__(self, database: sqlite3.Connection, detector: Detector, keep: str = Keep.FIRST, run: int = 0) -> None:
        self._database = database
        self._detector = detector
        self._keep = keep
        self._run = min(run, _MOST_RUN)
        self.frame = lru_cache(_CACHED)(self._find_frame)
        self.text = lru_cache(_CACHED)(self._find_text)
        for table in (
            "text (id integer primary key, site integer, digest integer)",
            "signature (id integer primary key, content blob, description text)",
            "site (site integer primary key, name text, frame blob)",
            "common (word integer primary key, pages integer)",
            "decision (id integer primary key, repeats integer)",
            "work.key (key integer, id integer)",
            "work.pair (id integer, other integer, weight integer)",
        ):
            database.execute(f"create table if not exists {table}")

    @property
    def _state(self) -> int:
        """Number of steps that this run has completed."""
        run, state = divmod(self._database.execute("pragma user_version").fetchone()[0], 8)
        return state if run == self._run else 0

    def _complete(self, state: int) -> None:
        self._database.execute(f"pragma user_version = {8 * self._run + state}")
        self._database.execute("commit")
        self._database.execute("begin")

    def add(self, texts: Iterable[tuple[int, Signed, str, str]]) -> None:
        """Add the number, signature, site and description of each text, unless an interrupted run has added them."""
        if self._state:
            return
        run = self._run << (_NUMBER_BITS + _LENGTH_BITS)
        earlier = "select id from decision union select id from text where id >= ?"
        for table in ("signature", "text"):
            self._database.execute(f"delete from {table} where id in ({earlier})", (run,))
        self._database.execute("delete from decision")
        names: set[str] = set()
        for number, signed, site, description in texts:
            text_id = (((self._run << _LENGTH_BITS) + rank_of(signed, self._keep)) << _NUMBER_BITS) + number
            site_hash = _as_signed(hash_text(site))
            if site not in names:
                names = {site} if len(names) > _CACHED else names | {site}
                self._database.execute("insert or ignore into site values (?, ?, x'')", (site_hash, site))
            digest = digest_of(signed.signature)
            self._database.execute("insert into text values (?, ?, ?)", (text_id, site_hash, digest))
            self._database.execute("insert into signature values (?, ?, ?)", (text_id, signed.signature, description))
        self._complete(1)

    def decide(self) -> None:
        for state, step in enumerate((self._find_frames, self._add_keys, self._add_pairs, self._decide), 1):
            if self._state == state:
                step()
                self._complete(state + 1)

    def _find_frames(self) -> None:
        self._database.execute("delete from common")
        if not self._detector.uses_sites:
            return
        one_each = "select site, digest, min(id) as id from text group by site, digest"
        ranked = f"select site, id, row_number() over (partition by site order by digest) as place from ({one_each})"
        sampled = self._database.execute(f"select site, id from ({ranked}) where place <= {SAMPLE} order by site")
        for site, rows in groupby(sampled, key=itemgetter(0)):
            frame = frame_of([self.text(text_id)[0] for _, text_id in rows])
            self._database.execute("update site set frame = ? where site = ?", (frame, site))
        sample = f"select min(id) from text group by digest order by digest limit {CRAWL_SAMPLE}"
        sampled = self._database.execute(sample)
        words, pages = common_words((all_words(self.text(text_id)[0]) for (text_id,) in sampled), 2)
        self._database.executemany("insert into common values (?, ?)", zip(words.tolist(), pages.tolist(), strict=True))

    @cached_property
    def _crawl(self) -> Frame:
        rows = np.array(self._database.execute("select word, pages from common").fetchall(), dtype=np.int64)
        words, pages = rows.reshape(-1, 2).T
        return Frame(crawl=words.astype(np.uint32), pages=pages)

    def _find_frame(self, site: int) -> Frame:
        found = self._database.execute("select frame from site where site = ?", (site,)).fetchone()
        return with_site(self._crawl, found[0])

    def _find_text(self, text_id: int) -> tuple[Signature, int]:
        """Return the signature of a text, and its site."""
        found = self._database.execute(
            "select content, site from text join signature using (id) where id = ?", (text_id,)
        )
        content, site = found.fetchone()
        return Signature.from_bytes(content), site

    def _add_keys(self) -> None:
        self._database.execute("delete from key")
        texts = self._database.execute("select id, site, content from text join signature using (id)")
        self._database.executemany(
            "insert into key values (?, ?)",
            (
                (key, text_id)
                for text_id, site, content in texts
                for key in keys_of(self._detector, Signature.from_bytes(content), self.frame(site))
            ),
        )

    def _add_pairs(self) -> None:
        self._database.execute("delete from pair")
        keys = self._database.execute("select key, id from key order by key, id")
        groups = (pairs_of(text_id for _, text_id in rows) for _, rows in groupby(keys, key=itemgetter(0)))
        self._database.executemany("insert into pair values (?, ?, ?)", chain.from_iterable(groups))

    def _decide(self) -> None:
        self._database.execute("delete from decision")
        pairs = self._database.execute(
            "select pair.id, other, one.digest = two.digest as is_equal from pair "
            "join text as one on one.id = pair.id join text as two on two.id = other where pair.id >= ? "
            "group by pair.id, other having is_equal or sum(weight) > 1 "
            "order by pair.id, is_equal desc, sum(weight) desc, other",
            (self._run << (_NUMBER_BITS + _LENGTH_BITS),),
        )
        for text_id, partners in groupby(pairs, key=itemgetter(0)):
            candidates = ((other, bool(is_equal)) for _, other, is_equal in islice(partners, CANDIDATES))
            repeated = resolve(candidates, self._repeated, partial(self._is_replica, text_id))
            if repeated is not None:
                self._database.execute("insert into decision values (?, ?)", (text_id, repeated))

    def _repeated(self, text_id: int) -> int | None:
        found = self._database.execute("select repeats from decision where id = ?", (text_id,)).fetchone()
        return found[0] if found else None

    def _is_replica(self, one: int, other: int) -> bool:
        (text, site), (other_text, other_site) = self.text(one), self.text(other)
        frames = (self.frame(site), self.frame(other_site))
        return self._detector.is_replica(text, other_text, frames, site == other_site)

    def replicas(self) -> Iterator[tuple[int, str]]:
        """Return the numbers of this run's replicas, in order, and the descriptions of the texts that they repeat."""
        mask = (1 << _NUMBER_BITS) - 1
        return self._database.execute(
            "select decision.id & ? as number, description from decision join signature on signature.id = repeats "
            "order by number",
            (mask,),
        )

    def losses(self) -> list[Loss]:
        """Return the sites that lose many of their pages."""
        found = self._database.execute(
            "select name, count(*) as pages, count(repeats) as replicas from text join site using (site) "
            "left join decision using (id) where text.id >= ? group by site "
            "having pages >= ? and replicas > ? * pages order by replicas desc, name",
            (self._run << (_NUMBER_BITS + _LENGTH_BITS), LOSS_PAGES, LOSS_SHARE),
        )
        return [Loss(*row) for row in found]

    def all_losses(self) -> Loss:
        """Return the number of texts and replicas in this run, over all sites."""
        counts = "select count(*), count(repeats) from text left join decision using (id) where text.id >= ?"
        return Loss("", *self._database.execute(counts, (self._run << (_NUMBER_BITS + _LENGTH_BITS),)).fetchone())


def _as_signed(number: int) -> int:
    """Return an unsigned integer of 64 bits as the signed integer with the same bits, which databases can store."""
    return number - (1 << 64) if number >> 63 else number


def digest_of(signature: bytes) -> int:
    """Return the digest in a signature as a signed integer."""
    return _as_signed(Signature.from_bytes(signature).digest)


def find_replicas(
    texts: Iterable[str | tuple[str, str]], method: str = "pages", keep: str = "first", **parameters: Any
) -> list[int | None]:
    """Return for every text the number of the text that it repeats, or None if it is kept.

    If you know the sites, give pairs of text and site. Otherwise each text counts as a separate site. Each text is
    compared with the texts kept before it, in the given order or, with ``keep="longest"``, from the longest to the
    shortest. The method ``fingerprint`` has the parameters `percentage` and `interval`.

    >>> tea = "Tea is made by pouring hot water over the cured leaves of the tea bush, and drunk all over the world."
    >>> find_replicas([tea, "Coffee is brewed from roasted beans of another plant.", f"{tea} Have a cup!"])
    [None, None, 0]
    >>> find_replicas([tea, f"{tea} Have a cup!"], keep="longest")
    [1, None]
    """
    if keep not in KEEP:
        raise ConfigError(f"keep must be one of {', '.join(KEEP)}, not {keep!r}{suggest(keep, KEEP)}")
    detector = load_detector(method, **parameters)
    repeats: list[int | None] = []

    def signed() -> Iterator[tuple[int, Signed, str, str]]:
        for number, entry in enumerate(texts):
            text, site = (entry, f"#{number}") if isinstance(entry, str) else entry
            repeats.append(None)
            signature = detector.sign(text)
            if signature:
                yield number, Signed(signature, len(text)), site, str(number)

    with open_database() as database:
        index = Index(database, detector, keep)
        index.add(signed())
        index.decide()
        for number, repeated in index.replicas():
            repeats[number] = int(repeated)
    return repeats
