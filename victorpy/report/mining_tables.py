"""The tables of mining as rows of text, and the sentences that say whether the papers' order holds in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from victorpy.report.tables import Table, percent

Scores = Mapping[str, Any]
_CONFIGURATIONS = {
    "1": "both classes are learned from the same site and tested at all others",
    "2": "the classes are learned from two sites and tested at all others",
    "3": "the classes are learned from two sites and tested on all other pages, those of the two sites too",
    "4": "as 3, from two sites that have both classes, and tested only on the class of each that was not learned",
}


def score(value: float | None) -> str:
    """Write a score in 0..1 as the papers do; a dash where there is none.

    >>> score(0.7514), score(None)
    ('0.751', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def overview(scores: Scores) -> Table:
    """What each method removes, what survives, and what it costs."""
    rows = []
    for result in scores["results"]:
        every, cost = result["survival"]["all"], result["cost"]
        shares = (percent(every["removed_share"]), percent(every["survived_share"]))
        times = (f"{cost[name]:.2f}" for name in ("learn_ms", "clean_ms", "read_ms"))
        rows.append((result["method"], *shares, f"{every['empty']:,}", *times))
    head = ("method", "words removed, %", "values that survive, %", "pages left empty")
    costs = ("learning, ms a page", "cleaning, ms a page", "reading, ms a page")
    return Table("What is removed and what survives", (*head, *costs), tuple(rows), _values_note(scores))


def _values_note(scores: Scores) -> str:
    every = scores["results"][0]["survival"]["all"]
    missing = every["values"] - every["present"]
    return (
        f"A value survives when its words still follow one another in the text. Of {every['values']:,} values "
        f"{missing:,} do not occur in the text before cleaning and are not counted. Removing much is no merit where "
        "values go with it. Times are CPU; learning is by page learned from, and reading (decoding, parsing, cutting "
        "into blocks) is the same for all methods that cut pages alike."
    )


def by_vertical(scores: Scores) -> Table:
    """The same for each vertical."""
    verticals = scores["data"]["verticals"]
    rows = [
        (vertical, f"{scores['results'][0]['survival']['verticals'][vertical]['pages']:,}", *cells)
        for vertical in verticals
        for cells in [_side_by_side([result["survival"]["verticals"][vertical] for result in scores["results"]])]
    ]
    return Table("By vertical", ("vertical", "pages", *scores["methods"]), tuple(rows), _SIDE_BY_SIDE)


def by_site(scores: Scores) -> Table:
    """The same for each vertical at each site."""
    results = scores["results"]
    rows = []
    for at, cell in enumerate(results[0]["survival"]["sites"]):
        cells = _side_by_side([result["survival"]["sites"][at] for result in results])
        rows.append((f"{cell['vertical']}: {cell['site']}", f"{cell['pages']:,}", *cells))
    return Table("By site", ("site", "pages", *scores["methods"]), tuple(rows), _SIDE_BY_SIDE)


_SIDE_BY_SIDE = "In percent: words removed / values that survive."


def _side_by_side(found: Sequence[Scores]) -> list[str]:
    return [f"{_round(each['removed_share'])} / {_round(each['survived_share'])}" for each in found]


def _round(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def clustering(scores: Scores) -> Table:
    """Table 2 of the SST paper."""
    rows = []
    for result in scores["results"]:
        found = result["clustering"]
        shares = (percent(found[name]) for name in ("below_50", "from_70", "from_80", "from_90"))
        rows.append((result["method"], score(found["mean"]), score(found["deviation"]), *shares))
    head = ("method", "mean F", "deviation", "F < 0.5, %", "F ≥ 0.7, %", "F ≥ 0.8, %", "F ≥ 0.9, %")
    settings = scores["settings"]
    note = f"{settings['runs']:,} runs of k-means from random pages into {len(scores['data']['verticals'])} clusters."
    return Table("Clustering (table 2)", head, tuple(rows), note)


def classification(scores: Scores) -> Table:
    """The averages of tables 3 and 4."""
    rows = [(result["method"], *_averages(result["classification"]["average"])) for result in scores["results"]]
    average = scores["results"][0]["classification"]["average"]
    counts = ", ".join(f"{(average[number] or {'cases': 0})['cases']:,}" for number in _CONFIGURATIONS)
    note = (
        f"Means over all pairs of verticals; {counts} cases in configurations 1 to 4. The fourth is not in the papers: "
        "it is tested on those pages of their third that mislead most, from sites that taught the other class."
    )
    return Table("Classification, averages (tables 3 and 4)", _AVERAGES, tuple(rows), note)


def removed(scores: Scores) -> Table:
    """How well the removed text tells classes apart by itself: why cleaning may not help."""
    found = [(result["method"], result["removed"]) for result in scores["results"]]
    rows = tuple((method, *_averages(average)) for method, average in found if average is not None)
    note = (
        "The same with nothing but the text that each method removed. Where it does well, what sites repeat is about "
        "their vertical, and removing it takes away what helps. The papers' sites had pages of all classes, which "
        "menus cannot tell apart; here configurations 1 and 4 are about such sites."
    )
    return Table("What is removed, by itself", _AVERAGES, rows, note)


_AVERAGES = ("method", *(f"{letter}{number}" for letter in "FA" for number in _CONFIGURATIONS))


def _averages(average: Mapping[str, Any]) -> list[str]:
    return [
        score(average[number] and average[number][name]) for name in ("f", "accuracy") for number in _CONFIGURATIONS
    ]


def classification_details(scores: Scores) -> list[Table]:
    """Tables 3 and 4, each configuration by itself: a row for each pair of verticals and one for the averages."""
    kinds = (("f", "F", "table 3, F scores"), ("accuracy", "A", "table 4, accuracies"))
    return [
        _details(scores, number, name, f"{_ORIGIN.get(number, 'As')} {title}: {letter}{number}")
        for name, letter, title in kinds
        for number in _CONFIGURATIONS
    ]


_ORIGIN = {"4": "Beyond"}


def _details(scores: Scores, number: str, name: str, title: str) -> Table:
    found = [result["classification"] for result in scores["results"]]
    rows = []
    for at, pair in enumerate(found[0]["pairs"]):
        cells = [each["pairs"][at][number] for each in found]
        rows.append(
            (" – ".join(pair["classes"]), _cases(pair[number]), *(score(cell and cell[name]) for cell in cells))
        )
    averages = [each["average"][number] for each in found]
    rows.append(("average", _cases(averages[0]), *(score(cell and cell[name]) for cell in averages)))
    note = f"Configuration {number}: {_CONFIGURATIONS[number]}."
    note += _no_case(number) if any(pair[number] is None for pair in found[0]["pairs"]) else ""
    return Table(title, ("classes", "cases", *scores["methods"]), tuple(rows), note)


def _cases(cell: Mapping[str, Any] | None) -> str:
    return f"{cell['cases']:,}" if cell else "–"


def _no_case(number: str) -> str:
    why = {"1": "no site has pages of both", "4": "no two sites have pages of both"}.get(number, "sites are too few")
    return f" A dash where {why}, or no pages of both are left to test on."


def order(scores: Scores) -> Table:
    """All comparisons that the papers' order asks for."""
    rows = tuple(
        (
            each["measure"],
            f"{each['worse']} {'≤' if each['may_be_equal'] else '<'} {each['better']}",
            "yes" if each["holds"] else "no",
            f"{each['difference']:+.3f}",
            f"{each['low']:+.3f} to {each['high']:+.3f}",
        )
        for each in scores["order"]
    )
    note = (
        "Each method against every one that the papers found better, on the same runs or cases. The interval resamples "
        "these, not the sites: it says nothing of other sites. Cases weigh alike here and pairs of verticals in the "
        "tables, so that differences may disagree in the last digit."
    )
    head = ("measure", "the papers' order", "holds", "difference", "95 % interval")
    return Table("The papers' order", head, rows, note)


def order_holds(scores: Scores, measure: str) -> str:
    """Say whether the papers' order (none < template < SST <= sentence entropy) holds in a measure, and where not."""
    found = [each for each in scores["order"] if each["measure"] == measure]
    if not found:
        return "The papers' order cannot be checked here: there is nothing to compare."
    broken = [each for each in found if not each["holds"]]
    if not broken:
        return f"The papers' order holds in all {len(found)} comparisons of methods."
    told = "; ".join(_falls_short(each) for each in broken)
    return (
        f"The papers' order holds in {len(found) - len(broken)} of {len(found)} comparisons of methods. Not so: {told}."
    )


def _falls_short(found: Scores) -> str:
    lack, least, most = (f"{round(-found[name], 3) + 0.0:.3f}" for name in _ENDS)  # and no -0.000
    how = f"{lack} below" if found["difference"] else "no better than"
    return f"{found['better']} is {how} {found['worse']} ({least} to {most})"


_ENDS = ("difference", "high", "low")


def order_counts(scores: Scores, measures: Sequence[str]) -> str:
    """Say in how many comparisons the papers' order holds, measure by measure."""
    counts = []
    for measure in measures:
        found = [each["holds"] for each in scores["order"] if each["measure"] == measure]
        counts += [f"{measure} in {sum(found)} of {len(found)}"] if found else []
    return f"The papers' order holds by {', '.join(counts)} comparisons of methods." if counts else ""
