"""Model directories: written atomically, and verified before any file is opened."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.commands import run_process
from support.models import unlist

from victorpy.cleaner import read_document
from victorpy.config import load_config, read_config
from victorpy.document import Label
from victorpy.errors import ConfigError, ModelError, VictorError
from victorpy.methods import load_method
from victorpy.model.labeller import ModelLabeller
from victorpy.model.store import load_model, save_model
from victorpy.model.train import describe_training, load_pages, train

ROOT = Path(__file__).parents[2]
ARTICLES = sorted((ROOT / "data" / "article").glob("*.anno"))
FILES = ["config.conf", "meta.json", "model.crfsuite", "tables.npy", "template.tpl"]

# Positions spread over a file, as shares of its length, and the bits that are flipped there.
POSITIONS = [0, 0.0003, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1]

FEATURE_FILE = """
from victorpy.features import block_feature

@block_feature("vowels.{tag}")
def vowels(block):
    "How many of the block's letters are vowels."
    return sum(block.text.lower().count(vowel) for vowel in "aeiou")
"""

OWN_CONFIG = """
include crf
crf-features:
crf-features: words vowels.{tag}
feature-modules: own_{tag}.py
feature-vowels.{tag}-values: 0 3 10 30 100
crf-template: own_{tag}.tpl
crf-param-max_iterations: 10
"""


def small_config():
    config = load_config("crf")
    return replace(config, values={**config.values, "crf-param-max_iterations": ("30",)})


@pytest.fixture(scope="module")
def pages():
    return load_pages(ARTICLES[:4], small_config())


@pytest.fixture(scope="module")
def trained(pages):
    return train(pages, small_config())


@pytest.fixture(scope="module")
def saved(trained, tmp_path_factory):
    directory = tmp_path_factory.mktemp("models") / "small"
    trained.save(directory)
    return directory


@pytest.fixture
def model(saved, tmp_path):
    """A copy of the model, to be damaged."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


def flip(path, at, bit):
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(bytes(content))


def rewrite_meta(directory, **changes):
    """Change meta.json without updating its digest."""
    path = directory / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def own_model(tmp_path, pages, tag):
    """Train with a feature of the user's own; the tag keeps registrations of different tests apart."""
    (tmp_path / f"own_{tag}.py").write_text(FEATURE_FILE.replace("{tag}", tag))
    (tmp_path / f"own_{tag}.tpl").write_text(f"%x[{{-1..1}},words]\n%x[0,vowels.{tag}]\nB\n")
    conf = tmp_path / f"own_{tag}.conf"
    conf.write_text(OWN_CONFIG.replace("{tag}", tag))
    return train(pages, read_config(conf))


# Round trips


def test_meta_lists_the_files_and_describes_the_training(saved, pages):
    meta = load_model(saved).meta
    assert sorted(path.name for path in saved.iterdir()) == sorted([*meta["files"], "meta.json"]) == FILES
    assert meta["format"] == 1
    assert set(meta["labels"]) >= {"other", "paragraph", "header"}
    assert meta["training"]["pages"] == 4
    assert meta["training"]["blocks"] == sum(len(page.labels) for page in pages)
    assert sum(meta["training"]["labels"].values()) == meta["training"]["blocks"]
    assert len(meta["training"]["data-sha256"]) == 64
    assert 0.5 < meta["training"]["scores"]["label_accuracy"] <= 1
    versions = meta["versions"]
    assert all(re.match(r"\d+\.\d+", versions[name]) for name in ("victorpy", "python-crfsuite", "numpy"))


@pytest.mark.parametrize("config", ["crf", "cleaneval"])
def test_a_saved_model_labels_as_before(config, tmp_path):
    config = load_config(config)
    config = replace(config, values={**config.values, "crf-param-max_iterations": ("20",)})
    pages = load_pages(ARTICLES[:4], config)
    fresh = train(pages, config)
    fresh.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model").labeller
    for page in pages:
        assert loaded.label(page.document) == fresh.labeller.label(page.document)
        assert loaded.features(page.document) == fresh.labeller.features(page.document)


def test_a_loaded_config_means_the_same(saved):
    ours, loaded = small_config(), load_model(saved).config
    assert loaded.cuts == ours.cuts
    own = dict.fromkeys(["crf-template", "feature-modules"])
    assert {**loaded.values, **own} == {**ours.values, **own}


def test_the_same_pages_give_the_same_model_byte_for_byte(saved, pages, tmp_path):
    train(pages, small_config()).save(tmp_path / "again")
    for name in FILES:
        assert (tmp_path / "again" / name).read_bytes() == (saved / name).read_bytes(), name


# Damage


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_anywhere_is_a_model_error_that_names_the_file(model, name):
    path = model / name
    whole = path.read_bytes()
    for number, share in enumerate(POSITIONS):
        at = round(share * (len(whole) - 1))
        flip(path, at, number % 8)
        with pytest.raises(ModelError) as caught:
            load_model(model)
        message = str(caught.value)
        # A flipped bit in the format number of meta.json reads as another format, which is reported for the directory.
        assert str(path) in message or "has format" in message, (at, message)
        path.write_bytes(whole)
    load_model(model)


def test_damage_anywhere_in_meta_is_detected(model):
    path = model / "meta.json"
    whole = path.read_bytes()
    for at in range(0, len(whole), 3):
        flip(path, at, at % 7)
        with pytest.raises(ModelError):
            load_model(model)
        path.write_bytes(whole)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kept", [0, 1, 0.5, -1], ids=["nothing", "a byte", "half", "all but a byte"])
def test_a_truncated_file_is_a_model_error(model, name, kept):
    path = model / name
    content = path.read_bytes()
    path.write_bytes(content[: round(kept * len(content)) if kept == 0.5 else kept])
    if name == "meta.json" and kept == -1:
        path.write_bytes(content.rstrip()[:-1])  # the last byte is a line end, which means nothing in JSON
    with pytest.raises(ModelError) as caught:
        load_model(model)
    assert str(path) in str(caught.value)


def grow(path):
    path.write_bytes(path.read_bytes() + b"x")


def make_directory(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", [grow, make_directory, Path.unlink])
def test_a_file_that_grew_or_is_missing_is_a_model_error(model, name, damage):
    damage(model / name)
    with pytest.raises(ModelError) as caught:
        load_model(model)
    assert str(model) in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", '"meta"', "1", "{}", '{"format": 1}', '{"digest": 1, "files": 2, "format": 1}', "\ufeff{}"),
        "[" * 200_000,
    ],
    ids=range(10),
)
def test_invalid_meta_is_a_model_error(model, text):
    (model / "meta.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=r"meta\.json is damaged"):
        load_model(model)


@pytest.mark.parametrize("number", [0, 2, "1", None])
def test_another_format_is_a_model_error_with_advice(model, number):
    rewrite_meta(model, format=number)
    message = f"has format {number}, but this version reads format 1: train the model again"
    with pytest.raises(ModelError, match=message):
        load_model(model)


def test_meta_with_other_labels_does_not_pass(model):
    rewrite_meta(model, labels=["other", "paragraph"])
    with pytest.raises(ModelError, match=r"meta\.json is damaged"):
        load_model(model)


@pytest.mark.parametrize("name", ["config.conf", "tables.npy", "model.crfsuite", "lexicon.tsv", "trees.npy", "net.npy"])
def test_files_that_meta_does_not_list_are_not_read(tmp_path, name):
    shutil.copytree(ROOT / "victorpy" / "data" / "models" / "default", tmp_path / "model")
    unlist(tmp_path / "model", name)
    with pytest.raises(ModelError, match=re.escape(f"meta.json does not list {name}")):
        load_model(tmp_path / "model")


def test_a_damaged_crfsuite_model_does_not_crash(model):
    flip(model / "model.crfsuite", 40, 3)
    load = f"victorpy.Cleaner.load({str(model)!r})"
    ended = run_process("-c", f"import victorpy\ntry: {load}\nexcept victorpy.ModelError: print('refused')", text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "refused\n", "")


# Not a model


@pytest.mark.parametrize("content", [None, "notes.txt", "the path itself"])
def test_a_directory_that_is_not_a_model_is_refused(tmp_path, content):
    path = tmp_path / "place"
    if content == "the path itself":
        path.write_text("x")
    else:
        path.mkdir()
    if content == "notes.txt":
        (path / content).write_text("x")
    with pytest.raises(ModelError, match=r"place is not a model directory: it has no meta\.json"):
        load_model(path)


def test_a_missing_model_is_reported_with_a_suggestion():
    known = sorted(path.parent.name for path in (ROOT / "victorpy" / "data" / "models").glob("*/meta.json"))
    if not known:
        pytest.skip("no bundled model yet")
    with pytest.raises(ModelError, match="no model 'xxx"):
        load_model("x" * 5_000)
    with pytest.raises(ModelError, match=rf"no model '{known[0]}x' \(did you mean '{known[0]}'\?\)"):
        load_model(known[0] + "x")


# Saving


def test_a_model_replaces_another(trained, model):
    rewrite_meta(model, format=99)
    trained.save(model)
    assert load_model(model).meta["format"] == 1
    assert sorted(path.name for path in model.parent.iterdir()) == ["model"]


def test_a_model_fills_an_empty_directory_and_makes_missing_ones(trained, tmp_path):
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "empty", tmp_path / "a" / "b" / "c"):
        trained.save(place)
        assert load_model(place).meta["format"] == 1


@pytest.mark.parametrize(
    ("target", "message"), [("thesis", "is not empty and not a model"), ("thesis/chapter.txt", "is a file")]
)
def test_saving_over_something_else_is_refused(trained, tmp_path, target, message):
    precious = tmp_path / "thesis" / "chapter.txt"
    precious.parent.mkdir()
    precious.write_text("years of work")
    with pytest.raises(ModelError, match=message):
        trained.save(tmp_path / target)
    assert precious.read_text() == "years of work"


def test_saving_an_untrained_labeller_is_refused(tmp_path):
    with pytest.raises(ModelError, match="has not been trained"):
        save_model(tmp_path / "model", ModelLabeller("crf"), load_config("crf"), {})
    assert not (tmp_path / "model").exists()


def test_a_save_that_fails_half_way_leaves_the_old_model(model, pages):
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    fresh = train(pages[:2], small_config())
    fresh.labeller.stages_ = replace(
        fresh.labeller.stages_, crfsuite_model=None
    )  # cannot be written, after the config and template were
    with pytest.raises(TypeError):
        fresh.save(model)
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before
    assert [path.name for path in model.parent.iterdir()] == ["model"]


def test_training_data_that_is_not_json_leaves_the_old_model(model, trained):
    with pytest.raises(TypeError):
        save_model(model, trained.labeller, trained.config, {"pages": object()})
    load_model(model)


# User-defined features


def test_a_feature_module_travels_with_the_model(tmp_path, pages):
    fresh = own_model(tmp_path, pages, "travels")
    fresh.save(tmp_path / "model")
    expected = [str(label) for label in fresh.labeller.label(pages[0].document).labels]
    elsewhere = shutil.move(tmp_path / "model", tmp_path / "elsewhere" / "model")
    for path in tmp_path.glob("own_*"):
        path.unlink()
    script = (
        "import sys, pathlib, victorpy; page = pathlib.Path(sys.argv[2]).read_bytes();"
        "print(*victorpy.Cleaner.load(sys.argv[1], allow_code=True).document(page).labels)"
    )
    ended = run_process("-c", script, elsewhere, ARTICLES[0].with_suffix(".html"), text=True)
    assert ended.stderr == ""
    assert ended.stdout.split() == expected


def test_a_changed_feature_module_of_a_model_is_damage(tmp_path, pages):
    own_model(tmp_path, pages, "changed").save(tmp_path / "model")
    with (tmp_path / "model" / "own_changed.py").open("a") as file:
        file.write("print('not what was trained')\n")
    with pytest.raises(ModelError, match=r"own_changed\.py is damaged"):
        load_model(tmp_path / "model")


def test_a_feature_module_that_went_missing_before_saving_is_named(tmp_path, pages):
    fresh = own_model(tmp_path, pages, "missing")
    (tmp_path / "own_missing.py").unlink()
    with pytest.raises(VictorError, match=r"own_missing\.py"):
        fresh.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_style_files_are_copied_into_the_model(tmp_path, pages):
    (tmp_path / "site.css").write_text(".menu{display:none}", encoding="utf-8")
    path = tmp_path / "styled.conf"
    path.write_text(
        "include cleaneval\nstyle-sheets: inline\nstyle-files: site.css\ncrf-param-max_iterations: 3\n",
        encoding="utf-8",
    )
    train(pages, read_config(path)).save(tmp_path / "model")
    (tmp_path / "site.css").unlink()
    config = load_model(tmp_path / "model").config
    assert config.files("style-files") == [tmp_path / "model" / "site.css"]
    blocks = read_document("<p class=menu>Home</p><p>Tea</p>", config).blocks
    assert [block.hidden for block in blocks] == [True, False]
    with pytest.raises(ConfigError, match=r"styled\.conf:3: style-files: no file 'site\.css'"):
        train(pages, read_config(path))


def test_description_of_the_training_pages():
    cleaner = load_method("everything")
    page = cleaner.document("<p>a<p>b<p>c<p>d")
    right, *_ = page.labels
    other, wrong = Label.OTHER, Label.HEADER
    pages = [replace(page, labels=labels) for labels in ([right, wrong, other, other], [right] * 4, [other] * 4)]
    about = describe_training(pages, cleaner.labeller, [None, None, [1.0] * 4])
    assert about["scores"] == {"label_accuracy": 0.625, "content_accuracy": 0.75}
    assert about["labels"] == {"header": 1, "other": 2, str(right): 5}
    assert (about["pages"], about["blocks"], len(about["fingerprints"].split())) == (3, 12, 1)
    assert describe_training([], cleaner.labeller, None)["scores"] == {"label_accuracy": 0, "content_accuracy": 0}
