"""What all labellers have: features on request, and the share of blocks that are labelled correctly."""

import pytest

from victorpy import Label, VictorError, load_config, read_document
from victorpy.document import Labelling
from victorpy.labellers.base import PageLabeller


class Lengths(PageLabeller):
    """Keeps long blocks."""

    def label(self, document):
        return Labelling(tuple(Label.PARAGRAPH if len(text) > 3 else Label.OTHER for text in document.texts))

    def features(self, document):
        return tuple({"length": str(len(text))} for text in document.texts)


DOCUMENT = read_document("<p>tea<p>green tea", load_config("blocks"))


@pytest.mark.parametrize(("features", "expected"), [(False, ()), (True, ({"length": "3"}, {"length": "9"}))])
def test_features_are_computed_on_request(features, expected):
    labelling, found, *_ = Lengths().examine(DOCUMENT, features)
    assert (labelling.labels, found) == ((Label.OTHER, Label.PARAGRAPH), expected)
    assert Lengths().examine(DOCUMENT)[1] == ()


def test_score_is_the_share_of_right_labels():
    labeller = Lengths()
    assert labeller.predict([DOCUMENT]) == [["other", "paragraph"]]
    assert labeller.score([DOCUMENT, DOCUMENT], [["other", "paragraph"], ["other", "header"]]) == 3 / 4
    assert labeller.at_site([DOCUMENT]) is labeller.with_config(load_config("blocks")) is labeller
    with pytest.raises(VictorError, match="Lengths gives no probabilities"):
        labeller.predict_marginals([DOCUMENT])
