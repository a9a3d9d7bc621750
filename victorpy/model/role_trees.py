"""Trees for those roles that markup does not determine, such as bylines and comments.

Each role has a separate forest, so cleaning a page only runs the forests that it needs. Their inputs are the columns of
the page, which blocks are kept, names of elements around a block, and patterns of its text. The forests of
`RECORD_ROLES` also see the record of a block: one of several siblings with the same names, such as the comments below a
text. The log-odds of the trees for content are not used, so a model with new trees for content can keep its trees for
roles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from victorpy.base.arrays import open_arrays, read_array
from victorpy.columns import NEAR, Column, Columns, Counts, Flags, Floats
from victorpy.columns.elements import running_total
from victorpy.config import load_config
from victorpy.document import Document, Elements, Role
from victorpy.model.evidence.inputs import shifted
from victorpy.model.evidence.trees import LIGHTGBM, Forest, Matrix, grow
from victorpy.model.role_patterns import LONG, THREAD, has_headline, name_levels, text_marks

ROLES_FILE = "roles.npy"

RECORD_ROLES = (Role.COMMENT, Role.RELATED)
LEARNED = (Role.HEADLINE, Role.SUBTITLE, Role.BYLINE, Role.CAPTION, Role.TAGS, *RECORD_ROLES)
"""The roles that have a forest."""

WITHIN = (
    "h1",
    "class-header",
    "li",
    "td",
    "figure",
    "figcaption",
    "nav",
    "header",
    "footer",
    "aside",
    "article",
    "form",
)
NAMED = (Role.SUBTITLE, Role.BYLINE, Role.CAPTION, Role.COMMENT, Role.RELATED, Role.TAGS, Role.NAVIGATION)
MARKS = ("date", "by", "tags", "related", "caption", "share")
SETTINGS: Mapping[str, Any] = {
    "learner": LIGHTGBM,
    "random_seed": 1,
    "iterations": 60,
    "num_leaves": 24,
    "learning_rate": 0.12,
    "min_child_samples": 30,
    "l2_leaf_reg": 5,
    "border_count": 63,
    "rsm": 0.4,
    "n_jobs": 1,
}
KEPT_INPUTS = ("kept", "kept-before", "from-first-text", "from-last-text")
"""Inputs that depend on which blocks are kept. The forests of `RECORD_ROLES` do not use them.

On training pages, the model keeps hardly any comments. So with these inputs, the trees would learn that kept text is
never a comment, and would not drop comments that the model keeps on new pages."""

_FAR = 60  # blocks
_NOWHERE = 99
PLAIN = ("p", "span", "a", "b", "i", "em", "strong", "td", "th", "font", "h1", "h2", "h3", "h4", "dt", "pre", "br")
"""Tags of elements that are never records."""
_FIRST_RECORD_INPUT = "record.level"
_ACROSS = ("page.blocks", "page.named", "page.prose")


def block_inputs(page: Columns, is_kept: Flags, blocks: Counts) -> dict[str, Floats | Counts | Flags]:
    """Return the inputs of the given blocks by name, except those that describe records."""
    words, lengths, count = page.words, np.maximum(page.lengths, 1), page.count
    link_share = page.link_words / np.maximum(words, 1)
    number = np.arange(count)
    headline = page.headline if has_headline(page) else -1
    prose = running_total(page.prose) / max(float(page.prose.sum()), 1.0)
    kept_words = running_total(words * is_kept)
    texts = np.flatnonzero(is_kept & (words >= LONG))
    first, last = (texts[0], texts[-1]) if len(texts) else (-1, -1)
    rows: dict[str, Any] = {
        "words": words,
        "link-share": link_share,
        "characters": page.lengths,
        "digits": page.digits / lengths,
        "punctuation": page.punctuation / lengths,
        "capitals": page.capitals / np.maximum(page.letters, 1),
        "title": page.title_share,
        "depth": page.depth,
        "index": number,
        "from-end": count - number,
        "headline-distance": _distance(number, headline),
        "is-headline": number == headline,
        "words-before": page.words_before / max(float(words.sum()), 1.0),
        "prose-before": prose[:-1],
        "prose-after": 1 - prose[1:],
        "kept": is_kept,
        "kept-before": kept_words[:-1] / max(float(kept_words[-1]), 1.0),
        "from-first-text": _distance(number, first),
        "from-last-text": _distance(number, last),
        "look.blocks": page.look_sums.blocks,
        "look.words": page.look_sums.block_words,
        "look.link-share": page.look_sums.link_share,
        "trunk.inside": page.trunk["inside"],
        "trunk.words": page.trunk["words"],
    }
    rows |= {f"in.{tag}": page.within(tag) for tag in WITHIN}
    rows |= {f"words[{shift:+d}]": shifted(words, shift) for shift in (-2, -1, 1, 2)}
    rows |= {f"link-share[{shift:+d}]": shifted(link_share, shift) for shift in (-1, 1)}
    sums = page.ancestor_sums
    for level in (1, 2, 4):
        rows[f"ancestor{level}.words"] = sums.words[level]
        rows[f"ancestor{level}.link-share"] = sums.link_share[level]
        rows[f"ancestor{level}.blocks"] = sums.blocks[level]
    chosen = {name: row[blocks] for name, row in rows.items()}
    chosen |= {f"name.{role}": name_levels(page, role, blocks) for role in NAMED}
    chosen |= {f"text.{name}": text_marks(page, name, blocks) for name in MARKS}
    across = count, page.named_share, float(page.prose.sum())
    return chosen | {name: np.full(len(blocks), value) for name, value in zip(_ACROSS, across, strict=True)}


def _distance(number: Counts, place: int) -> Counts:
    return np.clip(number - place, -_FAR, _FAR) if place >= 0 else np.full(len(number), _NOWHERE)


def record_inputs(page: Columns, blocks: Counts) -> dict[str, Floats | Counts | Flags]:
    """Return the inputs of the given blocks that describe their records.

    Siblings with the same tag and class are records if at least two of them contain prose. The record of a block is the
    enclosing element whose siblings contain most prose.
    """
    group = sibling_groups(page)
    is_date = text_marks(page, "date", np.arange(page.count))
    sums = _sums_of_groups(page, group, is_date)
    is_plain = np.isin(np.arange(len(group)), page.elements_with(PLAIN))
    weight = np.where((sums["with-prose"][group] >= 2) & ~is_plain, sums["prose"][group], 0.0)
    around = page.ancestors[:, blocks]
    level = weight[around].argmax(axis=0)
    record = around[level, np.arange(len(blocks))]
    own = {name: values[group[record]] for name, values in sums.items()}
    count, prose = np.maximum(own["count"], 1), running_total(page.prose)
    all_prose = max(float(prose[-1]), 1.0)
    rows = {
        "record.level": level,
        "record.count": own["count"],
        "record.prose-share": own["prose"] / all_prose,
        "record.words": own["words"] / count,
        "record.with-prose": own["with-prose"] / count,
        "record.link-share": own["link-words"] / np.maximum(own["words"], 1),
        "record.rank": _rank(group)[record],
        "record.before": prose[own["begin"]] / all_prose,
        "record.after": 1 - prose[own["end"]] / all_prose,
        "record.own-words": page.element_sum(page.words, record),
        "record.date": own["with-date"] / count,
        "record.reply": own["with-reply"] / count,
    }
    rows = {name: np.where(weight[record] > 0, row, -1.0) for name, row in rows.items()}
    rows["name.thread"] = name_levels(page, THREAD, blocks)
    for name in (Role.COMMENT, THREAD):
        is_named = name_levels(page, name, np.arange(page.count)) < NEAR
        rows[f"page.{name}"] = np.full(len(blocks), float(page.prose[is_named].sum()) / all_prose)
    rows["page.records"] = np.full(len(blocks), weight.max(initial=0.0) / all_prose)
    rows["page.dates"] = np.full(len(blocks), is_date.sum())
    return rows


def _sums_of_groups(page: Columns, group: Counts, is_date: Flags) -> dict[str, Column]:
    """Return the totals of each group of elements, and its first and last block."""
    first, stop = page.block_range
    columns: dict[str, Column] = {"prose": page.prose, "words": page.words, "link-words": page.link_words}
    marks = {"date": is_date, "reply": text_marks(page, "reply", np.arange(page.count))}
    everything = np.arange(len(group))
    inside = {name: page.element_sum(column, everything) for name, column in (columns | marks).items()}
    sums: dict[str, Column] = {name: np.bincount(group, inside[name]) for name in columns}
    sums |= {f"with-{name}": np.bincount(group, inside[name] > 0) for name in ("prose", *marks)}
    is_filled = inside["words"] > 0
    sums["count"] = np.bincount(group, is_filled)
    sums["begin"] = np.full(len(sums["count"]), page.count)
    sums["end"] = np.zeros(len(sums["count"]), dtype=np.int64)
    np.minimum.at(sums["begin"], group[is_filled], first[is_filled])
    np.maximum.at(sums["end"], group[is_filled], stop[is_filled])
    return sums


def _rank(group: Counts) -> Counts:
    """Return, for each element, the number of earlier elements in its group."""
    order = np.argsort(group, kind="stable")
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - np.searchsorted(group[order], group[order])
    return rank


def sibling_groups(page: Columns) -> Counts:
    """Return a group number for each element. Siblings with the same tag and first class have the same number."""
    numbers: dict[tuple[int, str, str], int] = {}
    elements = page.elements
    groups = []
    for parent, tag, attributes in zip(elements.parent, elements.tag, elements.attributes, strict=True):
        name = attributes.get("class", "").strip().partition(" ")[0].rstrip("0123456789")
        groups.append(numbers.setdefault((parent, tag, name), len(numbers)))
    return np.array(groups, dtype=np.int64)


def role_inputs(page: Columns, is_kept: Flags, blocks: Counts, roles: Iterable[Role]) -> tuple[list[str], Matrix]:
    """Return the names of the inputs that the forests of some roles need, and their values, one row per input."""
    rows = block_inputs(page, is_kept, blocks)
    if not {*roles}.isdisjoint(RECORD_ROLES):
        rows |= record_inputs(page, blocks)
    return [*rows], np.array([*rows.values()], dtype=np.float32)


def own_inputs(role: Role, names: Sequence[str]) -> int:
    """Return the number of inputs of a role's forest. Inputs that describe records come last."""
    return len(names) if role in RECORD_ROLES else names.index(_FIRST_RECORD_INPUT)


@dataclass(frozen=True)
class RoleTrees:
    """One forest per role, for some roles. A block has a role if its log-odds are above 0."""

    inputs: tuple[str, ...]
    """The names of all inputs."""
    forests: Mapping[Role, Forest]

    def log_odds(self, page: Columns, is_kept: Flags, blocks: Counts, roles: Iterable[Role]) -> dict[Role, Floats]:
        """Return the log-odds of the requested roles for the given blocks. Roles without a forest are left out."""
        wanted = [role for role in roles if role in self.forests]
        if not len(blocks):
            return {role: np.zeros(0) for role in wanted}
        _, matrix = role_inputs(page, is_kept, blocks, wanted)
        return {role: self.forests[role].log_odds(matrix[: own_inputs(role, self.inputs)]) for role in wanted}

    def save(self, directory: Path) -> None:
        with (directory / ROLES_FILE).open("wb") as file:
            np.save(file, np.array(self.inputs), allow_pickle=False)
            np.save(file, np.array([str(role) for role in self.forests]), allow_pickle=False)
            for forest in self.forests.values():
                forest.save(file)

    @classmethod
    def load(cls, directory: Path) -> RoleTrees:
        """Read trees that `save` wrote. Raises ValueError if they are damaged or need other inputs."""
        file = open_arrays(directory / ROLES_FILE)
        names, roles = (read_array(file, "names of roles").reshape(-1).tolist() for _ in range(2))
        nothing = Columns(Document((), Elements([], [], [], [], [], [])), load_config("blocks"))
        if names != role_inputs(nothing, np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int64), LEARNED)[0]:
            raise ValueError("its trees for roles need other inputs: run tools.roles")
        forests = {role: Forest.load(file, own_inputs(role, names)) for role in map(Role, roles)}
        if any(len(forest.bias) != 1 for forest in forests.values()):
            raise ValueError("its trees for roles have several classes")
        return cls(tuple(names), forests)


def fit_forest(matrix: Matrix, is_role: Flags, weights: Floats) -> Forest:
    """Train the forest of a role."""
    return grow(matrix, is_role, weights, SETTINGS, "roles")
