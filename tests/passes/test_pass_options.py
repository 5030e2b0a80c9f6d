"""From names and option texts to passes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes import PASSES, PassLoader
from xdsl_tpu.passes.pipeline import make_pass, option_texts, parse_pipeline, summary
from xdsl_tpu.passes.summaries import SUMMARIES


@dataclass(frozen=True)
class ExamplePass(ModulePass):
    """Does nothing at all. But it has options.

    And a second paragraph.
    """

    name = "example"
    calls: ClassVar[int] = 0

    needed: int
    text: str = "a.b"
    flag: bool = False
    ratio: float | None = None
    sizes: tuple[int, ...] = ()
    mode: Literal["F32", "F16"] = "F32"
    camel_case: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Nothing."""


TABLE: dict[str, PassLoader] = {"example": lambda: ExamplePass}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("needed=1", ExamplePass(1)),
        ("needed=0x10 flag", ExamplePass(16, flag=True)),
        ("needed=1 flag=False text=12", ExamplePass(1, text="12")),
        ("needed=1 text='a b' ratio=1e-3", ExamplePass(1, text="a b", ratio=1e-3)),
        ("needed=1 sizes=3,4,-5 mode=F16", ExamplePass(1, sizes=(3, 4, -5), mode="F16")),
        ("needed=1 sizes=3 text=", ExamplePass(1, sizes=(3,), text="")),
        ("needed=1 camelCase=x.npz", ExamplePass(1, camel_case="x.npz")),
        ("needed=1 camel-case=y", ExamplePass(1, camel_case="y")),
    ],
)
def test_options_are_read_by_their_types(options: str, expected: ExamplePass) -> None:
    assert make_pass("example", options, TABLE) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "pass 'example' needs the option 'needed'"),
        ("needed=x", "option 'needed': 'x' is not of type int"),
        ("needed", r"option 'needed': needs a value \(int\)"),
        ("needed=1 mode=F17", r"'F17' is not of type F32\|F16"),
        ("needed=1 flag=perhaps", "'perhaps' is not of type bool"),
        ("needed=1 sizes=1,x", "'x' is not of type"),
        ("needed=1 neded=2", "no option 'neded'.*did you mean 'needed'"),
        ("needed=1 text='", "No closing quotation"),
    ],
)
def test_wrong_options_are_explained(options: str, message: str) -> None:
    with pytest.raises(TpuError, match=message):
        make_pass("example", options, TABLE)


def test_pipelines_give_the_same_passes() -> None:
    passes = parse_pipeline('example{needed=1 text="x/y" sizes=1,2 flag},example{needed=2}', TABLE)
    assert passes == [ExamplePass(1, text="x/y", sizes=(1, 2), flag=True), ExamplePass(2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exampel", "unknown pass 'exampel'; did you mean 'example'"),
        ("example{needed=1", "pass pipeline"),
        ("example{needed=a.b}", "pass pipeline"),
    ],
)
def test_wrong_pipelines_are_explained(text: str, message: str) -> None:
    with pytest.raises(TpuError, match=message):
        parse_pipeline(text, TABLE)


def test_help_of_a_pass() -> None:
    assert summary(ExamplePass) == "Does nothing at all"
    assert option_texts(ExamplePass)[:3] == ["needed=<int>", "text=a.b", "flag=false"]


def test_every_pass_loads_and_is_called_by_its_name() -> None:
    for name, load in PASSES.items():
        assert load().name == name
    assert list(PASSES) == sorted(PASSES)


def test_what_help_says_of_a_pass_is_the_first_sentence_of_its_docstring() -> None:
    assert {name: summary(load()) for name, load in PASSES.items()} == SUMMARIES
    assert all(SUMMARIES.values())
    assert list(SUMMARIES) == list(PASSES)
