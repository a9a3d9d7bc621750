"""A comparison as one plain result: what scores.json holds, and reports draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from victorpy.compare.data import DataSet
from victorpy.compare.methods import Method
from victorpy.compare.provenance import was_trained_on
from victorpy.compare.run import ComparedPage, ComparedSite
from victorpy.compare.sites import Plan
from victorpy.compare.totals import brief, decisive, mean, page_scores, total
from victorpy.peers import versions
from victorpy.statistics import compare

FEW_SITES, PAGES_A_SITE = 50, 3
"""With more sites than these, or fewer pages of each, a data set has no scores by site."""


def summarise_comparison(
    sets: Sequence[DataSet],
    methods: Sequence[Method],
    plan: Plan,
    found: Sequence[ComparedSite],
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Give every number by name; shares are in 0..1, and what does not apply is None."""
    groups = {data.name: [site for site in found if site.data == data.name] for data in sets}
    return {
        "settings": {"sample": plan.sample, "tune": plan.tune, "seed": plan.seed},
        "versions": versions("lxml", "numpy"),
        "sets": [_set_record(data, groups[data.name]) for data in sets],
        "methods": [_method_record(method, sets) for method in methods],
        "results": [_result(method, data, groups[data.name]) for data in sets for method in methods],
        "differences": [row for data in sets for row in _differences(data, methods, _pages(groups[data.name]))],
        "by_type": [row for data in sets for row in _by_type(data, methods, _pages(groups[data.name]))],
        "by_site": [row for data in sets for row in _by_site(data, methods, groups[data.name])],
        "failures": [failure for data in sets for failure in _failures(groups[data.name])],
        "warnings": list(warnings),
    }


def page_records(found: Iterable[ComparedSite]) -> Iterable[dict[str, Any]]:
    """Give what every method made of every page, a record each."""
    for site in found:
        for page in site.pages:
            scores = {name: page_scores(outcome) for name, outcome in page.outcomes.items()}
            record = {"data": site.data, "site": site.site, "name": page.name, "type": page.page_type}
            yield record | {"methods": scores}


def measure_name(data: DataSet) -> str:
    """What decides on a data set: word F1, or where the gold is values the share of them that survives."""
    return "value_recall" if data.has_values else "words_f1"


def _pages(sites: Iterable[ComparedSite]) -> list[ComparedPage]:
    return [page for site in sites for page in site.pages]


def _set_record(data: DataSet, sites: Sequence[ComparedSite]) -> dict[str, Any]:
    pages = _pages(sites)
    ceiling = [page.ceiling for page in pages if page.ceiling]
    return {
        "data": data.name,
        "source": data.source,
        "measure": measure_name(data),
        "pages": len(pages),
        "sites": len(sites),
        "single_page_sites": sum(count == 1 for count in data.sites.values()),
        "tuned_pages": sum(site.tuned for site in sites),
        "values": sum(score.gold for score in ceiling) if data.has_values else None,
        "values_in_pages": mean([score.recall for score in ceiling]),
    }


def _method_record(method: Method, sets: Sequence[DataSet]) -> dict[str, Any]:
    trained = {data.name: was_trained_on(method.model, method.meta, data.source) for data in sets}
    return {
        "method": method.name,
        "needs": method.kind,
        "run_as": method.run_as,
        "trained_on": trained if method.is_trained else None,
    }


def _result(method: Method, data: DataSet, sites: Sequence[ComparedSite]) -> dict[str, Any]:
    pages = _pages(sites)
    record: dict[str, Any] = {"method": method.name, "data": data.name, "pages": len(pages)}
    record |= total([page.outcomes[method.name] for page in pages])
    record |= _learning(method, sites)
    record["trained_on"] = was_trained_on(method.model, method.meta, data.source) if method.is_trained else False
    return record


def _learning(method: Method, sites: Sequence[ComparedSite]) -> dict[str, float | None]:
    """CPU time of learning sites, a page that was learned from; None where a method does not learn from sites."""
    learned = [site.learned[method.name] for site in sites]
    pages = sum(cost.pages for cost in learned)
    return {"site_ms": 1000 * sum(cost.seconds for cost in learned) / pages if pages else None}


def _differences(data: DataSet, methods: Sequence[Method], pages: Sequence[ComparedPage]) -> Iterable[dict[str, Any]]:
    """Every method less the first one, and less the best one, on the same pages."""
    scores = {method.name: [decisive(page.outcomes[method.name]) for page in pages] for method in methods}
    best = max(scores, key=lambda name: sum(scores[name]))
    first = methods[0].name
    for against in dict.fromkeys([first, best]):
        for name, values in scores.items():
            if name != against:
                found = compare(values, scores[against])
                row = {"data": data.name, "method": name, "against": against, "measure": measure_name(data)}
                yield row | {"mean": found.mean, "low": found.low, "high": found.high, "p_value": found.p_value}


def _by_type(data: DataSet, methods: Sequence[Method], pages: Sequence[ComparedPage]) -> list[dict[str, Any]]:
    kinds = sorted({page.page_type for page in pages if page.page_type})
    groups = {kind: [page for page in pages if page.page_type == kind] for kind in kinds}
    return _by_group(data, methods, groups, "type") if len(kinds) > 1 else []


def _by_site(data: DataSet, methods: Sequence[Method], sites: Sequence[ComparedSite]) -> list[dict[str, Any]]:
    groups = {site.site: site.pages for site in sites if site.pages}
    few = 1 < len(groups) <= FEW_SITES and len(_pages(sites)) >= PAGES_A_SITE * len(groups)
    return _by_group(data, methods, groups, "site") if few else []


def _by_group(
    data: DataSet, methods: Sequence[Method], groups: dict[str, list[ComparedPage]], what: str
) -> list[dict[str, Any]]:
    rows = []
    for name, pages in groups.items():
        for method in methods:
            outcomes = [page.outcomes[method.name] for page in pages]
            row: dict[str, Any] = {"data": data.name, what: name, "method": method.name, "pages": len(pages)}
            rows.append(row | brief(outcomes))
    return rows


def _failures(sites: Iterable[ComparedSite]) -> Iterable[dict[str, str]]:
    for site in sites:
        for page in site.pages:
            for name, outcome in page.outcomes.items():
                if outcome.error:
                    yield {"data": site.data, "page": page.name, "method": name, "error": outcome.error}
