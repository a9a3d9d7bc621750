"""How `learn` compares candidates: expected gains, guessed sites, and models from scratch."""

from dataclasses import replace

import numpy as np
import pytest

from victorpy import DataError, load_config, read_document
from victorpy.columns import Columns
from victorpy.document import Label
from victorpy.model.choice import CRF, TREES, _Trial, expected_gain, guess_sites, learn, scratch_config, word_f1
from victorpy.model.evidence import Keeping
from victorpy.model.evidence.adaptation import JudgedPage
from victorpy.model.evidence.stage import Findings
from victorpy.model.store import load_model
from victorpy.outputs import CleanPage


@pytest.mark.parametrize(
    ("ours", "theirs", "usual", "gain"),
    [
        ([0.9], [0.8], 0.0, 0.013793),
        ([0.9, 0.8], [0.8, 0.8], 0.0, 0.010191),
        ([0.9, 0.8], [0.8, 0.8], 0.03, 0.034076),
        ([0.9, 0.7, 0.5], [0.8, 0.6, 0.4], 0.0, 0.044444),
        ([0.5, 0.7], [0.6, 0.6], 0.01, 0.008958),
    ],
)
def test_expected_gain_of_a_few_pages(ours, theirs, usual, gain):
    assert expected_gain(ours, theirs, usual) == pytest.approx(gain, abs=1e-6)


def test_word_f1_counts_words():
    words, content, kept = np.array([3.0, 5.0, 2.0]), np.array([True, True, False]), np.array([True, False, True])
    assert word_f1(words, content, kept) == pytest.approx(2 * 3 / (5 + 8))
    assert word_f1(words, content & False, kept & False) == 1


@pytest.mark.parametrize(
    ("first", "second", "is_one_site"),
    [
        ("a b c d e", "a b c d e", True),
        ("a b c d", "a b c d", False),  # too few classes
        ("a b c d e", "a b c d", False),
        ("a b c d e f", "a b c d g h", False),  # four of eight
        ("a b c d e f", "a b c d e g", True),  # five of seven
    ],
)
@pytest.mark.parametrize("count", [2, 199, 200])
def test_pages_of_one_site_share_more_than_half_of_their_classes(first, second, is_one_site, count):
    config = load_config("default")
    pages = ["".join(f"<p class={name}>x" for name in names.split()) for names in (first, second)]
    documents = [read_document(page, config) for page in (*pages, *["<p>y"] * (count - 2))]
    sites = guess_sites(documents, "domain")
    assert (sites[0] == sites[1]) == (is_one_site and count < 200)
    assert len(set(sites[2:])) == count - 2


@pytest.mark.parametrize(("name", "setting"), [(TREES, "evidence-param-iterations"), (CRF, "crf-param-max_iterations")])
def test_models_from_few_pages_are_trained_faster(name, setting):
    few, many = (int(scratch_config(name, pages).one(setting, "0")) for pages in (199, 200))
    assert few < many


class StoppedError(Exception):
    """Raised instead of training."""


def stop(message):
    raise StoppedError(message)


@pytest.mark.parametrize(
    ("name", "pages", "sites", "starts"),
    [(TREES, 49, 1, False), (TREES, 50, 1, True), (TREES, 50, 9, True), (CRF, 2, 1, True), (CRF, 2, 2, False)],
)
@pytest.mark.parametrize("is_partial", [False, True])
def test_models_from_scratch_are_tried_only_if_they_may_win(name, pages, sites, starts, is_partial):
    content = np.array([True, False])
    findings = Findings(np.zeros(2), np.zeros((0, 2)))
    factor = np.array([1.0, 0.0 if is_partial else 1.0])
    judged = [JudgedPage(None, findings, "tea", ["paragraph", "other"], content, factor)] * pages
    trial = _Trial(judged, [0] * pages, [str(number % sites) for number in range(pages)], Keeping(), None, stop)
    model_config = load_config("default" if name == TREES else "crf")
    other_config = replace(model_config, values={**model_config.values, "cut": ("every",)})
    if not starts or is_partial:
        assert trial.from_scratch(name, model_config) is None
    else:
        with pytest.raises(StoppedError, match=f"comparing with {name}"):
            trial.from_scratch(name, model_config)
    assert other_config.cuts.every == model_config.cuts.every or trial.from_scratch(name, other_config) is None


def test_one_page_is_too_few():
    page = CleanPage(read_document("<p>tea", load_config("default")), (Label.PARAGRAPH,))
    with pytest.raises(DataError, match="only one page to learn from"):
        learn([page], load_model())


def test_crf_from_scratch_has_not_seen_the_pages_that_it_cleans():
    config, judged = load_config("crf"), []
    for number in range(6):
        document = read_document(
            f"<ul><li>Home<li>Tea {number}</ul><p>Tea number {number} is hot, and it is wet.", config
        )
        content = np.array([False, False, True])
        findings = Findings(np.zeros(3), np.zeros((0, 3)))
        labels = ["other", "other", "paragraph"]
        judged.append(JudgedPage(Columns(document, config), findings, "tea", labels, content, np.ones(3)))
    trial = _Trial(judged, [0, 1, 2, 0, 1, 2], ["tea"] * 6, Keeping(), None, lambda message: None)
    assert trial.from_scratch(CRF, config) == pytest.approx([1.0] * 6)
