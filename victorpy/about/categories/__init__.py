"""Categories: which of the user's own topics a page is of (section 7.1 of the paper)."""

from victorpy.about.categories.classifiers import CLASSIFIERS
from victorpy.about.categories.model import (
    CategoryModel,
    Settings,
    bag_of,
    check_target,
    load_categories,
    save_categories,
    train_categories,
)
from victorpy.about.categories.validation import CategoryScore, cross_validate, score

__all__ = [
    "CLASSIFIERS",
    "CategoryModel",
    "CategoryScore",
    "Settings",
    "bag_of",
    "check_target",
    "cross_validate",
    "load_categories",
    "save_categories",
    "score",
    "train_categories",
]
