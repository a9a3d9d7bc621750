"""Test victor sst, and clean.py with methods and sites."""

import json
from collections.abc import Callable
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.commands import clean, clean_process, names_in, only_line, refused, victor, victor_process
from support.sitepages import FOOTER, MENU, SIDEBAR, WORDS, site_page, write_site

from victorpy.base.parameters import parse_settings
from victorpy.batch.inputs import find_records
from victorpy.batch.site_model import learn_site
from victorpy.cleaner import Cleaner, read_document
from victorpy.commands.clean import FEW
from victorpy.labellers.site_style_tree import SiteStyleTree
from victorpy.methods import load_method, method_names
from victorpy.outputs import OUTPUTS
from victorpy.research.mining import read_pages
from victorpy.research.report.style_tree import as_text
from victorpy.sites.store import load_tree

sst = partial(victor, "sst")
NOISE = (*MENU, SIDEBAR, FOOTER)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the pages of a site."""
    return write_site(tmp_path_factory.mktemp("crawl") / "courier", 8)


@pytest.fixture(scope="module")
def tree(crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of the site, built by the command."""
    path = tmp_path_factory.mktemp("trees") / "new" / "courier.sst"
    ended = victor_process("sst", "build", crawl, "-o", path)
    assert (ended.returncode, ended.stdout) == (0, b"")
    chosen = "t=0.4, cautious, because no threshold is much better (F1 0.92, at best 0.92)"
    assert only_line(ended.stderr) == f"sst: {path}: a tree of 8 pages; {chosen}\n"
    return path


def assert_clean(text: str) -> None:
    assert not [noise for noise in NOISE if noise in text]
    assert all(word.strip(".").lower() in WORDS for word in text.split())
    assert len(text.split()) >= 4 + 2 * 8


# victor sst


def test_sst_add_extends_a_tree_in_place_or_elsewhere(tree: Path, tmp_path: Path) -> None:
    more = write_site(tmp_path / "more", 3, first=20)
    copy = tmp_path / "copy.sst"
    ended = sst("add", tree, more, "-o", copy)
    assert only_line(ended.stderr) == f"sst: {copy}: a tree of 11 pages\n"
    ended = sst("add", copy, more / "page20.html", more / "page21.html")
    assert only_line(ended.stderr) == f"sst: {copy}: a tree of 11 pages\n", "the same pages twice"
    ended = sst("add", copy, write_site(tmp_path / "others", 2, first=30))
    assert only_line(ended.stderr) == f"sst: {copy}: a tree of 13 pages\n"
    assert (load_tree(tree).page_count, load_tree(copy).page_count) == (8, 13)


def test_sst_show_prints_text(tree: Path) -> None:
    ended = sst("show", tree)
    assert (ended.returncode, ended.stderr) == (0, b"sst: t=0.4, saved in the tree\n")
    lines = ended.stdout.decode().splitlines()
    assert lines[0].split()[1:] == ["8", "site"]
    marks = {line.split()[3] if line[0] != " " else "": line[0] for line in lines[1:]}
    assert marks["ul"] == "-"
    menu = next(line for line in lines if "menu" in line)
    assert menu.startswith("- 0.00     8    ul menu")
    assert "home" in menu
    main = next(line for line in lines if "div main" in line)
    assert main.startswith("+ ")


def test_sst_show_full_and_threshold(tree: Path) -> None:
    short, full = (sst("show", tree, *more).stdout.decode() for more in ([], ["--full"]))
    assert short.count("\n") <= full.count("\n")
    everything = sst("show", tree, "-t", "1").stdout.decode()
    assert everything.startswith("- ")
    assert everything.count("\n") == 1


class _Tags(HTMLParser):
    """Check that every opened tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta", "br", "hr", "link", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("action", ["show", "build"])
def test_missing_site_gives_one_line(tmp_path: Path, action: str) -> None:
    ended = sst(action, tmp_path / "nodir", "-o", tmp_path / "t.html")
    message = f"sst: {tmp_path / 'nodir'}: no such directory, page or tree\n"
    assert (ended.returncode, ended.stderr.decode()) == (2, message)


def test_sst_show_writes_html(tree: Path, tmp_path: Path) -> None:
    page = tmp_path / "new" / "tree.html"
    ended = sst("show", tree, "-o", page)
    assert (ended.returncode, ended.stdout) == (0, b"")
    html = page.read_text(encoding="utf-8")
    assert "Style tree of courier.sst: 8 pages; t=0.4, saved in the tree" in html
    assert "<code>ul menu</code>" in html
    assert "<details open>" in html
    assert 'class="leaf i0 noise"' in html
    assert "http://" not in html
    tags = _Tags()
    tags.feed(html)
    assert tags.open == []


def test_sst_html_escapes_class_names(tmp_path: Path) -> None:
    hostile = '<div class="&lt;script&gt;alert(1)&lt;/script&gt;"><p>&lt;b&gt;tea</p><hr><p>milk</p></div>'
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_text(f"{hostile}<p>{name}</p>")
    ended = sst("show", tmp_path, "-o", tmp_path / "tree.htm", "--full")
    assert ended.returncode == 0
    assert "<script>alert" not in (tmp_path / "tree.htm").read_text()
    assert "&lt;script&gt;alert" in (tmp_path / "tree.htm").read_text()


def test_sst_show_builds_a_tree_from_pages(crawl: Path) -> None:
    for styles in ("modern", "paper"):
        ended = sst("show", crawl, "--styles", styles)
        assert ended.returncode == 0
        assert ended.stdout.decode().splitlines()[0].endswith("site")


def test_sample_is_reproducible(crawl: Path, tmp_path: Path) -> None:
    for name in ("a.sst", "b.sst"):
        ended = sst("build", crawl, "--sample", 3, "-o", tmp_path / name)
        assert "a tree of 3 pages; t=" in only_line(ended.stderr)
    assert (tmp_path / "a.sst").read_bytes() == (tmp_path / "b.sst").read_bytes()


@pytest.mark.parametrize("settings", ["gamma=0", "virtual_leaves=no", "freq=0.1", "lam=1.1", "t=0.9", "styles=modern"])
def test_sst_takes_all_parameters_of_the_method(crawl: Path, settings: str) -> None:
    pages = [*crawl.glob("*.html")]
    mixed = ["--styles", "paper", "--full"]
    shown, changed = sst("show", *pages, *mixed), sst("show", *pages, *mixed, "--param", settings)
    assert (shown.returncode, changed.returncode) == (0, 0)
    labeller = SiteStyleTree(styles="paper")
    labeller.set_params(**parse_settings("sst", SiteStyleTree, [settings]))
    tree = labeller.fit([read_document(page.read_bytes(), load_method("sst").config) for page in pages])
    assert changed.stdout.decode() == as_text(tree.tree_, tree.judgement_, full=True)


def test_sst_builds_trees_with_parameters(crawl: Path, tmp_path: Path) -> None:
    ended = sst("build", crawl, "--styles", "paper", "--param", "virtual_leaves=no", "-o", tmp_path / "basic.sst")
    assert ended.returncode == 0
    assert not load_tree(tmp_path / "basic.sst").virtual_leaves


def test_unreadable_pages_are_named_and_left_out(crawl: Path, tmp_path: Path) -> None:
    pages = [crawl / "page0.html", tmp_path / "nothing.html", crawl / "page1.html"]
    ended = sst("build", *pages, "-o", tmp_path / "site.sst")
    assert ended.returncode == 0
    first, second = ended.stderr.decode().splitlines()
    assert first == f"sst: {tmp_path / 'nothing.html'}: not learned from: No such file or directory"
    assert "a tree of 2 pages; t=" in second


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["build", "{crawl}"], "sst: build needs an output file; give -o FILE"),
        (["build", "{crawl}/page0.html", "-o", "x.sst"], "sst: a style tree needs at least two pages with text"),
        (["build", "empty", "-o", "x.sst"], "sst: empty: no pages"),
        (["build", "{crawl}", "--sample", "1", "-o", "x.sst"], "sst: --sample must be at least 2, not 1"),
        (["build", "{crawl}", "-t", "1.5", "-o", "x.sst"], "sst: -t must be from 0 to 1, not 1.5"),
        (["build", "{crawl}", "-t", "nan", "-o", "x.sst"], "sst: -t must be from 0 to 1, not nan"),
        (["add", "{tree}"], "sst: {tree}: name the pages to add after the tree"),
        (["add", "nothing.sst", "{crawl}"], "sst: nothing.sst: No such file or directory"),
        (["add", "{crawl}/page0.html", "{crawl}"], "sst: {crawl}/page0.html: not a site's style tree, or damaged"),
        (["add", "{tree}", "empty"], "sst: empty: no pages"),
        (["show", "junk.sst"], "sst: junk.sst: not a site's style tree, or damaged"),
        (["show", "{tree}", "-t", "-1"], "sst: -t must be from 0 to 1, not -1"),
        (["show", "{tree}", "--param", "t=2"], "sst: -t must be from 0 to 1, not 2"),
        (["show", "{tree}", "--param", "gamma=2"], "sst: --param gamma=2.0: expected a number from 0 to 1"),
        (["show", "{tree}", "--param", "gama=1"], "sst: --param: 'gama=1' is not a parameter (did you mean 'gamma'?)"),
        (["show", "{tree}", "--param", "virtual_leaves=no"], "sst: {tree} was built with virtual_leaves=True"),
        (["show", "{tree}", "--styles", "paper"], "sst: {tree} was built with styles=modern; build another"),
        (["show", "empty"], "sst: empty: no pages"),
    ],
)
def test_wrong_sst_arguments_give_one_line(
    crawl: Path, tree: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "junk.sst").write_bytes(b"\x1f\x8b" + b"junk" * 20)
    filled = [argument.format(crawl=crawl, tree=tree) for argument in arguments]
    before = tree.read_bytes()
    line = refused(sst(*filled, cwd=tmp_path))
    assert line.startswith(said.format(crawl=crawl, tree=tree))
    assert not (tmp_path / "x.sst").exists()
    assert tree.read_bytes() == before


@pytest.mark.parametrize(
    "arguments", [[], ["draw", "x"], ["build"], ["show", "x", "--styles", "gothic"], ["show", "x", "-t", "high"]]
)
def test_wrong_usage_prints_usage(arguments: list[str]) -> None:
    ended = sst(*arguments)
    assert ended.returncode == 2
    assert ended.stderr.startswith(b"usage: victor sst")


# clean.py


def test_method_cleans_pages_of_a_site(crawl: Path, tmp_path: Path) -> None:
    ended = clean_process("--method", "sst", crawl, "-o", tmp_path / "out")
    assert ended.returncode == 0
    assert ended.stderr == b"clean: 8 pages: 8 kept, 0 empty, 0 failed\n"
    assert names_in(tmp_path / "out") == [f"page{number}.txt" for number in range(8)]
    for path in (tmp_path / "out").iterdir():
        assert_clean(path.read_text())


def test_site_option_cleans_the_site_or_another_page(crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "new.html").write_text(site_page(99))
    for method in ("sst", "sentence-entropy"):
        ended = clean("--method", method, "--site", crawl, tmp_path / "new.html")
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert_clean(ended.stdout.decode())
    ended = clean("--method", "sst", "--site", crawl, "-o", tmp_path / "out", "-q")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert len(names_in(tmp_path / "out")) == 8


def test_saved_tree_cleans_like_the_pages(crawl: Path, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "new.html").write_text(site_page(99))
    by_pages = clean("--method", "sst", "--site", crawl, tmp_path / "new.html")
    by_tree = clean("--method", "sst", "--site", tree, tmp_path / "new.html")
    assert (by_tree.returncode, by_tree.stdout, by_tree.stderr) == (0, by_pages.stdout, b"")


def test_tree_cleans_standard_input(tree: Path) -> None:
    ended = clean_process("--method", "sst", "--site", tree, input=site_page(99).encode())
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert_clean(ended.stdout.decode())


@pytest.mark.parametrize("method", ["sst", "site"])
def test_a_page_of_another_site_is_reported(method: str, crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "own.html").write_text(site_page(99), encoding="utf-8")
    (tmp_path / "other.html").write_text("<main><section><h2>Bread</h2><p>Bread is baked from flour.", encoding="utf-8")
    for name, fits in (("own.html", True), ("other.html", False)):
        ended = clean("--method", method, "--site", crawl, tmp_path / name)
        assert ended.returncode == 0
        assert (b"another site: 0% of its text" in ended.stderr) is not fits


def test_standard_input_can_be_part_of_the_site(crawl: Path, tmp_path: Path) -> None:
    pages = [crawl / "page1.html", crawl / "page2.html", crawl / "page3.html"]
    ended = clean_process(
        "--method", "sst", "-", *pages, "-o", tmp_path, "-q", input=(crawl / "page0.html").read_bytes()
    )
    assert ended.returncode == 0
    assert_clean((tmp_path / "stdin.txt").read_text())


def test_param_sets_method_parameters(crawl: Path) -> None:
    page = crawl / "page0.html"
    everything = clean("--method", "everything", page)  # needs no site
    assert (everything.returncode, everything.stderr) == (0, b"")
    assert all(noise in everything.stdout.decode() for noise in NOISE)
    for settings in (["--param", "t=-1"], ["--param", "t=0.9", "--param", "t=-1"]):
        ended = clean("--method", "sst", *settings, "--site", crawl, page)
        assert ended.stdout == everything.stdout
    ended = clean("--method", "sst", "--param", "t=1", "--site", crawl, page)
    assert (ended.returncode, ended.stdout) == (0, b"")
    assert only_line(ended.stderr) == f"clean: {page}: no content was found\n"


@pytest.mark.parametrize("format", ["markdown", "jsonl", "anno", "html", "cleaneval"])
def test_method_writes_all_formats(crawl: Path, tree: Path, format: str) -> None:
    ended = clean("--method", "sst", "--site", tree, "--format", format, crawl / "page0.html")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout


@pytest.fixture(scope="module")
def annotated(crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, float], Path]:
    """Return a function that annotates a page: blocks above a threshold are content."""
    directory = tmp_path_factory.mktemp("anno")

    def write(name: str, t: float) -> Path:
        cleaner = load_method("sst")
        pages = [read_document(path.read_bytes(), cleaner.config) for path in sorted(crawl.iterdir())]
        at_site = load_method("sst", [f"t={t}"]).at_site(pages)
        assert isinstance(at_site.labeller, SiteStyleTree)
        written = OUTPUTS.get("anno").render(at_site.document((crawl / name).read_bytes()))
        path = directory / f"{name}-{t}.anno"
        path.write_text(written, encoding="utf-8")
        return path

    return write


def test_labelled_pages_tune_a_method(crawl: Path, tree: Path, annotated: Callable[[str, float], Path]) -> None:
    page = crawl / "page5.html"
    nothing, the_article = annotated("page0.html", 1.0), annotated("page0.html", 0.4)
    for place in (crawl, tree):
        right = clean("--method", "sst", "--param", "t=1", "--site", place, page, "--labelled", the_article)
        assert right.returncode == 0
        assert_clean(right.stdout.decode())
        strict = clean("--method", "sst", "--site", place, page, "--labelled", nothing)
        assert strict.returncode == 0
        assert len(strict.stdout) < len(right.stdout)


def test_labelled_pages_are_part_of_the_sample(crawl: Path, annotated: Callable[[str, float], Path]) -> None:
    records = list(find_records([str(crawl)]))
    for labelled, sample, expected in [((), 3, 3), ((annotated("page0.html", 0.4),), 3, 3), ((), 100, 8)]:
        labeller = learn_site(load_method("sst"), records, labelled, sample, print).labeller
        assert isinstance(labeller, SiteStyleTree)
        assert labeller.tree_ is not None
        assert labeller.tree_.page_count == expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "stt", "{page}"], "clean: no method 'stt' (did you mean 'sst'?)"),
        (["--method", "sst", "{page}"], "clean: a method that learns from a site needs at least two of its pages"),
        (["--method", "sst", "--sample", "1", "{crawl}"], "clean: a method that learns from a site needs at least two"),
        (["--method", "sst", "--sample", "-5", "{crawl}"], "clean: --sample must be above 0, not -5"),
        (["--sample", "0", "{page}"], "clean: --sample must be above 0, not 0"),
        (["--by-site", "--labelled", "a.anno", "{crawl}", "-o", "out"], "clean: --labelled a.anno needs --site DIR"),
        (["--site-key", "host", "{crawl}"], "clean: --site-key host needs --by-site"),
        (["--method", "sst", "--param", "sample=-1", "{crawl}"], "clean: sample must be at least 1"),
        (
            ["--method", "sst", "--param", "styles=old", "{crawl}"],
            "clean: styles must be one of modern, paper, not 'old'",
        ),
        (["--method", "sst", "--param", "t", "{crawl}"], "clean: sst: 't' is not a parameter"),
        (["--method", "sst", "--param", "t=x", "{crawl}"], "clean: sst: t=x: expected auto or a number"),
        (["--param", "t=1", "{page}"], "clean: --param t=1 needs a --method"),
        (["--method", "default", "--param", "c2=1", "{page}"], "clean: the method 'default' is a trained model"),
        (
            ["--method", "sst", "--model", "default", "{crawl}"],
            "clean: --method cannot be combined with --model or --config",
        ),
        (
            ["--method", "sst", "--config", "crf", "{crawl}"],
            "clean: --method cannot be combined with --model or --config",
        ),
        (
            ["--method", "sst", "--favor", "recall", "{crawl}"],
            "clean: --favor needs probabilities, which the method sst",
        ),
        (
            ["--method", "sentence-entropy", "--site", "{tree}", "{page}"],
            "clean: {tree}: only the --method sst can use a style tree",
        ),
        (
            ["--method", "sst", "--site", "{tree}", "--param", "styles=paper", "{page}"],
            "clean: {tree} was built with styles=modern; build another tree to use styles=paper",
        ),
        (
            ["--method", "sst", "--site", "{tree}", "--sample", "9", "{page}"],
            "clean: --sample 9 has no effect: {tree} is already built",
        ),
        (["--method", "sst", "--site", "junk.sst", "{page}"], "clean: junk.sst: not a site's style tree, or damaged"),
        (["--method", "sst", "--site", "empty", "{page}"], "clean: empty: no pages"),
        (["--method", "sst", "--site", "no", "{page}"], "clean: no: no such directory of pages or style tree"),
        (["--method", "sst", "images"], "clean: sst learns from pages of a site, but got none"),
        (
            ["--method", "everything", "{page}", "--labelled", "a.anno"],
            "clean: --labelled a.anno: --method everything cannot be tuned",
        ),
        (["--method", "sst", "{crawl}", "--labelled", "no.anno"], "clean: no.anno: cannot be read"),
        (["--method", "sst", "{crawl}", "--labelled", "{page}"], "clean: {page}:1: not an annotation file"),
    ],
)
def test_wrong_arguments_give_one_line(
    crawl: Path, tree: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "images").mkdir()
    for name in ("a.html", "b.html"):
        (tmp_path / "images" / name).write_text("<img src=a.gif>")
    (tmp_path / "junk.sst").write_bytes(b"\x1f\x8b" + b"junk" * 20)
    names = {"crawl": crawl, "tree": tree, "page": crawl / "page0.html"}
    line = refused(clean(*(argument.format(**names) for argument in arguments), cwd=tmp_path))
    assert line.startswith(said.format(**names))


def test_unreadable_page_fails_alone(crawl: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.html"
    ended = clean("--method", "sst", crawl, missing, "-o", tmp_path / "out")
    assert ended.returncode == 1
    messages = ended.stderr.decode().splitlines()
    assert messages[0].startswith(f"clean: {missing}: not learned from: ")
    assert messages[1].startswith(f"clean: {missing}: failed: ")
    assert messages[2] == "clean: 9 pages: 8 kept, 0 empty, 1 failed"
    assert len(names_in(tmp_path / "out")) == 8


def test_help_mentions_list_of_methods() -> None:
    assert "victor list methods" in " ".join(clean("--help").stdout.decode().split())
    listed = [line.split()[0] for line in victor("list", "methods", text=True).stdout.splitlines()]
    assert listed[: len(method_names())] == method_names()


# Sites in workers: the number of pages and workers does not change the result.


@pytest.mark.slow
@pytest.mark.parametrize("named", [["--method", "sst"], ["--method", "site"], ["--model", "site"], ["--site", "."]])
def test_workers_give_the_same_output_for_a_site(crawl: Path, tmp_path: Path, named: list[str]) -> None:
    pages = [path.name for path in sorted(crawl.iterdir())]
    for name, jobs in {"here": [], "workers": ["-j", "1"]}.items():
        ended = clean(*named, *pages, "-f", "jsonl", "-o", tmp_path / f"{name}.jsonl", "-q", *jobs, cwd=crawl)
        assert (ended.returncode, ended.stderr) == (0, b"")
    assert (tmp_path / "workers.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    clean("--model", "default", *pages, "-f", "jsonl", "-o", tmp_path / "alone.jsonl", "-q", cwd=crawl)
    assert (tmp_path / "alone.jsonl").read_bytes() != (tmp_path / "here.jsonl").read_bytes()


def test_many_pages_of_a_site_are_not_a_batch_run(tmp_path: Path) -> None:
    many = write_site(tmp_path / "many", FEW + 1)
    for named in (["--method", "site"], ["--model", "site"]):
        out = tmp_path / named[0]
        assert clean(*named, many, "-o", out, "-q").returncode == 0
        assert len(names_in(out)) == FEW + 1  # and neither a manifest nor an index


def test_site_model_cleans_a_single_page_in_a_worker(crawl: Path) -> None:
    here, in_worker = (clean("--model", "site", crawl / "page0.html", "-q", *more) for more in ([], ["-j", "1"]))
    assert (here.returncode, in_worker.returncode) == (0, 0)
    assert here.stdout.strip()
    assert here.stdout.strip() in in_worker.stdout


def test_model_for_sites_learns_from_two_pages(crawl: Path) -> None:
    pages = [crawl / "page0.html", crawl / "page1.html"]
    cleaner = Cleaner.load("site")
    at_site = cleaner.at_site([read_document(page.read_bytes(), cleaner.config) for page in pages])
    rows = clean("--model", "site", *pages, "-f", "jsonl", "-q", text=True).stdout.splitlines()
    confidences = [json.loads(row)["confidence"] for row in rows]
    assert confidences == [at_site.document(page.read_bytes()).confidence for page in pages]
    assert confidences != [cleaner.document(page.read_bytes()).confidence for page in pages]


@pytest.mark.parametrize("named", ["--method site", "--model site", "--config site"])
def test_archive_needs_by_site_for_site_methods(tmp_path: Path, named: str) -> None:
    (tmp_path / "pages.jsonl").write_text(json.dumps({"html": site_page(1)}) + "\n")
    line = refused(clean(*named.split(), tmp_path / "pages.jsonl"))
    assert line == f"clean: {named} learns from one site; for files with pages of many sites add --by-site\n"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sst", "site"])
def test_deep_pages_of_a_site_are_cleaned_in_workers(tmp_path: Path, method: str) -> None:
    deep = tmp_path / "deep"
    deep.mkdir()
    for number in range(3):
        text = (
            f"<p>Home</p>{'<div><p>' * 300}Cup {number} of tea, and it is poured hot over the leaves of the bush.</p>"
        )
        (deep / f"{number}.html").write_text(text)
    ended = clean_process("--method", method, "--site", deep, "-j", 2, "-o", tmp_path / "out", "-q")
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_sample_identifies_a_run_and_retry_keeps_it(crawl: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_bytes(bytes(range(256)) * 9)
    site_run = ("--site", crawl, bad, crawl / "page0.html", "-o", tmp_path / "out", "-j", "1", "-q")
    assert clean(*site_run, "--sample", "4").returncode == 1
    assert clean(*site_run, "--sample", "4").returncode == 1  # resumes
    assert clean(*site_run, "--sample", "5").returncode == 2
    bad.write_text(site_page(7))
    assert clean("--retry", tmp_path / "out" / "failed.jsonl", "-j", "1", "-q").returncode == 0
    manifest = tmp_path / "out" / "retry-1-manifest.jsonl"
    assert json.loads(manifest.read_text().splitlines()[0])["settings"]["sample"] == 4


# --site-key: what counts as a site in training, folds, comparisons and mining


@pytest.fixture(scope="module")
def two_hosts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Annotated pages of one domain with two hosts, of two types."""
    directory = tmp_path_factory.mktemp("hosts")
    write_site(directory / "html", 8)
    for number, page in enumerate(sorted((directory / "html").iterdir())):
        url = f"http://{'ab'[number % 2]}.tea.co.uk/{number}"
        target = directory / "anno" / f"type{number // 4}" / f"{number}.anno"
        assert clean(page, "--url", url, "-f", "anno", "-o", target).returncode == 0
    return directory / "anno"


SITES = {"domain": {"tea.co.uk"}, "host": {"a.tea.co.uk", "b.tea.co.uk"}}


@pytest.mark.slow
@pytest.mark.parametrize(("options", "key"), [([], "domain"), (["--site-key", "host"], "host")])
def test_site_key_decides_the_sites_of_comparisons(
    two_hosts: Path, tmp_path: Path, options: list[str], key: str
) -> None:
    data = ["-d", f"anno:{two_hosts}", "-o", tmp_path]
    assert victor("compare", "-m", "everything", *data, *options).returncode == 0
    records = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert {record["site"] for record in records} == SITES[key]
    assert victor("evaluate", "--method", "everything", *data, *options).returncode == 0
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert {page["site"] for page in scores["pages"]} == SITES[key]
    assert scores["settings"]["site_key"] == key
    assert {page.site for page in read_pages([f"anno:{two_hosts}"], 0, pytest.fail, key)} == SITES[key]


def test_site_key_decides_folds_and_training(two_hosts: Path, tmp_path: Path) -> None:
    config = tmp_path / "small.conf"
    config.write_text("include crf\ncrf-param-max_iterations: 3\n")
    fold = partial(victor, "evaluate", "-c", config, "-d", f"anno:{two_hosts}", "--folds", 2)
    assert "2 folds need as many sites, not 1" in fold().stderr.decode()
    assert fold("--site-key", "host").returncode == 0
    for options, recorded in (([], None), (["--site-key", "host"], "host")):
        model = tmp_path / f"model-{recorded}"
        assert victor("learn", "-q", "-c", config, two_hosts, "-o", model, *options).returncode == 0
        assert json.loads((model / "meta.json").read_text())["training"].get("site_key") == recorded


@pytest.mark.parametrize("name", ["clean", "learn", "evaluate", "compare", "mine", "categories", "spark-clean"])
def test_unknown_site_key_gives_usage_and_error(name: str) -> None:
    ended = victor(name, "--site-key", "hst")
    usage, error = ended.stderr.decode().splitlines()
    assert ended.returncode == 2
    assert usage.startswith(f"usage: victor {name} [options]")
    assert error.startswith(f"victor {name}: argument --site-key: invalid choice: 'hst'")
    assert error.endswith(f"; see victor {name} --help")
