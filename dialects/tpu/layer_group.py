"""Groups of ops that run from local memory."""

from collections.abc import Iterable
from typing import cast

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import (
    BOOL,
    F64,
    I64_ARRAY,
    I64_INT,
    TEXT,
    I64Attr,
    default_attr_def,
    ints,
)
from xdsl_tpu.dialects.base import RANKED, RankedTensor
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.tpu.kinds import AFFINE_MAP, COMPRESS
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, SameShape, TpuOp, declared_shape
from xdsl_tpu.dialects.traits import InOutSameShape


def _type_list(types: Iterable[Attribute]) -> str:
    return ", ".join(map(str, types))


def check_same_elements(source: SSAValue, target: SSAValue) -> None:
    """Raise VerifyException unless both tensors have one element type."""
    before, after = (cast(RankedTensor, value.type).element_type for value in (source, target))
    if before != after:
        raise VerifyException(f"a copy cannot make {after} of {before}")


@irdl_op_definition
class GroupOp(TpuOp):
    """A group of ops that run from local memory, tensor slice by tensor slice.

    The body uses values from outside through Load, and hands tensors out through Store and
    Yield, one for each result. `nsecs`, `csecs`, `dsecs`, `hsecs` and `wsecs` say into how many
    slices each dimension is cut. `flow` is the software pipeline: a negative number opens a time
    step, the ids of the ops (`ginfo.id`) that work in it follow. `kept`: first and last + 1 byte
    of every lane, pair after pair, where values lie that groups before it have left there.
    """

    name = "tpu.Group"

    inputs = var_operand_def(RANKED)
    nsecs = attr_def(I64_INT)
    hsecs = attr_def(I64_INT)
    dsecs = attr_def(I64_INT)
    wsecs = attr_def(I64_INT)
    csecs = attr_def(I64_INT)
    swpipl_stage_num = attr_def(I64_INT)
    group_type = attr_def(I64_INT)
    flow = default_attr_def(I64_ARRAY, (0,))
    self_up_overlap_op = default_attr_def(I64_ARRAY, ())
    self_down_overlap_op = default_attr_def(I64_ARRAY, ())
    other_up_overlap_op = default_attr_def(I64_ARRAY, ())
    other_down_overlap_op = default_attr_def(I64_ARRAY, ())
    support_compress = default_attr_def(BOOL, True)
    run_core_id = default_attr_def(I64_ARRAY, ())
    core_slice_ncdhw = default_attr_def(I64_ARRAY, ())
    kept = opt_attr_def(I64_ARRAY)
    body = region_def("single_block")
    outputs = var_result_def(RANKED)

    traits = traits_def(RecursiveMemoryEffect())

    @property
    def kept_regions(self) -> list[tuple[int, int]]:
        """First and last + 1 byte of every lane where values of groups before it lie."""
        bounds = () if self.kept is None else ints(self.kept)
        return list(zip(bounds[::2], bounds[1::2], strict=True))

    def verify_(self) -> None:
        self._check_sections()
        self._check_results()
        if self.kept is not None and len(self.kept) % 2:
            raise VerifyException(f"kept has {len(self.kept)} numbers, no pairs")
        self._check_flow()

    def _check_sections(self) -> None:
        for name in ("nsecs", "csecs", "dsecs", "hsecs", "wsecs", "swpipl_stage_num"):
            value = cast(I64Attr, self.attributes[name]).value.data
            if value < 1:
                raise VerifyException(f"{name} is {value}, but must be at least 1")

    def _check_results(self) -> None:
        last = self.body.block.last_op
        if last is None or last.name != "tpu.Yield":
            raise VerifyException("the body must end in a tpu.Yield")
        if last.operand_types != self.result_types:
            given, wanted = map(_type_list, (last.operand_types, self.result_types))
            raise VerifyException(f"the body yields ({given}), but the results are ({wanted})")

    def _check_flow(self) -> None:
        ids: list[int] = []
        for op in self.body.block.ops:
            if not isinstance(op, LocalOp):
                continue
            if op.ginfo is None:
                raise VerifyException(f"{op.name} in the body has no ginfo")
            ids.append(op.ginfo.id.value.data)
        if len(set(ids)) != len(ids):
            raise VerifyException(f"ops of the body share an id: {sorted(ids)}")
        unknown = {step for step in ints(self.flow) if step >= 0} - set(ids)
        if unknown and ints(self.flow) != (0,):
            raise VerifyException(
                f"flow names {sorted(unknown)}, which no op of the body has as id"
            )


@irdl_op_definition
class GroupParallelOp(TpuOp):
    """Groups that do not depend on each other and run at once on several cores."""

    name = "tpu.GroupParallel"

    inputs = var_operand_def(RANKED)
    parallel = region_def("single_block")
    outputs = var_result_def(RANKED)

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class LoadOp(SameShape, LocalOp):
    """A global tensor, or its slice by `ginfo`, copied into local memory.

    `lmem_type` is 0 for coefficients, which stay, and 1 for activations. `do_bcast` copies one
    channel to all lanes. `use_3ic_optimize` as in Conv2D. `indexing_map_s2l` says where in the
    input an element of the result lies, or how lanes lie in DDR. A table of indices
    (`is_idx_weight`) is loaded whole, whatever slices are listed for it. What is `kept` lies in
    local memory as a whole, from that byte of every lane on, and is copied from there.
    """

    name = "tpu.Load"

    input = operand_def(RANKED)
    do_bcast = default_attr_def(BOOL, False)
    use_3ic_optimize = default_attr_def(I64_INT, 0)
    lmem_type = default_attr_def(I64_INT, 0)
    support_compress = default_attr_def(BOOL, True)
    is_idx_weight = default_attr_def(BOOL, False)
    compress_info = opt_attr_def(COMPRESS)
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    kept = opt_attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (declared_shape(self.output),) if self.reads_elsewhere else super().result_shapes()

    @property
    def kept_at(self) -> int | None:
        """From which byte of every lane on the value lies in local memory."""
        return None if self.kept is None else self.kept.value.data

    @property
    def reads_elsewhere(self) -> bool:
        """Whether the result is some of the input: its map has an index for each dimension."""
        found = self.indexing_map_s2l
        if found is None:
            return False
        ranks = len(declared_shape(self.output)), len(declared_shape(self.input))
        return (found.data.num_dims, len(found.data.results)) == ranks

    def verify_(self) -> None:
        super().verify_()
        check_same_elements(self.input, self.output)


@irdl_op_definition
class StoreOp(SameShape, LocalOp):
    """A local tensor, or its slice by `ginfo`, copied to global memory.

    What is `kept` is also copied to its place in the whole tensor, which lies from that byte of
    every lane on; with `only_kept` it does not come to global memory.
    """

    name = "tpu.Store"

    input = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    support_compress = default_attr_def(BOOL, True)
    compress_info = opt_attr_def(COMPRESS)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    paddings = opt_attr_def(I64_ARRAY)
    pad_const_val = opt_attr_def(F64)
    kept = opt_attr_def(I64_INT)
    only_kept = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(InOutSameShape())

    @property
    def kept_at(self) -> int | None:
        """From which byte of every lane on the value is left in local memory."""
        return None if self.kept is None else self.kept.value.data

    @property
    def is_only_kept(self) -> bool:
        """Whether it does not come to global memory."""
        return self.only_kept is not None and bool(self.only_kept.value.data)

    def verify_(self) -> None:
        super().verify_()
        check_same_elements(self.input, self.output)
        if self.is_only_kept and self.kept is None:
            raise VerifyException("only_kept, but not kept")


@irdl_op_definition
class LoadToL2MOp(SameShape, LocalOp):
    """A global tensor copied into the L2 memory that the cores share."""

    name = "tpu.LoadToL2M"

    input = operand_def(RANKED)
    buffer = operand_def(RANKED)
    id = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(InOutSameShape())


@irdl_op_definition
class MoveOp(TpuOp):
    """Tensors copied to other addresses of the local memory."""

    name = "tpu.Move"

    inputs = var_operand_def(RANKED)
    name_ = attr_def(TEXT, attr_name="name")
    move_src_add = attr_def(I64_ARRAY)
    move_dest_add = attr_def(I64_ARRAY)
    move_size = attr_def(I64_ARRAY)
    ts_id = attr_def(I64_INT)
    outputs = var_result_def(RANKED)


@irdl_op_definition
class SliceMergeOp(TpuOp):
    """The slices several cores made, seen as one tensor again."""

    name = "tpu.SliceMerge"

    inputs = var_operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure())
