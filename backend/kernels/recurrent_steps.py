"""The steps of a recurrent layer: its buffers in local memory, and what goes in and out of them.

Numbers of a gate lie as its rows of weights do, unit j in lane j mod lanes: (1, units, 1, columns).
A column is a sequence or, of inputs and results of a block of steps, a *pixel*: one step of one
sequence. Dense tensors hold slots and sequences without gaps.
"""

from functools import partial

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.recurrent_cells import Room, Step
from xdsl_tpu.backend.kernels.recurrent_plan import Block, Layer, Plan
from xdsl_tpu.backend.kernels.recurrent_rows import RowWeights, StateRows, pays
from xdsl_tpu.backend.kernels.recurrent_weights import GateWeights
from xdsl_tpu.backend.kernels.support import DdrValue, LocalMemory
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    Shape4,
    aligned,
    strided,
)

F32 = DType.F32


class Steps:
    """A layer under way. Raises DoesNotFit where there is no room for its buffers."""

    def __init__(self, emitter: Emitter, layer: Layer, plan: Plan, memory: LocalMemory) -> None:
        self.e, self.chip, self.layer, self.plan = emitter, emitter.chip, layer, plan
        sizes, chip = layer.sizes, emitter.chip
        self._kind, self._lanes = sizes.dtype, chip.lanes
        self._slots, self._per_gate = sizes.slots(chip), sizes.per_gate(chip)
        by_rows = pays(sizes, plan, chip)
        self._by_rows = StateRows(emitter, sizes, plan, memory) if by_rows else None
        stay = 1 if by_rows else plan.places
        self._inputs = self._places(memory, plan.inputs, sizes.inputs, plan.places)
        self._recurrent = self._places(memory, plan.recurrent, sizes.units, stay)
        pixels, batch, units = plan.steps * plan.batch, plan.batch, self._per_gate * chip.lanes
        rows, f32 = self._slots * chip.lanes, F32
        kind = self._kind

        def take(count: int, columns: int, dtype: DType) -> int:
            return memory.aligned((1, count, 1, columns), dtype).address

        self._x = take(pixels, sizes.inputs, kind)
        self._turned_x = take(sizes.inputs, pixels, kind) if kind is F32 else self._x
        self._products, self._sums = take(rows, pixels, f32), take(rows, batch, f32)
        self._y, self._y_rows = take(units, pixels, kind), take(pixels, sizes.units, kind)
        self._state, self._other = take(units, batch, kind), take(units, batch, kind)
        self._rows = take(batch, sizes.units, kind)
        self._bias = memory.take(sizes.bias_slots * F32.bytes)
        wide, narrow = self._slots * batch, self._per_gate * batch
        self._whole_room = Room.take(memory, wide, narrow, layer.sigmoid)
        self._room = self._whole_room
        self._biases = self._bias_memory(memory)
        self._weights = [self._weights_of(way) for way in range(sizes.directions)]

    def prepare(self) -> None:
        """What is in local memory before the first step."""
        self._room.write_tables(self.e)
        for inputs, recurrent in self._weights:
            inputs.clear()
            recurrent.clear()

    def _places(self, memory: LocalMemory, tile: int, depth: int, stay: int) -> list[int]:
        """Addresses of tiles of weights: `stay` of them, or two that are loaded in turn."""
        size = tile * self.layer.sizes.row_bytes(depth, self.chip)
        count = stay if tile == self._slots else 2
        return [memory.take(size) for _ in range(count)]

    def _bias_memory(self, memory: LocalMemory) -> tuple[int, int]:
        """Where biases lie as loaded, and with units on the lanes."""
        sizes = self.layer.sizes
        if not sizes.bias_slots:
            return 0, 0
        loaded, turned = sizes.bias_shapes(self.chip)
        return memory.aligned(loaded, F32).address, memory.aligned(turned, F32).address

    def _weights_of(self, way: int) -> tuple[GateWeights, GateWeights]:
        """Those of inputs and those of the state, of one direction."""
        layer, sizes, found = self.layer, self.layer.sizes, list[GateWeights]()
        for value, depth, tile, places in (
            (layer.weights, sizes.inputs, self.plan.inputs, self._inputs),
            (layer.recurrence, sizes.units, self.plan.recurrent, self._recurrent),
        ):
            rows = sizes.gates * sizes.units
            address = value.address + way * rows * depth * self._kind.bytes
            mine = [places[way % len(places)]] if tile == self._slots else places
            by_rows = self._by_rows if value is layer.recurrence else None
            if by_rows is not None:
                found.append(by_rows.weights(way, address, places[0]))
            else:
                found.append(GateWeights(self.e, sizes, depth, address, tile, mine))
        return found[0], found[1]

    def run(self, way: int, batch: Piece) -> None:
        """All steps of some sequences in one direction."""
        if self.plan.places < self.layer.sizes.directions:
            self._weights[way] = self._weights_of(way)
        self._room = self._whole_room.of(self._slots * batch.size, self._per_gate * batch.size)
        self._load_bias(way)
        self._begin(way, batch)
        dense = not self.layer.batch_first and batch.size == self.layer.sizes.batch
        pieces = cut(self.layer.sizes.steps, self.plan.steps)
        for steps in reversed(pieces) if way else pieces:
            self._block(Block(way, steps, batch, dense))
        self._end(way, batch)

    def _tensor(self, address: int, rows: int, columns: int, dtype: DType) -> LocalTensor:
        return aligned(self.chip, address, (1, rows, 1, columns), dtype)

    def _dense(self, tensor: LocalTensor, slots: int, columns: int) -> LocalTensor:
        """A dense tensor as slots and columns."""
        shape, size = (1, self._lanes, slots, columns), slots * columns
        return strided(tensor.address, shape, (size, size, columns, 1), tensor.dtype)

    def _units(self, place: int, columns: int) -> tuple[LocalTensor, LocalTensor]:
        """A tensor of all units, dense columns: as rows on the lanes, and as slots and columns."""
        whole = self._tensor(place, self._per_gate * self._lanes, columns, self._kind)
        return whole, self._columns(whole, Piece(0, self._per_gate), 0, columns, 1)

    def _columns(
        self, tensor: LocalTensor, slots: Piece, first: int, count: int, step: int
    ) -> LocalTensor:
        """Some columns of some slots of (1, rows, 1, columns).

        A single column has no step: elements that lie apart take a line each, rows one for all.
        """
        pitch = tensor.strides[1]
        shape = (1, self._lanes, slots.size, count)
        strides = (pitch, pitch, pitch, step if count > 1 else 1)
        return strided(tensor.at(g=slots.start, w=first), shape, strides, tensor.dtype)

    # --- What is loaded and stored ---------------------------------------------------------------

    def _load_bias(self, way: int) -> None:
        """Biases of gates, those of inputs and states together; of a GRU that multiplies first by
        the reset gate, that of the last gate's state apart, behind the others."""
        bias, sizes, e = self.layer.bias, self.layer.sizes, self.e
        if bias is None:
            return
        (_, rows, _, units), turned = sizes.bias_shapes(self.chip)
        source = GlobalTensor(
            bias.address + way * rows * units * F32.bytes,
            (1, rows, 1, units),
            (rows * units, units, units, 1),
            F32,
        )
        loaded = self._tensor(self._biases[0], rows, units, F32)
        fetch(e, loaded, source)
        by_unit = aligned(self.chip, self._biases[1], turned, F32)
        self.e.copy(by_unit, 0.0)
        transpose(e, self._tensor(self._biases[1], units, rows, F32), loaded)
        pitch, gates, apart = by_unit.strides[1], sizes.gates, self.layer.linear_before_reset

        def part(first: int, count: int) -> LocalTensor:
            shape = (1, self._lanes, count, self._per_gate)
            return strided(by_unit.at(w=first), shape, (pitch, pitch, 1, pitch), F32)

        def target(first: int, count: int) -> LocalTensor:
            address = self._bias + first * self._per_gate * F32.bytes
            flat = self._tensor(address, self._lanes, count * self._per_gate, F32)
            return self._dense(flat, count, self._per_gate)

        both = gates - 1 if apart else gates
        e.arith(Arith.ADD, target(0, both), part(0, both), part(gates, both))
        if apart:
            e.copy(target(both, 1), part(both, 1))
            e.copy(target(gates, 1), part(gates + both, 1))

    def _bias_of(self, slots: Piece) -> LocalTensor:
        """Biases of slots, one column."""
        address = self._bias + slots.start * F32.bytes
        shape = (1, self._lanes, slots.size, 1)
        return strided(address, shape, (slots.size, slots.size, 1, 1), F32)

    def _state_in_ddr(self, value: DdrValue, way: int, batch: Piece) -> GlobalTensor:
        """Rows of an initial or final state."""
        sizes = self.layer.sizes
        n, units, ways = sizes.batch, sizes.units, sizes.directions
        row = ways * units if self.layer.batch_first else units
        first = way * units if self.layer.batch_first else way * n * units
        address = value.address + (first + batch.start * row) * self._kind.bytes
        shape = (1, batch.size, 1, units)
        return GlobalTensor(address, shape, (n * row, row, units, 1), self._kind)

    def _begin(self, way: int, batch: Piece) -> None:
        """The initial states, or zeros."""
        sizes, columns = self.layer.sizes, batch.size
        dense = (self._room.h, self._room.c)
        places = (self._state, self._other)
        for value, place, target in zip(self.layer.initial, places, dense, strict=False):
            whole, source = self._units(place, columns)
            self.e.copy(whole, 0.0)
            if value is not None:
                rows = self._tensor(self._rows, columns, sizes.units, self._kind)
                fetch(self.e, rows, self._state_in_ddr(value, way, batch))
                transpose(self.e, self._tensor(place, sizes.units, columns, self._kind), rows)
            self.e.convert(self._dense(target, self._per_gate, columns), source)
        if self._by_rows is not None:
            self._by_rows.give(self._dense(self._room.h, self._per_gate, columns))

    def _end(self, way: int, batch: Piece) -> None:
        """Store the final states."""
        sizes, columns = self.layer.sizes, batch.size
        dense, places = (self._room.h, self._room.c), (self._state, self._other)
        for value, place, source in zip(self.layer.final, places, dense, strict=False):
            if value is None:
                continue
            _, target = self._units(place, columns)
            self.e.convert(target, self._dense(source, self._per_gate, columns))
            rows = self._tensor(self._rows, columns, sizes.units, self._kind)
            transpose(self.e, rows, self._tensor(place, sizes.units, columns, self._kind))
            put(self.e, self._state_in_ddr(value, way, batch), rows)

    def _load_x(self, block: Block) -> LocalTensor:
        """The block's inputs as a right operand: a row per pixel or, in f32, a column."""
        sizes, layer = self.layer.sizes, self.layer
        by_step, by_sequence = layer.sequence_strides
        x = self._tensor(self._x, block.pixels, sizes.inputs, self._kind)
        first = block.steps.start * by_step + block.batch.start * by_sequence
        if block.by_step:
            runs = [(0, first, block.pixels, 1)]
        else:
            size = block.steps.size
            runs = [
                (b * size, first + b * by_sequence, size, by_step) for b in range(block.batch.size)
            ]
        for column, row, count, step in runs:
            shape: Shape4 = (1, count, 1, sizes.inputs)
            pitch = step * sizes.inputs
            address = layer.x.address + row * sizes.inputs * self._kind.bytes
            strides = (count * pitch, pitch, sizes.inputs, 1)
            source = GlobalTensor(address, shape, strides, self._kind)
            whole = count == block.pixels
            target = x if whole else x.window((0, column, 0, 0), shape, self.chip)
            fetch(self.e, target, source)
        if self._kind is not F32:
            return x
        turned = self._tensor(self._turned_x, sizes.inputs, block.pixels, F32)
        transpose(self.e, turned, x)
        return turned

    def _store_y(self, block: Block) -> None:
        """The block's results: rows of steps, sequence by sequence."""
        y, sizes = self.layer.y, self.layer.sizes
        if y is None:
            return
        units, ways, size = sizes.units, sizes.directions, block.steps.size
        columns = self._tensor(self._y, units, block.pixels, self._kind)
        rows = self._tensor(self._y_rows, block.pixels, units, self._kind)
        transpose(self.e, rows, columns)
        if self.layer.batch_first:
            by_step, by_way, by_sequence = ways * units, units, sizes.steps * ways * units
        else:
            by_step, by_way, by_sequence = ways * sizes.batch * units, sizes.batch * units, units
        for b in range(block.batch.size):
            first = block.steps.start * by_step + block.way * by_way
            first += (block.batch.start + b) * by_sequence
            shape: Shape4 = (1, size, 1, units)
            strides = (size * by_step, by_step, units, 1)
            address = y.address + first * self._kind.bytes
            whole = block.batch.size == 1
            source = rows if whole else rows.window((0, b * size, 0, 0), shape, self.chip)
            put(self.e, GlobalTensor(address, shape, strides, self._kind), source)

    # --- What is computed ------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        """Products of the inputs, then step after step."""
        inputs, recurrent = self._weights[block.way]
        inputs.load()
        x = self._load_x(block)
        recurrent.load()
        self._load_ahead(block.way)
        rows = self._slots * self._lanes
        products = self._tensor(self._products, rows, block.pixels, F32)
        everything = Piece(0, self._slots)
        biased = self.layer.bias is not None
        if biased:
            target = self._columns(products, everything, 0, block.pixels, 1)
            self.e.copy(target, self._bias_of(everything))
        turned = self._kind is not F32
        self._multiply(products, inputs, everything, x, turned, biased)
        order = range(block.steps.size)
        for step in reversed(order) if block.way else order:
            self._step(block, step, products, recurrent)
        self._store_y(block)

    def _load_ahead(self, way: int) -> None:
        """The other direction's weights, if they have places of their own."""
        if self.plan.places == self.layer.sizes.directions:
            for weights in self._weights[way + 1 :]:
                for one in weights:
                    one.load()

    def _multiply(
        self,
        out: LocalTensor,
        weights: GateWeights,
        slots: Piece,
        right: LocalTensor,
        turned: bool = False,
        accumulate: bool = False,
    ) -> None:
        """Rows of some slots of `out` = weights times the right operand."""
        columns = out.shape[3]
        for tile in weights.tiles(slots):
            rows = tile.slots.size * self._lanes
            target = self._tensor(out.at(g=tile.slots.start), rows, columns, F32)
            weights.multiply(target, tile, right, turned, accumulate)

    def _step(self, block: Block, step: int, products: LocalTensor, recurrent: GateWeights) -> None:
        columns, (by_step, by_sequence) = block.batch.size, block.strides
        rows = self._slots * self._lanes
        sums = self._tensor(self._sums, rows, columns, F32)
        state = self._tensor(self._state, self.layer.sizes.units, columns, self._kind)

        def slots(first: int, count: int) -> Piece:
            return Piece(first * self._per_gate, count * self._per_gate)

        def of_inputs(gates: Piece) -> LocalTensor:
            return self._columns(products, gates, step * by_step, columns, by_sequence)

        def of_state(gates: Piece) -> LocalTensor:
            if self._by_rows is not None and isinstance(recurrent, RowWeights):
                return self._by_rows.products(recurrent, gates, columns)
            self._multiply(sums, recurrent, gates, state)
            return self._columns(sums, gates, 0, columns, 1)

        def inputs(target: LocalTensor, first: int, count: int) -> None:
            gates = slots(first, count)
            self.e.copy(self._dense(target, gates.size, columns), of_inputs(gates))

        def total(target: LocalTensor, first: int, count: int) -> None:
            gates = slots(first, count)
            out = self._dense(target, gates.size, columns)
            self.e.arith(Arith.ADD, out, of_state(gates), of_inputs(gates))

        def with_bias(target: LocalTensor, first: int, count: int) -> None:
            gates, out = slots(first, count), self._dense(target, count * self._per_gate, columns)
            if self.layer.bias is None:
                self.e.copy(out, of_state(gates))
            else:
                bias = self._bias_of(Piece(self._slots, gates.size))
                self.e.arith(Arith.ADD, out, of_state(gates), bias)

        give = partial(self._give, columns)
        self.layer.cell(
            Step(self.e, self._room, inputs, total, with_bias, give),
            self.layer.linear_before_reset,
        )
        if self.layer.y is not None:
            y = self._tensor(self._y, self._per_gate * self._lanes, block.pixels, self._kind)
            every = Piece(0, self._per_gate)
            target = self._columns(y, every, step, columns, block.steps.size)
            self.e.convert(target, self._dense(self._room.h, self._per_gate, columns))

    def _give(self, columns: int, value: LocalTensor) -> None:
        """Put a state where the next product reads it."""
        dense = self._dense(value, self._per_gate, columns)
        if self._by_rows is not None:
            self._by_rows.give(dense)
            return
        _, target = self._units(self._state, columns)
        self.e.convert(target, dense)
