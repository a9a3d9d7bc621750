"""Snapshots of DocView records: the sample pages with the labels that a person chose, and random pages."""

import json
from dataclasses import replace

import pytest
from support.randompages import batch, some_kept
from support.snapshots import SAMPLES, check, digest, name_of

from victorpy import load_config
from victorpy.description.record import Parameters, area_of_content, describe
from victorpy.description.tag_tree import TagTree, Thresholds, content_tree
from victorpy.description.weights import block_weights, feature_vector, topic_blocks
from victorpy.methods import load_method
from victorpy.outputs.anno import load_annotation

READABLE = {"type", "title", "keywords", "author", "date", "language", "site_name", "losses"}


@pytest.mark.parametrize("path", SAMPLES, ids=name_of)
def test_records(path):
    labels = load_annotation(path.with_suffix(".anno"), load_config("default").cuts).labels
    page = load_method("everything").document(path.read_bytes(), f"https://a.example/{path.stem}", metadata=True)
    record = describe(replace(page, labels=labels), Parameters(keywords=6)).fields()
    written = {name: json.dumps(value, ensure_ascii=False) for name, value in record.items() if value}
    found = {name: text if name in READABLE else digest(text) for name, text in written.items()}
    check("records", name_of(path), found)


@pytest.fixture(scope="module")
def everything():
    return load_method("everything")


def rounded(numbers):
    return ",".join(f"{number:.6f}" for number in numbers)


@pytest.mark.parametrize("number", range(50, 62))
def test_random_pages(everything, number):
    written = []
    for name, html in batch(number).items():
        page = everything.document(html, f"https://tea.example/{name}", metadata=True)
        page = replace(page, labels=some_kept(page.document, name))
        whole, content = TagTree(page.document), content_tree(page)
        vector = feature_vector(content, "en")
        trees = [
            *("/".join(node.type(Thresholds()) for node in whole.nodes), whole.central, whole.in_menu),
            *(rounded(block_weights(whole, topic_blocks(whole))), rounded(sorted(vector.values()))),
            *(area_of_content(whole, content), rounded(whole.shares(Thresholds()).values())),
        ]
        written.append([*describe(page, Parameters(keywords=6, beta=0.05)).fields().items(), *trees])
    kinds = ["record"] * len(written[0][:-7]) + ["types", "central", "menu", "weights", "vector", "area", "shares"]
    found = {}
    for kind, values in zip(kinds, zip(*written, strict=True), strict=True):
        found[values[0][0] if kind == "record" else kind] = digest(json.dumps(values, ensure_ascii=False))
    check("random-records", f"pages {number}", found)
