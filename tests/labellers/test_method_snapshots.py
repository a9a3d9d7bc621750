"""Snapshots of methods without training: what they keep of pages of three sites."""

import pytest
from support.randompages import site as random_site
from support.sitepages import site_page
from support.snapshots import SAMPLES, check, digest, kept

from victorpy import load_config, read_document
from victorpy.labellers import LABELLERS
from victorpy.methods import load_method

SITES = {name: [path.read_text() for path in SAMPLES if path.stem.startswith(name)] for name in ("courier", "pike")}
SITES["made-up"] = [site_page(number, template) for template in ("news", "shop") for number in range(8)]
SITES |= {f"random {number}": random_site(number) for number in range(3)}
METHODS = [(name, ()) for name in LABELLERS if name != "everything"]
METHODS += [("sst", ("styles=paper", "local=words")), ("docview", ("central=true",)), ("rtdm", ("names=true",))]


@pytest.fixture(scope="module", params=SITES)
def site(request):
    return request.param, [read_document(page, load_config("blocks")) for page in SITES[request.param]]


@pytest.mark.parametrize(("name", "settings"), METHODS)
def test_methods(site, name, settings):
    site_name, documents = site
    cleaner = load_method(name, settings).at_site(documents)
    labellings = [cleaner.labeller.label(document) for document in documents]
    pages = {f"page {number}": kept(each.labels) for number, each in enumerate(labellings)}
    scores = [probability for each in labellings for probability in each.content]
    check(
        "methods",
        f"{' '.join([name, *settings])}, {site_name}",
        {**pages, "content": [round(each, 3) for each in scores]},
    )


@pytest.mark.parametrize("number", range(10, 20))
def test_random_sites(number):
    documents = [read_document(page, load_config("blocks")) for page in random_site(number, 2 + number % 6)]
    found = {}
    for name, settings in METHODS:
        labeller = load_method(name, settings).at_site(documents).labeller
        labellings = [labeller.label(document) for document in documents]
        content = [round(share, 3) for each in labellings for share in each.content]
        found[" ".join([name, *settings])] = digest(f"{[kept(each.labels) for each in labellings]} {content}")
    check("methods-of-random-sites", f"site {number}", found)
