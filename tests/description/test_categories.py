"""Categories: χ² and nearest neighbours by hand, models that are saved, damaged and foreign, and the command."""

import io
import json
import shutil
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cases import read_cases
from support.commands import clean, only_line, victor

from victorpy import Cleaner
from victorpy.base.digests import _digest, _meta_digest
from victorpy.description.categories import (
    CLASSIFIERS,
    Settings,
    assign_folds,
    bag_of,
    check_target,
    chi_squared,
    cross_validate,
    load_categories,
    save_categories,
    score,
    score_levels,
    select_terms,
    train_categories,
)
from victorpy.description.tag_tree import TagTree
from victorpy.description.weights import feature_vector
from victorpy.errors import ConfigError, DataError, ModelError
from victorpy.methods import load_method

categories = partial(victor, "categories")

TEXTS = {
    "tea": "Green tea and black tea are brewed from the leaves of the same bush, cup after cup, in water that is hot.",
    "bikes": "A bicycle has two wheels, a chain, pedals and brakes; riders pump the tyres and oil the chain in spring.",
    "ships": "The harbour is full of ships: ferries, tugs and a sailing vessel whose captain waits for wind and tide.",
}
VARIED = ["This morning", "In the village", "As everybody says", "Once more", "Last year", "On Sunday"]


def page(topic: str, number: int) -> str:
    """A page about a topic, in a template that does not mention the topic."""
    menu = "".join(f"<li><a href=/{word}>{word}</a></li>" for word in ("Home", "News", "Contact", "Imprint"))
    body = "".join(f"<p>{VARIED[(number + shift) % len(VARIED)]}: {TEXTS[topic]}</p>" for shift in range(3))
    return f"<html lang=en><title>{topic} {number}</title><ul>{menu}</ul><h1>Number {number}</h1>{body}</html>"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder per topic, each with six pages."""
    directory = tmp_path_factory.mktemp("topics")
    for topic in TEXTS:
        (directory / topic).mkdir()
        for number in range(6):
            (directory / topic / f"{number}.html").write_text(page(topic, number), encoding="utf-8")
    return directory


@pytest.fixture(scope="module")
def bags() -> tuple[list[Counter[str]], list[str]]:
    """The terms of pages and their topics."""
    cleaner = Cleaner.load()
    labels = [topic for topic in TEXTS for _ in range(4)]
    return [bag_of(cleaner.document(page(topic, number))) for number, topic in enumerate(labels)], labels


@pytest.fixture(scope="module", params=CLASSIFIERS)
def saved(request, bags, tmp_path_factory):
    """A model of each classifier, in a directory."""
    model = train_categories(*bags, Settings(classifier=request.param, k=3))
    directory = tmp_path_factory.mktemp("models") / request.param
    save_categories(model, directory)
    return model, directory


def test_chi_squared_by_hand():
    # 10 pages, 6 of the first category: 5 of these have the term, 1 of the other 4.
    a, b, c, d = 5, 1, 1, 3
    expected = 10 * (a * d - c * b) ** 2 / ((a + c) * (b + d) * (a + b) * (c + d))
    assert chi_squared(np.array([[5.0, 1.0]]), np.array([6.0, 4.0])) == pytest.approx(np.array([[expected, expected]]))


def test_chi_squared_selects_terms_that_separate_categories():
    bags = [{"tea": 3, "the": 9, "rare": 1}, {"tea": 1, "the": 2}, {"bike": 1, "the": 5}, {"bike": 2, "the": 1}]
    terms, idf = select_terms(bags, [0, 0, 1, 1], 2, most=2)
    assert set(terms) == {"tea", "bike"}
    assert idf == pytest.approx(np.log([2, 2]) + 1)


def test_a_page_is_a_vector_of_length_one():
    bags = [{"tea": 3, "cup": 1}, {"tea": 1, "cup": 2}, {"pot": 1}, {"pot": 4}]
    model = train_categories(bags, ["tea", "tea", "pots", "pots"])
    vector = model.vector({"tea": 2, "pot": 7, "unknown": 5})
    assert np.linalg.norm(vector) == pytest.approx(1)
    tea, pot = (vector[model.terms.index(term)] for term in ("tea", "pot"))
    assert pot / tea == pytest.approx((1 + np.log(7)) / (1 + np.log(2)))
    assert not model.vector({"unknown": 5}).any()


def test_nearest_pages_vote_by_similarity():
    bags = [{"tea": 1}, {"tea": 1, "pot": 1}, {"pot": 1}, {"pot": 1, "bike": 1}, {"bike": 1}, {"bike": 1, "chain": 1}]
    labels = ["tea", "tea", "pots", "pots", "bikes", "bikes"]
    model = train_categories(bags, labels, Settings(k=2, terms=10))
    assert model.category_of({"tea": 1}) == "tea"
    assert model.category_of({"bike": 5}) == "bikes"
    vector = model.vector({"tea": 1})
    similar = sorted((model.vector(bag) @ vector for bag in bags), reverse=True)[:2]
    assert model.scores(vector).sum() == pytest.approx(sum(similar))


@pytest.mark.parametrize("categories_count", [2, 3])
@pytest.mark.parametrize("classifier", ["linear-svm", "logistic"])
def test_scores_of_a_linear_model_are_those_of_scikit_learn(classifier, categories_count):
    linear_model, svm = pytest.importorskip("sklearn.linear_model"), pytest.importorskip("sklearn.svm")
    topics = ["tea", "pots", "bikes"][:categories_count]
    # There are more pages of the first topic, so that intercepts matter.
    labels = [topic for number, topic in enumerate(topics) for _ in range(6 - number)]
    bags = [{topic: 1 + page % 2, "the": 1 + page % 3, f"page{page % 2}": 1} for page, topic in enumerate(labels)]
    model = train_categories(bags, labels, Settings(classifier=classifier, terms=10))
    vectors = np.stack([model.vector(bag) for bag in bags])
    fitted = (
        svm.LinearSVC(random_state=0) if classifier == "linear-svm" else linear_model.LogisticRegression(C=10)
    ).fit(vectors, labels)
    expected = fitted.decision_function(vectors)
    scores = np.stack([model.scores(vector) for vector in vectors])
    assert np.abs(fitted.intercept_).max() > 0.01
    if categories_count == 2:
        assert scores[:, 1] == pytest.approx(expected, abs=1e-3)
        assert scores[:, 0] == pytest.approx(-expected, abs=1e-3)
    else:
        assert scores == pytest.approx(expected, abs=1e-3)


def test_levels_are_decided_from_the_top():
    """Three votes for dance are more than two for football, but sport has four."""
    bags = [{"ball": 1, "goal": 1}, {"ball": 1, "goal": 1}, {"ball": 1, "net": 1}, {"ball": 1, "net": 1}]
    bags += [{"ball": 1, "waltz": 1}, {"ball": 1, "waltz": 1}, {"ball": 1, "waltz": 1}]
    labels = ["sport/football"] * 2 + ["sport/tennis"] * 2 + ["dance"] * 3
    model = train_categories(bags, labels, Settings(k=7, terms=10))
    votes = dict(zip(model.categories, model.scores(model.vector({"ball": 1})), strict=True))
    assert votes["dance"] > votes["sport/football"]
    assert model.category_of({"ball": 1}) == "sport/football"
    assert model.category_of({"net": 1}) == "sport/tennis"
    assert train_categories(bags, labels, Settings("linear-svm", terms=10)).category_of({"waltz": 1}) == "dance"


def test_an_inner_category_may_have_pages_too():
    bags = [{"race": 1}, {"race": 2}, {"goal": 1}, {"goal": 2}, {"waltz": 1}, {"waltz": 2}]
    labels = ["sport", "sport", "sport/football", "sport/football", "dance", "dance"]
    model = train_categories(bags, labels, Settings(k=2, terms=10))
    assert [model.category_of({term: 1}) for term in ("race", "goal", "waltz")] == ["sport", "sport/football", "dance"]


def test_scores_by_level():
    gold = ["sport/football", "sport/tennis", "dance", "dance"]
    predicted = ["sport/tennis", "sport/tennis", "dance", ""]
    first, second = score_levels(predicted, gold)
    assert {name: row.recall for name, row in first.items()} == {"sport": 1.0, "dance": 0.5}
    assert {name: row.recall for name, row in second.items()} == {
        "dance": 0.5,
        "sport/football": 0.0,
        "sport/tennis": 1.0,
    }
    assert len(score_levels(["a"], ["a"])) == 1


def test_block_weights_are_those_of_formula_2(tmp_path):
    html = "<body><div><p>tea <b>kettle</b> tea bush</p></div><div><p>bush harvest</p></div></body>"
    cleaned = load_method("everything").document(html)
    tree = TagTree(cleaned.document, [True] * len(cleaned.labels))
    bag = bag_of(cleaned, "blocks")
    assert bag == feature_vector(tree, "")
    settings = Settings(k=1, weights="blocks")
    model = train_categories(
        [bag, bag, {"wheel": 0.6, "chain": 0.8}, {"wheel": 1.0}], ["tea"] * 2 + ["bikes"] * 2, settings
    )
    weights = {term: weight for term, weight in bag.items() if term in model.terms}
    length = np.sqrt(sum(weight**2 for weight in weights.values()))
    assert model.vector(bag) == pytest.approx([weights.get(term, 0) / length for term in model.terms])
    save_categories(model, tmp_path / "model")
    loaded = load_categories(tmp_path / "model")
    assert (loaded.settings, loaded.category(cleaned)) == (settings, "tea")


def test_a_page_without_known_terms_has_no_category(saved):
    model, _ = saved
    assert model.category_of({"zebra": 3}) == ""
    assert model.category(Cleaner.load().document("")) == ""


def test_saved_model_gives_the_same_categories(saved, bags):
    model, directory = saved
    loaded = load_categories(directory)
    cleaner = Cleaner.load()
    assert [loaded.category(cleaner.document(page(topic, 99))) for topic in TEXTS] == list(TEXTS)
    assert [loaded.category_of(bag) for bag in bags[0]] == [model.category_of(bag) for bag in bags[0]]
    for name in ("categories", "terms", "settings", "method"):
        assert getattr(loaded, name) == getattr(model, name)


@pytest.mark.parametrize("name", ["meta.json", "terms.tsv", "arrays.npz"])
def test_damaged_model_is_refused(saved, name, tmp_path):
    copy = shutil.copytree(saved[1], tmp_path / "copy")
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 0x01
    (copy / name).write_bytes(content)
    with pytest.raises(ModelError, match=r"copy\b.*(damaged|another kind|another version)"):
        load_categories(copy)
    if name != "meta.json":
        (copy / name).unlink()
        with pytest.raises(ModelError, match=f"{name}: missing or unreadable"):
            load_categories(copy)


@settings(max_examples=40)
@given(st.sampled_from(["meta.json", "terms.tsv", "arrays.npz"]), st.data())
def test_truncated_model_is_refused(tmp_path_factory, bags, name, data):
    directory = tmp_path_factory.mktemp("cut") / "model"
    save_categories(train_categories(*bags), directory)
    content = (directory / name).read_bytes()
    last = len(content.rstrip()) - 1  # JSON may lack the line end
    (directory / name).write_bytes(content[: data.draw(st.integers(0, last))])
    with pytest.raises(ModelError):
        load_categories(directory)


def replace_arrays(directory, **arrays):
    """Replace the arrays of a model and its digests, as an attacker would."""
    content = io.BytesIO()
    np.savez(content, allow_pickle=True, **arrays)
    (directory / "arrays.npz").write_bytes(content.getvalue())
    meta = json.loads((directory / "meta.json").read_bytes())
    meta["files"]["arrays.npz"] = _digest(content.getvalue())
    meta["digest"] = _meta_digest(meta)
    (directory / "meta.json").write_text(json.dumps(meta), encoding="utf-8")


class Trap:
    """Does something when it is unpickled."""

    def __reduce__(self):
        return (Path.touch, (Path("sprung"),))


def test_pickle_in_a_model_is_not_opened(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy = shutil.copytree(saved[1], tmp_path / "copy")
    replace_arrays(copy, **{name: np.array([Trap()], dtype=object) for name in saved[0].arrays})
    with pytest.raises(ModelError, match="damaged"):
        load_categories(copy)
    assert not Path("sprung").exists()


def test_arrays_of_the_wrong_size_are_refused(saved, tmp_path):
    model, directory = saved
    copy = shutil.copytree(directory, tmp_path / "copy")
    replace_arrays(copy, **{name: array[:-1] if array.ndim else array for name, array in model.arrays.items()})
    with pytest.raises(ModelError, match="damaged"):
        load_categories(copy)


FORGERIES = {
    "of another type": lambda array: array.astype(np.int64 if array.dtype.kind == "f" else np.float64),
    "too high": lambda array: np.full_like(array, np.inf if array.dtype.kind == "f" else 200_000_000),
    "too low": lambda array: np.full_like(array, -np.inf if array.dtype.kind == "f" else -1),
    "not a number": lambda array: np.full(array.shape, np.nan),
    "with another dimension": lambda array: array[None],
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_each_forged_array_is_refused(saved, tmp_path, change):
    model, directory = saved
    copy = shutil.copytree(directory, tmp_path / "copy")
    replace_arrays(copy, **model.arrays)
    load_categories(copy)
    for name, array in model.arrays.items():
        replace_arrays(copy, **(model.arrays | {name: change(array)}))
        with pytest.raises(ModelError, match="damaged"):
            load_categories(copy)


CHANGES = {
    "no categories": {"categories": []},
    "equal categories": {"categories": ["tea", "tea", "bikes"]},
    "a number as category": {"categories": ["tea", "bikes", 3]},
    "a number as method": {"method": 3},
    "training as text": {"training": "tea"},
    "unknown setting": {"settings": {"tea": 1}},
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_forged_description_of_a_model_is_refused(bags, tmp_path, changed):
    save_categories(train_categories(*bags), tmp_path / "model")
    meta = json.loads((tmp_path / "model" / "meta.json").read_bytes()) | changed
    meta["digest"] = _meta_digest(meta)
    (tmp_path / "model" / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    with pytest.raises(ModelError, match="damaged"):
        load_categories(tmp_path / "model")


def test_pages_without_terms_can_be_neighbours(bags, tmp_path):
    model = train_categories([*bags[0], {}], [*bags[1], "tea"], Settings(k=3))
    save_categories(model, tmp_path / "model")
    assert load_categories(tmp_path / "model").category_of(bags[0][0]) == model.category_of(bags[0][0])


@pytest.mark.parametrize(("name", "limit"), [("labels", "categories"), ("columns", "terms")])
def test_numbers_of_categories_and_terms_exist(bags, tmp_path, name, limit):
    model = train_categories(*bags, Settings(k=3))
    save_categories(model, tmp_path / "model")
    for last, is_valid in ((len(getattr(model, limit)) - 1, True), (len(getattr(model, limit)), False)):
        array = model.arrays[name].copy()
        array[-1] = last
        replace_arrays(tmp_path / "model", **(model.arrays | {name: array}))
        if is_valid:
            load_categories(tmp_path / "model")
        else:
            with pytest.raises(ModelError, match=f"{name} are not all numbers from 0 to {last - 1}"):
                load_categories(tmp_path / "model")


def test_model_of_another_kind_is_refused():
    with pytest.raises(ModelError, match="another kind of model"):
        load_categories(Path(__file__).parents[2] / "victorpy" / "data" / "models" / "default")


def test_model_does_not_replace_another_folder(bags, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "love.txt").write_text("dear")
    with pytest.raises(ModelError, match="choose another path"):
        save_categories(train_categories(*bags), tmp_path / "letters")
    assert (tmp_path / "letters" / "love.txt").read_text() == "dear"


def test_formulas_four_to_six():
    scores = score(["a", "a", "b", "b", ""], ["a", "b", "b", "b", "b"])
    assert [tuple(row) for row in scores.values()] == [
        (0.5, 1.0, pytest.approx(2 / 3)),
        (1.0, 0.5, pytest.approx(2 / 3)),
    ]


def test_sites_are_not_divided_between_folds():
    labels, sites = ["a", "a", "a", "b", "b", "b"] * 5, [str(number % 7) for number in range(30)]
    folds = assign_folds(labels, sites, 3, seed=1)
    assert set(folds) == {0, 1, 2}
    assert all(len({fold for fold, site in zip(folds, sites, strict=True) if site == one}) == 1 for one in set(sites))


def test_every_page_is_tested_once(bags):
    groups = [str(number) for number in range(len(bags[0]))]
    predicted = [number for fold in cross_validate(*bags, groups, Settings(k=3), 3) for number, _ in fold]
    assert sorted(predicted) == list(range(len(bags[0])))


def test_a_category_of_one_site_cannot_be_validated():
    with pytest.raises(DataError, match="category 'b'"):
        assign_folds(["a", "a", "b", "b"], ["1", "2", "3", "3"], 2, seed=1)


def test_settings_are_checked():
    with pytest.raises(ConfigError, match=r"did you mean 'linear-svm'"):
        Settings(classifier="linear-svn")
    with pytest.raises(
        ConfigError, match=r"no weights 'block' \(did you mean 'blocks'\?\); choose from counts, blocks"
    ):
        Settings(weights="block")
    assert Settings(terms=1, k=1).k == 1
    for wrong in ({"terms": 0}, {"k": 0}):
        with pytest.raises(ConfigError, match="at least one term"):
            Settings(**wrong)


@pytest.mark.parametrize("method", ["default", "everything"])
def test_train_and_predict(folders, tmp_path, method):
    model = tmp_path / "new" / "topics.model"
    trained = categories("train", folders, "-o", model, "--method", method, "-k", 3, "--folds", 3)
    assert trained.returncode == 0, trained.stderr
    lines = trained.stdout.decode().splitlines()
    assert lines[0].split() == ["category", "pages", "precision", "recall", "F1"]
    assert [line.split()[:2] for line in lines[1:]] == [["bikes", "6"], ["ships", "6"], ["tea", "6"], ["mean", "18"]]
    assert lines[-1].split()[-1] == "100.00"
    assert load_categories(model).method == method
    pages = [folders / topic / "0.html" for topic in TEXTS]
    predicted = categories("predict", model, *pages)
    assert predicted.returncode == 0
    lines = [line.split("\t") for line in predicted.stdout.decode().splitlines()]
    assert [line[:2] for line in lines] == [[str(page), topic] for page, topic in zip(pages, TEXTS, strict=True)]
    assert all(0.5 < float(score) <= 1 for _, _, score in lines)
    assert b"\tnone\t" in categories("predict", model, pages[0], "--threshold", 1.01).stdout
    (tmp_path / "strange.html").write_text("<p>xyzzy plugh")
    assert categories("predict", model, tmp_path / "strange.html").stdout.endswith(b"\tnone\t0.00\n")
    (tmp_path / "picture.html").write_bytes(bytes(range(256)) * 20)
    predicted = categories("predict", model, tmp_path / "picture.html", pages[0])
    assert predicted.returncode == 1
    assert "picture.html: left out: this is binary data" in predicted.stderr.decode()
    assert f"\t{next(iter(TEXTS))}\t" in predicted.stdout.decode()


@pytest.mark.parametrize("weights", ["counts", "blocks"])
def test_train_on_folders_in_folders(folders, tmp_path, weights):
    for topic, parent in {"tea": "drinks", "bikes": "vehicles", "ships": "vehicles"}.items():
        shutil.copytree(folders / topic, tmp_path / "in" / parent / topic)
    model = tmp_path / "model"
    trained = categories(
        *("train", tmp_path / "in", "-o", model, "-k", 3, "--folds", 3, "--levels", 2, "--weights", weights)
    )
    assert trained.returncode == 0, trained.stderr
    names = [line.split()[0] for line in trained.stdout.decode().splitlines() if line.split()]
    assert names == [
        *("level", "drinks", "vehicles", "mean"),
        *("level", "drinks/tea", "vehicles/bikes", "vehicles/ships", "mean"),
    ]
    printed = categories("predict", model, folders / "ships" / "0.html").stdout.decode()
    assert "\tvehicles/ships\t" in printed


def test_records_have_the_category(folders, tmp_path):
    model = tmp_path / "topics.model"
    categories("train", folders, "-o", model, "-k", 3, "--folds", 0)
    ended = clean("--format", f"docview(categories={model})", folders / "ships" / "1.html")
    assert json.loads(ended.stdout)["category"] == "ships"
    ended = clean("--format", f"docview(categories={tmp_path / 'none'})", folders / "ships" / "1.html")
    assert "is not a category model" in only_line(ended.stderr)


@pytest.mark.parametrize(("arguments", "message"), read_cases("mistakes.json", "victor-categories"))
def test_mistakes_are_reported(folders, tmp_path, arguments, message):
    ended = categories(*arguments.format(folders=folders).split(), cwd=tmp_path)
    assert ended.returncode == 2
    assert message in ended.stderr.decode()
    assert "Traceback" not in ended.stderr.decode()


def test_a_page_that_cannot_be_read_is_left_out(folders, tmp_path):
    copy = shutil.copytree(folders, tmp_path / "topics")
    (copy / "tea" / "picture.html").write_bytes(bytes(range(256)) * 20)
    ended = categories("train", copy, "-o", tmp_path / "model", "--folds", 0)
    assert ended.returncode == 0
    assert "picture.html: left out: this is binary data" in ended.stderr.decode()
    assert load_categories(tmp_path / "model").training["pages"] == {"bikes": 6, "ships": 6, "tea": 6}


@pytest.mark.filterwarnings("error")
def test_chi_squared_of_a_term_that_all_pages_have_is_zero():
    assert chi_squared(np.array([[4.0, 4.0]]), np.array([4.0, 4.0])).tolist() == [[0.0, 0.0]]


BAGS = [{"tea": 1, "cup": 1}, {"tea": 2, "pot": 1}, {"bike": 1, "chain": 1}, {"bike": 2, "wheel": 1}]


@pytest.mark.parametrize("folds", [0, 1, 2, 12, 13])
def test_folds_are_at_least_two_and_at_most_one_per_page(folds):
    labels = ["tea", "tea", "bikes", "bikes"] * 3
    validated = cross_validate(BAGS * 3, labels, list("abcdefghijkl"), Settings(k=1), folds)
    if 2 <= folds <= 12:
        assert [category for fold in validated for _, category in sorted(fold)].count("tea") == 6
        return
    with pytest.raises(DataError, match=f"12 pages allow 2 to 12 folds, not {folds}"):
        next(validated)


def test_terms_must_occur_on_two_pages():
    terms, idf = select_terms(BAGS, [0, 0, 1, 1], 2, most=9)
    assert terms == ("bike", "tea")
    assert idf == pytest.approx(np.log([2, 2]) + 1)
    assert select_terms(BAGS, [0, 0, 1, 1], 2, most=1)[0] == ("bike",)


@pytest.mark.parametrize(
    ("bags", "labels"), [(BAGS, ["tea"] * 4), ([{"a": 1}, {"b": 1}], ["tea", "bikes"]), ([{}, {}], ["tea", "bikes"])]
)
def test_training_needs_two_categories_and_common_terms(bags, labels):
    with pytest.raises(ModelError, match="at least two categories, and terms that occur on several pages"):
        train_categories(bags, labels)


@pytest.mark.parametrize(
    ("k", "expected"), [(1, ("tea", 1.0)), (2, ("tea", 1.0)), (4, ("tea", 1.0)), (9, ("tea", 1.0))]
)
def test_judgement_is_a_share_of_the_votes(k, expected, monkeypatch):
    model = train_categories(BAGS, ["tea", "tea", "bikes", "bikes"], Settings(k=k))
    monkeypatch.setattr("victorpy.description.categories.bag_of", lambda page, weights: page)
    assert model.judge({"tea": 1}) == pytest.approx(expected)
    category, share = model.judge({"tea": 3, "bike": 1})
    assert category == "tea"
    assert share == pytest.approx({1: 1, 2: 1}.get(k, (1 + np.log(3)) / (2 + np.log(3))), abs=1e-6)
    assert model.judge({"pot": 1}) == ("", 0.0)


@pytest.mark.parametrize(
    ("names", "is_refused"),
    [
        (None, False),
        ([], False),
        (["meta.json", "terms.tsv", "arrays.npz"], False),
        (["meta.json", "terms.tsv"], True),
        (["x"], True),
    ],
)
def test_only_a_category_model_is_replaced(tmp_path, names, is_refused):
    if names is not None:
        (tmp_path / "model").mkdir()
        for name in names:
            (tmp_path / "model" / name).write_text("x")
    if not is_refused:
        check_target(tmp_path / "model")
        return
    with pytest.raises(ModelError, match="is not a category model and would be overwritten"):
        check_target(tmp_path / "model")
