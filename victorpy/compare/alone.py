"""One method that is not trained, evaluated by itself: every block's label held against the gold, on all pages.

There is nothing to cross-validate: no method here ever sees a label. One that learns from a site learns from the very
pages that it labels, as it would in use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from victorpy.cleaner import Cleaner
from victorpy.compare.data import VALUE_KINDS, site_name
from victorpy.compare.methods import load
from victorpy.compare.sites import Plan, share_out
from victorpy.crossval import PageResult, keep_everything, score_page
from victorpy.errors import ConfigError, DataError
from victorpy.evaluate import Evaluation, Settings
from victorpy.gold import LabelledPage
from victorpy.settings import split_name


def load_untrained(entry: str) -> Cleaner:
    """Make a method ready that labels blocks and is not trained; parameters stand behind it in parentheses."""
    method = load(*split_name(entry))
    if method.cleaner is None:
        raise ConfigError(f"{method.name} is another program, which labels no blocks: use victor compare")
    if method.is_trained:
        raise ConfigError(
            f"{method.name} is a trained model: victor compare scores it as it is; to cross-validate, name its --config"
        )
    return method.cleaner


def evaluate_untrained(
    pages: Sequence[LabelledPage], cleaner: Cleaner, name: str, plan: Plan, progress: Callable[[int], object]
) -> Evaluation:
    """Score a method on all pages, site by site; `progress` is told how many pages were done."""
    if not pages:
        raise DataError("no pages are left to evaluate on")
    values = sorted({page.data for page in pages if page.data.partition(":")[0] in VALUE_KINDS})
    if values:
        raise DataError(f"{values[0]}: its gold is values, not texts: use victor compare or victor mine")
    sites = group_by_site(pages)
    found: dict[int, PageResult] = {}
    for site, places in sites.items():
        shares = share_out(len(places), plan, site)
        labeller = cleaner.at_site([pages[places[at]].document for at in shares.learned]).labeller
        found |= {place: score_page(pages[place], labeller.label(pages[place].document)) for place in places}
        progress(len(places))
    return Evaluation(
        Settings(folds=0, seed=plan.seed),
        cleaner.config,
        tuple(found[place] for place in range(len(pages))),
        tuple(keep_everything(page) for page in pages),
        method={
            "method": name,
            "learns_from": str(cleaner.labeller.learns_from),
            "sites": len(sites),
            "sample": plan.sample,
        },
    )


def group_by_site(pages: Sequence[LabelledPage]) -> dict[str, list[int]]:
    """The places of each site's pages; a site of two data sets is two."""
    sites: dict[str, list[int]] = {}
    for place, page in enumerate(pages):
        name = site_name(page.data.partition(":")[0], page)
        sites.setdefault(f"{page.data} {name}", []).append(place)
    return sites
