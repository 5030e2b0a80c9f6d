"""GDMA commands: moving tensors between DDR and local memory (docs/hardware/instructions.md)."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from xdsl_tpu.backend.emitter.queues import CommandQueues
from xdsl_tpu.backend.isa.codes import DmaMatrix, DmaTensor
from xdsl_tpu.backend.tensor import DType, GlobalTensor, LocalTensor, ceil_div, plain_strides
from xdsl_tpu.dialects.errors import TpuError

Place = GlobalTensor | LocalTensor


class GdmaEmitter(CommandQueues):
    """The GDMA half of the emitter."""

    def load(self, target: LocalTensor, source: GlobalTensor) -> None:
        """DDR to local memory; both sides have the same shape and any strides."""
        self._copy(target, source)

    def store(self, target: GlobalTensor, source: LocalTensor) -> None:
        """Local memory to DDR."""
        self._copy(target, source)

    def move(self, target: GlobalTensor, source: GlobalTensor) -> None:
        """DDR to DDR, any strides."""
        self._copy(target, source)

    def load_broadcast(self, target: LocalTensor, source: GlobalTensor) -> None:
        """Copy source (n, 1, h, w) into every channel of target (n, c, h, w)."""
        n, c, h, w = source.shape
        if c != 1 or (n, h, w) != (target.shape[0], *target.shape[2:]):
            raise TpuError(f"broadcast load: {source.shape} does not spread over {target.shape}")
        fields = self._tensor_fields(target, source)
        fields |= {"cmd_special_function": DmaTensor.BROADCAST, "nchw_copy": 0}
        fields |= zip(self.forms["DMA_tensor"].operands["dst"].shape, target.shape, strict=True)
        self.issue("DMA_tensor", fields, [], [target.span(self.chip)])

    def load_matrix(
        self, target: LocalTensor, source: GlobalTensor, transpose: bool = False
    ) -> None:
        """DDR rows to blocks of columns spread over the lanes (5.13).

        source (1, 1, rows, columns) has any row stride; target (rows, blocks, 1, width) takes
        `width` columns per lane, the last block what is left of them. With `transpose` the
        target's rows are the source's columns.
        """
        rows, columns = source.shape[2:]
        self._check_matrix(target, (columns, rows) if transpose else (rows, columns))
        for local, part in self._parts(target, source, "w" if transpose else "h"):
            fields = self._matrix_fields("dst", local, part)
            function = DmaMatrix.MATRIX_TRANSPOSE if transpose else DmaMatrix.MATRIX_COPY
            fields["cmd_special_function"] = function
            self.issue("DMA_matrix", fields, [], [local.span(self.chip)])

    def store_matrix(self, target: GlobalTensor, source: LocalTensor) -> None:
        """The inverse of `load_matrix`."""
        self._check_matrix(source, (target.shape[2], target.shape[3]))
        for local, part in self._parts(source, target, "h"):
            fields = self._matrix_fields("src", local, part)
            self.issue("DMA_matrix", fields, [local.span(self.chip)], [])

    def _parts(
        self, local: LocalTensor, ddr: GlobalTensor, axis: Literal["h", "w"]
    ) -> Iterator[tuple[LocalTensor, GlobalTensor]]:
        """The matrix, or its last row apart, which lies along `axis` in DDR: the C model asserts
        that all rows, the room behind the last one too, end within the lane."""
        rows = local.shape[0]
        start, _ = local.span(self.chip)
        end = start + rows * local.strides[0] * local.dtype.bytes
        if rows == 1 or end <= self.chip.local_bytes:
            yield local, ddr
            return
        for first, count in ((0, rows - 1), (rows - 1, 1)):
            here, sizes = ((first, 0), (count, ddr.shape[3]))
            if axis == "w":
                here, sizes = ((0, first), (ddr.shape[2], count))
            part = replace(local, address=local.at(first), shape=(count, *local.shape[1:]))
            yield part, ddr.window((0, 0, *here), (1, 1, *sizes))

    def _check_matrix(self, local: LocalTensor, matrix: tuple[int, int]) -> None:
        rows, blocks, height, width = local.shape
        if height != 1 or rows != matrix[0] or blocks != ceil_div(matrix[1], width):
            raise TpuError(f"DMA matrix: {matrix} does not fill {local.shape}")

    def _matrix_fields(
        self, local_side: str, local: LocalTensor, ddr: GlobalTensor
    ) -> dict[str, int]:
        ddr_side = "src" if local_side == "dst" else "dst"
        rows, blocks, _, width = local.shape
        if local.dtype.bytes != ddr.dtype.bytes:
            raise TpuError(f"DMA matrix: {ddr.dtype.label} and {local.dtype.label}")
        fields = self._common_fields("DMA_matrix", local.dtype)
        fields |= self._address("DMA_matrix", local_side, local)
        fields |= self._address("DMA_matrix", ddr_side, ddr)
        fields |= {f"{local_side}_nsize": rows, f"{local_side}_csize": blocks}
        # The distance of a single row means nothing, but the C model asserts that it fits a lane.
        row_stride = local.strides[0] if rows > 1 else width
        fields |= {f"{local_side}_wsize": width, f"{local_side}_nstride": row_stride}
        fields |= {f"{local_side}_cstride": local.strides[1]}
        fields |= {f"{ddr_side}_hsize": ddr.shape[2], f"{ddr_side}_wsize": ddr.shape[3]}
        return fields | {f"{ddr_side}_hstride": ddr.strides[2]}

    def fill(self, target: Place, value: float) -> None:
        """Set every element to a constant."""
        fields = self._tensor_fields(target, target)
        fields |= {"fill_constant_en": 1, "constant_value": target.dtype.bits(value)}
        fields |= self.forms["DMA_tensor"].operands["src"].address_fields(self.chip.ddr_base)
        writes = [target.span(self.chip)] if isinstance(target, LocalTensor) else []
        self.issue("DMA_tensor", fields, [], writes)

    def gather(self, target: Place, source: GlobalTensor, index: GlobalTensor) -> None:
        """target (1, c, rows, w) = rows of source (1, 1 or c, h, w) that index (1, 1 or c, rows, 1)
        names, these in DDR; rows are dense. What is out of range becomes 0 (5.14)."""
        writes = [target.span(self.chip)] if isinstance(target, LocalTensor) else []
        self.issue("DMA_gather", self._row_fields("DMA_gather", target, source, index), [], writes)

    def scatter(self, target: GlobalTensor, source: GlobalTensor, index: GlobalTensor) -> None:
        """Rows of source (1, c, rows, w) to those of target (1, c, h, w) that index (1, 1 or c,
        rows, 1) names, all in DDR; of equal indices the last one wins (5.14)."""
        self.issue("DMA_scatter", self._row_fields("DMA_scatter", target, source, index), [], [])

    def _row_fields(
        self, form: str, target: Place, source: GlobalTensor, index: GlobalTensor
    ) -> dict[str, int]:
        if index.dtype.bytes != DType.I32.bytes or target.dtype is not source.dtype:
            kinds = ", ".join(t.dtype.label for t in (target, source, index))
            raise TpuError(f"DMA of rows by index: types {kinds}")
        fields = self._common_fields(form, source.dtype)
        for side, tensor in (("src", source), ("dst", target), ("index", index)):
            names = self.forms[form].operands[side]
            fields |= self._address(form, side, tensor)
            fields |= zip(names.strides, tensor.strides[1:3], strict=True)
            fields |= {field: tensor.shape[axis] for axis, field in names.extents}
        return fields

    def _copy(self, target: Place, source: Place) -> None:
        if target.shape != source.shape:
            raise TpuError(f"DMA copy: shapes differ, {source.shape} to {target.shape}")
        pairs = _with_steps_along_w(target, source)
        for to, of in (rows for pair in pairs for rows in _with_steps_along_h(*pair)):
            reads = [of.span(self.chip)] if isinstance(of, LocalTensor) else []
            writes = [to.span(self.chip)] if isinstance(to, LocalTensor) else []
            self.issue("DMA_tensor", self._tensor_fields(to, of), reads, writes)

    def _tensor_fields(self, target: Place, source: Place) -> dict[str, int]:
        if target.dtype.bytes != source.dtype.bytes:
            raise TpuError(f"DMA copy: {source.dtype.label} to {target.dtype.label}")
        fields = self._common_fields("DMA_tensor", source.dtype) | {"nchw_copy": 1}
        operands = self.forms["DMA_tensor"].operands
        fields |= zip(operands["src"].shape, source.shape, strict=True)
        for side, tensor in (("src", source), ("dst", target)):
            fields |= self._address("DMA_tensor", side, tensor)
            steps = plain_strides(tensor.shape, tensor.strides)  # the C model divides by that of w
            fields |= zip(operands[side].strides, steps, strict=True)
        return fields

    def _common_fields(self, form: str, dtype: DType) -> dict[str, int]:
        """Of transfers of plain elements with strides, from or to all lanes."""
        return {"stride_enable": 1, "src_data_format": dtype.code, **self.forms[form].all_lanes}

    def _address(self, form: str, side: str, tensor: Place) -> dict[str, int]:
        return self.forms[form].operands[side].address_fields(self._absolute(tensor))

    def _absolute(self, tensor: Place) -> int:
        if isinstance(tensor, LocalTensor):
            return self.chip.local_base + tensor.address
        return tensor.address


def _with_steps_along_w(target: Place, source: Place) -> Iterator[tuple[Place, Place]]:
    """The same copy, with w exchanged for another axis where elements in DDR repeat along it.

    The C model divides by the w stride of a side in DDR, so that it must not be 0.
    """
    if target.shape[3] == 1 or all(_steps(side, 3) for side in (target, source)):
        yield target, source
        return
    for axis in (2, 0):
        if target.shape[axis] == 1 or all(_steps(side, axis) for side in (target, source)):
            yield _exchanged(target, axis, 3), _exchanged(source, axis, 3)
            return
    for image in range(target.shape[0]):
        yield from _with_steps_along_w(_image(target, image), _image(source, image))


def _with_steps_along_h(target: Place, source: Place) -> Iterator[tuple[Place, Place]]:
    """The same copy, image by image along n where it reads one row of DDR h times.

    The vendor's estimate takes a transfer for nothing whose rows in DDR have a stride of 0.
    """
    if source.shape[2] == 1 or _steps(source, 2):
        yield target, source
        return
    for image in range(source.shape[0]):
        yield _exchanged(_image(target, image), 0, 2), _exchanged(_image(source, image), 0, 2)


def _steps(side: Place, axis: int) -> bool:
    return isinstance(side, LocalTensor) or side.strides[axis] != 0


def _exchanged(side: Place, axis: int, other: int) -> Place:
    """A tensor two of whose axes take each other's place, seen with explicit strides."""
    order = [0, 1, 2, 3]
    order[axis], order[other] = other, axis
    n, c, h, w = (side.shape[i] for i in order)
    by_n, by_c, by_h, by_w = (side.strides[i] for i in order)
    side = side.free() if isinstance(side, LocalTensor) else side
    return replace(side, shape=(n, c, h, w), strides=(by_n, by_c, by_h, by_w))


def _image(side: Place, image: int) -> Place:
    offset = image * side.strides[0] * side.dtype.bytes
    return replace(side, address=side.address + offset, shape=(1, *side.shape[1:]))
