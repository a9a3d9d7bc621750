"""Trees for kinds of content: their inputs, the same results as CatBoost, and their effect on labels."""

import io
import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.models import unlist
from support.sitepages import own_labels, own_words, site, site_page

from victorpy import ConfigError, ModelError, load_config
from victorpy.batch.site_model import SiteModel, at_site_bytes
from victorpy.cleaner import Cleaner, read_document
from victorpy.columns import Columns
from victorpy.config import read_config
from victorpy.document import Label
from victorpy.features import find_feature
from victorpy.methods import Method
from victorpy.model.crf.tables import Tables
from victorpy.model.decoder import Decoder
from victorpy.model.evidence import Findings, Keeping
from victorpy.model.evidence.kinds import fit_kinds
from victorpy.model.evidence.trees import Forest, ObliviousForest, train_forest
from victorpy.model.store import load_model
from victorpy.model.train import load_pages, train

BLOCKS = load_config("blocks")
ANNOS = sorted((Path(__file__).parents[2] / "data").glob("**/*.anno"))
CONFIG = """include cleaneval-trees
evidence-folds: 2
evidence-param-iterations: 10
kinds-param-iterations: 20
kinds-param-rsm: 1
crf-param-max_iterations: 15
"""


def feature_of(html, name):
    page = Columns(read_document(f"<html><body>{html}</body></html>", BLOCKS), BLOCKS)
    found = find_feature(name)
    return np.asarray(found.column(page, name), dtype=float).round(3).tolist()


# The inputs.

POEM = "<h2>Tea Time</h2><div>the kettle sings<br>and<br>we drink it</div><div><b>Hot: </b>12 cups</div>"


LINES = [
    ("characters", [8, 16, 3, 11, 12]),
    ("run.blocks", [1, 3, 3, 3, 1]),
    ("run.place", [0, 0, 1, 2, 0]),
    ("run.longest", [8, 16, 16, 16, 12]),
    ("run.mean", [8, 10, 10, 10, 12]),
    ("run.filled", [1, 1, 0.188, 0.688, 1]),
    ("bold-share", [1, 0, 0, 0, 0.333]),
    ("capitalised-share", [1, 0, 0, 0, 0.333]),
    ("begins-with.lower", [0, 1, 1, 1, 0]),
    ("look.bold-share", [1, 0.083, 0.083, 0.083, 0.083]),
    ("look.short-share", [1, 1, 1, 1, 1]),
    ("look.break-share", [0, 0.5, 0.5, 0.5, 0.5]),
    ("document.break-share", [0.4] * 5),
    ("document.share-in.div", [0.8] * 5),
    ("document.share-in.class-header", [0.2] * 5),
]


@pytest.mark.parametrize(("name", "expected"), LINES)
def test_features_of_lines(name, expected):
    assert feature_of(POEM, name) == expected
    assert feature_of("", name) == []


@pytest.mark.parametrize(
    ("what", "expected"), [("digit", [1, 0, 0, 0]), ("lower", [0, 1, 0, 0]), ("sign", [0, 0, 1, 0])]
)
def test_how_a_block_begins(what, expected):
    html = "<p>7 cups</p><p>of tea</p><p>- milk</p><p>茶</p>"
    assert feature_of(html, f"begins-with.{what}") == expected


# The trees by themselves.


def random_kinds(seed):
    dice = np.random.default_rng(seed)
    matrix = dice.normal(size=(6, 900)).astype(np.float32)
    matrix[1] = dice.integers(0, 3, 900)
    score = matrix[0] + matrix[1] * matrix[2] + dice.normal(size=900) / 2
    return SimpleNamespace(matrix=matrix, target=np.digitize(score, [-1, 0.2, 1]))


@pytest.mark.parametrize("depth", [1, 4])
def test_trees_predict_the_same_as_catboost(depth):
    catboost = pytest.importorskip("catboost")
    data, unseen = random_kinds(1), random_kinds(2).matrix
    settings = {"iterations": 12, "depth": depth, "random_seed": 1, "loss_function": "MultiClass"}
    forest = train_forest(data.matrix, data.target, np.ones(900), settings, "kinds")
    learner = catboost.CatBoostClassifier(**settings, verbose=False, allow_writing_files=False)
    learner.fit(data.matrix.T, data.target)
    assert forest.shares(unseen) == pytest.approx(learner.predict_proba(unseen.T), abs=1e-5)


def hand_made():
    return ObliviousForest(
        np.array([[0]], dtype=np.int32),
        np.array([[0.5]], dtype=np.float32),
        np.log(np.array([[[1.0, 3.0], [4.0, 1.0]]])).astype(np.float32),
        np.log(np.array([1.0, 2.0])),
    )


def test_kind_probabilities_equal_a_manual_calculation():
    assert hand_made().shares(np.array([[0.5, 0.6]], dtype=np.float32)) == pytest.approx(
        np.array([[1 / 7, 6 / 7], [4 / 6, 2 / 6]]), abs=1e-6
    )
    assert hand_made().shares(np.zeros((1, 0), dtype=np.float32)).shape == (0, 2)


def test_trees_read_back_the_same_or_are_refused():
    some = np.linspace(0, 1, 9, dtype=np.float32)[None]
    file = io.BytesIO()
    hand_made().save(file)
    replace(hand_made(), bias=np.zeros(3)).save(file)
    file.seek(0)
    assert Forest.load(file, len(some)).shares(some).tolist() == hand_made().shares(some).tolist()
    with pytest.raises(ValueError, match="do not match"):
        Forest.load(file, len(some))


# In a model.


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A model with trees for kinds, trained on every fourth sample page, and its directory."""
    directory = tmp_path_factory.mktemp("kinds")
    (directory / "small.conf").write_text(CONFIG)
    config = read_config(directory / "small.conf")
    pages = load_pages(ANNOS[::4], config)
    said = []
    trained = train(pages, config, report=said.append)
    trained.save(directory / "model")
    return SimpleNamespace(config=config, pages=pages, labeller=trained.labeller, path=directory / "model", said=said)


def labeller_with(small, **values):
    given = {name.replace("_", "-"): (value,) for name, value in values.items()}
    return small.labeller.with_config(replace(small.config, values={**small.config.values, **given}))


def kinds_right(small, share, decode):
    """The share of blocks with the right kind among the correctly kept blocks."""
    labeller = labeller_with(small, kinds_share=share, decode=decode)
    both = [
        (ours, gold)
        for page in small.pages
        for ours, gold in zip(labeller.label(page.document).labels, page.labels, strict=True)
        if ours.is_content and gold.is_content
    ]
    return sum(ours == gold for ours, gold in both) / len(both)


@pytest.mark.parametrize("decode", ["label", "expected"])
def test_with_a_share_of_one_only_the_trees_decide_the_kind(small, decode):
    labeller = labeller_with(small, kinds_share="1", decode=decode)
    document = small.pages[0].document
    _, findings = labeller._find(document)
    best = [labeller.stages_.kinds.labels[number] for number in findings.kinds.argmax(axis=1)]
    found = labeller.label(document).labels
    assert any(label.is_content for label in found)
    assert all(label == kind for label, kind in zip(found, best, strict=True) if label.is_content)


@pytest.mark.parametrize("decode", ["label", "expected"])
def test_with_a_share_of_zero_only_the_crf_decides_the_kind(small, decode):
    labeller, without = (
        labeller_with(small, kinds_share="0", kinds_content_share="0", decode=decode) for _ in range(2)
    )
    without.stages_ = replace(without.stages_, kinds=None)
    for page in small.pages:
        assert labeller.label(page.document) == without.label(page.document)


def test_kinds_content_share_changes_only_decode_label(small):
    by_label, by_text = (labeller_with(small, kinds_content_share="1", decode=way) for way in ("label", "expected"))
    for page in small.pages:
        _, findings = by_label._find(page.document)
        for labeller, log_odds in ((by_label, findings.block_log_odds), (by_text, findings.log_odds)):
            assert labeller.label(page.document).content == pytest.approx(1 / (1 + np.exp(-log_odds)), abs=1e-6)


def test_the_shares_of_the_trees_can_be_set_without_training(small):
    """As --config does it: they say how a model is used, and are taken over from a config that differs in them."""
    changed = {"kinds-share": ("0.25",), "kinds-content-share": ("0.75",)}
    wanted = replace(small.config, values={**small.config.values, **changed})
    assert small.config.differences(wanted) == []
    used = Cleaner(small.labeller, small.config).with_config(wanted)
    assert {name: used.config.get(name) for name in changed} == changed
    assert {name: used.labeller.config.get(name) for name in changed} == changed


def test_the_trees_have_learned_something(small):
    assert kinds_right(small, "1", "label") > 0.8
    assert kinds_right(small, "0.5", "expected") > 0.8


def test_a_saved_model_labels_the_same(small):
    loaded = load_model(small.path).labeller
    assert loaded.stages_.kinds.labels == small.labeller.stages_.kinds.labels
    for document in (*(page.document for page in small.pages), read_document("<html></html>", small.config)):
        assert loaded.label(document) == small.labeller.label(document)


def test_training_on_one_kind_predicts_that_kind(small):
    document = small.pages[0].document
    page = Columns(document, small.config)
    findings = small.labeller.stages_.evidence.judge(page)
    labels = [Label.PARAGRAPH if at % 2 else Label.OTHER for at in range(page.count)]
    kinds = fit_kinds([page], [findings], [labels], small.config)
    assert kinds.labels == ("paragraph",)
    found = kinds.judge(page, findings)
    assert (found.kinds == 1).all()
    assert found.block_log_odds[1] > found.block_log_odds[0]


def test_a_model_without_its_trees_is_refused(small, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(small.path, copy)
    (copy / "kinds.npy").unlink()
    with pytest.raises(ModelError, match=r"kinds\.npy"):
        load_model(copy)
    shutil.copy(small.path / "kinds.npy", copy)
    unlist(copy, "kinds.npy")
    with pytest.raises(ModelError, match=r"does not list kinds\.npy"):
        load_model(copy)


def test_training_reports_the_steps_for_kinds(small):
    steps = ["kinds: features of 12 pages", "kinds: trees for labels"]
    assert [message for message in small.said if message.startswith("kinds")] == steps


def test_trees_for_kinds_need_evidence(tmp_path):
    (tmp_path / "own.conf").write_text("include cleaneval\nkinds: trees\n")
    with pytest.raises(ConfigError, match="set evidence: trees too"):
        train(load_pages(ANNOS[:1], load_config("cleaneval")), read_config(tmp_path / "own.conf"))


def test_a_parameter_that_catboost_does_not_have_is_refused_by_its_name(tmp_path, small):
    config = replace(small.config, values={**small.config.values, "kinds-param-itterations": ("5",)})
    with pytest.raises(ConfigError, match="kinds-param-itterations"):
        train(small.pages, config)


# At a site, with a feature of a user's own.

OWN_CONFIG = """include site
feature-modules: own_kinds.py
evidence-template: own_kinds.tpl
evidence-folds: 2
evidence-layers: 1
evidence-param-iterations: 5
kinds: trees
kinds-param-iterations: 5
kinds-content-share: 1
decode: label
crf-param-max_iterations: 5
"""
OWN_FEATURE = '''from victorpy.features import feature


@feature("letters-of-test-kinds")
def letters(page):
    """Characters."""
    return page.lengths
'''


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A model for sites that has trees for kinds and sees a feature of a user's."""
    directory = tmp_path_factory.mktemp("own")
    (directory / "own_kinds.py").write_text(OWN_FEATURE)
    (directory / "own_kinds.tpl").write_text("include site\n%x[0,letters-of-test-kinds]\n")
    (directory / "own.conf").write_text(OWN_CONFIG)
    config = read_config(directory / "own.conf")
    train(load_pages(ANNOS[::6], config), config).save(directory / "model")
    return str(directory / "model")


@pytest.mark.slow
def test_a_site_seen_by_a_model_with_own_features_reaches_workers(own):
    choice = Method(model=own)
    base = choice.load()
    at_site = base.at_site(site(4))
    travelled = pickle.loads(pickle.dumps(SiteModel(choice, at_site_bytes(at_site, base)).load))()
    page = site_page(7)
    assert travelled.document(page).content == at_site.document(page).content


def test_site_labels_correct_block_log_odds(own):
    cleaner = Method(model=own).load()
    pages = site(6)
    labels = [*(own_labels(page) for page in pages[:4]), None, None]
    before, told = (cleaner.at_site(pages, known).labeller._find(pages[5])[1] for known in (None, labels))
    moved = told.block_log_odds - before.block_log_odds
    own_text = np.array(own_words(pages[5]))
    assert moved == pytest.approx(told.log_odds - before.log_odds)
    assert (moved[own_text] >= 0).all()
    assert (moved[~own_text] <= 0).all()
    assert moved[own_text].max() > 0.5


# Labels.


class SureOfItems(Tables):
    """A CRF that takes every block for an item of a list."""

    def states(self, codes, blocks):
        return np.log(np.tile([0.3, 0.6, 0.1], (len(blocks), 1)))


def test_only_texts_in_lists_and_tables_are_list_items():
    html = "<p>tea:</p><ul><li>hot</ul><ol><p>in a cup</ol><dl><dt>oolong<dd>blue</dl><table><td>pot<td>3</table>"
    config = load_config("default")
    page = Columns(read_document(html, config), config)
    crf = SureOfItems((Label.PARAGRAPH, Label.LIST, Label.OTHER), None, np.zeros(0), np.zeros((0, 3)), np.zeros((3, 3)))
    findings = Findings(np.full(page.count, 3.0), np.zeros((0, page.count)))
    decoded = Decoder(crf, (), "expected", Keeping(), 0.0, 0.0).choose(page, np.zeros(0), findings)
    assert decoded.labels.tolist() == [0] + [1] * (page.count - 1)
    assert page.count == 7
