"""Block features, one small function each. Each module is a feature family."""

from victorpy.features.base import (
    FEATURES,
    Feature,
    block_feature,
    check_feature,
    check_features,
    feature,
    find_feature,
    load_modules,
    module_features,
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
    "module_features",
]
