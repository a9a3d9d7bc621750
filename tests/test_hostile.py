"""Models, configs, templates, category models and style trees from strangers: errors, within time and memory."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from support.commands import run_process, victor

from victorpy import Cleaner
from victorpy.annotation.learning import Predictor
from victorpy.base.digests import _meta_digest
from victorpy.base.resources import shipped
from victorpy.batch.outcome import clean_record
from victorpy.config import read_config
from victorpy.description.categories import load_categories, save_categories, train_categories
from victorpy.errors import ConfigError, ModelError, TemplateError
from victorpy.features import FEATURES
from victorpy.methods import find_method, load_method, load_methods
from victorpy.model.store import load_model
from victorpy.model.template import read_template
from victorpy.research.evaluate import load_as_is
from victorpy.research.mining.cleaning import parse_methods
from victorpy.sites.store import load_tree, save_tree
from victorpy.sites.style_tree import StyleTree

Damage = Callable[[Path], None]

SECONDS, MEGABYTES = 8, 400

PAGE = "<p>Tea is made by pouring hot water over the cured leaves of the tea bush.</p>"


@contextmanager
def bounded() -> Iterator[None]:
    """Check that the block takes little time and memory, even if it raises."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    try:
        yield
    finally:
        assert time.perf_counter() - start < SECONDS
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES * 1000


def sign(directory: Path, **changes: object) -> None:
    """Update the digests in meta.json, so that only the content of the files is wrong."""
    meta = json.loads((directory / "meta.json").read_text()) | changes
    if "files" not in changes:
        files = [path for path in directory.iterdir() if path.name != "meta.json" and path.is_file()]
        meta["files"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    meta["digest"] = _meta_digest(meta)
    (directory / "meta.json").write_text(json.dumps(meta))


def bundled(name: str, target: Path) -> Path:
    return Path(shutil.copytree(shipped("models") / name, target / name))


# Models


def tables(change: Callable[[list[np.ndarray]], None]) -> Damage:
    """Change the arrays of the CRF: numbers, weights, transitions and sizes."""
    return _arrays("tables.npy", 4, change)


def trees(change: Callable[[list[np.ndarray]], None]) -> Damage:
    """Change the arrays of the trees: features, borders, leaves and bias, for each of two layers."""
    return _arrays("trees.npy", 8, change)


def _arrays(name: str, count: int, change: Callable[[list[np.ndarray]], None]) -> Damage:
    def damage(model: Path) -> None:
        with (model / name).open("rb") as file:
            arrays = [np.load(file) for _ in range(count)]
        change(arrays)
        with (model / name).open("wb") as file:
            for array in arrays:
                np.save(file, array)

    return damage


def put(number: int, value: object, at: object = 0) -> Callable[[list[np.ndarray]], None]:
    return lambda arrays: arrays[number].__setitem__(at, value)


def replace_array(number: int, value: object) -> Callable[[list[np.ndarray]], None]:
    return lambda arrays: arrays.__setitem__(number, np.asarray(value))


def two_scores(arrays: list[np.ndarray]) -> None:
    arrays[2:4] = np.zeros((320, 64, 2), dtype=np.float32), np.zeros(2)


def write(name: str, content: str | bytes) -> Damage:
    return lambda model: (model / name).write_bytes(content.encode() if isinstance(content, str) else content) and None


def append(name: str, content: str) -> Damage:
    return lambda model: (model / name).write_text((model / name).read_text() + content) and None


def grow(name: str, size: int) -> Damage:
    return lambda model: os.truncate(model / name, size)


def header(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """A numpy file that announces a shape and has no data."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, a=np.zeros(3))
    return file.getvalue()


MODELS: dict[str, Damage] = {
    "npz for npy": write("tables.npy", npz()),
    "shape of 10**11": write("tables.npy", header((10**11,))),
    "shape that overflows": write("tables.npy", header((2**62, 2**62))),
    "negative shape": write("tables.npy", header((-1,))),
    "items without size": write("tables.npy", header((10**11,), "<U0")),
    "objects": write("tables.npy", header((1,), "|O")),
    "records": tables(replace_array(1, np.zeros(3, dtype=[("a", "f8")]))),
    "truncated tables": grow("tables.npy", 5_000),
    "complex weights": tables(lambda arrays: replace_array(1, arrays[1].astype(complex))(arrays)),
    "NaN weights": tables(put(1, np.nan)),
    "infinite transitions": tables(put(2, np.inf)),
    "weights of 1e300": tables(put(1, 1e300)),
    "sizes of 10**9": tables(put(3, 10**9, slice(None))),
    "sizes of 900,000": tables(put(3, 900_000, slice(None))),
    "negative sizes": tables(put(3, -5)),
    "sizes as floats": tables(lambda arrays: replace_array(3, arrays[3].astype(float))(arrays)),
    "attributes out of range": tables(put(0, 10**12, -1)),
    "negative attributes": tables(put(0, -1)),
    "attributes in disorder": tables(put(0, 1_000)),
    "attributes in two dimensions": tables(lambda arrays: replace_array(0, arrays[0][:, None])(arrays)),
    "label unknown": lambda model: sign(model, labels=["other", "tea", "list", "header", "paragraph"]),
    "label twice": lambda model: sign(model, labels=["other"] * 5),
    "labels are text": lambda model: sign(model, labels="other"),
    "labels are lists": lambda model: sign(model, labels=[["other"]]),
    "no labels": lambda model: sign(model, labels=[]),
    "config includes": append("config.conf", "include base\n"),
    "config includes a foreign file": append("config.conf", "include /etc/passwd\n"),
    "template is elsewhere": append("config.conf", "crf-template: /etc/passwd\n"),
    "template above": append("config.conf", "crf-template: ../default/template.tpl\n"),
    "template is a shipped one": append("config.conf", "crf-template: crf\n"),
    "style sheet is elsewhere": append("config.conf", "style-files: /etc/passwd\n"),
    "template includes": append("template.tpl", "\ninclude crf\n"),
    "config of 2 MB": append("config.conf", "class-a: x\n" * 200_000),
    "self-appending variable": append("config.conf", "class-a: a b\n" + "class-a: $class-a $class-a\n" * 60),
    "template of braces": append("template.tpl", "\n" + "%x[{-9..9},words]" * 8),
    "template line of 1,000 references": append("template.tpl", "\n" + "%x[0,position]" * 1_000),
    "template of white space": append("template.tpl", "\n%x[0,position]" + " " * 200_000 + "x"),
    "nested pattern": append("config.conf", f"regexp-a: '{'(' * 20_000}{')' * 20_000}'\n"),
    "pattern with a huge count": append("config.conf", "regexp-a: 'x{99999999999999999999}'\n"),
    "feature of a long name": append("config.conf", f"crf-features: {'a' * 100_000}\n"),
    "huge scale": append("config.conf", f"feature-words-scale: {'9' * 400}\n"),
    "NaN leaves": trees(put(2, np.nan)),
    "NaN borders": trees(put(1, np.nan)),
    "infinite leaves of 16 bits": trees(
        lambda arrays: replace_array(2, np.full_like(arrays[2], np.inf, dtype="f2"))(arrays)
    ),
    "infinite bias": trees(put(3, np.inf)),
    "feature of trees out of range": trees(put(0, 100_000)),
    "negative feature of trees": trees(put(0, -1)),
    "several scores in trees for content": trees(two_scores),
    "trees of depth 9": trees(replace_array(0, np.zeros((320, 9), dtype=int))),
    "NaN in the lexicon": append("lexicon.tsv", "word\ttea\tnan\n"),
    "infinity in the lexicon": append("lexicon.tsv", "word\ttea\tinf\n"),
    "words in the lexicon": append("lexicon.tsv", "word\ttea\thot\n"),
    "letters that look like digits": append("lexicon.tsv", "word\ttea\t\u0131\n"),
    "one token many times": append("lexicon.tsv", "word\ttea\t0.1\n" * 1_000),
    "a lexicon of 60 MB": grow("lexicon.tsv", 60_000_000),
    "layers without trees": append("config.conf", "evidence-layers: 5\n"),
    "kinds without trees": append("config.conf", "kinds: trees\n"),
}


@pytest.mark.parametrize("name", MODELS)
def test_hostile_model_is_a_model_error(tmp_path: Path, name: str) -> None:
    model = bundled("default", tmp_path)
    MODELS[name](model)
    if not name.startswith(("label", "no labels")):
        sign(model)
    with bounded(), pytest.raises(ModelError):
        load_model(model)


def link(name: str, target: str) -> Damage:
    def damage(model: Path) -> None:
        (model / name).unlink()
        (model / name).symlink_to(target)

    return damage


def fifo(model: Path) -> None:
    (model / "tables.npy").unlink()
    os.mkfifo(model / "tables.npy")


def rename(name: str) -> Damage:
    """List a file under another name."""

    def damage(model: Path) -> None:
        files = json.loads((model / "meta.json").read_text())["files"]
        sign(model, files={**files, name: files["tables.npy"]})

    return damage


def without(name: str) -> Damage:
    def damage(model: Path) -> None:
        files = json.loads((model / "meta.json").read_text())["files"]
        del files[name]
        sign(model, files=files)

    return damage


DIRECTORIES: dict[str, Damage] = {
    "FIFO": fifo,
    "link to a device": link("tables.npy", "/dev/zero"),
    "link out of the directory": link("config.conf", str(shipped("models") / "default" / "config.conf")),
    "link to itself": link("config.conf", "config.conf"),
    "name of a device": rename("/dev/zero"),
    "name above": rename("../default/tables.npy"),
    "name with NUL": rename("a\0b"),
    "empty name": rename(""),
    "long name": rename("a" * 10_000),
    "name with escapes": rename("\x1b[31m"),
    "config not listed": without("config.conf"),
    "tables not listed": without("tables.npy"),
    "template not listed": without("template.tpl"),
    "lexicon not listed": without("lexicon.tsv"),
    "files are a list": lambda model: sign(model, files=["tables.npy"]),
    "digests are numbers": lambda model: sign(model, files={"tables.npy": 1}),
    "10,000 files": lambda model: sign(model, files={f"{number}": "" for number in range(10_000)}),
    "a file of 300 MB": grow("model.crfsuite", 300_000_000),
    "meta of 20 MB": grow("meta.json", 20_000_000),
    "meta nested": write("meta.json", '{"digest": 1, "format": 1, "files": ' + "[" * 100_000),
    "meta is a link to a device": link("meta.json", "/dev/zero"),
}


@pytest.mark.parametrize("name", DIRECTORIES)
def test_hostile_directory_is_a_model_error_without_control_characters(tmp_path: Path, name: str) -> None:
    model = bundled("default", tmp_path)
    DIRECTORIES[name](model)
    with bounded(), pytest.raises(ModelError) as caught:
        load_model(model)
    assert str(caught.value).isprintable()


def test_links_within_a_model_directory_are_followed(tmp_path: Path) -> None:
    model = bundled("default", tmp_path)
    (model / "tables.npy").rename(model / "real.npy")
    (model / "tables.npy").symlink_to("real.npy")
    sign(model)
    load_model(model)


def test_weights_that_give_no_probabilities_fail_the_page(tmp_path: Path) -> None:
    model = bundled("cleaneval", tmp_path)
    tables(put(2, np.linspace(-1e6, 1e6, 25).reshape(5, 5), slice(None)))(model)
    tables(put(1, 1e6, (slice(None), slice(0, 5, 2))))(model)
    sign(model)
    row = clean_record({"html": PAGE * 50}, model=str(model))
    assert row["status"] == "failed" or np.isfinite(row["probability"])


# Code in models


@pytest.fixture
def with_code(tmp_path: Path) -> Path:
    """A model whose code writes a file when it runs."""
    model = bundled("cleaneval", tmp_path)
    ran, feature = tmp_path / "ran", tmp_path.name
    lines = ["from victorpy.features import block_feature", f"open({str(ran)!r}, 'a').write('x')"]
    (model / "own.py").write_text("\n".join([*lines, f"block_feature('hostile.{feature}')(lambda block: 0)"]))
    append("config.conf", "feature-modules: own.py\n")(model)
    sign(model)
    return model


@pytest.mark.parametrize(
    "load",
    [
        Cleaner.load,
        load_model,
        load_method,
        find_method,
        load_methods,
        load_as_is,
        parse_methods,
        Predictor.load,
        lambda model: clean_record({"html": PAGE}, model=model),
    ],
)
def test_code_in_a_model_does_not_run_by_default(
    with_code: Path, tmp_path: Path, load: Callable[[str], object]
) -> None:
    with pytest.raises(ModelError, match="contains Python code"):
        load(str(with_code))
    assert not (tmp_path / "ran").exists()


def test_code_in_a_model_runs_only_if_allowed(with_code: Path, tmp_path: Path) -> None:
    page, ran = tmp_path / "page.html", tmp_path / "ran"
    page.write_text(PAGE)
    with pytest.raises(ModelError, match=r"contains Python code \(own\.py\).*read .*own\.py.*--allow-code") as caught:
        Cleaner.load(with_code)
    assert "cannot be loaded" not in str(caught.value)
    for command in (
        ["clean", "--model", with_code, page],
        ["clean", "--method", with_code, page],
        ["view", "--model", with_code, page, "-o", tmp_path / "view.html"],
        ["compare", "--methods", with_code, "--data", f"anno:{tmp_path}"],
        ["evaluate", "--method", with_code, "--data", f"anno:{tmp_path}"],
        ["annotate", "--model", with_code, page],
    ):
        ended = victor(*command, text=True)
        assert ended.returncode == 2
        assert "contains Python code (own.py)" in ended.stderr
    assert not ran.exists()
    batch = ["clean", "--model", with_code, page, "--jobs", 2, "-o", tmp_path / "out", "--to", "jsonl"]
    ended = victor(*batch, "--allow-code", text=True)
    assert ended.returncode == 0, ended.stderr
    assert ran.exists()
    recorded = json.loads((tmp_path / "out" / "manifest.jsonl").read_text().partition("\n")[0])
    assert "allow_code" in json.dumps(recorded)


@pytest.mark.parametrize("named", ["{outside}", "../outside.py", "outside.py", "/dev/stdin", "."])
def test_code_outside_of_a_model_never_runs(with_code: Path, tmp_path: Path, named: str) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('x')")
    append("config.conf", f"feature-modules: {named.format(outside=outside)}\n")(with_code)
    sign(with_code)
    with pytest.raises(ModelError, match="is not a file of the model"):
        load_model(with_code, allow_code=True)
    assert not (tmp_path / "ran").exists()


def test_code_runs_only_with_its_digest(with_code: Path, tmp_path: Path) -> None:
    append("own.py", "\n# changed")(with_code)
    with pytest.raises(ModelError, match="does not match the digest"):
        load_model(with_code, allow_code=True)
    files = {path.name: "" for path in with_code.iterdir() if path.name not in {"own.py", "meta.json"}}
    sign(with_code, files={name: hashlib.sha256((with_code / name).read_bytes()).hexdigest() for name in files})
    with pytest.raises(ModelError, match="is not a file of the model"):
        load_model(with_code, allow_code=True)
    assert not (tmp_path / "ran").exists()
    assert f"hostile.{tmp_path.name}" not in FEATURES


def test_workers_import_nothing_from_the_current_directory(tmp_path: Path) -> None:
    crawl, program = tmp_path / "crawl", tmp_path / "program.py"
    crawl.mkdir()
    for module in ("multiprocessing", "socket", "numpy", "pebble", "json"):
        (crawl / f"{module}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{module} ')")
    (crawl / "page.html").write_text(PAGE)
    program.write_text("from victorpy.commands import main\nif __name__ == '__main__':\n    raise SystemExit(main())\n")
    ended = run_process(program, "clean", "page.html", "-j", 2, "-o", tmp_path / "out", cwd=crawl, text=True)
    assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / "ran").exists()


# Configs and templates

CONFIGS: dict[str, str] = {
    "self-appending": "class-a: a b\n" + "class-a: $class-a $class-a\n" * 100,
    "doubling through others": "class-0: a b\n" + "".join(f"class-{n + 1}: $class-{n} $class-{n}\n" for n in range(99)),
    "3,000 braces": f"class-a: {'{a}' * 3_000}\n",
    "3,000 nested braces": f"class-a: {'{a,' * 3_000}{'}' * 3_000}\n",
    "braces to the 40th power": f"class-a: {'{a,b}' * 40}\n",
    "braces in names": "class-{1..9999}: {1..9999}\n",
    "many empty assignments": "class-{1..9999}:\n" * 1_000,
    "many wide values": f"class-a: {('x' * 900 + '{1..99} ') * 1_000}\n",
    "a range of 10**12": "class-a: {1..1000000000000}\nsplit: x\n",
    "numbers of 10,000 digits": f"evidence-folds: {'9' * 10_000}\n",
    "2 MB of lines": "class-a: x\n" * 200_000,
    "a line of 2 MB": f"class-a: {'x' * 2_000_000}\n",
    "1,000 bins in disorder": "".join(f"feature-words-values: {n}\n" for n in [*range(1_000), 3]),
    "nested pattern": f"regexp-a: '{'(' * 30_000}{')' * 30_000}'\n",
    "includes a device": "include /dev/zero\n",
    "includes a long name": f"include {'a' * 5_000}\n",
    "includes NUL": "include a\0b\n",
    "name of 500,000 letters": f"{'a' * 500_000}: x\n",
}


@pytest.mark.parametrize("name", CONFIGS)
def test_hostile_config_is_a_config_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "my.conf").write_text(CONFIGS[name])
    with bounded(), pytest.raises(ConfigError) as caught:
        read_config(tmp_path / "my.conf")
    assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize("suffix", ["conf", "tpl"])
@pytest.mark.parametrize("chain", [True, False], ids=["chain", "fan"])
def test_1500_includes_are_refused(tmp_path: Path, suffix: str, chain: bool) -> None:
    error = ConfigError if suffix == "conf" else TemplateError
    for number in range(1_500):
        (tmp_path / f"{number}.{suffix}").write_text(f"include {number + 1}.{suffix}\n" if chain else "# nothing\n")
    if not chain:
        every = "".join(f"include {number}.{suffix}\n" for number in range(1, 1_500))
        (tmp_path / f"0.{suffix}").write_text(every)
    path = tmp_path / f"0.{suffix}"
    with bounded(), pytest.raises(error, match="includes at most 50 files"):
        read_config(path) if suffix == "conf" else read_template(path, None)


@pytest.mark.parametrize("suffix", ["conf", "tpl"])
def test_foreign_file_is_not_quoted(tmp_path: Path, suffix: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret").write_text("tea-password: hunter2\n")
    (home / f"link.{suffix}").symlink_to(tmp_path / "secret")
    error = ConfigError if suffix == "conf" else TemplateError
    for name in (tmp_path / "secret", "../secret", f"link.{suffix}"):
        path = home / f"my.{suffix}"
        path.write_text(f"include {name}\n")
        with pytest.raises(error) as caught:
            read_config(path) if suffix == "conf" else read_template(path, None)
        assert "password" not in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert "secret:1: not a line of a" in str(caught.value) or "link" in str(caught.value)
    (home / f"own.{suffix}").write_text("tea-password: hunter2\n")
    path.write_text(f"include own.{suffix}\n")
    with pytest.raises(error, match="password"):  # a file beside the config is the user's own
        read_config(path) if suffix == "conf" else read_template(path, None)


TEMPLATES: dict[str, str] = {
    "braces to the 40th power": "%x[0,a]" + "{,%x[0,b]}" * 40,
    "3,000 braces": "%x[{0},a]" * 3_000,
    "30,000 lines": "\n".join(f"%x[{offset},a{number}]" for number in range(1_500) for offset in range(-10, 10)),
    "1,000 references in a line": "%x[0,a]" * 1_000,
    "slashes and spaces": "%x[0,a]" + " / " * 100_000 + "x",
    "offset of 5,000 digits": f"%x[{'9' * 5_000},a]",
    "a name of 900,000 letters": f"{'a' * 900_000}: %y",
    "2 MB": "# tea\n" * 400_000,
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_hostile_template_is_a_template_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "my.tpl").write_text(TEMPLATES[name])
    with bounded(), pytest.raises(TemplateError) as caught:
        read_template(tmp_path / "my.tpl", None)
    assert len(str(caught.value)) < 2_000


# Category models


def entries(**changes: object) -> Damage:
    def damage(model: Path) -> None:
        with np.load(model / "arrays.npz") as stored:
            arrays = dict(stored) | changes
        np.savez(model / "arrays.npz", **{name: value for name, value in arrays.items() if value is not None})

    return damage


def zip_bomb(model: Path) -> None:
    np.savez_compressed(model / "arrays.npz", weights=np.zeros(110_000_000, dtype=np.uint8))


CATEGORIES: dict[str, Damage] = {
    "zip bomb": zip_bomb,
    "no zip file": write("arrays.npz", b"PK\x03\x04" + bytes(100)),
    "npy for npz": write("arrays.npz", header((3,))),
    "array missing": entries(labels=None),
    "NaN weights": entries(weights=np.full(3, np.nan, dtype=np.float32)),
    "weights in two dimensions": entries(weights=np.zeros((2, 2), dtype=np.float32)),
    "columns out of range": entries(columns=np.full(3, 10**9)),
    "negative labels": entries(labels=np.full(2, -1)),
    "huge k": entries(k=np.array(2**62)),
    "several k": entries(k=np.zeros(3, dtype=int)),
    "objects": entries(ends=np.array([print], dtype=object)),
    "NaN weight of a term": write("terms.tsv", '"tea"\tnan\n"cup"\t1.0\n'),
    "terms nested": write("terms.tsv", "[" * 100_000 + "\t1\n"),
    "no terms": write("terms.tsv", ""),
    "categories are numbers": lambda model: sign(model, categories=[1, 2]),
    "category twice": lambda model: sign(model, categories=["tea", "tea"]),
    "method is a number": lambda model: sign(model, method=5),
    "unknown setting": lambda model: sign(model, settings={"tea": 1}),
    "unknown classifier": lambda model: sign(model, settings={"classifier": "tea"}),
    "settings of other types": lambda model: sign(model, settings={"k": "x"}),
    "link out of the directory": link("terms.tsv", "/dev/zero"),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_hostile_category_model_is_a_model_error(tmp_path: Path, name: str) -> None:
    bags = [{"tea": 2, "cup": 1}, {"tea": 1, "leaf": 1}, {"pot": 2, "cup": 1}, {"pot": 1, "iron": 1}]
    model = tmp_path / "model"
    save_categories(train_categories(bags, ["a", "a", "b", "b"]), model)
    assert load_categories(model).category_of({"tea": 1}) == "a"
    CATEGORIES[name](model)
    if "meta" not in name and (model / "terms.tsv").is_file():
        sign(model, **{key: json.loads((model / "meta.json").read_text())[key] for key in ("settings", "categories")})
    with bounded(), pytest.raises(ModelError):
        load_categories(model)


# Style trees


def element(**changes: object) -> dict[str, object]:
    return {"tag": "div", "display": "", "pages": "3", "styles": [], "known": [], "content": None} | changes


def chain(length: int) -> list[dict[str, object]]:
    below = [element(styles=[[[["div", ""]], "3", [number + 1]]]) for number in range(length)]
    return [*below, element()]


TREES: dict[str, dict[str, object] | bytes] = {
    "gzip bomb": b" " * 100_000_000,
    "nested": b"[" * 100_000,
    "two parents": {
        "elements": [element(styles=[[[["a", ""], ["b", ""]], "3", [1, 2]]]), element(known=[["p", "", 2]]), element()]
    },
    "below itself": {"elements": [element(styles=[[[["p", ""]], "3", [0]]])]},
    "below nothing": {"elements": [element(styles=[[[["p", ""]], "3", [7]]])]},
    "10,000 levels": {"elements": chain(10_000)},
    "no pages": {"elements": [element(pages="0")], "pages": 0},
    "pages of another tree": {"elements": [element(pages="ff")]},
    "10**12 pages": {"pages": 10**12},
    "negative pages": {"elements": [element(pages="-3")]},
    "style without pages": {"elements": [element(styles=[[[["p", ""]], "0", [1]]]), element()]},
    "NaN words": {"elements": [element(content=["3", {"tea": ["3", float("nan"), 1.0]}])]},
    "no words": {"elements": [element(content=["3", {"tea": ["3", 0, 0.0]}])]},
    "words as text": {"elements": [element(content=["3", {"tea": ["3", "many", 0.0]}])]},
    "numbers of 1,000 digits": {"elements": [element(content=["3", {"tea": ["3", 10**1000, 0.0]}])]},
    "NaN threshold": {"t": float("nan")},
    "threshold of 7": {"t": 7},
    "another format": {"format": "victorpy style tree 99"},
    "no elements": {"elements": []},
}


@pytest.mark.parametrize("name", TREES)
def test_hostile_tree_is_a_model_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / "site.sst"
    tree = StyleTree()
    tree.page_count, tree.root.pages = 2, 3
    save_tree(tree, path)
    assert load_tree(path).page_count == 2
    changes = TREES[name]
    if isinstance(changes, dict):
        changes = json.dumps(json.loads(gzip.decompress(path.read_bytes())) | changes).encode()
    path.write_bytes(gzip.compress(changes, 1))
    with bounded(), pytest.raises(ModelError):
        load_tree(path)
