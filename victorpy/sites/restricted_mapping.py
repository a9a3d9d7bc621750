"""Restricted top-down mapping of two trees: what of one page is, in the same place, on another.

D. C. Reis, P. B. Golgher, A. S. Silva and A. F. Laender, Automatic Web News Extraction Using Tree Edit Distance (2004),
and K. Vieira et al., A Fast and Robust Method for Web Page Template Detection and Removal (2006). Children are mapped
in order and below mapped parents only, and only leaves are inserted, removed or replaced, so that a sub-tree without a
partner goes as a whole, leaf by leaf:

    cost(a, b) = 0                          if the sub-trees are equal
                 1                          if both are leaves: one is replaced
                 size(a) + size(b)          if their labels differ
                 the cheapest alignment of their children otherwise

The work is bounded. Equal sub-trees have equal numbers and are not looked into. Equal children at the start and end
are mapped at once. A pair of sub-trees is compared once wherever it occurs. The rest is a table of children by
children, and of all such tables together at most `cells` cells are filled. After that, children count as unmapped,
so that pages seem to have less in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from victorpy.page.tree import PageTree

CELLS = 100_000
"""How many pairs of children are compared for two pages."""

Pairs = tuple[tuple[int, int], ...]
"""Which children of one node are mapped to which of another, by their positions."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An element or a text, with everything in it."""

    label: int
    children: tuple[Node, ...]
    number: int
    """Equal for sub-trees with equal labels in equal order."""
    size: int
    """How many nodes it has, including itself."""
    text: int = -1
    """The number of the text on its page, if it is one."""

    @classmethod
    def of(cls, label: int, children: Sequence[Node] = (), text: int = -1) -> Node:
        """Make a node from its label and its children."""
        number = hash((label, *(child.number for child in children)))
        return cls(label, tuple(children), number, 1 + sum(child.size for child in children), text)

    def texts(self) -> Iterator[int]:
        """Yield the numbers of the texts in it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            waiting += node.children
            if node.text >= 0:
                yield node.text


def node_of(tree: PageTree, labels: Sequence[int], texts: Sequence[int]) -> Node:
    """Return a page as nodes with the given labels of its elements and texts."""
    nodes: dict[int, Node] = {}
    for element in reversed(range(len(labels))):
        inside = [nodes.pop(item) if item >= 0 else Node.of(texts[~item], text=~item) for item in tree.content[element]]
        nodes[element] = Node.of(labels[element], inside)
    return Node.of(0, [nodes[element] for element in sorted(nodes)])


class Mapping:
    """Maps two trees, whose roots are taken to be the same."""

    def __init__(self, cells: int = CELLS) -> None:
        self._cells_left = cells
        self._known: dict[tuple[int, int], tuple[int, Pairs]] = {}

    def common(self, node: Node, other: Node) -> Node:
        """Return the part of the first tree that is mapped to equal nodes of the second."""
        if node.number == other.number:
            return node
        _, pairs = self._align(node, other)
        return Node.of(node.label, [self.common(node.children[i], other.children[j]) for i, j in pairs], node.text)

    def mapped_texts(self, node: Node, other: Node) -> Iterator[int]:
        """Yield the texts of the second tree that are mapped to an equal one of the first."""
        if node.number == other.number:
            yield from other.texts()
            return
        for i, j in self._align(node, other)[1]:
            yield from self.mapped_texts(node.children[i], other.children[j])

    def cost(self, node: Node, other: Node) -> int:
        """Return the cost of turning one tree into the other."""
        if node.number == other.number:
            return 0
        if node.label == other.label:
            return self._align(node, other)[0]
        return 1 if node.size == other.size == 1 else node.size + other.size

    def _align(self, node: Node, other: Node) -> tuple[int, Pairs]:
        """Find the cheapest alignment of two nodes' children: its cost, and the children that are mapped."""
        key = node.number, other.number
        if key not in self._known:
            ours, theirs = node.children, other.children
            shorter = min(len(ours), len(theirs))
            start = end = 0  # how many children are equal at either end
            while start < shorter and ours[start].number == theirs[start].number:
                start += 1
            while end < shorter - start and ours[-1 - end].number == theirs[-1 - end].number:
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
        """Go back through a filled table and return the children that are mapped to one with the same label."""
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
