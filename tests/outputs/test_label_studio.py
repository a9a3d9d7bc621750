"""Tasks for Label Studio, and the annotations that come back."""

import json

import pytest
from support.commands import victor

from victorpy import CleanPage, Label, load_config, read_document
from victorpy.errors import AnnotationError
from victorpy.outputs.anno import load_anno, write_anno
from victorpy.outputs.label_studio import read_tasks

CUTS = load_config("default").cuts


def page_of(*labels, by_method=False):
    document = read_document(
        "<title>T</title><h1>Tea \U0001f375</h1><p>Tea &lt; <b>hot</b>.</p><p>Menu</p>", load_config("default")
    )
    return CleanPage(document, tuple(map(Label, labels)), by_method=by_method)


def exported(*values, **data):
    task = json.loads(page_of("other", "other", "other").to("label-studio"))[0]
    results = [{"value": {"start": f"/p[{first}]/text()[1]", "end": f"/div[1]/p[{last}]/b[1]/text()[1]",
                          "hypertextlabels": [label]}} for first, last, label in values]  # fmt: skip
    return json.dumps([{**task, "annotations": [{"result": []}, {"result": [*results, {"type": "relation"}]}], **data}])


def test_task_has_paragraphs_and_ranges():
    (task,) = json.loads(page_of("header", "paragraph", "other").to("label-studio"))
    assert task["data"]["html"] == "<p>Tea \U0001f375</p><p>Tea &lt; hot.</p><p>Menu</p>"
    values = [result["value"] for result in task["annotations"][0]["result"]]
    assert [(value["start"], value["endOffset"], value["hypertextlabels"]) for value in values] == [
        ("/p[1]/text()[1]", 6, ["header"]),
        ("/p[2]/text()[1]", 10, ["paragraph"]),
    ]
    assert "predictions" in json.loads(page_of("header", "paragraph", "other", by_method=True).to("label-studio"))[0]


def test_task_gives_back_the_annotation():
    page = page_of("header", "paragraph", "other")
    assert [*read_tasks(page.to("label-studio"), CUTS, "x")] == [write_anno(page)]


def test_on_large_pages_neighbours_share_a_range():
    labels = ["header", *["paragraph"] * 9_999, "list", "list", "other", "list"]
    for count in (10_000, 10_004):
        document = read_document("".join(f"<p>Tea {number}</p>" for number in range(count)), load_config("default"))
        page = CleanPage(document, tuple(map(Label, labels[:count])))
        text = page.to("label-studio")
        (task,) = json.loads(text)
        values = [result["value"] for result in task["annotations"][0]["result"]]
        places = [(value["start"], value["end"], value["endOffset"]) for value in values]
        if count == 10_000:
            assert len(places) == count
        else:
            assert places == [
                ("/p[1]/text()[1]", "/p[1]/text()[1]", 5),
                ("/p[2]/text()[1]", "/p[10000]/text()[1]", 8),
                ("/p[10001]/text()[1]", "/p[10002]/text()[1]", 9),
                ("/p[10004]/text()[1]", "/p[10004]/text()[1]", 9),
            ]
        assert [*read_tasks(text, CUTS, "x")] == [write_anno(page)]


def test_range_labels_all_its_blocks_and_the_last_annotation_counts():
    (text,) = read_tasks(exported((1, 2, "paragraph"), (3, 9_999_999, "list")), CUTS, "x")
    assert [line.split("\t")[0] for line in text.splitlines() if "\t" in line] == [
        "paragraph",
        "paragraph",
        "list",
        "end",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "x: not JSON"),
        ("[" * 100_000, "x: not JSON"),
        ("[1]", "task 1: not a task"),
        (exported(annotations=[]), "it has no annotation"),
        (exported((1, 1, "heading")), "'heading' from"),
        (exported((1, 1, ["header"])), "from"),
        (exported((1, 1, {})), "from"),
        (exported(data={"anno": "nonsense"}), "task 1"),
    ],
)
def test_wrong_exports_are_reported(text, message):
    with pytest.raises(AnnotationError, match=message):
        [*read_tasks(text, CUTS, "x")]


def test_convert_writes_tasks_and_reads_them_back(tmp_path):
    page = page_of("header", "paragraph", "other")
    (tmp_path / "annotated").mkdir()
    (tmp_path / "annotated" / "tea.anno").write_text(write_anno(page))
    to_tasks = ("convert", "--from", "anno", "annotated", "tasks", "--to", "label-studio")
    assert victor(*to_tasks, cwd=tmp_path).returncode == 0
    assert victor("convert", "--from", "label-studio", "tasks", "back", cwd=tmp_path).returncode == 0
    assert load_anno(tmp_path / "back" / "tea.anno", CUTS).labels == page.labels
    assert victor("convert", "--from", "label-studio", "tasks/tea.json", "one", cwd=tmp_path).returncode == 0
    assert load_anno(tmp_path / "one" / "tea.anno", CUTS).labels == page.labels
    (tmp_path / "tasks" / "broken.json").write_text("{")
    ended = victor("convert", "--from", "label-studio", "tasks", "back", cwd=tmp_path)
    assert ended.returncode == 1
    assert b"broken.json: not JSON" in ended.stderr
    assert victor("convert", "--from", "label-studio", "back", "more", cwd=tmp_path).returncode == 2
