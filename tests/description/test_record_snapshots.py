"""Snapshots of DocView records: the sample pages with the labels that a person chose."""

import json
from dataclasses import replace

import pytest
from support.snapshots import SAMPLES, check, digest, name_of

from victorpy import load_config
from victorpy.description.record import Parameters, describe
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
