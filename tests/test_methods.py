"""Methods by name: loading them, setting their parameters, and labelling every page."""

import itertools
import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from support.cases import read_cases
from support.sitepages import document, kept, own_labels, own_words, site

from victorpy.base.parameters import parse_settings
from victorpy.cleaner import read_document
from victorpy.config import load_config, read_config
from victorpy.document import Document, Label
from victorpy.errors import ConfigError, VictorError
from victorpy.labellers.base import LABELLERS, LearnsFrom, first_pages, label_kept
from victorpy.labellers.one_page import KeepEverything
from victorpy.labellers.sentence_entropy import SentenceEntropy
from victorpy.labellers.site_style_tree import SiteStyleTree
from victorpy.methods import Method, load_method, method_names
from victorpy.model.labeller import ModelLabeller

ROOT = Path(__file__).parents[1]
DATA = sorted((ROOT / "data").rglob("*.html"))
UNTRAINED = [name for name in method_names() if name in LABELLERS]
OF_SITES = [name for name in UNTRAINED if LABELLERS.get(name).learns_from is LearnsFrom.SITE]


# Names.


def test_method_names() -> None:
    assert {"default", "site", "cleaneval", "everything", "sst", "sentence-entropy"} <= set(method_names())
    assert method_names() == sorted(method_names())
    assert {"everything", "sst", "sentence-entropy"} <= set(UNTRAINED)
    assert {"sst", "sentence-entropy"} <= set(OF_SITES)


def test_method_without_training_cuts_pages_at_block_level_tags() -> None:
    cleaner = load_method("everything")
    assert isinstance(cleaner.labeller, KeepEverything)
    assert cleaner.config.cuts == load_config("blocks").cuts
    assert cleaner.clean("<p>One <b>and</b> two</p><div>three</div>") == "One and two\n\nthree\n"


def test_models_are_methods() -> None:
    bundled = load_method("default")
    assert isinstance(bundled.labeller, ModelLabeller)
    assert bundled.labeller.stages_ is not None
    by_directory = load_method(str(ROOT / "victorpy" / "data" / "models" / "cleaneval"))
    assert isinstance(by_directory.labeller, ModelLabeller)
    assert by_directory.config.cuts == load_config("cleaneval").cuts
    assert Method("default").identity() == Method(model="default").identity()


def test_method_is_loaded_once_and_pickles() -> None:
    method = Method("sst", ("t=0.3",))
    assert method.name == "sst(t=0.3)"
    assert pickle.loads(pickle.dumps(method)) == method
    assert method.load() is Method("sst", ("t=0.3",)).load()
    kinds = {
        "default": "labels",
        "site": "site",
        "sst": "site",
        "everything": "nothing",
    }
    assert {name: Method(name).kind for name in kinds} == kinds


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("stt", "no method 'stt' (did you mean 'sst'?); choose from "),
        ("sentence_entropy", "no method 'sentence_entropy' (did you mean 'sentence-entropy'?)"),
        ("crf", "no method 'crf'; choose from cleaneval, default"),  # it is a config
        ("", "no method ''; choose from "),
        ("data", "no method 'data'"),  # a directory without a model
    ],
)
def test_wrong_name_gets_the_names_that_exist(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(VictorError) as caught:
        load_method(name)
    assert str(caught.value).startswith(message)
    assert ", ".join(method_names()) in str(caught.value)
    assert str(caught.value).endswith("or give a model path")


# Parameters.


def test_parameters_have_the_type_of_their_default() -> None:
    settings = ["t=0.25", "styles=paper", "virtual_leaves=no", "sample=7", "gamma=1"]
    labeller = load_method("sst", settings).labeller
    assert isinstance(labeller, SiteStyleTree)
    expected = {"t": 0.25, "styles": "paper", "virtual_leaves": False, "sample": 7, "gamma": 1.0}
    assert expected.items() <= labeller.get_params().items()
    assert isinstance(labeller.get_params()["gamma"], float)


def test_booleans_are_words_and_the_last_of_two_settings_counts() -> None:
    for value, expected in {"true": True, "Yes": True, "FALSE": False, "no": False}.items():
        assert parse_settings("sst", SiteStyleTree, [f"virtual_leaves={value}"]) == {"virtual_leaves": expected}
    assert parse_settings("sst", SiteStyleTree, ["t=0.1", "t=0.2", "styles=a=b"]) == {"t": 0.2, "styles": "a=b"}
    assert parse_settings("crf", ModelLabeller, ["c2=0.5"]) == {"c2": 0.5}  # a parameter without a default is a number


@pytest.mark.parametrize(("name", "setting", "message"), read_cases("mistakes.json", "settings-of-methods"))
def test_wrong_settings_are_refused(name: str, setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_method(name, [setting])


@pytest.mark.parametrize("name", UNTRAINED)
def test_method_can_be_made_from_its_own_parameters(name: str) -> None:
    labeller = load_method(name).labeller
    again = type(labeller)(**labeller.get_params())
    assert repr(again) == repr(labeller)


# Every method labels every page.


@pytest.fixture(scope="module")
def pages() -> list[Document]:
    config = load_config("blocks")
    return [read_document(path.read_bytes(), config, source=path.name) for path in DATA]


@pytest.mark.parametrize("name", UNTRAINED)
def test_method_labels_every_block_of_every_page(name: str, pages: list[Document]) -> None:
    seen = [page for page in pages if page.source.startswith(("courier", "pike"))]
    labeller = load_method(name).at_site(seen).labeller
    empty = document("")
    for page in [*pages, empty]:
        labels = labeller.label(page).labels
        assert len(labels) == len(page.blocks)
        assert set(labels) <= set(Label)
    assert labeller.predict(seen[:2]) == [[str(label) for label in labeller.label(page).labels] for page in seen[:2]]


@pytest.mark.parametrize("name", OF_SITES)
def test_method_for_sites_drops_what_a_site_repeats(name: str) -> None:
    pages = site(10)
    labeller = load_method(name).at_site(pages).labeller
    found = [kept(labeller.label(page).labels) for page in pages]
    own = [own_words(page) for page in pages]
    blocks = list(zip(itertools.chain(*found), itertools.chain(*own), strict=True))
    assert blocks.count((False, False)) > blocks.count((True, False))
    assert blocks.count((True, True)) > blocks.count((False, True))


@pytest.mark.parametrize("name", UNTRAINED)
def test_method_for_sites_needs_pages_and_others_do_not(name: str) -> None:
    labeller = load_method(name).labeller
    if name in OF_SITES:
        with pytest.raises(VictorError, match="pages of a site, but got none"):
            labeller.fit([])
        with pytest.raises(VictorError, match="has seen no pages of the site; call fit or at_site"):
            load_method(name).labeller.label(document("<p>tea</p>"))
    else:
        assert labeller.at_site(site(2)) is labeller
        assert labeller.fit([]) is labeller


# At a site.


@pytest.mark.parametrize("name", ["sst", "sentence-entropy"])
def test_learning_a_site_leaves_the_method_unchanged(name: str) -> None:
    cleaner = load_method(name, ["sample=4"])
    at_site = cleaner.at_site(site(6))
    assert at_site.labeller is not cleaner.labeller
    assert at_site.labeller.get_params() == cleaner.labeller.get_params()
    assert at_site.config is cleaner.config
    assert isinstance(at_site.labeller, SiteStyleTree | SentenceEntropy)
    assert at_site.labeller.tree_ is not None
    assert at_site.labeller.tree_.page_count == 4
    with pytest.raises(VictorError):
        cleaner.labeller.label(site(1)[0])


def test_pages_come_with_their_labels() -> None:
    pages = site(4)
    labels: list[Sequence[str] | None] = [own_labels(pages[0]), None, None, None]
    assert [known for _, known in first_pages(pages, labels, 3)] == [labels[0], None, None]
    assert [known for _, known in first_pages(pages, None, 10)] == [None] * 4


@pytest.mark.parametrize("name", ["sst", "sentence-entropy"])
@pytest.mark.parametrize("wrong", ["too few pages", "too few labels", "unknown labels"])
def test_labels_that_do_not_fit_are_refused(name: str, wrong: str) -> None:
    pages = site(3)
    labels: dict[str, list[Sequence[str] | None]] = {
        "too few pages": [own_labels(pages[0])],
        "too few labels": [["other"], None, None],
        "unknown labels": [["nonsense"] * len(pages[0].blocks), None, None],
    }
    with pytest.raises(VictorError, match="label"):
        load_method(name).at_site(pages, labels[wrong])


# Kinds of content by markup.


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>a</h1><p>b</p><ul><li>c</ul>", "header paragraph list"),
        ("<p>a<br>b</p>", "paragraph continuation"),
        ("<p>a<br><br>b</p>", "paragraph paragraph"),
        ("<dl><dt>a<dd>b</dl>", "list list"),
        ("<h2><b>a</b> b</h2>", "header"),
        ("", ""),
    ],
)
def test_kinds_of_kept_blocks(html: str, expected: str) -> None:
    page = document(html)
    assert " ".join(label_kept(page, [True] * len(page.blocks)).labels) == expected


def test_continuation_after_noise_is_a_new_paragraph() -> None:
    page = document("<p>a<br>b<br>c</p>")
    assert list(label_kept(page, [True, False, True]).labels) == ["paragraph", "other", "paragraph"]
    with pytest.raises(ValueError, match="zip"):
        label_kept(page, [True])


# A CRF with features of the site.


@pytest.fixture(scope="module")
def site_crf(tmp_path_factory: pytest.TempPathFactory) -> ModelLabeller:
    directory = tmp_path_factory.mktemp("config")
    (directory / "my.tpl").write_text("%x[0,site.text-share]\n%x[0,words]\n")
    (directory / "my.conf").write_text(
        "include blocks\ncrf-features: site.text-share words\n"
        "feature-site.text-share-values: -1 0 0.5\nfeature-words-values: 0 3 6\n"
        "crf-algorithm: lbfgs\ncrf-param-c2: 0.01\n"
    )
    config = read_config(directory / "my.conf")
    pages = site(8)
    of_one_site = [replace(page, url="http://courier.example/page") for page in pages]
    return ModelLabeller(config).fit(of_one_site, [own_labels(page) for page in pages])


def test_crf_learns_what_sites_repeat(site_crf: ModelLabeller) -> None:
    assert site_crf.wants_site
    pages = site(8, "shop", first=20)  # another site with as many words: only repetition distinguishes its blocks
    at_site = site_crf.at_site(pages)
    assert at_site is not site_crf
    right = at_site.score(pages, [own_labels(page) for page in pages])
    alone = site_crf.score(pages, [own_labels(page) for page in pages])
    assert right > 0.9
    assert right > alone


def test_crf_shows_features_of_the_site(site_crf: ModelLabeller) -> None:
    page = site(1)[0]
    assert {shown["site.text-share"] for shown in site_crf.features(page)} == {"-1"}
    assert {shown["site.text-share"] for shown in site_crf.at_site(site(3)).features(page)} == {"0", "0.5"}
    assert {shown["site.text-share"] for shown in site_crf.at_site([page]).features(page)} == {"-1"}


def test_crf_without_features_of_the_site_is_the_same_at_every_site() -> None:
    labeller = load_method("default").labeller
    assert isinstance(labeller, ModelLabeller)
    assert not labeller.wants_site
    assert labeller.at_site(site(3)) is labeller
    assert ModelLabeller("site").wants_site
    assert not ModelLabeller("default").wants_site
