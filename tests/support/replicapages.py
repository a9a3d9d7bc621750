"""Helpers for tests of replicas: made-up news stories, and sites that print them."""

from __future__ import annotations

import json
import random
from pathlib import Path

SUBJECTS = "the mayor|a farmer|the orchestra|a ferry|the library|an engineer|the museum|a baker|the harbour|a teacher"
VERBS = "repaired|painted|opened|visited|measured|praised|moved|counted|described|lost|sold|planted|carried|cleaned"
OBJECTS = (
    "an old bridge|the town clock|seven boats|a wooden tower|the northern gate|some apple trees|a silver bell|two maps|"
    "the winter market|a long letter|the railway line|three violins|a garden wall|the lighthouse|forty chairs"
)
ENDINGS = "before noon|in heavy rain|without a word|for the last time|near the river|on a Tuesday|after the feast"


def story(number: int, sentences: int = 12) -> list[str]:
    """The sentences of a story; another number gives another story."""
    chance = random.Random(number)

    def sentence() -> str:
        parts = [chance.choice(words.split("|")) for words in (SUBJECTS, VERBS, OBJECTS, ENDINGS)]
        return f"{parts[0].capitalize()} {' '.join(parts[1:])}, and {chance.randrange(10_000)} people saw it."

    return [sentence() for _ in range(sentences)]


def page(sentences: list[str], site: str = "courier") -> str:
    """A page of a site: its own menu and footer around the story, two sentences in a paragraph."""
    links = "".join(f"<li><a href='/{site}/{name}'>{site} {name}</a></li>" for name in ("home", "sport", "arts"))
    paragraphs = "".join(f"<p>{' '.join(sentences[at : at + 2])}</p>" for at in range(0, len(sentences), 2))
    return (
        f"<html lang='en'><title>{sentences[0]}</title><body><ul class='nav'>{links}</ul>"
        f"<div class='text'>{paragraphs}</div>"
        f"<div class='footer'><a href='/terms'>Terms of {site}</a> <a href='/imprint'>Imprint</a></div></body></html>"
    )


def write_lines(path: Path, pages: list[str]) -> Path:
    """Write pages as lines of JSON."""
    records = ({"url": f"http://news.example/{number}", "html": html} for number, html in enumerate(pages))
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def planted(count: int) -> tuple[list[str], dict[int, int]]:
    """Return pages and the replicas among them: every third story again, on another site or one sentence longer."""
    pages = [page(story(number), "courier") for number in range(count)]
    repeats: dict[int, int] = {}
    for number in range(0, count, 3):
        repeats[len(pages)] = number
        longer = ["The editors are sorry that this comes late."] if number % 2 else []
        pages.append(page(story(number) + longer, "gazette"))
    return pages, repeats
