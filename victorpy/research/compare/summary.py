"""A comparison as one plain result: what scores.json contains, and reports draw."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from victorpy.base.score import Score
from victorpy.methods import Method
from victorpy.model.store import find_model
from victorpy.peers import versions
from victorpy.research.compare.data import DataSet
from victorpy.research.compare.measures import Outcome
from victorpy.research.compare.provenance import was_trained_on
from victorpy.research.compare.run import ComparedPage, ComparedSite
from victorpy.research.scores import BlockCounts
from victorpy.research.site_runs import Plan
from victorpy.research.statistics import compare, mean, summarise

FEW_SITES, PAGES_PER_SITE = 50, 3
"""A data set with more sites, or with fewer pages per site, has no scores by site."""


def summarise_comparison(
    sets: Sequence[DataSet],
    methods: Sequence[Method],
    plan: Plan,
    compared: Sequence[ComparedSite],
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Return every number by name; shares are in 0..1, and what does not apply is None."""
    trained_on = {method.name: _trained_on(method, sets) for method in methods}
    summary: dict[str, Any] = {
        "settings": {"sample": plan.sample, "tune": plan.tune, "seed": plan.seed},
        "versions": versions("lxml", "numpy"),
        "sets": [],
        "methods": [
            {
                "method": method.name,
                "needs": method.kind,
                "run_as": method.run_as,
                "trained_on": trained_on[method.name],
            }
            for method in methods
        ],
        "results": [],
        "differences": [],
        "by_type": [],
        "by_site": [],
        "failures": [],
        "warnings": list(warnings),
    }
    names = [method.name for method in methods]
    for data in sets:
        sites = [site for site in compared if site.data == data.name]
        pages = [page for site in sites for page in site.pages]
        summary["sets"].append(_set_record(data, sites, pages))
        for name in names:
            known = trained_on[name]
            record = _result(name, data, sites, pages)
            summary["results"].append(record | {"trained_on": known[data.name] if known else False})
        summary["differences"] += _differences(data, names, pages)
        types = sorted({page.page_type for page in pages if page.page_type})
        if len(types) > 1:
            groups = {kind: [page for page in pages if page.page_type == kind] for kind in types}
            summary["by_type"] += _by_group(data, names, groups, "type")
        groups = {site.site: site.pages for site in sites if site.pages}
        if 1 < len(groups) <= FEW_SITES and len(pages) >= PAGES_PER_SITE * len(groups):
            summary["by_site"] += _by_group(data, names, groups, "site")
        summary["failures"] += [
            {"data": data.name, "page": page.name, "method": name, "error": outcome.error}
            for page in pages
            for name, outcome in page.outcomes.items()
            if outcome.error
        ]
    return summary


def page_records(compared: Iterable[ComparedSite]) -> Iterator[dict[str, Any]]:
    """Yield a record per page, with the scores of every method."""
    for site in compared:
        for page in site.pages:
            scores: dict[str, dict[str, Any]] = {}
            for name, outcome in page.outcomes.items():
                scores[name] = {
                    **(outcome.words.shares() if outcome.words else {}),
                    **({"value_recall": outcome.values.recall} if outcome.values else {}),
                    "words_removed": outcome.removed,
                    "cpu_ms": 1000 * outcome.seconds,
                    "error": outcome.error,
                }
            record = {"data": site.data, "site": site.site, "name": page.name, "type": page.page_type}
            yield record | {"methods": scores}


def _trained_on(method: Method, sets: Sequence[DataSet]) -> dict[str, bool | None] | None:
    """Whether a model was trained on each data set; None if the method is not trained."""
    if not method.is_trained:
        return None
    meta = json.loads((find_model(method.model_name) / "meta.json").read_bytes())
    return {data.name: was_trained_on(method.model_name, meta, data.source) for data in sets}


def _set_record(data: DataSet, sites: Sequence[ComparedSite], pages: Sequence[ComparedPage]) -> dict[str, Any]:
    ceilings = [page.ceiling for page in pages if page.ceiling]
    return {
        "data": data.name,
        "source": data.source,
        "measure": data.measure,
        "pages": len(pages),
        "sites": len(sites),
        "single_page_sites": sum(count == 1 for count in data.sites.values()),
        "tuned_pages": sum(site.tuned for site in sites),
        "values": sum(score.gold for score in ceilings) if data.has_values else None,
        "values_in_pages": mean([score.recall for score in ceilings]),
    }


def _result(name: str, data: DataSet, sites: Sequence[ComparedSite], pages: Sequence[ComparedPage]) -> dict[str, Any]:
    """Return the scores of one method on one data set."""
    outcomes = [page.outcomes[name] for page in pages]
    words = [outcome.words for outcome in outcomes if outcome.words]
    labelled = [outcome.blocks for outcome in outcomes if outcome.blocks]  # none for pages on which the method failed
    blocks = BlockCounts.sum(labelled)
    learned = [site.learned[name] for site in sites]
    learned_pages = sum(cost.pages for cost in learned)
    main = _main_scores(outcomes)
    return {
        "method": name,
        "data": data.name,
        "pages": len(pages),
        "words_f1": main["words_f1"],
        "words_f1_interval": main["words_f1_interval"],
        "words_precision": mean([score.precision for score in words]),
        "words_recall": mean([score.recall for score in words]),
        "words_f1_pooled": Score.pool(words).f1 if words else None,
        "cleaneval_words_f1": mean([outcome.aligned.f1 for outcome in outcomes if outcome.aligned]),
        "shingle_f1": mean([outcome.shingles.f1 for outcome in outcomes if outcome.shingles]),
        "label_accuracy": blocks.label_accuracy if labelled else None,
        "content_accuracy": blocks.content_accuracy if labelled else None,
        "value_recall": main["value_recall"],
        "value_recall_interval": main["value_recall_interval"],
        "words_removed": main["words_removed"],
        "empty": sum(outcome.empty for outcome in outcomes),
        "failed": sum(bool(outcome.error) for outcome in outcomes),
        "cpu_ms": mean([1000 * outcome.seconds for outcome in outcomes]),
        "site_ms": 1000 * sum(cost.seconds for cost in learned) / learned_pages if learned_pages else None,
    }


def _main_scores(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the deciding measures with their intervals, and the share of words removed."""
    f1 = [outcome.words.f1 for outcome in outcomes if outcome.words]
    recall = [outcome.values.recall for outcome in outcomes if outcome.values]
    return {
        "words_f1": mean(f1),
        "words_f1_interval": _interval(f1),
        "value_recall": mean(recall),
        "value_recall_interval": _interval(recall),
        "words_removed": mean([outcome.removed for outcome in outcomes]),
    }


def _interval(values: Sequence[float]) -> list[float] | None:
    if not values:
        return None
    summary = summarise(values)
    return [summary.low, summary.high]


def _differences(data: DataSet, names: Sequence[str], pages: Sequence[ComparedPage]) -> Iterator[dict[str, Any]]:
    """Yield every method minus the first one, and minus the best one, on the same pages."""
    scores = {name: [page.outcomes[name].deciding for page in pages] for name in names}
    best = max(scores, key=lambda name: sum(scores[name]))
    for against in dict.fromkeys([names[0], best]):
        for name, values in scores.items():
            if name != against:
                row = {"data": data.name, "method": name, "against": against, "measure": data.measure}
                yield row | compare(values, scores[against]).by_name()


def _by_group(
    data: DataSet, names: Sequence[str], groups: Mapping[str, Sequence[ComparedPage]], column: str
) -> Iterator[dict[str, Any]]:
    for group, pages in groups.items():
        for name in names:
            row: dict[str, Any] = {"data": data.name, column: group, "method": name, "pages": len(pages)}
            yield row | _main_scores([page.outcomes[name] for page in pages])
