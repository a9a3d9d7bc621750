"""Find the replicas among the records of a run, and change their outcomes.

Workers sign the texts (`batch/outcome.py`). When all records are cleaned, `decide_records` passes over them once, in
the order of the input, and writes the decisions to a small database, which `open_decisions` reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from victorpy.batch.outcome import Outcome, describe_place
from victorpy.batch.plan import Dedup
from victorpy.batch.record import Record, Status
from victorpy.dedup.base import Signed
from victorpy.dedup.find import Index, Loss, open_database
from victorpy.dedup.pages import split_paragraphs

INDEX = ".replicas.sqlite"
"""Index of the kept texts in an output directory. A retry compares its texts with them."""
DECISIONS = "decisions.sqlite"
"""Database with the decisions of a run, which is read while the output is written."""
PARAGRAPH_BITS = 14
"""Up to 2^14 paragraphs of a page are compared."""


def decide_records(
    dedup: Dedup,
    records: Iterable[tuple[Record, Outcome]],
    directory: Path,
    index: Path | None,
    run: str,
    site_key: str,
) -> list[Loss]:
    """Find the replicas and write the decisions to a directory, unless this was done before.

    Returns the sites that lose many of their pages or, if paragraphs are compared, all paragraphs as one site. `index`
    contains the kept texts of earlier runs, and those of this run are added. `run` is the name of this run. An
    interrupted run does not repeat completed steps.
    """
    number_of_run = int(run.split("-")[1]) if run else 0  # `run` is a prefix such as retry-1-
    with open_database(index or directory / INDEX, directory / DECISIONS) as database:
        texts = Index(database, dedup.detector(), dedup.keep, number_of_run)
        texts.add(_signed_texts(records, site_key))
        texts.decide()
        if not database.execute("select 1 from work.sqlite_master where name = 'changed'").fetchone():
            database.execute("create table work.changed (number integer primary key, decision text)")
            in_page = (1 << PARAGRAPH_BITS) - 1
            for number, group in groupby(texts.replicas(), key=lambda replica: replica[0] >> PARAGRAPH_BITS):
                repeats = list(group)
                parts = [text_number & in_page for text_number, _ in repeats]
                decision = json.dumps(parts) if dedup.by_paragraph else repeats[0][1]
                database.execute("insert into changed values (?, ?)", (number, decision))
            database.execute("commit")
        return [texts.all_losses()] if dedup.by_paragraph else texts.losses()


def _signed_texts(records: Iterable[tuple[Record, Outcome]], site_key: str) -> Iterator[tuple[int, Signed, str, str]]:
    for number, (record, outcome) in enumerate(records):
        description = json.dumps(describe_place(record, outcome)) if outcome.signed else ""
        for part, signed in enumerate(outcome.signed[: 1 << PARAGRAPH_BITS]):
            if signed.signature:
                yield (number << PARAGRAPH_BITS) + part, signed, record.site(site_key), description


@contextmanager
def open_decisions(dedup: Dedup, directory: Path) -> Iterator[Callable[[int, Outcome], Outcome]]:
    """Return a function that maps the number and outcome of a record to its final outcome."""
    with open_database(directory / DECISIONS) as database:

        def apply(number: int, outcome: Outcome) -> Outcome:
            found = database.execute("select decision from changed where number = ?", (number,)).fetchone()
            return decided(dedup, outcome, found[0]) if found else outcome

        yield apply


def decided(dedup: Dedup, outcome: Outcome, decision: str) -> Outcome:
    """Return the outcome of a replica, or of a page without its repeated paragraphs. `decision` is JSON."""
    if not dedup.by_paragraph:
        replica = replace(outcome, status=Status.REPLICA, repeats=json.loads(decision), signed=())
        return replace(replica, text="", columns={}) if dedup.drop else replica
    repeated = set(json.loads(decision))
    kept = [text for number, text in enumerate(split_paragraphs(outcome.text)) if number not in repeated]
    loss = "1 paragraph repeats another paragraph of the run"
    if len(repeated) > 1:
        loss = f"{len(repeated)} paragraphs repeat other paragraphs of the run"
    text = "\n\n".join(kept) + "\n" if kept else ""
    status = outcome.status if kept else Status.EMPTY
    return replace(outcome, status=status, text=text, losses=(*outcome.losses, loss), signed=())


def dedup_summary(dedup: Dedup, losses: Iterable[Loss]) -> dict[str, Any]:
    """Return the part of a run's summary about deduplication, with a warning for each site that loses many pages."""
    if dedup.by_paragraph:
        dropped = "".join(f"; dropped {loss.replicas:,} of {loss.pages:,} paragraphs" for loss in losses)
        return {"dedup": f"{dedup}{dropped}", "warnings": []}
    warnings = [
        f"{loss.site or 'pages without an address'}: {loss.replicas:,} of {loss.pages:,} pages are replicas "
        f"({loss.replicas / loss.pages:.0%}); check them in the list of replicas"
        for loss in losses
    ]
    return {"dedup": str(dedup), "warnings": warnings}
