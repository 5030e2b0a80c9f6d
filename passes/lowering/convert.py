"""The pass `convert-top-to-tpu`."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.backend.chip import Chip, known_chips, load_chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.dialects.errors import OpProblem, OpsError, TpuError
from xdsl_tpu.dialects.integers import INTEGER
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.packed_weights import FORMATS, bits_of, floats_of
from xdsl_tpu.dialects.weights import Weights, known_weights
from xdsl_tpu.passes.calibration.complete import complete_ranges
from xdsl_tpu.passes.calibration.ranges import range_of
from xdsl_tpu.passes.calibration.spread import drop_ranges, spread_calibration
from xdsl_tpu.passes.calibration.table import bias_corrections, read_table
from xdsl_tpu.passes.extra_optimize import merge_equal_users
from xdsl_tpu.passes.lowering.attention_parts import wide_attention
from xdsl_tpu.passes.lowering.bounds import wrapping
from xdsl_tpu.passes.lowering.casts import insert_casts
from xdsl_tpu.passes.lowering.context import MODES, CannotLowerError, LoweringContext
from xdsl_tpu.passes.lowering.ends import Ends
from xdsl_tpu.passes.lowering.int8 import lut
from xdsl_tpu.passes.lowering.int8.level_ramps import level_ramps
from xdsl_tpu.passes.lowering.int8.table import in_8_bits
from xdsl_tpu.passes.lowering.integers import INTEGERS, gives_integers, round_others
from xdsl_tpu.passes.lowering.masked import limit_masks
from xdsl_tpu.passes.lowering.notes import (
    approximated,
    beyond_32_bits,
    beyond_f16,
    named_bounds,
    rounded,
)
from xdsl_tpu.passes.lowering.op_modes import (
    FALLBACK,
    chosen_floats,
    float_mode,
    op_modes,
    unknown_names,
)
from xdsl_tpu.passes.lowering.quantize_table import read_quantize_table
from xdsl_tpu.passes.lowering.reach import Reach, f16_reach
from xdsl_tpu.passes.lowering.score_products import score_products
from xdsl_tpu.passes.lowering.table import LOWERINGS
from xdsl_tpu.passes.merge_branches import merge_in_floats
from xdsl_tpu.passes.module_state import (
    ANY_CHIP,
    State,
    name_weight_file,
    require_state,
    set_module_attributes,
    text_attribute,
)
from xdsl_tpu.passes.pack_weights import GROUPS, PackWeightsPass, pack_marked
from xdsl_tpu.passes.processor_top_optimize.far_conv import bring_nearer
from xdsl_tpu.passes.tensors import functions, required_name, shape_of, size_in_bytes


@dataclass(frozen=True)
class ConvertTopToTpuPass(ModulePass):
    """Lower top ops to tpu ops for one chip and number format.

    Of equal ops that lowering makes, one stays. `mode` and `chip` may be left out when
    `processor-assign` has set them on the module; `description` is the chip's `.toml` file if it
    has its own. INT8 needs calibrated types (`import-calibration-table`) and the weights; ops
    without an 8-bit form run in F16, and so do attentions whose scores would leave the chip,
    functions that floats compute faster than a table gives them, unless `by_tables`, and what else
    a network is done earlier with in F16, casts included, unless `by_need` or `by_tables`.
    `asymmetric` gives types with negative numbers a zero point; weights have none. `qtable` is a
    file of `op_name mode` lines for ops in another format than `mode`. `bias_corrections` is a
    calibration table; what it says of the mean errors of ops in 8 bits (`#bias_correction`) goes
    into their biases. Matrices of products with `weight_bits` are packed in 4 or 8 bits, and
    multiplied in F16. With `mode` W4F16, W8F16, W4BF16 or W8BF16 all constant ones are that
    `pack-weights` takes, `q_group_size` elements with one scale (0: as `pack-weights` chooses),
    with zero points in the middle if `q_symmetric`, and the rest is F16 or BF16. The other options
    are those of the vendor's pass and must keep their defaults.
    """

    name = "convert-top-to-tpu"

    mode: str | None = None
    chip: str | None = None
    description: str = ""
    qtable: str = ""
    bias_corrections: str = ""
    weight_file_name: str = ""
    asymmetric: bool = False
    by_tables: bool = False
    by_need: bool = False
    do_winograd: bool = False
    q_group_size: int = 0
    q_symmetric: bool = False
    matmul_perchannel: bool = False
    gelu_mode: str = "normal"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        mode, chip = self._mode(op), self._chip(op)
        self._refuse_unsupported_options()
        weights = known_weights(op)
        pack_marked(op, weights, floats_of(mode))
        self._pack(ctx, op, mode, weights)
        asked, mode = mode, floats_of(mode)
        given = read_quantize_table(self.qtable) if self.qtable else {}
        table = {name: floats_of(mode) for name, mode in given.items()}
        notes = unknown_names(table, op, self.qtable)
        int8 = "INT8" in (mode, *table.values())
        description = load_chip(self.description or chip)
        if int8:
            self._require_calibration(op, weights)
        for func in functions(op):
            (complete_ranges if int8 else drop_ranges)(func)
            notes += beyond_32_bits(wrapping(func, weights))
            notes += approximated(round_others(func))
        bounds = [named_bounds(func, weights) for func in functions(op)]
        reach = [self._reach(func, mode, weights) for func in functions(op)]
        kept = self.by_tables or self.by_need or self.asymmetric
        free = None if kept else description
        modes = [
            op_modes(func, mode, table, weights, one.wide, _in_f16(func, description, free))
            for func, one in zip(functions(op), reach, strict=True)
        ]
        coarse = _to_floats(op, modes, table, free) if free and mode == "INT8" else set[Operation]()
        for func, one in zip(functions(op), modes, strict=True):
            merge_in_floats(func, one)
            bring_nearer(func, one)
            limit_masks(one)
        for one in reach:
            notes += beyond_f16(one.constants, one.saturated)
        if int8:
            for func, one in zip(functions(op), modes, strict=True):
                floats = {part for part in one if one[part] != "INT8"}
                spread_calibration(func, floats, self.asymmetric)
                if free:
                    level_ramps(func)
        corrections = self._bias_corrections(int8)
        problems = [
            problem
            for func, one in zip(functions(op), modes, strict=True)
            for problem in _lower(func, one, weights, corrections, description, coarse, self)
        ]
        if problems:
            raise OpsError(f"{len(problems)} ops cannot be lowered to tpu", problems)
        for func, known in zip(functions(op), bounds, strict=True):
            notes += rounded(insert_casts(func, self.asymmetric), known)
            merge_equal_users(func)
            _drop_unused_weights(func)
            func.update_function_type()
            _refuse_beyond_ddr(func, description)
        if weights is not None:
            _drop_unnamed_data(op, weights)
        set_module_attributes(op, self._module_attributes(asked, chip))
        name_weight_file(op, "tpu_lowered", self.weight_file_name)
        module_info(op).notes += notes

    def _bias_corrections(self, int8: bool) -> dict[str, list[float]]:
        """Those of the calibration table that is named; none where nothing is in 8 bits."""
        corrections = _corrections(self.bias_corrections) if int8 else {}
        if corrections and self.asymmetric:
            raise TpuError(
                f"{self.name}: {self.bias_corrections} corrects errors of symmetric integers "
                "(#bias_correction); make a table without --min-cosine for asymmetric ones"
            )
        return corrections

    def _mode(self, module: ModuleOp) -> str:
        mode = self.mode or text_attribute(module, "module.mode")
        if mode is None:
            choices = "|".join(MODES)
            raise TpuError(f"{self.name}: give mode={choices} or run --processor-assign first")
        if mode.upper() not in (*MODES, *FORMATS):
            known = ", ".join((*MODES, *FORMATS))
            raise TpuError(f"{self.name}: mode {mode} is not supported; use {known}")
        return mode.upper()

    def _pack(self, ctx: Context, module: ModuleOp, mode: str, weights: Weights | None) -> None:
        """Pack the matrices of products, where the mode is a packed one."""
        bits = bits_of(mode)
        if not bits:
            if self.q_group_size:
                note = f"{self.name}: q_group_size has no effect in {mode}, which packs no matrices"
                module_info(module).notes.append(note)
            return
        if weights is None:
            raise TpuError(f"{self.name}: {mode} needs the weights; the module names no file")
        group = self.q_group_size
        if group and group not in GROUPS:
            known = ", ".join(map(str, GROUPS))
            raise TpuError(f"{self.name}: q_group_size must be one of {known}, not {group}")
        PackWeightsPass(bits, group, self.q_symmetric, self.qtable).apply(ctx, module)

    def _chip(self, module: ModuleOp) -> str:
        chip = self.chip or text_attribute(module, "module.chip")
        if chip in (None, ANY_CHIP):
            known = "|".join(known_chips())
            raise TpuError(f"{self.name}: give chip={known} or run --processor-assign first")
        if chip not in known_chips():
            known = ", ".join(known_chips())
            raise TpuError(f"{self.name}: chip {chip} is not supported; use {known}")
        return chip

    def _reach(self, func: FuncOp, mode: str, weights: Weights | None) -> Reach:
        """What constants ask for where ops run in F16."""
        return f16_reach(func, weights) if mode in ("F16", "INT8") else Reach()

    def _require_calibration(self, module: ModuleOp, weights: Weights | None) -> None:
        if text_attribute(module, "module.state") == State.TOP_F32 or not _is_calibrated(module):
            raise TpuError(
                f"{self.name}: INT8 needs a calibrated network; give tpu-compile a "
                '--calibration-table, or run --import-calibration-table="file=TABLE" first'
            )
        if weights is None:
            raise TpuError(f"{self.name}: INT8 needs the weights; the module names no file")

    def _refuse_unsupported_options(self) -> None:
        defaults = ConvertTopToTpuPass()
        if self.do_winograd:
            raise TpuError(f"{self.name}: option do_winograd is not supported")
        if self.matmul_perchannel or self.gelu_mode != defaults.gelu_mode:
            raise TpuError(f"{self.name}: matmul_perchannel and gelu_mode are not supported")

    def _module_attributes(self, mode: str, chip: str) -> dict[str, Attribute]:
        return {
            "module.state": StringAttr(State.TPU_LOWERED),
            "module.mode": StringAttr(mode),
            "module.chip": StringAttr(chip),
            "module.asymmetric": BoolAttr.from_bool(self.asymmetric),
            "module.q_group_size": IntegerAttr(self.q_group_size, i64),
            "module.q_symmetric": BoolAttr.from_bool(self.q_symmetric),
        }


def _in_f16(func: FuncOp, chip: Chip, free: Chip | None) -> set[Operation]:
    """The ops of attentions that are faster in F16; of their products on the chip where formats
    are `free`."""
    return wide_attention(func, chip) | (score_products(func, free) if free else set())


def _to_floats(
    module: ModuleOp,
    modes: Sequence[dict[Operation, str]],
    table: Mapping[str, str],
    chip: Chip,
) -> set[Operation]:
    """Let ops that are done earlier in F16 be in that, function by function; which they are."""
    found = set[Operation]()
    for func, one in zip(functions(module), modes, strict=True):
        chosen = chosen_floats(func, one, table, chip)
        one |= dict.fromkeys(chosen, FALLBACK)
        found |= chosen
    return found


def _corrections(file: str) -> dict[str, list[float]]:
    return bias_corrections(read_table(file), file) if file else {}


def _lower(
    func: FuncOp,
    modes: Mapping[Operation, str],
    weights: Weights | None,
    corrections: Mapping[str, Sequence[float]],
    chip: Chip,
    coarse: Container[Operation],
    options: ConvertTopToTpuPass,
) -> Iterator[OpProblem]:
    """Lower the ops of `func` that have a mode; gives a problem for each without a lowering."""
    entry = func.body.block
    ctx = LoweringContext(
        MODES["F32"],
        weights,
        entry,
        Builder(InsertPoint.at_start(entry)),
        chip,
        corrections,
        options.asymmetric,
        options.by_tables,
        coarse,
    )
    ends = Ends()
    in_floats = {op: float_mode(op, ends) for op in modes}  # which looks at what is still top IR
    for op in list(entry.ops):
        # The spread of calibration has changed types of values, not ops: modes still apply.
        if op not in modes:
            continue
        ctx.builder = Builder(InsertPoint.before(op))
        try:
            replacements = _lower_op(op, modes[op], in_floats[op], ctx)
        except CannotLowerError as error:
            name = required_name(op)
            reason = str(error).removeprefix(f"{op.name} '{name}': ")
            yield OpProblem(op.name, name, reason)
            continue
        for old, new in zip(op.results, replacements, strict=True):
            old.replace_all_uses_with(new)
        _erase(op)


def _lower_op(op: Operation, mode: str, in_floats: str, ctx: LoweringContext) -> Sequence[SSAValue]:
    """Build what replaces `op`: in 8 bits where the mode says so and there is such a form, else in
    the mode for floats."""
    if gives_integers(op):
        ctx.element = INTEGER
        return INTEGERS[type(op)](op, ctx)
    if mode == "INT8":
        ctx.element = MODES[mode]
        lowered = in_8_bits(op, ctx)
        if lowered is not None:
            return lowered
        mode = in_floats
    if op in ctx.coarse and (lowered := lut.short_in_floats(op, ctx)) is not None:
        return lowered
    ctx.element = MODES[mode]
    lowering = LOWERINGS.get(type(op))
    if lowering is None:
        raise CannotLowerError(f"{op.name} '{required_name(op)}': no lowering")
    return lowering(op, ctx)


def _is_calibrated(module: ModuleOp) -> bool:
    values = (result for op in module.walk() for result in op.results)
    return any(isinstance(value.type, TensorType) and range_of(value) for value in values)


def _refuse_beyond_ddr(func: FuncOp, chip: Chip) -> None:
    """Raise TpuError for a tensor that no chip memory holds, before anybody looks for its place."""
    for op in func.body.block.ops:
        for result in op.results:
            if is_ranked_tensor(result.type) and size_in_bytes(result) > chip.ddr_bytes:
                shape = "x".join(map(str, shape_of(result)))
                raise TpuError(
                    f"'{name_of(result)}' of {shape} takes {size_in_bytes(result):,} bytes, more "
                    f"than the {chip.ddr_bytes:,} bytes of DDR that {chip.name} has"
                )


def _drop_unused_weights(func: FuncOp) -> None:
    """Remove the f32 weights that copies in another type have replaced."""
    for op in list(func.body.block.ops):
        if isinstance(op, top.WeightOp) and op.output.first_use is None:
            _erase(op)


def _drop_unnamed_data(module: ModuleOp, weights: Weights) -> None:
    """Forget the arrays of weights that are no longer in the module."""
    named = {required_name(op) for op in module.walk() if isinstance(op, top.WeightOp)}
    for name in list(weights):
        if name not in named:
            del weights[name]


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
