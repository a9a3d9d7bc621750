"""How labels follow from the probabilities of the CRF and the log-odds of the trees."""

import numpy as np
import pytest

from victorpy import load_config, read_document
from victorpy.columns import Columns
from victorpy.model.crf.tables import Tables
from victorpy.model.decoder import Decoder
from victorpy.model.evidence import Findings, Keeping

SHARES = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7], [0.2, 0.3, 0.5]])
LABELS = ("header", "paragraph", "other")


class FixedScores(Tables):
    """A CRF whose scores are given instead of the codes of features."""

    def states(self, codes, blocks=None):
        return codes.copy() if blocks is None else codes[blocks]


def decode(way, log_odds=None, labels=LABELS, block_log_odds=None, transitions=None, **settings):
    config = load_config("default")
    html = "<p>tea is hot</p><div>menu x y</div><section>tea is old</section>"
    page = Columns(read_document(html, config), config)
    count = len(labels)
    links = np.zeros((count, count)) if transitions is None else transitions
    crf = FixedScores(labels, None, np.zeros(0), np.zeros((0, count)), links)
    decoder = Decoder(crf, (), way, Keeping(**settings), 0.0, 0.25)
    findings = None
    if log_odds is not None:
        rows = None if block_log_odds is None else np.array(block_log_odds)
        findings = Findings(np.array(log_odds), np.zeros((0, page.count)), block_log_odds=rows)
    found = decoder.choose(page, np.log(SHARES[:, :count]), findings)
    return [labels[number] for number in found.labels], found.shares, found.content


def by_trees(*log_odds):
    return [1 / (1 + np.exp(-one)) for one in log_odds]


@pytest.mark.parametrize(
    ("way", "log_odds", "expected", "content"),
    [
        ("viterbi", None, "header other other", [0.9, 0.3, 0.5]),
        ("label", None, "header other other", [0.9, 0.3, 0.5]),
        ("expected", None, "header paragraph paragraph", [0.9, 0.3, 0.5]),
        ("viterbi", [2.0, 1.0, 3.0], "header other other", by_trees(2, 1, 3)),
        ("label", [2.0, 1.0, 3.0], "header paragraph paragraph", by_trees(2, 1, 3)),
        ("label", [2.0, 0.1, 3.0], "header other paragraph", by_trees(2, 0.1, 3)),  # noise is the most probable label
        ("expected", [2.0, 1.0, 3.0], "header paragraph paragraph", by_trees(2, 1, 3)),
        ("expected", [2.0, -3.0, 3.0], "header other paragraph", by_trees(2, -3, 3)),
    ],
)
def test_labels_by_way_of_decoding(way, log_odds, expected, content):
    labels, shares, found = decode(way, log_odds)
    assert labels == expected.split()
    assert found == pytest.approx(content)
    if way == "viterbi" or log_odds is None:
        assert shares == pytest.approx(SHARES)
    else:  # the trees decide what is content, and the CRF of which kind
        kinds = SHARES[:, :2] / SHARES[:, :2].sum(axis=1, keepdims=True) * found[:, None]
        kept = np.array([label != "other" for label in labels])
        assert shares[kept, :2] == pytest.approx(kinds[kept])
        assert shares[~kept, 2] == pytest.approx((1 - found)[~kept])


def test_threshold_is_relative_to_the_most_probable_block():
    assert [decode("marginal", threshold=share)[0] for share in (0.5, 0.6)] == [
        ["header", "other", "paragraph"],
        ["header", "other", "other"],
    ]


def test_pairs_of_labels_matter_to_the_best_sequence():
    never = np.zeros((3, 3))
    never[0, 2] = -10.0
    assert decode("viterbi", transitions=never)[0] == ["paragraph", "other", "other"]


@pytest.mark.parametrize("way", ["viterbi", "label", "expected"])
def test_models_without_noise_label_by_the_crf(way):
    labels, shares, content = decode(way, [2.0, 1.0, 3.0], LABELS[:2])
    assert labels == ["header", "paragraph", "paragraph"]
    assert shares == pytest.approx(SHARES[:, :2] / SHARES[:, :2].sum(axis=1, keepdims=True))
    assert content == pytest.approx(by_trees(2, 1, 3))


def test_trees_that_weight_blocks_equally_have_a_share_in_labels():
    labels, _, content = decode("label", [2.0, 1.0, 3.0], block_log_odds=[-2.0, -2.0, -9.0])
    assert content == pytest.approx(by_trees(1, 0.25, 0))
    assert labels == ["header", "other", "other"]
    assert decode("expected", [2.0, 1.0, 3.0], block_log_odds=[-9.0] * 3)[0] == ["header", "paragraph", "paragraph"]
