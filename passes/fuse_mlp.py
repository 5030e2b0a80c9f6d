"""The pass `fuse-mlp`."""

from dataclasses import dataclass
from typing import Literal

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.text import module_text
from xdsl_tpu.dialects.weights import Weights, known_weights
from xdsl_tpu.passes.feed_forward import Block, Product, around, find, matrix_of
from xdsl_tpu.passes.graph import none_before
from xdsl_tpu.passes.measured import copied, cut_out, cycles_taken
from xdsl_tpu.passes.module_state import State, chip_name, require_state
from xdsl_tpu.passes.pipelines import Settings, passes_behind
from xdsl_tpu.passes.tensors import functions, shape_of
from xdsl_tpu.passes.weight_data import change_weight

GATED, PLAIN = 0.9, 0.86
"""What a fused block of float matrices must take at most of what its parts take by themselves, with
and without a product of two activations. What is around it stays on the chip beside the parts, and
goes through DDR beside a fused one, of which the measured block has no more than its own sum."""


@dataclass(frozen=True)
class FuseMlpPass(ModulePass):
    """Make one op of the feed-forward block of a transformer where that is faster.

        %g = A16MatMul(%x, gate)
        %s = Active(%g) {SILU}
        %u = A16MatMul(%x, up)          ->    %y = Mlp(%x, gate, up, down)
        %h = Mul(%s, %u)
        %y = A16MatMul(%h, down)

    What lies between the products then stays in local memory while the matrices pass by. Products
    may have biases, the activation be another, the matrices be packed alike or f16 (MatMul), whose
    rows and columns are exchanged; without `up` and the Mul it is down(f(gate(x))). Only for more
    rows than there are lanes: with few rows the matrices take all the time. Nothing else reads what
    is between.

    `when` is `faster` (measured: the commands of the op against those that its parts would become;
    float matrices that fit local memory together are left to layer groups, which keep them there),
    `always` or `never`. `chip` is a name or a `.toml` description, by default `module.chip`.
    """

    name = "fuse-mlp"

    when: Literal["faster", "always", "never"] = "faster"
    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        if self.when == "never":
            return
        description = chip_name(op, self.chip)
        chip = load_chip(description)
        always = FuseMlpPass("always", description)
        prices = _Prices(ctx, chip, always)
        weights = known_weights(op)
        for func in functions(op):
            for inner in list(func.body.block.ops):
                found = find(inner, chip)
                if found is not None and (self.when == "always" or prices.is_faster(found)):
                    _replace(found, weights)


class _Prices:
    """Measures the feed-forward blocks of a network, each kind of them once."""

    def __init__(self, ctx: Context, chip: Chip, fuse: FuseMlpPass) -> None:
        self._ctx, self._chip, self._fuse = ctx, chip, fuse
        self._settings = Settings(description=fuse.chip, shortfall=False)
        self._known: dict[str, bool] = {}

    def is_faster(self, block: Block) -> bool:
        room = self._chip.lanes * self._chip.local_bytes
        if not block.is_packed and block.matrix_bytes() <= room:
            return False
        parts = cut_out({*block.ops, *around(block)}, "block", values=False)
        key = module_text(parts, locations=False)
        if key not in self._known:
            share = 1.0 if block.is_packed else PLAIN if block.up is None else GATED
            self._known[key] = self._measure(parts, share)
        return self._known[key]

    def _measure(self, parts: ModuleOp, share: float) -> bool:
        fused = copied(parts)
        self._fuse.apply(self._ctx, fused)
        try:
            cycles = self._cycles(fused)
        except (DoesNotFit, NoKernel):
            return False
        return cycles < share * self._cycles(parts)

    def _cycles(self, module: ModuleOp) -> int:
        passes = passes_behind(FuseMlpPass.name, self._settings)
        return cycles_taken(self._ctx, module, passes, self._chip).in_a_row


def _replace(block: Block, weights: Weights | None) -> None:
    none = none_before(block.down)
    operands: list[SSAValue] = [block.gate.input]
    for one in (block.gate, block.up, block.down):
        operands += (none,) * 4 if one is None else _operands(one, none, weights)
    down = block.down
    packed = isinstance(down, tpu.A16MatMulOp)
    made = tpu.MlpOp.make(
        down.location,
        (*operands, none, none),
        result_types=(down.output.type,),
        w_transpose_down=True,
        quantized=packed,
        activation=block.active.mode,
        q_group_size=down.q_group_size if packed else None,
        weight_bits=down.weight_bits if packed else None,
    )
    Builder(InsertPoint.before(down)).insert(made)
    down.output.replace_all_uses_with(made.output)
    for old in block.ops:
        old.detach()
        old.erase()


def _operands(product: Product, none: SSAValue, weights: Weights | None) -> list[SSAValue]:
    """Matrix [N, K], scale, zero point and bias of a product."""
    if isinstance(product, tpu.A16MatMulOp):
        return [product.weight, product.scale, product.zp, product.bias]
    if not product.right_transpose.value.data:
        depth, outputs = shape_of(product.right)[-2:]
        place = list(product.operands).index(product.right)
        change_weight(
            product,
            place,
            (outputs, depth),
            lambda data: data.reshape(depth, outputs).T,
            weights,
        )
    return [matrix_of(product), none, none, product.bias]
