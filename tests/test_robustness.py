"""Mistakes of users, and difficult pages."""

import re
import shutil
import time
from functools import partial

import pytest
from support.commands import ROOT, refused
from support.commands import clean as run_clean

from victorpy import Cleaner, ConfigError, DataError, load_config, read_document
from victorpy.columns import Columns
from victorpy.errors import TemplateError
from victorpy.model.encode import encode, make_encoders
from victorpy.model.labeller import ModelLabeller
from victorpy.model.store import find_model, load_model
from victorpy.model.template import read_template
from victorpy.outputs.anno import load_anno, write_anno

PAGE = ROOT / "data" / "article" / "courier-bridge.html"
DEFAULT = find_model("default") / "config.conf"
clean = partial(run_clean, text=True)


@pytest.fixture(scope="module", params=["default", "cleaneval"])
def cleaner(request):
    return Cleaner.load(request.param)


@pytest.mark.parametrize("words", ["2001 ", "2001-2002, ", "a-", "a@", "1.", "12:", "( "])
def test_time_for_a_long_block_is_linear(cleaner, words):
    def seconds(size):
        began = time.process_time()
        cleaner.clean(f"<p>{words * (size // len(words))}</p>")
        return time.process_time() - began

    seconds(1000)
    assert seconds(400_000) < 5 * seconds(100_000) + 0.5


def test_long_alternative_text_is_kept(cleaner):
    document = read_document(f"<p>a<img alt='{'word ' * 300_000}'>b</p>", cleaner.config)
    assert document.losses == ()
    assert sum(block.text.count("word") for block in document.blocks) == 300_000


def test_a_page_of_nothing_but_noise_has_no_content():
    page = Cleaner.load().document("<nav><a href='/'>Home</a> <a href='/l'>Login</a></nav><footer>© 2020</footer>")
    assert page.is_empty


@pytest.mark.parametrize("sentence", ["Hello world.", "The shop is closed today because of snow.", "我们今天休息。"])
def test_a_page_of_one_sentence_is_kept(sentence):
    assert Cleaner.load().clean(f"<p>{sentence}</p>") == f"{sentence}\n"


@pytest.mark.parametrize("page", [None, 3, ["<p>x</p>"]])
def test_wrong_type_of_page_is_refused(page):
    with pytest.raises(TypeError, match="a page is bytes or text, not"):
        Cleaner.load().clean(page)


def test_annotation_file_is_cleaned_like_its_page():
    assert clean(PAGE.with_suffix(".anno")).stdout == clean(PAGE).stdout


def test_an_annotation_can_be_read_with_other_block_level_tags(tmp_path):
    (tmp_path / "my.conf").write_text("include default\nclass-block: span b\n")
    config = load_config(tmp_path / "my.conf")
    page = load_anno(PAGE.with_suffix(".anno"), config.cuts)
    assert len(page.labels) == len(page.document.blocks)
    assert write_anno(page) == write_anno(load_anno(PAGE.with_suffix(".anno"), config.cuts))
    plain = load_anno(PAGE.with_suffix(".anno"), load_config("default").cuts)
    assert len(page.labels) > len(plain.labels)


def test_a_model_of_the_current_directory_does_not_replace_a_bundled_one(tmp_path, monkeypatch):
    shutil.copytree(find_model("cleaneval"), tmp_path / "models" / "default")
    shutil.copytree(find_model("cleaneval"), tmp_path / "models" / "mine")
    monkeypatch.chdir(tmp_path)
    assert load_model().config.one("split", "") == "block"
    assert load_model("models/default").config.one("split", "") == "every"
    assert load_model("mine").config.one("split", "") == "every"


def with_config(directory, *lines):
    """Options of clean that use the bundled model with these lines added to its own config."""
    (directory / "mine.conf").write_text("\n".join([f"include {DEFAULT}", *lines]) + "\n")
    return ["--model", "default", "--config", directory / "mine.conf"]


def test_config_changes_how_a_model_is_used(tmp_path):
    strict = clean(*with_config(tmp_path, "decode: marginal", "threshold: 0.95"), PAGE)
    assert strict.returncode == 0
    assert 0 < len(strict.stdout) < len(clean(PAGE).stdout)


def test_config_that_cuts_differently_from_the_model_is_refused(tmp_path):
    assert "differ in split" in refused(clean(*with_config(tmp_path, "split: every"), PAGE))


@pytest.mark.parametrize("line", ["favor: recall", "favor: precision", "empty-below: 0", "decode: viterbi"])
def test_config_may_decode_differently_from_the_model(tmp_path, line):
    assert clean(*with_config(tmp_path, line), PAGE).stderr == ""


def test_page_left_empty_in_doubt_is_reported_with_a_remedy(tmp_path):
    given = [*with_config(tmp_path, "empty-below: 1"), PAGE]
    ended = clean(*given)
    assert (ended.returncode, ended.stdout) == (0, "")
    assert re.search(r"no content was found; the model is \d+ % sure of that \(--favor recall gives", ended.stderr)
    assert clean("--favor", "recall", *given).stdout


@pytest.mark.parametrize("name", ["default", "cleaneval", "site"])
def test_a_bundled_model_was_trained_with_the_shipped_config_of_its_name(name):
    assert load_model(name).config.differences(load_config(name)) == []


def test_options_between_pages_are_accepted():
    ended = clean(PAGE, "-f", "jsonl", PAGE.with_name("courier-bakery.html"))
    assert ended.returncode == 0
    assert len(ended.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("feature-positon-scale: 20", "no feature 'positon' (did you mean 'position'?)"),
        ("crf-features-off: nix", "'nix' is not in crf-features"),
    ],
)
def test_settings_of_features_that_do_not_exist_are_refused(tmp_path, line, message):
    (tmp_path / "my.conf").write_text(f"include default\n{line}\n")
    with pytest.raises(ConfigError) as caught:
        make_encoders(load_config(tmp_path / "my.conf"))
    assert str(caught.value).startswith(f"{tmp_path / 'my.conf'}:2: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("kinds: trees", "kinds: trees for kinds need trees for content: set evidence: trees too"),
        ("crf-features: evidence", "crf-features: the feature 'evidence' needs trees: set evidence: trees"),
    ],
)
def test_settings_that_need_trees_are_refused_without_them(tmp_path, line, message):
    (tmp_path / "my.conf").write_text(f"include crf\n{line}\n")
    with pytest.raises(ConfigError) as caught:
        make_encoders(load_config(tmp_path / "my.conf"))
    assert str(caught.value) == f"{tmp_path / 'my.conf'}:2: {message}"


@pytest.mark.slow
@pytest.mark.parametrize("values", ["{1..100000000}", "{1..99}{1..99}{1..99}{1..99}"])
def test_braces_without_end_are_refused(tmp_path, values):
    (tmp_path / "my.conf").write_text(f"class-x: {values}\n")
    with pytest.raises(ConfigError, match=r"my\.conf:1: .*more than 10,000 values"):
        load_config(tmp_path / "my.conf")


def test_reference_too_far_away_is_refused(tmp_path):
    (tmp_path / "far.tpl").write_text("%x[99999999999999999999999,position]\n")
    with pytest.raises(TemplateError, match=r"far\.tpl:1: "):
        read_template(tmp_path / "far.tpl", ["position"])


@pytest.mark.parametrize("wrong", [{"c2": -5.0}, {"c2": float("nan")}, {"algorithm": "x"}])
def test_impossible_parameters_are_refused(wrong):
    page = load_anno(PAGE.with_suffix(".anno"), load_config("cleaneval").cuts)
    with pytest.raises(ConfigError):
        ModelLabeller("cleaneval", **wrong).fit([page.document], [page.labels])


def test_feature_that_fails_is_named(tmp_path):
    (tmp_path / "own.py").write_text(
        "from victorpy.features import block_feature\n\n"
        "@block_feature('fails-always')\ndef fails(block):\n    raise RuntimeError('no tea')\n"
    )
    (tmp_path / "my.conf").write_text("feature-modules: own.py\ncrf-features: fails-always\n")
    config = load_config(tmp_path / "my.conf")
    with pytest.raises(DataError, match="'fails-always' failed: RuntimeError: no tea"):
        encode(Columns(read_document("<p>x</p>", config), config), make_encoders(config))


def test_every_file_that_the_makefile_names_exists():
    makefile = (ROOT / "Makefile").read_text()
    named = [word for word in makefile.split() if word.endswith(".py")]
    assert named
    assert [name for name in named if not any(ROOT.glob(name))] == []
