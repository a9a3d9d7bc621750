"""A conditional random field. sklearn-crfsuite trains it, and tables of its weights are used to evaluate it."""

from collections.abc import Callable, Mapping
from typing import Any

Progress = Callable[[Mapping[str, Any]], None]
"""Called after each iteration of training with crfsuite's report: num, loss, time ..."""
