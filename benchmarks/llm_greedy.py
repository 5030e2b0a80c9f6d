"""Texts by greedy choice: what the machine writes beside what the float reference writes.

    python benchmarks/llm_greedy.py [--model FOLDER] [--quantize W8F16] [--head W8] [--tokens 64]
                                    [--seeds 5] [--json FILE]

Each seed gives a prompt of eight tokens. Both go on by their own choices, so that one difference
makes another text; weights of the reference are the quantised ones. The example model by default.
"""

import argparse
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from figures import json_file, write_json

from xdsl_tpu.frontend.llm.formats import FORMATS, HEADS, WeightFormat
from xdsl_tpu.frontend.llm.model import open_model
from xdsl_tpu.frontend.llm.reference import Reference
from xdsl_tpu.frontend.llm.stages import Stages
from xdsl_tpu.tools.llm.choice import greedy
from xdsl_tpu.tools.llm.compile_llm import compile_llm
from xdsl_tpu.tools.llm.session import Nets, Session

EXAMPLE = Path(__file__).parents[1] / "examples/language_model"
CHIP = "bm1684x"
PROMPT = 8


@dataclass(frozen=True)
class Text:
    """How many tokens of a text are those of the reference's, from its beginning, and the least
    cosine of the logits behind them."""

    seed: int
    tokens: int
    same: int
    cosine: float


def compared(nets: Nets, reference: Reference, seed: int, tokens: int) -> Text:
    """The text of one seed, which ends where the two differ."""
    drawn = np.random.default_rng(seed).integers(0, nets.manifest.vocabulary, PROMPT)
    text = [int(one) for one in drawn]
    session = Session(nets)
    same, cosine = 0, 1.0
    ours = session.prompt(text)
    while same < tokens:
        theirs = reference.logits(text, nets.manifest.length)[-1]
        product = float(ours.astype(np.float64) @ theirs)
        cosine = min(cosine, product / float(np.linalg.norm(ours) * np.linalg.norm(theirs)))
        if greedy(ours, text) != int(np.argmax(theirs)):
            break
        text.append(greedy(ours, text))
        same += 1
        if same < tokens:
            ours = session.step(text[-1])
    return Text(seed, tokens, same, cosine)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--model", type=Path, default=EXAMPLE, help="a Hugging Face folder")
    parser.add_argument("--quantize", default="W8F16", choices=FORMATS)
    parser.add_argument("--head", default="W8", choices=HEADS, help="format of the output matrix")
    parser.add_argument("--tokens", type=int, default=64, help="of each text")
    parser.add_argument("--seeds", type=int, default=5, help="how many texts")
    parser.add_argument("--json", type=json_file, help="write the figures to this file")
    arguments = parser.parse_args()
    format = WeightFormat(arguments.quantize, head=arguments.head)
    reference = Reference(open_model(arguments.model, format))
    found: list[Text] = []
    with tempfile.TemporaryDirectory() as scratch:
        stages = Stages(PROMPT + arguments.tokens, PROMPT)
        compile_llm(arguments.model, Path(scratch) / "out", format, stages, CHIP)
        nets = Nets(Path(scratch) / "out")
        for seed in range(arguments.seeds):
            found.append(compared(nets, reference, seed, arguments.tokens))
            one = found[-1]
            print(f"seed {seed}: {one.same} of {one.tokens} tokens, cosine >= {one.cosine:.6f}")
    write_json(arguments.json, [asdict(one) for one in found])


if __name__ == "__main__":
    main()
