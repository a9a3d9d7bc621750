"""Tables of cases in tests/cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[1] / "cases"


def read_cases(file: str, table: str | None = None) -> list[Any]:
    """Read the cases of a JSON file, or of one of its tables."""
    cases = json.loads((CASES / file).read_text(encoding="utf-8"))
    return cases[table] if table else cases
