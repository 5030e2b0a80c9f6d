"""The pass `pack-weights`."""

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import Float16Type, IntegerType, ModuleOp, Signedness, TensorType
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import OpProblem, OpsError
from xdsl_tpu.dialects.packed_weights import quantise
from xdsl_tpu.dialects.weights import Weights, weights_of
from xdsl_tpu.passes.module_state import State, require_state
from xdsl_tpu.passes.tensors import element_of, functions, is_weight, required_name, shape_of
from xdsl_tpu.passes.weight_data import Array, as_numbers

BYTE = IntegerType(8, Signedness.UNSIGNED)


ROWS = 64
"""Packed matrices have a multiple of so many columns, one or more for each lane."""

BITS, GROUPS, USUAL_GROUP = (4, 8), (32, 64, 128), 64


def pack_marked(module: ModuleOp, weights: Weights | None, mode: str) -> None:
    """Pack the matrices of products whose `weight_bits` asks for it, in groups of their
    `q_group_size` (64 where that is 0).

    Raises OpsError with every op that cannot be packed so, and what to do about it.
    """
    problems: list[OpProblem] = []
    for func in functions(module):
        for op in list(func.body.block.ops):
            if not isinstance(op, top.MatMulOp | top.ConvOp) or op.weight_bits is None:
                continue
            reason = _unpackable(op, weights, mode)
            if reason:
                advice = "take weight_bits away from it"
                problems.append(OpProblem(op.name, required_name(op), f"{reason}; {advice}"))
            elif isinstance(op, top.MatMulOp) and weights is not None:
                group = op.q_group_size.value.data or USUAL_GROUP
                PackWeightsPass(op.weight_bits.value.data, group).pack(op, weights)
    if problems:
        raise OpsError(f"{len(problems)} ops cannot have packed weights", problems)


def _unpackable(op: "top.MatMulOp | top.ConvOp", weights: Weights | None, mode: str) -> str:
    """Why the weights of an op cannot be packed as it says; empty when they can."""
    assert op.weight_bits is not None
    bits = op.weight_bits.value.data
    if isinstance(op, top.ConvOp):
        whole = mode == "INT8" and bits == BITS[-1]
        return "" if whole else f"filters of {bits} bits in {mode} have no kernel"
    group = op.q_group_size.value.data or USUAL_GROUP
    if bits not in BITS or group not in GROUPS:
        return f"matrices of {bits} bits in groups of {group} are not packed (4 or 8; 32, 64, 128)"
    if weights is None:
        return "the module names no file of weights"
    if not PackWeightsPass(bits, group).takes(op):
        return f"its matrix is no constant of whole groups of {group}, used once and as it is"
    columns = shape_of(op.right)[1]
    return f"its {columns} columns are no multiple of {ROWS}" if columns % ROWS else ""


@dataclass(frozen=True)
class PackWeightsPass(ModulePass):
    """Keep the matrices of products in 4 or 8 bits.

        %y = MatMul(%x, %w : 1536x256xf32, %b)
    ->
        %y = A16MatMul(%x, %p : 256x768xui8, %s : 256x24xf16, %z : 256x24xui8, %b)

    `bits` is 4 or 8; `group` elements of a column share a scale. Products whose matrix is
    computed, has other ranks than 2, or no whole groups stay as they are, and so do those that
    transpose or clamp.
    """

    name = "pack-weights"

    bits: int = 4
    group: int = 64
    symmetric: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name)
        weights = weights_of(op)
        for func in functions(op):
            for inner in list(func.body.block.ops):
                if isinstance(inner, top.MatMulOp) and self.takes(inner):
                    self.pack(inner, weights)

    def takes(self, op: top.MatMulOp) -> bool:
        """Whether the matrix of a product can be packed."""
        flags = (op.left_transpose, op.right_transpose, op.output_transpose, op.hdim_is_batch)
        if any(flag.value.data for flag in (*flags, op.do_relu)) or not op.right.has_one_use():
            return False
        shape = shape_of(op.right)
        return is_weight(op.right) and len(shape) == 2 and shape[0] % self.group == 0

    def pack(self, op: top.MatMulOp, weights: Weights) -> None:
        """Replace a product that it takes, and its matrix in `weights`."""
        weight = op.right.owner
        assert isinstance(weight, top.WeightOp)
        name = required_name(weight)
        data = as_numbers(weights.pop(name), element_of(op.right))
        packed = quantise(data.T, self.bits, self.group, self.symmetric)
        build = Builder(InsertPoint.before(weight))

        def made(label: str, array: Array, element: Attribute) -> top.WeightOp:
            weights[f"{name}_{label}"] = array
            result = TensorType(element, array.shape)
            return build.insert(top.WeightOp.make(f"{name}_{label}", (), result_types=(result,)))

        product = top.A16MatMulOp.make(
            op.location,
            (
                op.input,
                made("uint", packed.values, BYTE),
                made("scale", packed.scale, Float16Type()),
                made("zp", packed.zero, BYTE),
                op.bias,
            ),
            result_types=(op.output.type,),
            right_transpose=True,
            q_group_size=self.group,
            weight_bits=self.bits,
        )
        Builder(InsertPoint.before(op)).insert(product)
        op.output.replace_all_uses_with(product.output)
        for old in (op, weight):
            old.detach()
            old.erase()
