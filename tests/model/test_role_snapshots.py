"""Snapshots of roles by rules and of the parts of a page, on random pages with labels that depend on no model."""

import random
import re
from dataclasses import replace

import pytest
from support.randompages import batch, some_kept
from support.snapshots import check, digest, kept, runs

from victorpy import ConfigError, Parts
from victorpy.methods import load_method
from victorpy.model.parts import HEADLINES, PARTS, ROLES, choose_parts, drop_by_default
from victorpy.model.roles import assign_roles

CHOICES = {
    **{f"with {name}": Parts.of(include=name) for name in ROLES},
    **{f"without {name}": Parts.of(exclude=name) for name in PARTS},
    **{f"headline {name}": Parts.of(headline=name) for name in HEADLINES},
}


@pytest.fixture(scope="module")
def cleaner():
    return load_method("everything")


def read(cleaner, name, html):
    """Return a page with random labels, probabilities and confidence."""
    page = cleaner.document(html, f"https://tea.example/{name}")
    chance, labels = random.Random(name), some_kept(page.document, name, 0.2)
    content = tuple(chance.choice([0.1, 0.4, 0.5, 0.6, 0.9]) for _ in labels)
    sure = tuple(1 - share if label == "other" else share for share, label in zip(content, labels, strict=True))
    confidence = chance.choice([None, 0.89, 0.9, 1.0])
    return replace(page, labels=labels, content=content, probabilities=sure, confidence=confidence)


def written(page):
    images = kept(page.image_labels) if page.image_labels else ""
    return f"{kept(page.labels)}; {page.probabilities}; {images}; {page.spans}; {sorted(page.without)}"


@pytest.mark.parametrize("number", range(100, 120))
def test_random_pages(cleaner, number):
    pages = [read(cleaner, name, html) for name, html in batch(number).items()]
    roles = [assign_roles(page.document, page.labels) for page in pages]
    defaults = [drop_by_default(page, Parts.of(include)) for page in pages for include in ("", "byline", "comments")]
    found = {"defaults": "\n".join(map(written, defaults))}
    for name, parts in CHOICES.items():
        found[name] = "\n".join(written(choose_parts(page, parts)) for page in pages)
    shown = {f"roles {place}": runs(its_roles, without="body") for place, its_roles in enumerate(roles)}
    check("parts-of-random-pages", f"pages {number}", shown | {name: digest(text) for name, text in found.items()})


@pytest.mark.parametrize(
    ("include", "exclude", "headline", "expected"),
    [
        ("", "", "", ""),
        ("headline", "", "", "always"),
        ("", "headline", "", "never"),
        ("headline", "", "always", "always"),
        ("", "headline", "never", "never"),
        ("tags", "links", "model", "model"),
    ],
)
def test_headline_may_be_chosen_in_two_ways(include, exclude, headline, expected):
    parts = Parts.of(include, exclude, headline)
    assert parts.headline == expected
    assert "headline" not in parts.included | parts.excluded
    names = {"include": sorted({include} - {"", "headline"}), "exclude": sorted({exclude} - {"", "headline"})}
    assert parts.identity() == names | {"headline": expected}


@pytest.mark.parametrize(
    ("include", "exclude", "headline", "message"),
    [
        ("headline", "", "never", "headline=never contradicts the choice of parts"),
        ("", "headline", "model", "headline=model contradicts the choice of parts"),
        ("tags", "tags", "", "tags cannot be both included and excluded"),
        ("", "", "alwys", "headline must be one of always, never, model, not 'alwys' (did you mean 'always'?)"),
        ("tgs", "", "", "unknown part 'tgs' (did you mean 'tags'?)"),
    ],
)
def test_choices_that_contradict_each_other_are_refused(include, exclude, headline, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        Parts.of(include, exclude, headline)


@pytest.mark.parametrize(("content", "probabilities"), [((), ()), ((), (0.9, 0.8, 0.7)), ((0.9, 0.2, 0.7), ())])
def test_pages_without_some_probabilities_have_parts_too(cleaner, content, probabilities):
    page = cleaner.document("<h1>Tea</h1><p>Tea is hot and wet.<pre>brew</pre>")
    page = replace(page, content=content, probabilities=probabilities)
    chosen = choose_parts(page, Parts.of(exclude="code"))
    assert [label.is_content for label in chosen.labels] == [True, True, False]
    assert (chosen.content, chosen.probabilities) == (content, probabilities)
