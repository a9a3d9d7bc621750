"""Snapshots of the bundled models: what they keep of the sample pages, and with which probabilities."""

import pytest
from support.engines import without_core
from support.randompages import batch
from support.snapshots import SAMPLES, check, kept, name_of, runs

from victorpy import Cleaner, Parts

COURIER = [path for path in SAMPLES if path.stem.startswith(("courier", "pike"))]


def summary(page):
    return {
        "labels": kept(page.labels),
        "confidence": [round(page.confidence, 4)],
        "content": [round(each, 3) for each in page.content],
        "losses": "; ".join(page.document.losses),
    }


@pytest.fixture(scope="module", params=["default", "cleaneval"])
def cleaner(request):
    return Cleaner.load(request.param)


@pytest.mark.parametrize("path", SAMPLES[::2], ids=name_of)
def test_models(cleaner, path):
    check(f"model-{cleaner.name}", name_of(path), summary(cleaner.document(path.read_bytes())), 3e-3)


@pytest.fixture(scope="module")
def by_favor():
    return {favor: Cleaner.load(favor=favor) for favor in ("balanced", "precision", "recall")}


@pytest.mark.parametrize("path", SAMPLES[::16], ids=name_of)
def test_models_without_the_core(cleaner, path, monkeypatch):
    without_core(monkeypatch)
    check(f"model-{cleaner.name}", name_of(path), summary(cleaner.document(path.read_bytes())), 3e-3)


@pytest.mark.parametrize("path", SAMPLES[1::4], ids=name_of)
def test_favors(by_favor, path):
    pages = {favor: cleaner.document(path.read_bytes()) for favor, cleaner in by_favor.items()}
    check("favors", name_of(path), {favor: kept(page.labels) for favor, page in pages.items()})


@pytest.mark.parametrize("path", SAMPLES, ids=name_of)
def test_roles(by_favor, path):
    parts = Parts.of(["roles", "comments", "tags", "captions", "byline"])
    page = by_favor["balanced"].document(path.read_bytes(), parts=parts)
    check("roles", name_of(path), {"labels": kept(page.labels), "roles": runs(page.roles, without="body")})


@pytest.fixture(scope="module")
def at_site():
    cleaner = Cleaner.load("site")
    pages = [cleaner.document(path.read_bytes()).document for path in COURIER]
    return cleaner.at_site(pages)


@pytest.mark.parametrize("path", COURIER[::2], ids=name_of)
def test_site_model(at_site, path):
    check("model-site", name_of(path), summary(at_site.document(path.read_bytes())), 3e-3)


@pytest.mark.parametrize("number", range(26, 42))
def test_random_pages(by_favor, number):
    parts, found = Parts.of(["roles"]), {}
    for name, html in batch(number).items():
        page = by_favor["balanced"].document(html, parts=parts)
        found[name] = f"{kept(page.labels)}; {runs(page.roles, without='body')}"
        others = [by_favor[favor].document(html).labels for favor in ("precision", "recall")]
        found[f"{name}, other favors"] = "; ".join(map(kept, others))
    check("random-labels", f"pages {number}", found)
