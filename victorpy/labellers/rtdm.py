"""RTDM: the template of a site is the part of its pages that a tree edit distance maps to the same place.

K. Vieira et al., A Fast and Robust Method for Web Page Template Detection and Removal (2006), with the restricted
top-down mapping of D. C. Reis et al. (2004), as the paper on sentence entropy describes it (sections 1 and 2).

In the paper, nodes are equal if their tags are equal, and texts are not compared (`text=no`). This treats content with
the same structure on all pages as template, so by default texts must be equal too.

Children are mapped in order, and only below mapped parents. Only leaves are inserted, removed or replaced, so that a
sub-tree without a partner is removed leaf by leaf:

    cost(a, b) = 0                          if the sub-trees are equal
                 1                          if both are leaves: one is replaced
                 size(a) + size(b)          if their labels differ
                 the cheapest alignment of their children otherwise
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from victorpy.base.hashes import hash_text, hash_texts
from victorpy.base.parameters import check_count
from victorpy.document import Document, Labelling
from victorpy.labellers.base import LABELLERS, NOISE, Labels, SiteLabeller, label_kept, no_pages, not_fitted
from victorpy.page.tree import PageTree

_TEXT = hash_text("#text")

CELLS = 100_000
"""Maximum number of pairs of children to compare for two pages. Further children count as unmapped."""

Pairs = tuple[tuple[int, int], ...]  # positions of children that are mapped to each other


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An element with everything in it, or a text."""

    label: int
    children: tuple[Node, ...]
    hash: int  # equal for sub-trees with the same labels in the same order
    size: int  # number of nodes in the sub-tree
    text: int = -1  # number of a text on its page; -1 for an element

    @classmethod
    def of(cls, label: int, children: Sequence[Node] = (), text: int = -1) -> Node:
        own_hash = hash((label, *(child.hash for child in children)))
        return cls(label, tuple(children), own_hash, 1 + sum(child.size for child in children), text)

    def texts(self) -> Iterator[int]:
        waiting = [self]
        while waiting:
            node = waiting.pop()
            waiting += node.children
            if node.text >= 0:
                yield node.text


def node_of(tree: PageTree, labels: Sequence[int], texts: Sequence[int]) -> Node:
    """Convert a page to nodes, given the labels of its elements and texts."""
    nodes: dict[int, Node] = {}
    for element in reversed(range(len(labels))):
        inside = [nodes.pop(item) if item >= 0 else Node.of(texts[~item], text=~item) for item in tree.content[element]]
        nodes[element] = Node.of(labels[element], inside)
    return Node.of(0, [nodes[element] for element in sorted(nodes)])


class TreeMapping:
    """Maps two trees, whose roots count as equal."""

    def __init__(self, cells: int = CELLS) -> None:
        self._cells_left = cells
        self._known: dict[tuple[int, int], tuple[int, Pairs]] = {}

    def common(self, node: Node, other: Node) -> Node:
        """Return the part of the first tree that is mapped to equal nodes of the second."""
        if node.hash == other.hash:
            return node
        _, pairs = self._align(node, other)
        return Node.of(node.label, [self.common(node.children[i], other.children[j]) for i, j in pairs], node.text)

    def mapped_texts(self, node: Node, other: Node) -> Iterator[int]:
        """Yield the texts of the second tree that are mapped to an equal text of the first."""
        if node.hash == other.hash:
            yield from other.texts()
            return
        for i, j in self._align(node, other)[1]:
            yield from self.mapped_texts(node.children[i], other.children[j])

    def cost(self, node: Node, other: Node) -> int:
        """Return the cost of turning one tree into the other."""
        if node.hash == other.hash:
            return 0
        if node.label == other.label:
            return self._align(node, other)[0]
        return 1 if node.size == other.size == 1 else node.size + other.size

    def _align(self, node: Node, other: Node) -> tuple[int, Pairs]:
        """Return the cost of the cheapest alignment of two nodes' children, and the pairs of mapped children."""
        key = node.hash, other.hash
        if key not in self._known:
            ours, theirs = node.children, other.children
            shorter = min(len(ours), len(theirs))
            start = end = 0  # number of equal children at either end
            while start < shorter and ours[start].hash == theirs[start].hash:
                start += 1
            while end < shorter - start and ours[-1 - end].hash == theirs[-1 - end].hash:
                end += 1
            our_stop, their_stop = len(ours) - end, len(theirs) - end
            cost, pairs = self._align_differing(ours[start:our_stop], theirs[start:their_stop])
            self._known[key] = (
                cost,
                (
                    *((place, place) for place in range(start)),
                    *((start + i, start + j) for i, j in pairs),
                    *((our_stop + place, their_stop + place) for place in range(end)),
                ),
            )
        return self._known[key]

    def _align_differing(self, ours: Sequence[Node], theirs: Sequence[Node]) -> tuple[int, Pairs]:
        cells = len(ours) * len(theirs)
        if not cells or cells > self._cells_left:
            return sum(node.size for node in (*ours, *theirs)), ()
        self._cells_left -= cells
        rows = [[0]]
        for other in theirs:
            rows[0].append(rows[0][-1] + other.size)
        for node in ours:
            above = rows[-1]
            row = [above[0] + node.size]
            for j, other in enumerate(theirs):
                cheapest = min(above[j + 1] + node.size, row[j] + other.size)
                if above[j] + abs(node.size - other.size) < cheapest:  # otherwise mapping them cannot be cheaper
                    cheapest = min(cheapest, above[j] + self.cost(node, other))
                row.append(cheapest)
            rows.append(row)
        return rows[-1][-1], tuple(self._trace(rows, ours, theirs))

    def _trace(self, rows: list[list[int]], ours: Sequence[Node], theirs: Sequence[Node]) -> list[tuple[int, int]]:
        """Trace a filled table back and return the pairs of mapped children with the same label."""
        pairs = []
        i, j = len(ours), len(theirs)
        while i and j:
            node, other = ours[i - 1], theirs[j - 1]
            if rows[i][j] == rows[i - 1][j] + node.size:
                i -= 1
            elif rows[i][j] == rows[i][j - 1] + other.size:
                j -= 1
            else:
                i, j = i - 1, j - 1
                if node.label == other.label:
                    pairs.append((i, j))
        return pairs[::-1]


@LABELLERS.register("rtdm")
@dataclass(eq=False, repr=False)
class Rtdm(SiteLabeller):
    """Drops the parts that all pages of the site have in the same place."""

    sample: int = 30
    text: bool = True
    names: bool = False
    template_: Node | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        check_count("rtdm", 2, sample=self.sample)

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Map one page after the other to the template so far, and keep the mapped nodes."""
        template, seen = None, set()
        for document in documents:
            tree = PageTree(document)
            if tree.number in seen:
                continue
            seen.add(tree.number)
            page = self._nodes(tree)
            template = page if template is None else TreeMapping().common(template, page)
            if len(seen) >= self.sample:
                break
        if template is None:
            raise no_pages("rtdm")
        self.template_ = template if len(seen) > 1 else Node.of(0)  # a single page has no template
        return self

    def label(self, document: Document) -> Labelling:
        if self.template_ is None:
            raise not_fitted(self)
        tree = PageTree(document)
        noise = tree.blocks_with(TreeMapping().mapped_texts(self.template_, self._nodes(tree)), NOISE)
        return label_kept(document, [not is_noise for is_noise in noise])

    def _nodes(self, tree: PageTree) -> Node:
        labels: Iterable[str] = tree.elements.tag
        if self.names:
            pairs = zip(tree.elements.tag, tree.elements.attributes, strict=True)
            labels = (f"{tag} {given.get('class', '')} {given.get('id', '')}" for tag, given in pairs)
        texts = hash_texts(text.text for text in tree.texts) if self.text else [_TEXT] * len(tree.texts)
        return node_of(tree, hash_texts(labels), texts)
