"""Features of blocks: one small function each. The modules are the families."""

from victorpy.features.base import (
    FEATURES,
    Feature,
    block_feature,
    check_feature,
    check_features,
    feature,
    find_feature,
    load_modules,
)

__all__ = [
    "FEATURES",
    "Feature",
    "block_feature",
    "check_feature",
    "check_features",
    "feature",
    "find_feature",
    "load_modules",
]
