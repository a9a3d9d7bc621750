"""Adapting a model to a few pages: what it learns, which pages it changes, and what is chosen and saved."""

import json
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.commands import victor

from victorpy import DataError, ModelError
from victorpy.base.digests import write_directory
from victorpy.cleaner import Cleaner, read_document
from victorpy.commands.model import make_card
from victorpy.document import Label
from victorpy.model import choice
from victorpy.model.choice import ADAPTED, AVERAGED, TREES, UNCHANGED, expected_gain, judge_pages, learn
from victorpy.model.evidence.adaptation import Adaptation, fit_adaptation
from victorpy.model.evidence.replay import load_replay
from victorpy.model.store import load_model
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import write_anno

# A site that marks its content in its own way: the bundled model takes its lists for noise.
PAGE = """<html><body><div class="qx-top"><a href="/">Home</a> <a href="/a">Teas</a></div>
<h1>{name}</h1><div class="qx-rows">{rows}</div>
<div class="qx-more"><p>We wish all of our customers a pleasant day, and we hope that they enjoy their tea.</p></div>
</body></html>"""
ROW = '<div class="qx-row"><a href="/{name}">{name} {number}</a></div>'
TEAS = ("Assam", "Ceylon", "Darjeeling", "Earl Grey", "Keemun", "Lapsang", "Oolong", "Sencha")

default = cache(load_model)


def tea_page(name, url="https://tea.example/{}"):
    rows = "".join(ROW.format(name=name, number=number) for number in range(6))
    html = PAGE.format(name=name, rows=rows)
    document = read_document(html, default().config, url.format(name.replace(" ", "-")))
    wanted = {name: Label.HEADER} | {f"{name} {number}": Label.LIST for number in range(6)}
    return CleanPage(document, tuple(wanted.get(block.text, Label.OTHER) for block in document.blocks))


def tea_pages(count=6):
    return [tea_page(name) for name in TEAS[:count]]


def kept(labeller, page):
    return [label.is_content for label in labeller.label(page.document).labels]


def gold(page):
    return [label.is_content for label in page.labels]


STEPS = []
"""The steps that `adapted` reports."""


@cache
def adapted():
    return learn(tea_pages(), default(), report=STEPS.append, replay=load_replay(default().meta))


def test_steps_of_learning_are_reported():
    adapted()
    folds = [f"adapting, fold {number} of 5" for number in range(1, 6)]
    steps = ["features of 6 pages", *folds, "adapting to all pages", "comparing with CRF from scratch"]
    assert steps == STEPS


def test_adapted_model_finds_what_the_pages_have_in_common():
    new = tea_page("Yerba Mate")
    assert kept(default().labeller, new) != gold(new)
    assert adapted().chosen == ADAPTED
    assert kept(adapted().trained.labeller, new) == gold(new)
    assert np.mean(adapted().scores[ADAPTED]) > np.mean(adapted().scores[UNCHANGED]) + 0.2


def test_adapted_model_hardly_changes_other_pages():
    path = Path(__file__).parents[2] / "data" / "article" / "courier-bridge.html"
    page = CleanPage(read_document(path.read_bytes(), default().config), ())
    assert kept(adapted().trained.labeller, page) == kept(default().labeller, page)
    before, after = adapted().general
    assert after == pytest.approx(before, abs=0.005)


def test_adapted_model_is_an_ordinary_directory(tmp_path):
    adapted().trained.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    for page in tea_pages(8):
        assert loaded.labeller.label(page.document) == adapted().trained.labeller.label(page.document)
    story = loaded.meta["training"]
    assert story["parent"]["digest"] == default().meta["digest"]
    assert (story["pages"], story["chosen"], story["folds"]) == (6, ADAPTED, "pages")
    assert Cleaner.load(tmp_path / "model")
    with pytest.raises(ModelError, match="adapted already"):
        learn(tea_pages(), loaded)


@pytest.mark.parametrize("with_own", [False, True])
def test_trees_of_the_new_pages_are_saved_if_they_are_used(tmp_path, with_own):
    judged = judge_pages(tea_pages(), default(), None, ["tea"] * 6, list("abcdef"))
    adaptation = fit_adaptation(judged).variant(1.0, with_own).spelled(page.columns for page in judged)
    adaptation.save(tmp_path)
    loaded = Adaptation.load(tmp_path, default().labeller.stages_.evidence.input_count)
    assert (loaded.own is not None) == with_own
    for page in judged:
        assert (loaded.change(page.columns, page.findings) == adaptation.change(page.columns, page.findings)).all()
    path = tmp_path / "adaptation.npy"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="its trees are not numpy arrays"):
        Adaptation.load(tmp_path, default().labeller.stages_.evidence.input_count)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda usual, trees: (np.array([2.0, 0.5]), trees), "likeness are not all numbers from"),
        (lambda usual, trees: (np.array([0.5]), trees), "arrays of its adaptation do not match"),
        (lambda usual, trees: (usual, [trees[0] + 1000, *trees[1:]]), "features of trees are not all numbers"),
        (lambda usual, trees: (usual, trees[:2]), "are not numpy arrays"),
    ],
)
def test_damaged_adaptation_is_rejected(tmp_path, change, message):
    adapted().trained.save(tmp_path / "model")
    with (tmp_path / "model" / "adaptation.npy").open("rb") as file:
        usual, *trees = (np.load(file) for _ in range(5))
    usual, trees = change(usual, trees)
    meta = json.loads((tmp_path / "model" / "meta.json").read_text())
    with write_directory(
        tmp_path / "damaged", {key: meta[key] for key in meta if key not in ("files", "digest")}
    ) as new:
        for path in (tmp_path / "model").iterdir():
            if path.name != "meta.json":
                shutil.copy(path, new)
        with (new / "adaptation.npy").open("wb") as file:
            for array in (usual, *trees):
                np.save(file, array)
    with pytest.raises(ModelError, match=message):
        load_model(tmp_path / "damaged")


def test_model_stays_as_it_is_if_it_has_nothing_to_learn():
    pages = [replace(page, labels=default().labeller.label(page.document).labels) for page in tea_pages(4)]
    learned = learn(pages, default())
    assert learned.chosen == UNCHANGED
    for page in pages:
        assert learned.trained.labeller.label(page.document) == default().labeller.label(page.document)
    assert learn(pages, default(), adapt=True).chosen == ADAPTED


def test_folds_are_sites_if_there_are_several():
    pages = [tea_page(name, f"https://shop{number % 3}.example/{{}}") for number, name in enumerate(TEAS)]
    learned = learn(pages, default(), adapt=True)
    assert (learned.sites, learned.by_site, learned.general) == (3, True, None)
    assert not adapted().by_site


@pytest.mark.parametrize(
    ("first", "second", "url", "is_one_site"),
    [
        ("abcdef", "abcdef", "", True),
        ("abcdef", "abcdeg", "", True),
        ("abcdef", "abcghi", "", False),  # no more than half of the classes are the same
        ("abcd", "abcd", "", False),  # too simple to recognise a site
        ("abcdef", "abcdef", "https://tea.example/", False),
    ],
)
def test_pages_without_an_address_are_grouped_by_their_classes(first, second, url, is_one_site):
    documents = []
    for number, (classes, its_url) in enumerate([(first, ""), (second, url)]):
        html = "".join(f'<div class="{name}"><p>Tea</p></div>' for name in classes)
        documents.append(read_document(html, default().config, its_url, source=f"page {number}"))
    sites = choice.guess_sites(documents, "domain")
    assert sites[0] == "page 0"
    assert sites[1] == ("page 0" if is_one_site else "tea.example" if url else "page 1")


def test_model_from_scratch_is_saved_only_if_it_wins_clearly(monkeypatch):
    monkeypatch.setattr(choice, "FEWEST_FOR_TREES", 3)
    monkeypatch.setattr(choice, "FEWEST_TO_AVERAGE", 6)
    pages = tea_pages(8)
    learned = learn(pages, default())
    assert {UNCHANGED, ADAPTED, AVERAGED, TREES} <= learned.scores.keys()
    nothing = {ADAPTED: choice._Adapted(None, -1.0, learned.scores[UNCHANGED], None)}
    monkeypatch.setattr(choice._Trial, "adapt", lambda self, unchanged: nothing)
    learned = learn(pages, default())
    assert learned.chosen in {TREES, choice.CRF}
    assert learned.trained.labeller.stages_.adaptation is None


def test_model_stays_as_it_is_if_general_pages_would_suffer(monkeypatch):
    replay = load_replay(default().meta)
    monkeypatch.setattr(choice, "MOST_FORGOTTEN", -1.0)  # not even a gain of general pages is enough
    monkeypatch.setattr(choice._Trial, "from_scratch", lambda *arguments: None)
    assert learn(tea_pages(), default(), replay=replay).chosen == UNCHANGED
    forced = learn(tea_pages(), default(), replay=replay, adapt=True)
    assert (forced.chosen, forced.general[0]) == (ADAPTED, adapted().general[0])


def test_pages_without_content_or_noise_teach_nothing():
    noise = [CleanPage(page.document, (Label.OTHER,) * len(page.labels)) for page in tea_pages()]
    with pytest.raises(DataError, match="blocks of content and blocks of noise"):
        learn(noise, default())
    with pytest.raises(DataError, match="at least 2 pages"):
        learn(tea_pages(1), default())
    with pytest.raises(ModelError, match="only models with trees can be adapted"):
        learn(tea_pages(), load_model("cleaneval"))


def test_unknown_blocks_of_partial_gold_are_ignored():
    pages = tea_pages()
    known = [[float(content) for content in gold(page)] for page in pages]
    known[0] = None
    learned = learn(pages, default(), known)
    assert set(learned.scores) == {UNCHANGED, ADAPTED}


def test_general_pages_are_an_anchor():
    judged = judge_pages(tea_pages(), default(), None, ["tea"] * 6, list("abcdef"))
    meta = default().meta
    moved = []
    for replay in (None, load_replay(meta, 1.0), load_replay(meta, 100.0)):
        adaptation = fit_adaptation(judged, replay)
        general = load_replay(meta)
        moved.append(np.abs(adaptation.forest.log_odds(general.matrix(adaptation.lexicon))).mean())
    assert moved[0] > 2 * moved[1] > 2 * moved[2]


def test_pages_unlike_the_new_ones_are_not_adapted():
    judged = judge_pages(tea_pages(), default(), None, ["tea"] * 6, list("abcdef"))
    page, adaptation = judged[0], fit_adaptation(judged)
    matrix = np.zeros((adaptation.forest.features.max() + 1, page.columns.count), dtype=np.float32)
    change, own = adaptation.forest.log_odds(matrix), adaptation.own.forest.log_odds(matrix) - page.findings.log_odds
    for known, strength, share in (
        (0.25, 0, 0),
        (0.375, 0.5, 0),
        (0.5, 1, 0),
        (0.8, 1, 0),
        (0.9, 1, 0.25),
        (1.0, 1, 0.5),
    ):
        alike = replace(adaptation, usual_likeness=np.ones(2), own=replace(adaptation.own, mean_likeness=np.ones(2)))
        for likeness in (np.array([known, 1.0]), np.array([1.0, known])):
            expected = (1 - share) * strength * change + share * own
            assert alike._change(likeness, matrix, page.findings.log_odds) == pytest.approx(expected)
    path = Path(__file__).parents[2] / "data" / "article" / "article-zh-teahouse.html"
    document = read_document(path.read_bytes(), default().config)
    assert adapted().trained.labeller.label(document) == default().labeller.label(document)


def test_a_step_is_a_share_of_the_change():
    page, *others = judge_pages(tea_pages(), default(), None, ["tea"] * 6, list("abcdef"))
    adaptation = fit_adaptation(others)
    change = adaptation.change(page.columns, page.findings)
    assert np.abs(change).max() > 0.1
    adapted = adaptation.variant(1.0, with_own=False).change(page.columns, page.findings)
    half = adaptation.variant(0.5, with_own=False).judge(page.columns, page.findings)
    assert half.log_odds == pytest.approx(page.findings.log_odds + adapted / 2, abs=1e-5)
    assert np.abs(change - adapted).max() > 0.1  # by the trees of the new pages alone


def test_replay_fits_the_bundled_model_only():
    replay = load_replay(default().meta)
    assert replay, "the bundled model has changed; run python -m tools.replay (docs/guides/training.md)"
    stages = default().labeller.stages_
    assert replay.inputs.shape == (stages.evidence.input_count, replay.count)
    assert load_replay({"files": {"trees.npy": "another"}}) is None
    assert replay.score(0.0) > 0.85
    assert replay.score(-2 * replay.log_odds) < 0.5
    lighter = load_replay(default().meta, 0.1)
    assert lighter.weight.sum() == pytest.approx(0.1)
    matrix = replay.matrix(adapted().trained.labeller.stages_.adaptation.lexicon)
    assert np.isfinite(matrix).all()


@pytest.mark.parametrize(("measured", "step"), [(0.0, 0.5), (-0.001, 0.5), (0.001, 1.0)])
def test_an_adaptation_that_gains_nothing_is_applied_at_half_strength(monkeypatch, measured, step):
    scores = iter([[0.8] * 6] + [[0.8 + measured] * 6] * 3)  # of the unchanged model, then of each step
    monkeypatch.setattr(choice._Trial, "score", lambda trial, log_odds: next(scores))
    monkeypatch.setattr(choice._Trial, "from_scratch", lambda *arguments: None)
    learned = learn(tea_pages(), default())
    whole = fit_adaptation(judge_pages(tea_pages(), default(), None, ["tea"] * 6, list("012345")))
    assert learned.chosen == ADAPTED
    assert learned.trained.labeller.stages_.adaptation.forest.leaves == pytest.approx(whole.forest.leaves * step)


def test_expected_gain_is_between_the_measured_and_the_usual_gain():
    unchanged = [0.7, 0.6, 0.65]
    assert 0.05 < expected_gain([0.9, 0.8, 0.85], unchanged) < 0.2
    assert expected_gain(unchanged, unchanged, 0.01) == pytest.approx(0.004, abs=0.003)
    assert expected_gain([0.9, 0.8, 0.85] * 10, unchanged * 10) == pytest.approx(0.2, abs=0.03)
    assert expected_gain([0.9, 0.4, 0.66], unchanged) < 0.003  # one page gains what another loses


# The command


def write_pages(directory, pages):
    directory.mkdir()
    for number, page in enumerate(pages):
        (directory / f"{number}.anno").write_text(write_anno(page), encoding="utf-8")
    return directory


def test_learn_adapts_and_says_what_it_gained(tmp_path):
    ended = victor("learn", write_pages(tmp_path / "teas", tea_pages()), "-o", tmp_path / "model")
    output, messages = ended.stdout.decode(), ended.stderr.decode()
    assert ended.returncode == 0
    for part in ("default, unchanged", "default, adapted", "<- saved", "on general pages", "training pays: +"):
        assert part in output
    assert "annotate about 14 more pages (of other sites, if" in output
    assert "adapting, fold 5 of 5" in messages
    assert "all pages seem to be from tea.example; the scores hold for this site only" in messages
    again = victor("learn", "--from", tmp_path / "model", tmp_path / "teas", "-o", tmp_path / "other")
    assert b"adapted already" in again.stderr


def test_learn_saves_a_copy_if_training_does_not_pay(tmp_path):
    pages = [replace(page, labels=default().labeller.label(page.document).labels) for page in tea_pages(4)]
    ended = victor("learn", write_pages(tmp_path / "teas", pages), "-o", tmp_path / "model", "--replay", "0")
    assert "training did not pay, so the saved model is a copy of default" in ended.stdout.decode()
    assert "there are only 4 pages to learn from" in ended.stderr.decode()
    assert (tmp_path / "model" / "trees.npy").is_file()
    assert not (tmp_path / "model" / "adaptation.npy").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "default", "--config", "crf"], "--config trains a new model, so it cannot be combined with --from"),
        (["--from", "default", "--config", "crf"], "an adapted model has the features of the model that it came from"),
        (["--from", "defualt"], "no model 'defualt' (did you mean 'default'?)"),
        (["--replay", "-1"], "--replay must be 0 or more, not -1"),
        (["--from", "cleaneval"], "only models with trees can be adapted"),
    ],
)
def test_learn_rejects_wrong_options(tmp_path, arguments, message):
    ended = victor("learn", *arguments, write_pages(tmp_path / "teas", tea_pages(3)), cwd=tmp_path)
    assert ended.returncode == 2
    assert message in ended.stderr.decode()


def test_card_shows_the_parent_and_the_scores(tmp_path):
    adapted().trained.save(tmp_path / "model")
    card = victor("model", "show", tmp_path / "model").stdout.decode()
    for part in ("6 pages, 54 blocks", "parent ", "default (digest", "adapted 1.000", "general pages"):
        assert part in card
    meta = json.loads(victor("model", "show", "--json", tmp_path / "model").stdout)
    assert meta["training"]["chosen"] == ADAPTED
    assert "wcxb:dev" in victor("model", "show", "default").stdout.decode()
    from_scratch = meta | {"training": meta["training"] | {"chosen": choice.CRF}}
    assert make_card("tea", tmp_path / "model", from_scratch)["compared with"].startswith("default (digest")
    (tmp_path / "model" / "trees.npy").write_bytes(b"damaged")
    ended = victor("model", "show", tmp_path / "model")
    assert (ended.returncode, b"is damaged" in ended.stderr) == (2, True)


def test_copies_and_wrong_gold_are_left_out(tmp_path):
    directory = tmp_path / "pages"
    directory.mkdir()
    for number, name in enumerate(["Assam", "Ceylon", "Keemun", "Assam", "Oolong"]):
        rows = "".join(ROW.format(name=name, number=row) for row in range(6))
        (directory / f"{number}.html").write_text(PAGE.format(name=name, rows=rows))
        gold = "\n".join(f"{name} {row}" for row in range(6 - (number == 3)))
        gold += "\nWe wish all of our customers a pleasant day, and we hope that they enjoy their tea." * (number == 2)
        (directory / f"{number}.txt").write_text("The gold of a page about coffee" if number == 4 else gold)
    (directory / "lost.txt").write_text("the page of this gold is missing")
    ended = victor("learn", "--data", f"pages:{directory}", "-o", tmp_path / "model", "--replay", "0")
    messages = ended.stderr.decode()
    assert "pages: 4: most words of the gold are not on the page" in messages
    assert "copies of other pages: 1; check 1 page whose copies have contradicting labels" in messages
    assert "lost.txt: no page lost.html" in messages
    assert "texts that are content on one page and noise on another: 1; check the labels of 'We wish all" in messages
    assert "trained on 3 pages" in ended.stdout.decode()
