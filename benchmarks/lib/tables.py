"""CPU times, and tables to print them in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def cpu_seconds(function: Callable[[Item], Result], items: Sequence[Item]) -> tuple[float, list[Result]]:
    """Call a function for each item; return the CPU seconds of all calls, and their results."""
    started = time.process_time()
    results = [function(item) for item in items]
    return time.process_time() - started, results


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a Markdown table. All columns but the first are aligned to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
