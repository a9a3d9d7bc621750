"""All pages after cleaning: what clustering and classification start from, and what survived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from victorpy.mining.cleaning import CleanedSite, Cost
from victorpy.mining.pages import MinedPage
from victorpy.mining.survival import Survival
from victorpy.mining.words import Bags


@dataclass(slots=True)
class Cleaned:
    """All pages after cleaning, as counts, in one order for all methods."""

    pages: list[MinedPage] = field(default_factory=list)
    bags: dict[str, Bags] = field(default_factory=dict)
    removed: dict[str, Bags] = field(default_factory=dict)
    survival: dict[str, list[Survival]] = field(default_factory=dict)
    cost: dict[str, Cost] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, names: Sequence[str]) -> Cleaned:
        """Nothing yet of these methods."""
        bags, removed = ({name: Bags() for name in names} for _ in range(2))
        return cls([], bags, removed, {name: [] for name in names}, dict.fromkeys(names, Cost()))

    def add(self, site: CleanedSite) -> None:
        """Add a site's pages."""
        self.pages += site.pages
        self.warnings += site.warnings
        for name in self.bags:
            for bags, counts in ((self.bags[name], site.terms[name]), (self.removed[name], site.removed[name])):
                for page in counts:
                    bags.add(page)
            self.survival[name] += site.survival[name]
            self.cost[name] += site.cost[name]

    def survival_scores(self, name: str) -> dict[str, Any]:
        """What is removed and what survives: of all pages, of each vertical, and of each vertical at each site."""
        verticals: dict[str, list[Survival]] = {}
        cells: dict[tuple[str, str], list[Survival]] = {}
        for page, found in zip(self.pages, self.survival[name], strict=True):
            verticals.setdefault(page.vertical, []).append(found)
            cells.setdefault((page.vertical, page.site), []).append(found)
        sites = [
            {"vertical": vertical, "site": site, **Survival.sum(found).scores()}
            for (vertical, site), found in sorted(cells.items())
        ]
        by_vertical = {vertical: Survival.sum(found).scores() for vertical, found in sorted(verticals.items())}
        return {"all": Survival.sum(self.survival[name]).scores(), "verticals": by_vertical, "sites": sites}

    def data_scores(self) -> dict[str, Any]:
        """How many pages, sites and values there are, and which verticals."""
        return {
            "pages": len(self.pages),
            "sites": len({page.site for page in self.pages}),
            "verticals": sorted({page.vertical for page in self.pages}),
            "values": sum(len(page.values) for page in self.pages),
        }
