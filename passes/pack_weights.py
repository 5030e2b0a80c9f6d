"""The pass `pack-weights`."""

from dataclasses import dataclass, replace

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import Float16Type, IntegerType, ModuleOp, Signedness, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import OpProblem, OpsError, TpuError
from xdsl_tpu.dialects.packed_weights import bits_of, quantise
from xdsl_tpu.dialects.weight_grids import share_on_grids
from xdsl_tpu.dialects.weights import Weights, weights_of
from xdsl_tpu.passes.constants import unused_name
from xdsl_tpu.passes.lowering.quantize_table import read_quantize_table
from xdsl_tpu.passes.module_state import State, require_state
from xdsl_tpu.passes.products import keeps_rows
from xdsl_tpu.passes.tensors import element_of, functions, is_weight, required_name, shape_of
from xdsl_tpu.passes.weight_data import Array, as_numbers

BYTE = IntegerType(8, Signedness.UNSIGNED)


Packed = tuple[SSAValue, SSAValue, SSAValue]
"""Values, scales and zero points."""

Known = tuple[Packed, int]
"""A packed matrix, and how many of its weights share a scale."""

Key = tuple[SSAValue, bool, int]
"""A matrix, whether it has rows for columns, and bits."""

ROWS = 64
"""Packed matrices have a multiple of so many columns, one or more for each lane."""

BITS, GROUPS, USUAL_GROUP = (4, 8), (32, 64, 128), 64

MOSTLY = 0.5
"""The share of a matrix's groups whose weights are integers times one scale, if it was made so."""


def pack_marked(module: ModuleOp, weights: Weights | None, mode: str) -> None:
    """Pack the matrices of products whose `weight_bits` asks for it, in groups of their
    `q_group_size`, which may be 0 as that of the pass.

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
                bits, group = op.weight_bits.value.data, op.q_group_size.value.data
                PackWeightsPass(bits, group).pack(op, weights)
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
    columns = shape_of(op.output)[-1]
    if columns % ROWS:
        return f"its {columns} columns are no multiple of {ROWS}"
    if not PackWeightsPass(bits, group).takes(op):
        return f"its matrix is no constant of whole groups of {group}, used as it is"
    return ""


@dataclass(frozen=True)
class PackWeightsPass(ModulePass):
    """Keep the matrices of products in 4 or 8 bits.

        %y = MatMul(%x, %w : 1536x256xf32, %b)
    ->
        %y = A16MatMul(%x, %p : 256x768xui8, %s : 256x24xf16, %z : 256x24xui8, %b)

    `bits` is 4 or 8, or 0 for none but those of the table; `group` elements of a column share a
    scale; where that is 0, as many as the model has given scales of their own, if these are 32
    and not 64, and else 64. Products whose matrix is computed, has other ranks than 2, no whole
    groups or no multiple of 64 columns stay as they are, and so do those that transpose anything
    but the matrix. A Relu becomes an op of its own; products of one matrix share its packed form.
    Those that a quantize table `qtable` names are packed as it says (W4F16), or not at all (F16).
    """

    name = "pack-weights"

    bits: int = 4
    group: int = 0
    symmetric: bool = False
    qtable: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        weights = weights_of(op)
        table = read_quantize_table(self.qtable) if self.qtable else {}
        for func in functions(op):
            made: dict[Key, Known] = {}
            for inner in list(func.body.block.ops):
                if not isinstance(inner, top.MatMulOp):
                    continue
                mode = table.get(required_name(inner))
                bits = self.bits if mode is None else bits_of(mode)
                chosen = replace(self, bits=bits)
                if bits and chosen.takes(inner):
                    chosen.pack(inner, weights, made)
                elif bits and mode is not None:
                    raise TpuError(
                        f"quantize table {self.qtable}: {mode} for '{required_name(inner)}', whose "
                        f"matrix is no constant of whole groups of {self.group or USUAL_GROUP} "
                        f"and a multiple of "
                        f"{ROWS} columns; leave it out"
                    )

    def takes(self, op: top.MatMulOp) -> bool:
        """Whether the matrix of a product can be packed."""
        if not keeps_rows(op):
            return False
        shape = shape_of(op.right)
        if not is_weight(op.right) or len(shape) != 2:
            return False
        depth, columns = reversed(shape) if op.right_transpose.value.data else shape
        whole = depth % (self.group or USUAL_GROUP) == 0 and columns % ROWS == 0
        return whole and shape_of(op.input)[-1] == depth

    def pack(
        self,
        op: top.MatMulOp,
        weights: Weights,
        made: dict[Key, Known] | None = None,
    ) -> None:
        """Replace a product that it takes, and its matrix in `weights`.

        `made` has what matrices were packed to before.
        """
        known: dict[Key, Known] = {} if made is None else made
        key = op.right, bool(op.right_transpose.value.data), self.bits
        if key not in known:
            known[key] = self._packed(op, weights)
        packed, group = known[key]
        build, clamped = Builder(InsertPoint.before(op)), bool(op.do_relu.value.data)
        name = required_name(op)
        product = top.A16MatMulOp.make(
            f"{name}_product" if clamped else name,
            (op.input, *packed, op.bias),
            result_types=(op.output.type,),
            right_transpose=True,
            q_group_size=group,
            weight_bits=self.bits,
        )
        build.insert(product)
        result: SSAValue = product.output
        if clamped:
            limit = op.relu_limit.value.data
            types = (op.output.type,)
            relu = top.ReluOp.make(op.location, (result,), result_types=types, relu_limit=limit)
            build.insert(relu)
            result = relu.output
        op.output.replace_all_uses_with(result)
        weight = op.right.owner
        assert isinstance(weight, top.WeightOp)
        op.detach()
        op.erase()
        if weight.output.first_use is None:
            weight.detach()
            weight.erase()

    def _packed(self, op: top.MatMulOp, weights: Weights) -> Known:
        """A product's matrix, packed, as weights before it."""
        weight = op.right.owner
        assert isinstance(weight, top.WeightOp)
        name = required_name(weight)
        data = as_numbers(weights[name], element_of(op.right))
        if weight.output.has_one_use():
            del weights[name]
        rows = data if op.right_transpose.value.data else data.T
        group = self.group or _own_group(rows, self.bits, self.symmetric)
        packed = quantise(rows, self.bits, group, self.symmetric)
        build = Builder(InsertPoint.before(weight))

        def made(label: str, array: Array, element: Attribute) -> SSAValue:
            free = unused_name(weights, f"{name}_{label}")
            weights[free] = array
            result = TensorType(element, array.shape)
            return build.insert(top.WeightOp.make(free, (), result_types=(result,))).output

        arrays = (
            made("uint", packed.values, BYTE),
            made("scale", packed.scale, Float16Type()),
            made("zp", packed.zero, BYTE),
        )
        return arrays, group


def _own_group(rows: Array, bits: int, symmetric: bool) -> int:
    """How many weights of a matrix [N, K] share a scale already; `USUAL_GROUP` if none do."""
    usual = share_on_grids(rows, bits, USUAL_GROUP, symmetric)
    finest = share_on_grids(rows, bits, GROUPS[0], symmetric)
    return GROUPS[0] if usual < MOSTLY <= finest else USUAL_GROUP
