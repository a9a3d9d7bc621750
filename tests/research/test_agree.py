"""`victor agree`: kappas against published values, files that do not match, and what is printed and written."""

import json
import re
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import ROOT, victor, victor_process
from support.commands import refused as refused_line

from victorpy.config import load_config
from victorpy.document import Label
from victorpy.errors import AnnotationError, DataError
from victorpy.research.agreement import (
    GROUPINGS,
    RESAMPLES,
    SharedPage,
    cohen_kappa,
    compare_annotators,
    fleiss_kappa,
    read_annotators,
)

LABELS = tuple(Label)
H, P, L, C, O = LABELS  # noqa: E741  # as the keys of the annotator

# Fleiss (1971): how many of 6 psychiatrists gave each of 5 diagnoses, for 30 patients.
PATIENTS = """00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
              00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""
# The worked example that many textbooks and encyclopaedias use: 10 subjects, 14 raters, 5 categories.
SUBJECTS = [
    *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
    *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
]


def page_of(*labels, name="page", texts=None):
    """A page with these labels of each annotator."""
    return SharedPage(name, tuple(texts or ["word"] * len(labels[0])), tuple(map(tuple, labels)))


def page_of_counts(counts):
    """A page with the given number of labels of each kind per block; who gave which label does not matter."""
    by_block = [[label for label, count in zip(LABELS, row, strict=True) for _ in range(count)] for row in counts]
    return page_of(*zip(*by_block, strict=True))


def compared(*pages, seed=1):
    names = [f"annotator {number}" for number in range(len(pages[0].labels))]
    return compare_annotators(names, pages, seed)


def agreement_of(*pages, grouping="labels"):
    return compared(*pages)["agreement"][grouping]


def fleiss_of(*pages, **options):
    """Observed and expected agreement, and Fleiss' kappa."""
    fleiss = agreement_of(*pages, **options)["fleiss"]
    return fleiss["observed"], fleiss["expected"], fleiss["kappa"]


def kappas_of(*pages, **options):
    """The kappas of every pair, without the confusion of their labels."""
    return [pair["kappa"] for pair in agreement_of(*pages, **options)["pairs"]]


def random_pages(seed, annotators=2, pages=1, blocks=200):
    """Pages whose annotators give the true label in about three of four blocks."""
    random = np.random.default_rng(seed)
    result = []
    for number in range(pages):
        truth = random.integers(5, size=blocks)
        given = [
            np.where(random.random(blocks) < 0.3, random.integers(5, size=blocks), truth) for _ in range(annotators)
        ]
        texts = [" ".join(["w"] * int(count)) for count in random.integers(0, 9, size=blocks)]
        result.append(page_of(*([LABELS[at] for at in labels] for labels in given), name=f"page {number}", texts=texts))
    return result


# Kappa


@pytest.mark.parametrize("seed", range(5))
def test_cohens_kappa_is_that_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    pages = random_pages(seed, annotators=3, pages=2)
    agreement = compared(*pages)["agreement"]
    for grouping, classes in GROUPINGS.items():
        class_of = {label: name for name, members in classes.items() for label in members}
        given = [[class_of[label] for page in pages for label in page.labels[who]] for who in range(3)]
        expected = [metrics.cohen_kappa_score(*pair) for pair in combinations(given, 2)]
        assert [pair["kappa"] for pair in agreement[grouping]["pairs"]] == pytest.approx(expected), grouping


def test_fleiss_kappa_of_published_examples():
    page = page_of_counts([list(map(int, row)) for row in PATIENTS.split()])
    fleiss = fleiss_of(page)
    assert fleiss == pytest.approx((0.556, 0.220, 0.430), abs=0.001)
    by_label = [fleiss_of(page, grouping=label)[2] for label in LABELS]
    assert by_label == pytest.approx([0.245, 0.245, 0.520, 0.471, 0.566], abs=0.001)
    fleiss = fleiss_of(page_of_counts(SUBJECTS))
    assert fleiss == pytest.approx((0.378, 0.213, 0.210), abs=0.0005)


def test_fleiss_kappa_by_its_definition():
    (page,) = random_pages(3, annotators=4)
    counts = np.array([[labels.count(label) for label in LABELS] for _, _, labels in page.by_block()])
    observed = ((counts**2).sum(axis=1) - 4).mean() / 12
    expected = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    fleiss = fleiss_of(page)
    assert fleiss == pytest.approx((observed, expected, (observed - expected) / (1 - expected)))


def test_kappas_by_hand():
    table = np.array([[45.0, 15.0], [25.0, 15.0]])
    assert cohen_kappa(table) == pytest.approx((0.1304, 0.60, 0.54), abs=0.0001)
    chance = 0.65**2 + 0.35**2
    assert fleiss_kappa(table[None]) == pytest.approx(((0.6 - chance) / (1 - chance), 0.6, chance))  # Scott's pi


labellings = st.integers(2, 4).flatmap(
    lambda annotators: st.lists(st.tuples(*[st.sampled_from([*LABELS, None])] * annotators), min_size=1, max_size=30)
)


@pytest.mark.slow
@given(labellings)
def test_kappa_is_defined_unless_all_agree_on_one_class(blocks):
    counted = [labels for labels in blocks if None not in labels]
    page = page_of(*zip(*blocks, strict=True))
    if not counted:
        with pytest.raises(DataError, match="no block that all annotators have labelled"):
            compared(page)
        return
    result = compared(page)
    for name, agreement in result["agreement"].items():
        class_of = {label: kind for kind, members in GROUPINGS[name].items() for label in members}
        one_class = len({class_of[label] for labels in counted for label in labels}) == 1
        assert (agreement["fleiss"]["kappa"] is None) == one_class
        for kappa in (agreement["fleiss"], *agreement["pairs"]):
            assert 0 <= kappa["observed"] <= 1
            assert kappa["observed"] == 1 or kappa["kappa"] is not None
            assert kappa["kappa"] is None or -1 - 1e-9 <= kappa["kappa"] <= 1 + 1e-9
    assert len(result["disagreements"]) == sum(len(set(labels)) > 1 for labels in counted)
    for row in result["disagreements"]:
        assert row["about_content"] is ("other" in row["labels"])
    json.dumps(result, allow_nan=False)


@pytest.mark.slow
@given(labellings, st.randoms())
def test_neither_the_order_of_annotators_nor_of_blocks_matters(blocks, random):
    if all(None in labels for labels in blocks):
        return
    shuffled = random.sample(blocks, len(blocks))
    turned = [labels[::-1] for labels in shuffled]
    one, other = (page_of(*zip(*labels, strict=True)) for labels in (blocks, turned))
    assert fleiss_of(one) == pytest.approx(fleiss_of(other))
    defined = [sorted(kappa for kappa in kappas_of(page) if kappa is not None) for page in (one, other)]
    assert defined[0] == pytest.approx(defined[1])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([P, P], (None, 1, 1)),  # chance alone would agree on everything
        ([P, H], (1, 1, 0.5)),
    ],
)
def test_kappa_of_annotators_who_agree(labels, expected):
    agreement = agreement_of(page_of(labels, labels))
    for kappa in (agreement["fleiss"], agreement["pairs"][0]):
        assert (kappa["kappa"], kappa["observed"], kappa["expected"]) == expected


def test_blocks_that_somebody_did_not_label_are_left_out():
    whole = page_of([H, P, O, None], [H, O, O, P], [H, P, None, P])
    part = page_of([H, P], [H, O], [H, P])
    assert kappas_of(whole) == kappas_of(part)
    scores = compared(whole)
    assert (scores["blocks_count"], scores["blocks_left_out"]) == (2, 2)
    (page,) = scores["pages"]
    assert (page["blocks"], page["left_out"], page["disagreements"]) == (2, 2, 1)
    assert [found["block"] for found in scores["disagreements"]] == [2]


def test_numbers_are_the_same_in_every_run():
    pages = [page_of([H, P, O], [H, O, O]), page_of([P, P, O], [H, P, O])]
    scores = compare_annotators(["one", "two"], pages)
    assert scores == compare_annotators(["one", "two"], pages, seed=1)
    assert scores["resampling"]["seed"] == 1


def test_one_annotator_is_not_enough(tea):
    with pytest.raises(DataError, match="at least two"):
        compare_annotators(["alone"], [page_of([P])])
    with pytest.raises(DataError):
        read_annotators(tea[:1])


# Intervals


def test_interval_comes_from_resampled_pages():
    pages = random_pages(2, pages=12, blocks=30)
    confusions = [agreement_of(page)["pairs"][0]["confusion"] for page in pages]
    tables = np.array([[[list(row.values()) for row in confusion.values()]] for confusion in confusions])
    random = np.random.default_rng(7)
    drawn = np.array([tables[random.integers(12, size=12)].sum(axis=0) for _ in range(4000)])
    agreement = agreement_of(*pages)
    cohen = cohen_kappa(drawn)[0][:, 0]
    for kappa, kappas in [(agreement["fleiss"], fleiss_kappa(drawn)[0]), (agreement["pairs"][0], cohen)]:
        assert kappa["interval"] == pytest.approx(np.quantile(kappas, [0.025, 0.975]), abs=0.01)
        assert kappa["interval"][0] < kappa["kappa"] < kappa["interval"][1]


def test_interval_of_equal_pages_is_their_kappa():
    (page,) = random_pages(4)
    fleiss = agreement_of(page, page, page)["fleiss"]
    assert fleiss["interval"] == pytest.approx([fleiss["kappa"], fleiss["kappa"]])
    assert agreement_of(page)["fleiss"]["interval"] is None  # a single page has none
    # Half of the resamples of two pages lack one page; one of the pages alone has no kappa.
    fleiss = agreement_of(page_of([P, P], [P, P]), page_of([H, P], [H, P]))["fleiss"]
    assert (fleiss["kappa"], fleiss["interval"]) == (1, None)


def test_seed_decides_the_interval():
    pages = random_pages(5, pages=8, blocks=20)
    one, same, other = (compared(*pages, seed=seed)["agreement"]["labels"]["fleiss"] for seed in (1, 1, 2))
    assert one == same
    assert one["interval"] != other["interval"]
    assert one["kappa"] == other["kappa"]


# Files


def write(path, *rows, split="block"):
    """Write an annotation file of labels and texts, each a paragraph."""
    lines = ["%victor-anno 1", "url:", "title:", "source:", "encoding:", f"split: {split}", ""]
    tags = "<html><body><p>"
    for label, text in rows:
        lines.append(f"{label}\t-\t{tags}\t {text}")
        tags = "</p><p>"
    lines.append("end\t-\t</p></body></html>\t")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def rows_of(labels, texts=("Tea", "Tea is a drink.", "Home", "Imprint")):
    names = {label[0]: label for label in LABELS} | {"?": "?"}
    return [(names[label], text) for label, text in zip(labels, texts, strict=False)]


def write_pages(directory, texts=("Tea", "Tea is a drink.", "Home", "Imprint"), **labels):
    """Write the page tea.anno of each annotator, given by name with the first letters of the labels."""
    return [write(directory / who / "tea.anno", *rows_of(given, texts)) for who, given in labels.items()]


@pytest.fixture
def tea(tmp_path):
    return write_pages(tmp_path, alice="hpoo", bob="hoop")


@pytest.fixture
def folders(tmp_path):
    """Three annotators of three pages, of which one lacks a page."""
    given = {"alice": ["hpoo", "hppo", "hloo"], "bob": ["hpoo", "hpoo", "hlop"], "carol": ["hpop", "hppo"]}
    for who, pages in given.items():
        for number, labels in enumerate(pages):
            write(tmp_path / who / "sub" / f"page-{number}.anno", *rows_of(labels))
    return [tmp_path / who for who in given]


agree = partial(victor, "agree", text=True)


def refused(*arguments):
    return refused_line(agree(*arguments))


def test_files_of_one_page(tea, tmp_path):
    annotators = read_annotators(tea)
    assert annotators.names == ("alice", "bob")
    texts = ("Tea", "Tea is a drink.", "Home", "Imprint")
    assert annotators.pages == (SharedPage("tea", texts, ((H, P, O, O), (H, O, O, P))),)
    text = tea[0].read_text().replace("title:", "title: Another").replace("url:", "url: https://example.org/")
    other = tmp_path / "carol.anno"  # another header does not matter
    other.write_text(text)
    assert read_annotators([*tea, other]).pages[0].labels[2] == (H, P, O, O)
    with pytest.raises(AnnotationError):
        read_annotators([tea[0], write(tmp_path / "other.anno", *rows_of("hp"))])


@pytest.mark.parametrize(
    ("paths", "names", "page"),
    [
        (("a.anno", "b.anno"), ("a.anno", "b.anno"), "a.anno"),
        (("one/anna/tea.anno", "two/anna/tea.anno", "two/bert/tea.anno"), ("one/anna", "two/anna", "two/bert"), "tea"),
    ],
)
def test_annotators_are_named_by_what_differs_in_their_paths(tmp_path, paths, names, page):
    annotators = read_annotators([write(tmp_path / path, *rows_of("hp")) for path in paths])
    assert (annotators.names, annotators.pages[0].name) == (names, page)


def test_blocks_without_a_label_are_left_out(tmp_path):
    files = write_pages(tmp_path, a="h?oo", b="hpo?")
    assert read_annotators(files).pages[0].labels == ((H, None, O, O), (H, P, O, None))
    ended = agree(*files)
    assert ended.returncode == 0
    assert "2 blocks that all of them labelled" in ended.stdout
    assert "Blocks left out because somebody did not label them: 2." in ended.stdout


def mark_as_predicted(path, *numbers):
    """Mark some blocks of a file as labelled by a model only."""
    head, rows = path.read_text().split("\n\n")
    lines = rows.split("\n")
    for number in numbers:
        lines[number - 1] = lines[number - 1].replace("\t-\t", "\t0.875\t")
    path.write_text(f"{head}\n\n" + "\n".join(lines))


def test_labels_given_only_by_a_model_do_not_count(tea, tmp_path):
    mark_as_predicted(tea[1], 2, 3)
    annotators = read_annotators(tea)
    assert annotators.pages[0].labels == ((H, P, O, O), (H, None, None, P))
    assert annotators.unconfirmed == (0, 2)
    ended = agree(*tea, "--json", tmp_path / "a.json")
    assert ended.returncode == 0
    assert "2 blocks that all of them labelled" in ended.stdout
    left_out = "Labels given only by a model are not counted: 2 of bob."
    assert left_out in ended.stdout
    assert "tea:2" not in ended.stdout
    scores = json.loads((tmp_path / "a.json").read_text())
    assert (scores["unconfirmed"], scores["with_models"]) == ({"alice": 0, "bob": 2}, False)
    for with_models, labels in ((False, (H, None, None, P)), (True, (H, O, O, P))):  # also when the page is cut again
        recut = read_annotators(tea, load_config("default"), with_models=with_models)
        assert recut.pages[0].labels[1] == labels


def test_model_may_be_an_annotator(tea):
    before = agree(*tea).stdout
    mark_as_predicted(tea[1], 1, 2, 3, 4)
    assert "the labels of bob are unconfirmed; count them with --with-models" in refused(*tea)
    ended = agree(*tea, "--with-models")
    assert "Labels given only by a model are counted: 4 of bob." in ended.stdout
    assert ended.stdout.partition("\n\n")[2] == before.partition("\n\n")[2]


def test_labels_of_models_are_added_up_over_folders(folders):
    for number in (0, 1):
        mark_as_predicted(folders[2] / "sub" / f"page-{number}.anno", 4)
    ended = agree(*folders)
    assert "1 of carol" not in ended.stdout
    assert "2 of carol." in ended.stdout
    assert "6 blocks that all of them labelled" in ended.stdout


def test_differently_split_page_is_refused_unless_split_again(tmp_path):
    """Both are rejected as they are, and match if both are cut again."""
    texts = "Tea", "Tea is <b>a</b> drink."
    whole = write(tmp_path / "a" / "tea.anno", *rows_of("hp", texts))
    pieces = tmp_path / "b" / "tea.anno"
    pieces.parent.mkdir()
    pieces.write_text(
        "%victor-anno 1\nsplit: every\n\n"
        "header\t-\t<html><body><p>\t Tea\nparagraph\t-\t</p><p>\t Tea is\ncontinuation\t-\t<b>\t a\n"
        "continuation\t-\t</b>\t drink.\nend\t-\t</p></body></html>\t\n"
    )
    error = refused(whole, pieces)
    assert f"{pieces}: the page was split differently from {whole} (2 and 4 blocks" in error
    assert "split at every tag, not at block-level tags" in error
    assert f"block 2 is 'Tea is a drink.' in {whole} and 'Tea is' in {pieces}" in error
    assert "--config" in error
    annotators = read_annotators([whole, pieces], load_config("default"))
    assert annotators.pages[0].labels == ((H, P), (H, P))
    assert agree(whole, pieces, "--config", "default").returncode == 0


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Tea", "Coffee", "Home", "Imprint"), "block 2 is 'Tea is a drink.' in {one} and 'Coffee' in {other}"),
        (("Tea", "Tea is a drink.", "Home"), "block 4 is 'Imprint' in {one} and missing in {other}"),
        (("Tea", "Tea is a drink.", "Home", "Imprint", "More"), "block 5 is missing in {one} and 'More' in {other}"),
        (("Tea", "Tea is a drink.", "Home", "\u202e&#27;[31m"), r"'\u202e\x1b[31m' in {other}"),
        (("Tea", "x" * 100, "Home", "Imprint"), "'" + "x" * 50 + "…' in {other}"),
    ],
)
def test_different_pages_are_refused(tmp_path, tea, texts, expected):
    other = write(tmp_path / "carol" / "tea.anno", *rows_of("hpool", texts))
    error = refused(*tea, other)
    assert f"{other}: not the same page as {tea[0]}" in error
    assert expected.format(one=tea[0], other=other) in error
    assert "give a folder for each annotator" in error


# The command


def test_printed_summary(tea):
    ended = agree(*tea)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("2 annotators, 1 page, 4 blocks that all of them labelled.\n")
    assert re.search(r"^five labels +0\.200 +– +50\.00 +37\.50$", ended.stdout, re.MULTILINE)
    assert re.search(r"^alice – bob +0\.200 +– +0\.000 ", ended.stdout, re.MULTILINE)
    assert "Disagreements: 2 blocks, 2 between content and noise." in ended.stdout
    assert "tea:2  paragraph  other      Tea is a drink.\n" in ended.stdout
    assert "tea:4  other      paragraph  Imprint\n" in ended.stdout
    assert "A single page has no interval." in ended.stdout


@pytest.mark.parametrize(("asked", "shown"), [("0", 0), ("1", 1), ("2", 2), ("all", 2), ("99", 2)])
def test_number_of_disagreements_shown(tea, tmp_path, asked, shown):
    ended = agree(*tea, "--disagreements", asked, "--json", tmp_path / "a.json", "-o", tmp_path / "report")
    assert len(re.findall(r"^tea:\d", ended.stdout, re.MULTILINE)) == shown
    assert len(re.findall(r"^\| tea \|", (tmp_path / "report" / "report.md").read_text(), re.MULTILINE)) == shown
    assert len(json.loads((tmp_path / "a.json").read_text())["disagreements"]) == 2


def test_ten_disagreements_are_shown_by_default(tmp_path):
    files = [write(tmp_path / f"{who}.anno", *[(label, "x")] * 30) for who, label in [("a", "list"), ("b", "other")]]
    out = agree(*files).stdout
    assert len(re.findall(r"^a\.anno:\d", out, re.MULTILINE)) == 10
    assert "Disagreements: 30 blocks, 30 between content and noise; these are the first 10." in out
    for count in ("-1", "many", "1.5"):
        ended = agree(*files, f"--disagreements={count}")
        assert ended.returncode == 2
        assert "a number or all" in ended.stderr


def test_files_of_folders_belong_together_by_name(folders):
    annotators = read_annotators(folders)
    assert annotators.names == ("alice", "bob", "carol")
    assert [page.name for page in annotators.pages] == ["sub/page-0", "sub/page-1"]
    assert annotators.refused == ()
    ended = agree(*folders)
    assert ended.returncode == 0
    assert ended.stderr == "agree: left out: sub/page-2: in alice, bob, not in carol\n"
    assert "3 annotators, 2 pages, 8 blocks" in ended.stdout
    assert "Pages left out because not all annotators have them: 1." in ended.stdout
    for pair in ("alice – bob", "alice – carol", "bob – carol"):
        assert re.search(rf"^{pair} +-?\d", ended.stdout, re.MULTILINE)


def test_unmatched_or_unreadable_page_is_left_out(folders, tmp_path):
    write(tmp_path / "bob" / "sub" / "page-1.anno", *rows_of("hp"))
    ended = agree(*folders, "--json", tmp_path / "a.json")
    assert ended.returncode == 1
    assert "page-1.anno: not the same page as" in ended.stderr
    assert "give a folder" not in ended.stderr
    assert "3 annotators, 1 page, 4 blocks" in ended.stdout
    scores = json.loads((tmp_path / "a.json").read_text())
    assert [page["name"] for page in scores["pages"]] == ["sub/page-0"]
    assert (len(scores["refused"]), len(scores["unpaired"])) == (1, 1)
    write(tmp_path / "bob" / "sub" / "page-1.anno", *rows_of("hpoo"))
    (tmp_path / "carol" / "sub" / "page-0.anno").write_bytes(b"\xff\xfe")
    ended = agree(*folders)
    assert ended.returncode == 1
    assert "page-0.anno: not an annotation file: it is not UTF-8" in ended.stderr


def test_json_has_every_number(folders, tmp_path):
    target = tmp_path / "new" / "a.json"
    assert agree(*folders, "--json", target, "--seed", "3").returncode == 0
    scores = json.loads(target.read_text())
    assert scores["annotators"] == ["alice", "bob", "carol"]
    assert scores["resampling"] == {"resamples": 2000, "seed": 3}
    assert set(scores["agreement"]) == {"labels", "content", *LABELS}
    for grouping in scores["agreement"].values():
        assert set(grouping["fleiss"]) == {"kappa", "interval", "observed", "expected"}
        pairs = [pair["annotators"] for pair in grouping["pairs"]]
        assert pairs == [["alice", "bob"], ["alice", "carol"], ["bob", "carol"]]
    pair = scores["agreement"]["labels"]["pairs"][0]
    assert pair["confusion"]["paragraph"] == {**dict.fromkeys(LABELS, 0), "paragraph": 2, "other": 1}
    assert pair["observed"] == pytest.approx(7 / 8)
    disagreement = {"page": "sub/page-0", "block": 4, "text": "Imprint", "labels": ["other", "other", "paragraph"]}
    assert scores["disagreements"][0] == {**disagreement, "about_content": True}
    assert scores["agreement"]["other"]["fleiss"] == scores["agreement"]["content"]["fleiss"]


def test_report_has_every_table(folders, tmp_path):
    assert agree(*folders, "-o", tmp_path / "report").returncode == 0
    report, page = ((tmp_path / "report" / name).read_text() for name in ("report.md", "report.html"))
    for title in (
        *("All annotators: Fleiss' kappa", "Pairs: Cohen's kappa"),
        *("bob – carol: five labels", "bob – carol: content/noise", "Pages", "Disagreements"),
    ):
        assert f"\n## {title}\n" in report
        assert f"<h2>{title.replace(chr(39), '&#x27;')}</h2>" in page
    assert "| paragraph | 0 | 2 | 0 | 0 | 1 |" in report
    assert json.loads((tmp_path / "report" / "scores.json").read_text())["pages_count"] == 2


def test_hostile_page_harms_neither_terminal_nor_report(tmp_path):
    text = "&#27;[31mred &#8238;turned | &lt;script&gt;alert(1)&lt;/script&gt;"
    for who, label in [("a", "header"), ("b", "other")]:
        write(tmp_path / who / "\x1b[2J<b>|.anno", (label, text), ("other", "Home"))
    write(tmp_path / "a" / "\x1b[2J.anno", *rows_of("hp"))  # only one annotator has it
    ended = agree(tmp_path / "a", tmp_path / "b", "-o", tmp_path / "report")
    assert ended.returncode == 0
    written = [(tmp_path / "report" / file).read_text() for file in ("report.md", "report.html")]
    for shown in (ended.stdout, ended.stderr, *written):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert "⟨U+001B⟩[31mred ⟨U+202E⟩turned" in ended.stdout
    assert "⟨U+001B⟩[2J: in a" in ended.stderr
    assert not any("<script>" in shown for shown in written)


def test_wrong_usage(tmp_path, tea, folders):
    missing, empty = tmp_path / "missing.anno", tmp_path / "empty"
    empty.mkdir()
    assert "at least two annotators" in refused(tea[0])
    assert f"{missing}: no such file or folder" in refused(tea[0], missing)
    assert "given twice" in refused(tea[0], tea[1], tea[0])
    assert "given twice" in refused(tea[0], tea[0].parent / ".." / "alice" / "tea.anno")
    assert "is a folder and" in refused(tea[0], folders[1])
    assert f"{empty}: no annotation files (*.anno) in this folder" in refused(folders[0], empty)
    assert "unknown label" in refused(tea[0], write(tmp_path / "x.anno", ("nonsense", "Tea")))
    assert "nosuch" in refused(*tea, "--config", "nosuch")
    assert "is a file; a report needs a directory" in refused(*tea, "-o", tea[0])
    assert "is a directory; name a file" in refused(*tea, "--json", empty)
    assert "--seed" in refused(*tea, "--seed", "-1")


def test_nothing_to_compare(tmp_path, folders):
    other = tmp_path / "dora"
    write(other / "another.anno", *rows_of("hp"))
    assert "files of the same page must have the same name" in refused(folders[0], other)
    unlabelled = write_pages(tmp_path, e="h?", f="?p")
    assert "no block that all annotators have labelled" in refused(*unlabelled)


def test_agree_as_a_process(tea):
    ended = victor_process("agree", *tea, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, agree(*tea).stdout, "")
    assert refused(tea[0]).startswith("agree: agreement needs at least two annotators")


@pytest.mark.slow
def test_example_of_the_documentation(tmp_path):
    text = (ROOT / "docs" / "guides" / "agreement.md").read_text()
    commands = [line.split() for line in text.partition("```sh\n")[2].partition("```")[0].splitlines()]
    assert [command[:2] for command in commands] == [["victor", "clean"], ["victor", "agree"]]
    for _, *arguments in commands:
        placed = [str(tmp_path / argument) if argument in {"model/", "report/"} else argument for argument in arguments]
        ended = victor(*placed, cwd=ROOT)
        assert ended.returncode == 0, ended.stderr
    assert b"2 annotators, 48 pages" in ended.stdout
    assert (tmp_path / "report" / "report.html").is_file()


@pytest.mark.parametrize(("count", "resamples"), [(1, 0), (2, RESAMPLES)])
def test_intervals_need_two_pages(count, resamples):
    pages = [page_of([P, P], [P, P])] * count
    assert compare_annotators(["one", "two"], pages)["resampling"] == {"resamples": resamples, "seed": 1}


# Of eight pages, each resample leaves out those with noise with a chance of (1 - share)**8: 10 % and 2 %.
@pytest.mark.parametrize(("with_noise", "interval"), [(2, None), (3, [1.0, 1.0])])
def test_interval_needs_a_kappa_for_95_of_100_resamples(with_noise, interval):
    pages = [page_of([H, O if number < with_noise else H], [H, O if number < with_noise else H]) for number in range(8)]
    assert agreement_of(*pages, grouping="content")["fleiss"]["interval"] == interval


def test_intervals_of_a_few_pages():
    agreement = agreement_of(*random_pages(7, annotators=3, pages=6, blocks=20))
    assert agreement["fleiss"]["interval"] == pytest.approx([0.418809, 0.586264], abs=1e-5)
    assert agreement["pairs"][0]["interval"] == pytest.approx([0.479358, 0.68682], abs=1e-5)
