"""The CRF: decoding, its tables against crfsuite's own tagger, and scikit-learn's API on the CRF and the labeller."""

import itertools
import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn_crfsuite
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.utils.validation import check_is_fitted
from sklearn_crfsuite.metrics import flat_accuracy_score, flat_classification_report

from victorpy.cleaner import read_document
from victorpy.columns import Columns
from victorpy.config import load_config, read_config
from victorpy.document import Label
from victorpy.errors import ConfigError, DataError, VictorError
from victorpy.labellers.base import LABELLERS, LearnsFrom
from victorpy.model import labeller as labeller_module
from victorpy.model.crf.tables import Tables, marginals, viterbi
from victorpy.model.crf.training import CRF, AttributeNames, make_crf, train
from victorpy.model.encode import encode, make_encoders
from victorpy.model.labeller import ModelLabeller
from victorpy.model.template import load_template
from victorpy.outputs.anno import load_anno
from victorpy.research.scores import BlockCounts

DATA = Path(__file__).parents[2] / "data"
TRAINING = [
    "article/article-es-volcan",
    "article/article-personal-1999",
    "article/article-zh-teahouse",
    "forum/forum-discourse-synth",
    "service/service-plumber",
    "documentation/doc-man-page",
]
UNSEEN = ["article/article-fr-marche", "listing/listing-th-events", "product/product-ja-kettle"]


def load_pages(names, config):
    return [load_anno(DATA / f"{name}.anno", config.cuts) for name in names]


def documents(pages):
    return [page.document for page in pages]


def labels(pages):
    return [[str(label) for label in page.labels] for page in pages]


# Decoding against brute force.


def score(states, transitions, path):
    along = sum(states[at, label] for at, label in enumerate(path))
    return float(along + sum(transitions[pair] for pair in itertools.pairwise(path)))


@st.composite
def chains(draw, weight):
    count, labels = draw(st.integers(1, 5)), draw(st.integers(2, 4))
    numbers = st.lists(weight, min_size=(count + labels) * labels, max_size=(count + labels) * labels)
    both = np.array(draw(numbers), dtype=float).reshape(count + labels, labels)
    return both[:count], both[count:]


repeatable = settings(max_examples=150)


@given(chains(st.floats(-30, 30)))
@repeatable
def test_marginals_are_sums_over_all_sequences(chain):
    states, transitions = chain
    paths = np.array(list(itertools.product(range(states.shape[1]), repeat=len(states))))
    scores = np.array([score(states, transitions, tuple(path)) for path in paths])
    weights = np.exp(scores - scores.max())
    expected = np.array(
        [[weights[paths[:, at] == label].sum() for label in range(states.shape[1])] for at in range(len(states))]
    )
    assert marginals(states, transitions) == pytest.approx(expected / weights.sum(), abs=1e-9)


@pytest.mark.slow
@given(chains(st.floats(-30, 30) | st.integers(-2, 2)))
@repeatable
def test_viterbi_finds_a_sequence_with_the_highest_score(chain):
    states, transitions = chain
    every = itertools.product(range(states.shape[1]), repeat=len(states))
    highest = max(score(states, transitions, path) for path in every)
    assert score(states, transitions, tuple(viterbi(states, transitions))) == pytest.approx(highest, abs=1e-9)


def test_transitions_go_from_the_row_to_the_column():
    states = np.array([[5.0, 0], [0, 0], [0, 0]])
    transitions = np.array([[0.0, 3], [-3, 1]])  # label 1 likes to follow 0, but 0 rarely follows 1
    assert viterbi(states, transitions).tolist() == [0, 1, 1]
    assert marginals(states, transitions).argmax(axis=1).tolist() == [0, 1, 1]
    assert viterbi(np.zeros((4, 3)), np.zeros((3, 3))).tolist() == [0, 0, 0, 0]  # the first of equal sequences
    assert [len(decode(np.zeros((0, 3)), np.zeros((3, 3)))) for decode in (viterbi, marginals)] == [0, 0]


# Long chains against plain loops.


def plain_marginals(states, transitions):
    """Forward and backward in logarithms, a block at a time."""
    forward, backward = states.copy(), np.zeros_like(states)
    for at in range(1, len(states)):
        forward[at] += np.logaddexp.reduce(forward[at - 1][:, None] + transitions, axis=0)
    for at in range(len(states) - 2, -1, -1):
        backward[at] = np.logaddexp.reduce(transitions + states[at + 1] + backward[at + 1], axis=1)
    joint = forward + backward
    return np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])


def plain_viterbi(states, transitions):
    labels = range(states.shape[1])
    best, before = list(states[0]), []
    for row in states[1:]:
        scores = [[best[source] + transitions[source, target] for source in labels] for target in labels]
        before.append([max(labels, key=scores[target].__getitem__) for target in labels])
        best = [max(scores[target]) + row[target] for target in labels]
    path = [max(labels, key=best.__getitem__)]
    for step in reversed(before):
        path.append(step[path[-1]])
    return path[::-1]


@pytest.mark.parametrize("spread", [0.1, 3, 40])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 9, 10, 99, 100, 101, 5000])
def test_decoding_a_long_chain_equals_a_plain_loop(count, spread):
    random = np.random.default_rng(count)
    states, transitions = random.normal(0, spread, (count, 5)), random.normal(0, spread, (5, 5))
    found = marginals(states, transitions)
    assert found.sum(axis=1) == pytest.approx(np.ones(count))
    assert np.abs(found - plain_marginals(states, transitions)).max() < 1e-9
    assert viterbi(states, transitions).tolist() == plain_viterbi(states, transitions)


def test_adding_the_same_score_to_all_labels_changes_nothing():
    random = np.random.default_rng(7)
    states, transitions = random.normal(0, 2, (60, 4)), random.normal(0, 2, (4, 4))
    shifted = states + random.normal(0, 500, (60, 1))  # far beyond what exp() can take
    assert marginals(shifted, transitions - 900) == pytest.approx(marginals(states, transitions), abs=1e-9)


# The tables against crfsuite's own tagger.


def small_model(name, template, directory):
    """Train for a few iterations, and return the pages and the parts that the tests check."""
    config = load_config(name)
    (directory / "mine.tpl").write_text(template or load_template(config).text)
    (directory / "mine.conf").write_text(f"include {name}\ncrf-template: mine\n")
    config = read_config(directory / "mine.conf")
    encoders = make_encoders(config)
    pages = load_pages(TRAINING, config)
    codes = [encode(Columns(page.document, config), encoders) for page in pages]
    crf = CRF(c1=0.1, c2=0.1, max_iterations=30)
    tables = train(list(zip(codes, labels(pages), strict=True)), encoders, load_template(config), crf)
    names = AttributeNames(tables.layout, encoders)
    return SimpleNamespace(config=config, encoders=encoders, crf=crf, tables=tables, names=names)


ALONE = "%x[{-1..1},words]\n%x[0,link-share]%x[0,container.p]\n%x[0,bullet]\n"


@pytest.fixture(scope="module", params=["cleaneval", "crf", "crf without B"])
def model(request, tmp_path_factory):
    name, _, alone = request.param.partition(" ")
    made = small_model(name, ALONE if alone else "", tmp_path_factory.mktemp(name))
    made.alone = bool(alone)
    return made


def tagged(model, document):
    """Return the labels and the label probabilities that crfsuite itself computes for a page."""
    attributes = model.names.of(encode(Columns(document, model.config), model.encoders))
    found, shares = [], []
    for sequence in [[block] for block in attributes] if model.alone else [attributes]:
        found += model.crf.predict_single(sequence)
        marginals_of_blocks = model.crf.predict_marginals_single(sequence)
        shares += [[block[label] for label in model.tables.labels] for block in marginals_of_blocks]
    return found, np.array(shares)


@pytest.mark.parametrize("name", TRAINING + UNSEEN)
def test_tables_give_the_same_labels_as_the_tagger(model, name):
    (page,) = load_pages([name], model.config)
    states = model.tables.states(encode(Columns(page.document, model.config), model.encoders))
    expected, shares = tagged(model, page.document)
    path = viterbi(states, model.tables.transitions)
    assert [model.tables.labels[number] for number in path] == expected
    assert np.abs(marginals(states, model.tables.transitions) - shares).max() < 1e-9


def test_the_small_model_has_learned_something(model):
    pages = load_pages(TRAINING, model.config)
    found = [label for page in pages for label in tagged(model, page.document)[0]]
    gold = [label for page in labels(pages) for label in page]
    assert np.mean([ours == theirs for ours, theirs in zip(found, gold, strict=True)]) > 0.8
    assert len(set(found)) > 2


def test_values_never_seen_in_training_have_no_weight(model):
    page = read_document("<p>tea</p>", model.config)
    table = encode(Columns(page, model.config), model.encoders)
    row = [encoder.name for encoder in model.encoders].index("bullet")
    largest, unseen, also_unseen = table.copy(), table.copy(), table.copy()
    largest[row], unseen[row], also_unseen[row] = model.tables.layout.sizes[row] - 1, 500, 70_000
    layout = model.tables.layout
    assert (layout.numbers(unseen) == layout.numbers(also_unseen)).all()
    assert (layout.numbers(unseen) != layout.numbers(largest)).any()
    new = layout.numbers(unseen)[layout.numbers(unseen) != layout.numbers(largest)]
    assert not np.isin(new, model.tables.numbers).any()


def test_without_b_no_label_depends_on_another(model):
    assert model.alone != model.tables.transitions.any()


def test_tables_written_to_a_file_read_back_the_same(model, tmp_path):
    tables = model.tables
    tables.save(tmp_path / "tables.npy")
    again = Tables.load(tmp_path / "tables.npy", tables.labels, tables.layout.template)
    table = encode(Columns(load_pages(UNSEEN[:1], model.config)[0].document, model.config), model.encoders)
    assert (again.states(table) == tables.states(table)).all()
    assert (again.transitions == tables.transitions).all()


# Training.


def own_config(directory, *lines):
    (directory / "my.tpl").write_text("%x[0,words]\n%x[0,container.a]\n%x[{-1,1},words]\nB\n")
    head = ["include base", "crf-features: words container.a", "feature-words-values: 0 1 3 6 10 20"]
    (directory / "my.conf").write_text("\n".join([*head, *lines]) + "\n")
    return read_config(directory / "my.conf")


@pytest.fixture
def config(tmp_path):
    """A config that trains in a moment."""
    return own_config(tmp_path, "crf-param-max_iterations: 30")


def fitted(config, pages, page_labels=None, **parameters):
    gold = labels(pages) if page_labels is None else page_labels
    return ModelLabeller(config, **parameters).fit(documents(pages), gold)


@pytest.fixture(scope="module")
def pages():
    return load_pages(TRAINING[:4], load_config("cleaneval"))


def test_training_prints_nothing(config, pages, capfd):
    fitted(config, pages)
    assert capfd.readouterr() == ("", "")


def test_more_regularisation_leaves_fewer_weights(config, pages):
    few, many = (fitted(config, pages, c1=c1).stages_.crf.numbers.size for c1 in (5, 0.01))
    assert 0 < few < many


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
def test_every_algorithm_trains(tmp_path, pages, algorithm):
    config = own_config(tmp_path, f"crf-algorithm: {algorithm}", "crf-param-max_iterations: 20")
    assert fitted(config, pages).score(documents(pages), labels(pages)) > 0.5


@pytest.mark.parametrize("algorithm", ["l2sgd", "ap"])
def test_a_grid_may_vary_the_algorithm_of_a_shipped_config(pages, algorithm):
    assert fitted("cleaneval", pages, algorithm=algorithm, max_iterations=3).stages_ is not None


def test_a_parameter_that_crfsuite_does_not_have_is_an_error_of_the_config(tmp_path, pages):
    with pytest.raises(ConfigError, match=r"no parameter 'c3'.*c1, c2") as caught:
        fitted(own_config(tmp_path, "crf-param-c3: 1"), pages)
    assert str(caught.value).startswith(f"{tmp_path / 'my.conf'}:4: ")


# The labeller.


@pytest.fixture
def labeller(config, pages):
    return fitted(config, pages)


def test_fit_returns_the_labeller_and_reports_iterations(config, pages):
    iterations = []
    labeller = ModelLabeller(config, max_iterations=5)
    assert labeller.fit(documents(pages), labels(pages), lambda info: iterations.append(info["num"])) is labeller
    assert iterations == [1, 2, 3, 4, 5]


def test_labels_may_be_labels_or_their_names(labeller, config, pages):
    by_label = fitted(config, pages, [page.labels for page in pages])
    assert labeller.stages_.crfsuite_model == by_label.stages_.crfsuite_model


def test_predict_gives_every_block_a_label(labeller, pages):
    predicted = labeller.predict(documents(pages))
    assert [len(page) for page in predicted] == [len(page.labels) for page in pages]
    assert {label for page in predicted for label in page} <= {str(label) for label in Label}
    assert all(type(label) is str for page in predicted for label in page)


def test_marginals_are_probabilities_of_every_label(labeller, pages):
    (page,) = labeller.predict_marginals(documents(pages[:1]))
    assert len(page) == len(pages[0].labels)
    for block in page:
        assert set(block) == set(labeller.stages_.crf.labels)
        assert sum(block.values()) == pytest.approx(1)


def test_a_labelling_agrees_with_the_marginals(labeller, pages):
    document = pages[0].document
    found = labeller.label(document)
    (shares,) = labeller.predict_marginals([document])
    assert list(found.probabilities) == pytest.approx(
        [block[label] for block, label in zip(shares, found.labels, strict=True)], abs=1e-6
    )
    assert list(found.content) == pytest.approx([1 - block["other"] for block in shares], abs=1e-6)


def test_page_without_blocks_has_no_labels_and_does_not_disturb_training(labeller, config, pages):
    empty = read_document("", load_config("cleaneval"))
    assert labeller.predict([empty]) == labeller.predict_marginals([empty]) == [[]]
    assert labeller.label(empty).probabilities == ()
    among = ModelLabeller(config).fit([read_document("", config), *documents(pages)], [[], *labels(pages)])
    assert labeller.stages_.crfsuite_model == among.stages_.crfsuite_model


@pytest.mark.parametrize(("threshold", "kept"), [(0.0, True), (1.1, False)])
def test_threshold_is_the_minimum_probability_of_content(labeller, pages, threshold, kept):
    found = labeller.set_params(threshold=threshold).predict(documents(pages))
    assert all((label != "other") is kept for page in found for label in page)


def test_a_higher_threshold_keeps_no_more(labeller, pages):
    document = pages[0].document
    kept = []
    for threshold in (0.1, 0.5, 0.9):
        found = labeller.set_params(threshold=threshold).label(document)  # relative to the best block
        kept.append([label.is_content for label in found.labels])
        assert kept[-1] == [share >= threshold * max(found.content) for share in found.content]
    assert sum(kept[0]) > sum(kept[2])


def test_features_are_shown_by_name(labeller, config):
    document = read_document("<p>one two three four</p><p><a href='x'>one</a></p>", config)
    assert labeller.features(document) == ({"words": "3", "container.a": "0"}, {"words": "1", "container.a": "1"})


# What cannot be learned from.


@pytest.mark.parametrize("method", ["predict", "predict_marginals"])
def test_an_untrained_labeller_raises(config, pages, method):
    with pytest.raises(VictorError, match=r"this ModelLabeller has not been trained: call fit\(\) or load a model"):
        getattr(ModelLabeller(config), method)(documents(pages))


def test_an_unknown_label_is_named_with_its_page_and_block(config, pages):
    wrong = labels(pages)
    wrong[1][3] = "headline"
    url = pages[1].document.url
    with pytest.raises(DataError, match=f"{url}, block 3: label 'headline' is not one of header, paragraph"):
        fitted(config, pages, wrong)


def test_a_label_that_the_config_does_not_have_is_refused(tmp_path, pages):
    with pytest.raises(DataError, match="is not one of paragraph, other"):
        fitted(own_config(tmp_path, "labels:", "labels: paragraph other"), pages)


def test_a_wrong_number_of_labels_is_refused(config, pages):
    count = len(pages[0].labels)
    short = [labels(pages)[0][:-1], *labels(pages)[1:]]
    with pytest.raises(DataError, match=f"{pages[0].document.url} has {count} blocks and {count - 1} labels"):
        fitted(config, pages, short)
    with pytest.raises((DataError, ValueError)):
        fitted(config, pages, labels(pages)[:-1])  # of pages
    with pytest.raises(DataError, match="a CRF learns from labels"):
        ModelLabeller(config).fit(documents(pages))
    with pytest.raises(DataError, match="a CRF learns from labels"):
        fitted(config, pages, [*labels(pages)[:-1], None])


@pytest.mark.parametrize("label", ["other", "paragraph", None])
def test_fewer_than_two_labels_are_refused(config, pages, label):
    pages = pages if label else []
    with pytest.raises(DataError, match="need at least two labels"):
        fitted(config, pages, [[label] * len(page.labels) for page in pages])


# scikit-learn's estimator API.


def test_parameters_are_those_of_the_constructor_and_can_be_set():
    labeller = ModelLabeller("crf", c1=0.5)
    shown = dict.fromkeys(["config", "algorithm", "c1", "c2", "max_iterations", "threshold", "site_key"])
    assert labeller.get_params() == shown | {"config": "crf", "c1": 0.5}
    assert repr(labeller) == "ModelLabeller(config='crf', c1=0.5)"
    assert labeller.set_params(c2=0.25, config="cleaneval") is labeller
    assert (labeller.c2, labeller.config) == (0.25, "cleaneval")
    with pytest.raises(ValueError, match=r"ModelLabeller has no parameter 'treshold' \(did you mean 'threshold'\?\)"):
        labeller.set_params(treshold=1)


def test_another_config_is_another_labeller(labeller, config):
    document = read_document("<p>tea</p>", config)
    before = labeller.features(document)
    assert labeller.set_params(config="cleaneval").features(document) != before


def test_a_trained_labeller_pickles(labeller, pages):
    before = labeller.predict_marginals(documents(pages))
    assert pickle.loads(pickle.dumps(labeller)).predict_marginals(documents(pages)) == before


def test_cross_validation_runs(config, pages):
    data = {"X": documents(pages), "y": labels(pages), "error_score": "raise"}
    scores = cross_val_score(ModelLabeller(config), **data, groups=[0, 0, 1, 1], cv=GroupKFold(2))
    assert scores.shape == (2,)
    assert fitted(config, pages[2:]).score(documents(pages[:2]), labels(pages[:2])) in scores
    scores = cross_val_score(ModelLabeller(config), **data, cv=2)
    assert ((scores > 0) & (scores <= 1)).all()


def test_a_grid_search_by_groups_finds_a_c1(config, pages):
    search = GridSearchCV(ModelLabeller(config), {"c1": [0.01, 1000.0]}, cv=GroupKFold(2), error_score="raise")
    search.fit(documents(pages), labels(pages), groups=[0, 1, 0, 1])
    assert search.best_params_ == {"c1": 0.01}  # 1000 leaves no weights at all
    assert search.best_estimator_.c1 == 0.01
    assert search.predict(documents(pages)) == search.best_estimator_.predict(documents(pages))
    assert search.score(documents(pages), labels(pages)) > 0.5


def test_an_unfitted_labeller_is_not_fitted_for_scikit_learn(config, labeller):
    with pytest.raises(NotFittedError):
        check_is_fitted(ModelLabeller(config))
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(labeller))
    assert clone(labeller.set_params(c1=0.75)).get_params() == labeller.get_params()
    check_is_fitted(labeller)
    check_is_fitted(pickle.loads(pickle.dumps(labeller)))


@pytest.mark.parametrize("name", list(LABELLERS))
def test_a_labeller_is_fitted_once_it_has_seen_what_it_learns_from(name, pages):
    labeller = LABELLERS.get(name)()
    if labeller.learns_from is not LearnsFrom.NOTHING:
        with pytest.raises(NotFittedError):
            check_is_fitted(labeller)
    check_is_fitted(labeller.fit(documents(pages)))


def test_features_come_with_the_labels_from_one_computation(labeller, pages, monkeypatch):
    document = pages[0].document
    expected = labeller.label(document), labeller.features(document)
    counted = []
    monkeypatch.setattr(labeller_module, "Columns", lambda *given: counted.append(given[0]) or Columns(*given))
    assert labeller.examine(document, features=True)[:2] == expected
    assert counted == [document]


# The CRF by itself: sklearn_crfsuite.CRF.


@pytest.fixture(scope="module")
def sequences(pages):
    """Attributes of blocks as crfsuite takes them, and labels."""
    attributes = [
        [[f"tag={block.containers[-1]}", f"long={len(block.text) > 80}"] for block in page]
        for page in (document.blocks for document in documents(pages))
    ]
    return attributes, labels(pages)


def test_the_crf_is_that_of_sklearn_crfsuite(sequences):
    given = {"algorithm": "lbfgs", "c1": 0.1, "c2": 0.2, "max_iterations": 20}
    ours, theirs = CRF(**given).fit(*sequences), sklearn_crfsuite.CRF(**given).fit(*sequences)
    attributes, gold = sequences
    assert isinstance(ours, sklearn_crfsuite.CRF)
    assert ours.get_params() == theirs.get_params()
    assert ours.classes_ == theirs.classes_
    assert ours.model_ == Path(theirs.modelfile.name).read_bytes()
    assert ours.predict(attributes).tolist() == theirs.predict(attributes).tolist()
    assert ours.predict_marginals(attributes).tolist() == theirs.predict_marginals(attributes).tolist()
    assert ours.score(attributes, gold) == flat_accuracy_score(gold, ours.predict(attributes)) > 0.5


def test_an_unfitted_crf_raises(sequences, tmp_path):
    crf = CRF(c1=0.5)
    with pytest.raises(NotFittedError):
        check_is_fitted(crf)
    with pytest.raises(NotFittedError):
        crf.predict(sequences[0])
    for name in ("model_", "tagger_"):
        with pytest.raises(NotFittedError):
            getattr(crf, name)
    assert not hasattr(crf, "classes_")
    with pytest.raises(NotFittedError):
        check_is_fitted(CRF(model_filename=str(tmp_path / "none.crfsuite")))
    check_is_fitted(crf.fit(*sequences))
    check_is_fitted(pickle.loads(pickle.dumps(crf)))
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(crf))
    assert clone(crf).get_params() == crf.get_params()


def test_a_crf_that_cannot_be_trained_is_not_fitted(sequences):
    attributes, gold = sequences
    crf = CRF(c1=0.5)
    with pytest.raises(ValueError, match="differ"):
        crf.fit(attributes, [gold[0][:-1], *gold[1:]])
    with pytest.raises(NotFittedError):
        check_is_fitted(crf)


def test_the_crf_of_a_model_directory_opens_as_an_estimator(labeller, tmp_path):
    (tmp_path / "model.crfsuite").write_bytes(labeller.stages_.crfsuite_model)
    crf = CRF(model_filename=str(tmp_path / "model.crfsuite"))
    check_is_fitted(crf)
    assert tuple(crf.classes_) == labeller.stages_.crf.labels


def test_a_grid_search_over_crfs_finds_a_c1(sequences):
    search = GridSearchCV(CRF(max_iterations=20), {"c1": [0.01, 1000.0]}, cv=2, error_score="raise").fit(*sequences)
    assert search.best_params_ == {"c1": 0.01}
    check_is_fitted(search.best_estimator_)


@pytest.mark.parametrize(
    ("line", "parameter", "value"),
    [
        ("crf-param-max_iterations: 7", "max_iterations", 7),
        ("crf-param-c1: 0", "c1", 0.0),
        ("crf-param-feature.minfreq: 2", "min_freq", 2.0),
        ("crf-param-feature.possible_transitions: 1", "all_possible_transitions", True),
        ("crf-algorithm: l2sgd\ncrf-param-calibration.samples: 50", "calibration_samples", 50.0),
        ("crf-algorithm: pa\ncrf-param-type: 2", "pa_type", 2),
    ],
)
def test_parameters_of_a_config_are_those_of_the_crf(tmp_path, line, parameter, value):
    found = make_crf(own_config(tmp_path, line)).get_params()[parameter]
    assert (type(found), found) == (type(value), value)


def test_scores_are_those_of_sklearn_crfsuite(labeller, pages):
    gold, predicted = labels(pages), labeller.predict(documents(pages))
    counts = BlockCounts.sum(
        BlockCounts.of([*map(Label, ours)], [*map(Label, theirs)]) for ours, theirs in zip(predicted, gold, strict=True)
    )
    assert labeller.score(documents(pages), gold) == flat_accuracy_score(gold, predicted)
    assert counts.label_accuracy == flat_accuracy_score(gold, predicted)
    assert (labeller.score(documents(pages), predicted), labeller.score([], [])) == (1, 0)
    report = flat_classification_report(gold, predicted, output_dict=True, zero_division=0)
    for label in {label for page in gold for label in page}:
        score = counts.label_score(Label(label))
        assert (score.precision, score.recall, score.f1) == pytest.approx(
            [report[label][name] for name in ("precision", "recall", "f1-score")]
        )
