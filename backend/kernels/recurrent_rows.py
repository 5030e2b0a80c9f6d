"""States in f32 as rows of a product.

The convolution unit takes as long for one column as for as many as a lane has EUs: a product of a
single state would take sixteen times what its multiply-accumulates do. As a row it meets a line of
weights, an element of each slot, in every lane.
"""

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.recurrent_plan import Plan, Sizes
from xdsl_tpu.backend.kernels.recurrent_weights import GateWeights
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, aligned, ceil_div, strided

F32 = DType.F32


def pays(sizes: Sizes, plan: Plan, chip: Chip) -> bool:
    """Whether rows take less than columns: all lanes work on as many slots of one row at a time, or
    columns of one slot, as they have EUs. The weights must stay."""
    slots, units = sizes.slots(chip), chip.eu_bytes // F32.bytes
    rounds = plan.batch * ceil_div(slots, units), slots * ceil_div(plan.batch, units)
    return sizes.dtype is F32 and plan.recurrent == slots and rounds[0] < rounds[1]


class RowWeights(GateWeights):
    """Recurrent weights that stay, and lie at `turned` as the right matrix of a product of rows: a
    line of all slots for each unit, in the order that a dense state has them."""

    def __init__(self, e: Emitter, sizes: Sizes, address: int, place: int, turned: int) -> None:
        super().__init__(e, sizes, sizes.units, address, sizes.slots(e.chip), [place])
        self.turned = aligned(e.chip, turned, _turned(sizes, e.chip), F32)

    def load(self) -> None:
        """Bring them in, unless they are there; units that a lane does not have are zeros."""
        if self._loaded:
            return
        super().load()
        lanes, units, slots = self.e.chip.lanes, self.sizes.units, self.turned.shape[3]
        if units % lanes:
            self.e.copy(self.turned, 0.0)
        line = self.turned.strides[0]
        across = self.sizes.per_gate(self.e.chip) * line
        whole, rest = divmod(units, lanes)
        for first, rows, count in ((0, lanes, whole), (whole, rest, 1)):
            if rows and count:
                shape = (rows, lanes, count, slots)
                target = strided(self.turned.at(n=first), shape, (across, line, line, 1), F32)
                start = self._places[0] + first * lanes * F32.bytes
                source = strided(start, shape, (1, self.depth, lanes, self.depth), F32)
                self.e.copy(target, source)


class StateRows:
    """The states of the sequences under way, and their products with all gates."""

    def __init__(self, e: Emitter, sizes: Sizes, plan: Plan, memory: LocalMemory) -> None:
        self.e, self._sizes = e, sizes
        lanes, self._slots = e.chip.lanes, sizes.slots(e.chip)
        turned = _turned(sizes, e.chip)
        self._places = [memory.aligned(turned, F32).address for _ in range(plan.places)]
        self._states = memory.aligned((plan.batch, lanes, 1, sizes.per_gate(e.chip)), F32)
        self._sums = memory.aligned((plan.batch, lanes, 1, self._slots), F32)
        self._multiplied = False

    def weights(self, way: int, address: int, place: int) -> RowWeights:
        """Those of one direction, which are loaded at `place`."""
        turned = self._places[way % len(self._places)]
        return RowWeights(self.e, self._sizes, address, place, turned)

    def give(self, states: LocalTensor) -> None:
        """What is multiplied from now on: slots of a gate and sequences."""
        self.e.copy(self._seen(self._states, Piece(0, states.shape[2]), states.shape[3]), states)
        self._multiplied = False

    def products(self, weights: RowWeights, slots: Piece, columns: int) -> LocalTensor:
        """Some slots of the states' products, made once for those given last."""
        if not self._multiplied:
            out, states = (self._rows(tensor, columns) for tensor in (self._sums, self._states))
            self.e.mm(out, states, weights.turned)
            self._multiplied = True
        return self._seen(self._sums, slots, columns)

    def _rows(self, tensor: LocalTensor, columns: int) -> LocalTensor:
        return aligned(self.e.chip, tensor.address, (columns, *tensor.shape[1:]), F32)

    def _seen(self, tensor: LocalTensor, slots: Piece, columns: int) -> LocalTensor:
        """Rows as slots and columns."""
        lanes, pitch = self.e.chip.lanes, tensor.strides[0]
        shape = (1, lanes, slots.size, columns)
        return strided(tensor.at(w=slots.start), shape, (pitch, pitch, 1, pitch), F32)


def _turned(sizes: Sizes, chip: Chip) -> Shape4:
    """Recurrent weights as a right matrix."""
    return sizes.per_gate(chip) * chip.lanes, chip.lanes, 1, sizes.slots(chip)
