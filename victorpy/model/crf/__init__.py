"""A conditional random field: trained by sklearn-crfsuite, evaluated from tables of its weights."""

from collections.abc import Callable, Mapping
from typing import Any

Progress = Callable[[Mapping[str, Any]], None]
"""Called after each iteration of training with crfsuite's report: num, loss, time ..."""
