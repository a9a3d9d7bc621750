"""Snapshots of what trees see of random pages, by both engines: the sum of each input, and the weighted sum."""

import numpy as np
import pytest
from support.engines import without_core
from support.randompages import batch, some_kept
from support.rulepages import RulePage
from support.snapshots import check

from victorpy import load_config, read_document
from victorpy.columns import Columns
from victorpy.model.beliefs import believe
from victorpy.model.evidence.context import COLUMNS as CONTEXT
from victorpy.model.evidence.context import context
from victorpy.model.evidence.cut import block_weights
from victorpy.model.evidence.lexicon import COLUMNS as LEXICON
from victorpy.model.evidence.lexicon import KINDS, Poll
from victorpy.model.evidence.stage import Findings, make_lexicon, sample_blocks, training_weights, without_headline
from victorpy.model.role_trees import LEARNED, role_inputs
from victorpy.model.roles import kept_flags
from victorpy.sites.statistics import SiteStatistics

NUMBERS = (210, 211)
TEXT = "Tea is made by pouring hot water over the leaves, said the man with the cup of tea on 5 May 2024."
RECORDS = (
    f"<p>{TEXT}<div class=comments><div class=c></div><div class=c><p>Ann replied<p>{TEXT}</div><div class=c><br></div>"
    f"<div class=c1><p>{TEXT}</div><div class=c2></div></div><p>{TEXT}<div class=thread><i></i><i>{TEXT}</i></div>"
)
"""Records with empty ones between them."""


@pytest.fixture(params=["native", "python"])
def _engine(request, monkeypatch):
    if request.param == "python":
        without_core(monkeypatch)


def read(number):
    """Return the columns of random pages, which of their blocks are kept, and random log-odds."""
    config, found = load_config("default"), []
    pages = batch(number, 6) | {f"rules {seed}": RulePage(seed).html() for seed in range(10 * number, 10 * number + 6)}
    for name, html in (pages | {"records": RECORDS}).items():
        page = Columns(read_document(html, config, f"https://tea.example/{name}"), config)
        kept = kept_flags(some_kept(page.document, name))
        noise = np.random.default_rng(number).normal(0, 1, page.count)
        found.append((page, kept, np.where(kept, 1.5, -1.5) + noise))
    return found


def totals(rows):
    """Return the sum of each row of several pages, and the sum weighted by position."""
    found = np.array([[row.sum(dtype=float), row @ np.linspace(0, 1, row.shape[-1])] for row in rows])
    return [float(f"{total:.7g}") for total in found.ravel()]


def by_name(names, matrices):
    """Return the totals of the rows of each name over all pages."""
    columns = [np.concatenate([np.asarray(matrix[row], float) for matrix in matrices]) for row in range(len(names))]
    return {name: totals([column]) for name, column in zip(names, columns, strict=True)}


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize("number", NUMBERS)
def test_inputs_of_roles(number):
    matrices, names = [], []
    for page, kept, _ in read(number):
        names, matrix = role_inputs(page, kept, np.arange(page.count), LEARNED)
        matrices.append(matrix)
    check("inputs", f"roles, pages {number}", by_name(names, matrices), 1e-5)


@pytest.mark.usefixtures("_engine")
@pytest.mark.parametrize("number", NUMBERS)
def test_context(number):
    matrices = [context(page, log_odds) for page, _, log_odds in read(number)]
    check("inputs", f"context, pages {number}", by_name(CONTEXT, matrices), 1e-5)


@pytest.mark.usefixtures("_engine")
def test_lexicon():
    poll = Poll()
    for number in (*NUMBERS, 212):
        for place, (page, kept, _) in enumerate(read(number)):
            poll.add(page, kept, f"site {number}", None if place else np.arange(page.count) % 3 > 0)
    votes = poll.votes()
    found = {}
    for name, (without, fewest) in {"all": (None, 3), "others": ("site 210", 2), "few": (None, 1)}.items():
        lexicon = make_lexicon(votes, without, fewest)
        for kind, table in zip(KINDS, lexicon.tables, strict=True):
            found[f"{name}, {kind}"] = [float(len(table.hashes)), *totals([table.odds])]
        rows = by_name(LEXICON, [lexicon.columns(page) for page, _, _ in read(210)])
        found |= {f"{name}, {column}": values for column, values in rows.items()}
    check("inputs", "lexicon", found, 1e-5)


def test_weights_in_training():
    found = {}
    for page, _, _ in read(213):
        weights = training_weights(page)
        blocks, sampled = sample_blocks(weights, 12.0, np.random.default_rng(1))
        rows = [weights, block_weights(page), without_headline(page), blocks, sampled]
        found[page.document.url] = totals([np.asarray(row) for row in rows])
    check("inputs", "weights", found, 1e-5)


@pytest.mark.parametrize("labelled", [0, 1, 3])
def test_beliefs(labelled):
    pages = read(214)
    site = SiteStatistics([page.document for page, _, _ in pages])
    judged = {
        page.document.url: (page, Findings(log_odds, np.zeros((0, page.count)), block_log_odds=log_odds / 2))
        for page, _, log_odds in pages
    }
    labels = {page.document.url: some_kept(page.document, page.document.url) for page, _, _ in pages[:labelled]}
    given = [(page.document, labels.get(page.document.url)) for page, _, _ in pages]
    beliefs = believe(given, site, lambda document: judged[document.url])
    found = {}
    for url, (page, findings) in judged.items():
        name, places = site.locate(page.document)
        smoothed = beliefs.smoothed(name, places, findings.log_odds, block_weights(page))
        found[url] = totals([smoothed, beliefs.corrected(places, smoothed)])
    check("inputs", f"beliefs, {labelled} labelled", found, 1e-5)


@pytest.mark.parametrize(("flags", "base"), [(None, 0.5), (False, 0.01), (True, 0.99)])
def test_base_of_votes_is_bounded(flags, base):
    poll = Poll()
    if flags is not None:
        for page, _, _ in read(210):
            poll.add(page, np.full(page.count, flags), "tea.example")
    assert {votes.base for votes in poll.votes()} == {base}
