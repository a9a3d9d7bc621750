"""Gold labels of annotated pages: every command uses the labels of the annotation file, not aligned ones."""

import json
from dataclasses import replace
from functools import partial

import pytest
from support.commands import victor as run_victor

from victorpy.cleaner import read_document
from victorpy.commands import main
from victorpy.config import load_config
from victorpy.document import Label, Labelling
from victorpy.labellers.base import LABELLERS, PageLabeller
from victorpy.methods import Method
from victorpy.model.train import load_pages
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import load_annotation, write_anno
from victorpy.research.align import Gold, align
from victorpy.research.compare import Cleaned, MethodAtSite, Ruler
from victorpy.research.datasets import GoldPage, read_dataset
from victorpy.research.gold import gold_labels, is_gold_of, label_page, label_values, load_gold
from victorpy.research.site_runs import Shares

victor = partial(run_victor, text=True)
TEXT = "Tea is a drink that is made by pouring hot water over leaves."
PAGE = f"<p>{TEXT}</p><ul><li><a href='/'>Home</a></ul><p>{TEXT}</p><p>Somebody wrote <b>this</b> line.</p>"
LABELS = (Label.PARAGRAPH, Label.OTHER, Label.OTHER, Label.PARAGRAPH)
"""The second copy of the text is noise. Alignment would prefer it, since it is nearer to other content."""


class AsAnnotated(PageLabeller):
    def label(self, document):
        return Labelling(LABELS)


@pytest.fixture(scope="module", autouse=True)
def _as_annotated():
    LABELLERS.add("as-annotated", AsAnnotated)
    yield
    LABELLERS.remove("as-annotated")


def annotate(directory, html=PAGE, labels=LABELS, name="tea", keep_html=True):
    directory.mkdir(exist_ok=True)
    document = read_document(html.encode(), load_config("default"), "http://tea.example/", source=f"{name}.html")
    (directory / f"{name}.anno").write_text(write_anno(CleanPage(document, labels)), encoding="utf-8")
    if keep_html:
        (directory / f"{name}.html").write_text(html, encoding="utf-8")
    return directory


@pytest.fixture(params=[True, False], ids=["with HTML", "without HTML"])
def annotated(request, tmp_path):
    return annotate(tmp_path / "annotated", keep_html=request.param)


def only_page(directory):
    (page,) = read_dataset("anno", directory, pytest.fail)
    return page


def test_alignment_would_change_the_labels(annotated):
    page, config = only_page(annotated), load_config("default")
    document = read_document(page.html, config, page.url)
    assert align(document, page.gold, config.cuts.block_level) != LABELS


def test_annotated_page_keeps_its_labels(annotated):
    page, config = only_page(annotated), load_config("default")
    assert label_page(page, "", config).labels == LABELS
    assert gold_labels(page, read_document(page.html, config, page.url), config) == LABELS


@pytest.mark.parametrize("config", ["default", "cleaneval"])
def test_gold_pages_and_annotation_files_give_the_same_training_pages(annotated, config):
    config = load_config(config)
    (gold,) = load_gold([f"anno:{annotated}"], config, pytest.fail)
    (page,) = load_pages([annotated], config)
    assert (gold.document, gold.labels) == (page.document, page.labels)
    assert [label for label in gold.labels if not label.is_content] == [Label.OTHER] * 2


def test_page_split_by_another_config_keeps_labels_with_their_text(annotated):
    (page,) = load_gold([f"anno:{annotated}"], load_config("cleaneval"), pytest.fail)
    labels = [(block.text, str(label)) for block, label in zip(page.document.blocks, page.labels, strict=True)]
    last = [("Somebody wrote", "paragraph"), ("this", "continuation"), ("line.", "continuation")]
    assert labels == [(TEXT, "paragraph"), ("Home", "other"), (TEXT, "other"), *last]


def test_text_gold_is_still_aligned(annotated):
    page = replace(only_page(annotated), annotation=None, gold=(Gold(TEXT),))
    labels = label_page(page, "", load_config("default")).labels
    assert labels != LABELS
    assert sum(label.is_content for label in labels) == 1


def test_html_that_differs_from_its_annotation_is_aligned(tmp_path):
    directory = annotate(tmp_path / "annotated")
    (directory / "tea.html").write_text(PAGE + "<p>Added later.</p>", encoding="utf-8")
    page, config = only_page(directory), load_config("default")
    document = read_document(page.html, config, page.url)
    assert len(gold_labels(page, document, config)) == len(document.blocks) == 5
    assert label_page(page, "", config).labels == LABELS  # training uses the annotated page


def test_evaluate_scores_labels_against_the_annotation(annotated, tmp_path):
    assert main(["evaluate", "--method", "as-annotated", "--data", f"anno:{annotated}", "-o", str(tmp_path / "r")]) == 0
    scores = json.loads((tmp_path / "r" / "scores.json").read_bytes())
    assert scores["mean"]["label_accuracy"] == scores["mean"]["content_accuracy"] == 1
    assert scores["confusion"]["other"]["other"] == scores["confusion"]["paragraph"]["paragraph"] == 2


def test_compare_scores_and_tunes_with_the_labels_of_the_annotation(annotated):
    page = only_page(annotated)
    method = MethodAtSite(Method("as-annotated"), [page], Shares([0], [], [0]))
    output = method.clean(page)
    assert isinstance(output, Cleaned)
    result = Ruler(page, "anno", "tea.example", has_values=False).measure(method, output)
    assert result.blocks.label_accuracy == 1


# Convert


def convert(source, target, *options):
    ended = victor("convert", "--from", "anno", *options, source, target)
    assert ended.returncode == 0, ended.stderr
    return (target / "tea.anno").read_bytes()


@pytest.mark.parametrize("options", [(), ("--config", "default")], ids=" ".join)
def test_converting_annotations_to_annotations_changes_nothing(annotated, tmp_path, options):
    path = annotated / "tea.anno"
    text = path.read_text(encoding="utf-8").replace("paragraph\t-", "# somebody's note\nparagraph\t0.75", 1)
    path.write_text(text, encoding="utf-8")  # the model's label stays the model's
    assert convert(annotated, tmp_path / "out", *options) == path.read_bytes()


def test_annotations_of_another_split_are_kept_without_a_config(annotated, tmp_path):
    every = convert(annotated, tmp_path / "every", "--config", "cleaneval")
    assert b"split: every" in every
    assert convert(tmp_path / "every", tmp_path / "again") == every


def test_converting_with_a_config_splits_pages_again_and_keeps_who_gave_a_label(annotated, tmp_path):
    path = annotated / "tea.anno"
    path.write_text(path.read_text(encoding="utf-8").replace("paragraph\t-", "paragraph\t0.75", 1), encoding="utf-8")
    convert(annotated, tmp_path / "out", "--config", "cleaneval")
    annotation = load_annotation(tmp_path / "out" / "tea.anno", load_config("cleaneval").cuts)
    assert len(annotation.labels) == 6
    assert annotation.decided == (False, True, True, True, True, True)


def test_unfinished_annotation_is_left_out_with_a_warning(annotated, tmp_path):
    path = annotated / "tea.anno"
    path.write_text(path.read_text(encoding="utf-8").replace("paragraph\t-", "?\t-", 1), encoding="utf-8")
    annotate(annotated, name="more")
    ended = victor("convert", "--from", "anno", annotated, tmp_path / "out")
    assert ended.returncode == 0
    assert "1 block has no label yet" in ended.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["more.anno"]


@pytest.mark.parametrize(
    ("frame", "known"),
    [("<p>Menu</p>", False), ("<nav>Menu</nav>", True), ("<aside><p>Menu", True), ("<article><header>By A", False)],
)
def test_blocks_outside_a_partial_gold_are_unknown_or_frames(tmp_path, frame, known):
    files = {"pages.jsonl": '{"id": "1", "partial": true}', "html/1.html": PAGE + frame, "gold/1.txt": TEXT}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (page,) = load_gold([f"pages:{tmp_path}"], load_config("default"), pytest.fail)
    assert sum(label.is_content for label in page.labels) == 1
    assert [weight > 0 for weight in page.weights[:-1]] == [label.is_content for label in page.labels[:-1]]
    assert (page.weights[-1] > 0) == known


def test_values_are_content_and_the_frame_of_a_site_is_noise(tmp_path):
    (tmp_path / "groundtruth" / "tea").mkdir(parents=True)
    (tmp_path / "tea" / "tea-shop(6)").mkdir(parents=True)
    rows = []
    for number in range(6):
        value, price = f"Tea number {number}", f"{number}.99"
        fields = f"<h1>{value}</h1><p>Price</p><p>{price}</p><p>Other words {'about it ' * (number + 1)}{number}</p>"
        html = (
            f"<ul><li><a href=/>Home page of the shop</a></ul><div>{fields}</div><p>All rights reserved by the shop</p>"
        )
        (tmp_path / "tea" / "tea-shop(6)" / f"{number}.htm").write_text(html, encoding="utf-8")
        rows.append(f"{number}\t2\t{value}\t{price}\n")
    (tmp_path / "groundtruth" / "tea" / "tea-shop-name.txt").write_text("tea\n6\n" + "".join(rows), encoding="utf-8")
    pages = load_gold([f"swde:{tmp_path}"], load_config("default"), pytest.fail)
    assert len(pages) == 6
    for page in pages:
        assert [label.is_content for label in page.labels] == [False, True, False, True, False, False]
        assert page.weights == (0.3, 1, 0, 1, 0, 0.3)


@pytest.mark.parametrize(("found", "is_gold"), [("tea is hot", True), ("tea is", True), ("tea", False), ("", False)])
def test_gold_belongs_to_a_page_with_half_of_its_words(found, is_gold):
    document = read_document(f"<p>{found}<p>other words", load_config("default"))
    labels = [Label.PARAGRAPH if block.text == found else Label.OTHER for block in document.blocks]
    assert is_gold_of(document, labels, [Gold("tea is"), Gold("hot now")]) is is_gold


def valued(count):
    """Pages of a site with two values each."""
    return [
        GoldPage(
            f"{n}",
            f"<p>Menu of us</p><h1>Tea {n} of {n * 7}</h1><p>Price<h2>{n}.99 pounds</h2><p>About {n} {n * 3}".encode(),
            (Gold(f"Tea {n} of {n * 7}"), Gold(f"{n}.99")),
            f"http://shop.example/{n}",
        )
        for n in range(1, count + 1)
    ]


@pytest.mark.parametrize(("count", "labelled"), [(9, 9), (10, 10), (11, 6), (20, 10), (21, 7)])
def test_at_most_ten_pages_of_a_site_are_labelled_by_values(count, labelled):
    pages = [*label_values(valued(count), "swde:x", load_config("default"))]
    assert len(pages) == labelled
    assert pages[1].name == str(2 if count <= 10 else 3 if count <= 20 else 4)
