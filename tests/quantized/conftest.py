"""Cases are compiled for both chips where a file says so."""

import pytest
from tests.quantized import quant_cases


@pytest.fixture(params=["bm1684x", "bm1688"])
def on_both_chips(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The chip of the cases that a test makes."""
    monkeypatch.setattr(quant_cases, "CHIP", request.param)
    return request.param
