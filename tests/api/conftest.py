"""One program that many tests look at."""

from pathlib import Path

import pytest
from tests.api.samples import written
from tests.tools.conftest import tool as tool

import xdsl_tpu as xt


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def program(model: Path) -> xt.Program:
    return xt.compile(model)
