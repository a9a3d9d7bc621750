"""Snapshots of all features on whole pages: the sum of each, and the sum weighted by position."""

import re

import numpy as np
import pytest
from support.engines import without_core
from support.randompages import batch
from support.snapshots import ROOT, SAMPLES, SMALL, check, name_of

from victorpy import load_config, read_document
from victorpy.base.textformat import expand
from victorpy.columns import Columns
from victorpy.features import FEATURES, find_feature
from victorpy.sites.statistics import SiteStatistics

COURIER = [path for path in SAMPLES if path.stem.startswith("courier")]

SHIPPED = {name for name in FEATURES if "*" not in name}  # before other tests add features of their own


def feature_names():
    lines = [line for path in ROOT.glob("templates/*.tpl") for line in path.read_text().splitlines()]
    items = (item for line in lines if line.startswith("%x") for item in expand(line))
    used = {name for item in items for name in re.findall(r"%x\[[-\d]+,([^\]]+)\]", item)}
    names = used | SHIPPED | {*load_config("cleaneval").get("crf-features")}
    return sorted(names - {"evidence"})


def sums(columns, name):
    feature = find_feature(name)
    assert feature is not None, name
    values = np.asarray(feature.column(columns, name), dtype=float)
    place = np.linspace(0, 1, len(values), endpoint=False)
    return [float(f"{total:.7g}") for total in (values.sum(), values @ place)]


@pytest.mark.parametrize(
    ("path", "config"),
    [*((path, "cleaneval") for path in SMALL[1::2]), *((path, "default") for path in [*SMALL[::2], *SAMPLES[3::9]])],
    ids=lambda value: value if isinstance(value, str) else name_of(value),
)
@pytest.mark.parametrize("engine", ["native", "python"])
def test_features(path, config, engine, monkeypatch):
    if engine == "python":
        without_core(monkeypatch)
    columns = Columns(read_document(path.read_bytes(), load_config(config)), load_config(config))
    found = {name: sums(columns, name) for name in feature_names()}
    check("features", f"{name_of(path)}, {config}", {name: pair for name, pair in found.items() if any(pair)}, 1e-5)


def test_site_features():
    config = load_config("site")
    documents = [read_document(path.read_bytes(), config) for path in COURIER]
    statistics = SiteStatistics(documents)
    for path, document in zip(COURIER, documents, strict=True):
        columns = Columns(document, config, statistics.columns(document))
        found = {name: sums(columns, name) for name in feature_names() if name.startswith("site.")}
        check("features", f"{name_of(path)}, site", found, 1e-5)


@pytest.mark.parametrize("number", [200, 201])
@pytest.mark.parametrize("engine", ["native", "python"])
def test_random_pages(number, engine, monkeypatch):
    if engine == "python":
        without_core(monkeypatch)
    config = load_config("default")
    pages = [Columns(read_document(html, config), config) for html in batch(number, 6).values()]
    found = {}
    for name in feature_names():
        pairs = np.array([sums(page, name) for page in pages])
        found[name] = [float(f"{total:.7g}") for total in (*pairs.sum(axis=0), *(pairs.T @ range(6)))]
    check("features", f"random pages {number}", {name: values for name, values in found.items() if any(values)}, 1e-5)
