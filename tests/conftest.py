"""What several test files share: the shipped configurations, by the way that they cut pages."""

from __future__ import annotations

import pytest

from victorpy import Config, load_config


@pytest.fixture(scope="session")
def cleaneval_config() -> Config:
    """The thesis's configuration: every tag cuts."""
    return load_config("cleaneval")


@pytest.fixture(scope="session")
def default_config() -> Config:
    """The bundled model's configuration: block-level tags cut."""
    return load_config("default")


@pytest.fixture(scope="session", params=["cleaneval", "default"])
def config(request: pytest.FixtureRequest) -> Config:
    """Each of the shipped configurations, for what holds however a page is cut."""
    return load_config(request.param)
