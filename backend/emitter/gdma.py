"""GDMA commands: moving tensors between DDR and local memory (instruction reference, 5.12)."""

from xdsl_tpu.backend.emitter.queues import CommandQueues, Span
from xdsl_tpu.backend.tensor import DType, GlobalTensor, LocalTensor, ceil_div
from xdsl_tpu.dialects.errors import TpuError

_ALL_LANES = {"localmem_mask_l32": 0xFFFFFFFF, "localmem_mask_h32": 0xFFFFFFFF}
_AXES = ("n", "c", "h", "w")

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
        fields = self._tensor_fields(target, source) | {"cmd_special_function": 3}
        fields |= {"nchw_copy": 0} | _sizes("dst", target.shape)
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
        fields = self._matrix_fields("dst", target, source)
        fields |= {"cmd_special_function": int(transpose)}
        self.issue("DMA_matrix", fields, [], [target.span(self.chip)])

    def store_matrix(self, target: GlobalTensor, source: LocalTensor) -> None:
        """The inverse of `load_matrix`."""
        self._check_matrix(source, (target.shape[2], target.shape[3]))
        fields = self._matrix_fields("src", source, target)
        self.issue("DMA_matrix", fields, [source.span(self.chip)], [])

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
        # The C-model asserts that rows * stride fits local memory, of a single row, too.
        row_stride = local.strides[0] if rows > 1 else local.groups(self.chip) * local.strides[1]
        fields = {"stride_enable": 1, "src_data_format": _format(local.dtype)} | _ALL_LANES
        fields |= _address(local_side, self._absolute(local)) | _address(ddr_side, ddr.address)
        fields |= {f"{local_side}_nsize": rows, f"{local_side}_csize": blocks}
        fields |= {f"{local_side}_wsize": width, f"{local_side}_nstride": row_stride}
        fields |= {f"{local_side}_cstride": local.strides[1]}
        fields |= {f"{ddr_side}_hsize": ddr.shape[2], f"{ddr_side}_wsize": ddr.shape[3]}
        return fields | {f"{ddr_side}_hstride": ddr.strides[2]}

    def fill(self, target: Place, value: float) -> None:
        """Set every element to a constant."""
        fields = self._tensor_fields(target, target)
        fields |= {"fill_constant_en": 1, "constant_value": target.dtype.bits(value)}
        fields |= _address("src", self.chip.ddr_base)
        writes = [target.span(self.chip)] if isinstance(target, LocalTensor) else []
        self.issue("DMA_tensor", fields, [], writes)

    def gather(self, target: GlobalTensor, source: GlobalTensor, index: GlobalTensor) -> None:
        """target (1, c, rows, w) = rows of source (1, c, h, w) that index (1, 1 or c, rows, 1)
        names, all in DDR; rows of both are dense. What is out of range becomes 0 (5.14)."""
        fields = self._row_fields(target, source, index)
        self.issue("DMA_gather", fields, [], [])

    def scatter(self, target: GlobalTensor, source: GlobalTensor, index: GlobalTensor) -> None:
        """Rows of source (1, c, rows, w) to those of target (1, c, h, w) that index (1, 1 or c,
        rows, 1) names, all in DDR; of equal indices the last one wins (5.14)."""
        fields = self._row_fields(target, source, index)
        self.issue("DMA_scatter", fields, [], [])

    def _row_fields(
        self, target: GlobalTensor, source: GlobalTensor, index: GlobalTensor
    ) -> dict[str, int]:
        if index.dtype.bytes != DType.I32.bytes or target.dtype is not source.dtype:
            kinds = ", ".join(t.dtype.label for t in (target, source, index))
            raise TpuError(f"DMA of rows by index: types {kinds}")
        fields = {"stride_enable": 1, "src_data_format": _format(source.dtype)} | _ALL_LANES
        for side, tensor in (("src", source), ("dst", target), ("index", index)):
            fields |= _address(side, tensor.address)
            fields |= {
                f"{side}_{a}stride": s for a, s in zip("ch", tensor.strides[1:3], strict=True)
            }
            fields |= {f"{side}_{a}size": s for a, s in zip("ch", tensor.shape[1:3], strict=True)}
        return fields | {"src_wsize": source.shape[3], "dst_wsize": target.shape[3]}

    def _copy(self, target: Place, source: Place) -> None:
        if target.shape != source.shape:
            raise TpuError(f"DMA copy: shapes differ, {source.shape} to {target.shape}")
        reads: list[Span] = []
        writes: list[Span] = []
        if isinstance(source, LocalTensor):
            reads.append(source.span(self.chip))
        if isinstance(target, LocalTensor):
            writes.append(target.span(self.chip))
        self.issue("DMA_tensor", self._tensor_fields(target, source), reads, writes)

    def _tensor_fields(self, target: Place, source: Place) -> dict[str, int]:
        if target.dtype.bytes != source.dtype.bytes:
            raise TpuError(f"DMA copy: {source.dtype.label} to {target.dtype.label}")
        fields = {"stride_enable": 1, "nchw_copy": 1, "src_data_format": _format(source.dtype)}
        fields |= _ALL_LANES | _sizes("src", source.shape)
        for side, tensor in (("src", source), ("dst", target)):
            fields |= _address(side, self._absolute(tensor))
            fields |= {f"{side}_{a}stride": s for a, s in zip(_AXES, tensor.strides, strict=True)}
        return fields

    def _absolute(self, tensor: Place) -> int:
        if isinstance(tensor, LocalTensor):
            return self.chip.local_base + tensor.address
        return tensor.address


def _format(dtype: DType) -> int:
    return dtype.code


def _sizes(side: str, shape: tuple[int, int, int, int]) -> dict[str, int]:
    return {f"{side}_{a}size": size for a, size in zip(_AXES, shape, strict=True)}


def _address(side: str, address: int) -> dict[str, int]:
    return {
        f"{side}_start_addr_l32": address & 0xFFFFFFFF,
        f"{side}_start_addr_h8": address >> 32,
    }
