"""What straight groups take, those of all beginnings with one end at a time.

A network of a thousand ops has hundreds of thousands of ranges that fit, so beginnings go on side
by side: one op is one step of an array with a place for each.
"""

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.layer_group.clock import BEGIN, Course, Passage
from xdsl_tpu.passes.layer_group.cost import CostTable


class Passages:
    """Those of a function, for ends that are asked for in order, or have been before.

    Column k of `_courses` is how far a group that begins with op k has come, of those that have
    `_begun`; `_before` has what it was in front of ops whose prices may change.
    """

    def __init__(self, table: CostTable) -> None:
        self.table = table
        count = len(table.ops)
        self._begun = 0
        self._courses = np.empty((len(BEGIN), count))
        self._before: dict[int, npt.NDArray[np.float64]] = {}
        self._wanted: list[tuple[int, SSAValue]] = []
        self._found: dict[int, Passage] = {}

    def to(self, end: int, first: int) -> Passage:
        """What ops[start:end] take as one group for each start from `first` on; for ever where a
        kernel cannot work on the whole. `first` never falls from end to end."""
        if end not in self._found:
            self._found[end] = self._next(end, first)
        return self._found[end]

    def _next(self, end: int, first: int) -> Passage:
        table, stores = self.table, np.zeros(end - first)
        wanted = [*self._wanted, *((end - 1, v) for v in table.ops[end - 1].results)]
        self._wanted = [
            (at, v)
            for at, v in wanted
            if at >= first and not is_none(v) and table.last_use[v] >= end
        ]
        if first < end:
            self._extend(first, end)
        for at, value in self._wanted:
            stores[: at + 1 - first] += table.stored(value)
        course = Course(*self._courses[:, first:end])
        return course.stored(stores, table.next_ahead(end - 1))

    def _extend(self, first: int, end: int) -> None:
        """One op more for groups that begin with ops[first:end]."""
        low = first
        for touched in self.table.neighbours.changed.get(end - 1, ()):
            if low <= touched:
                high = touched + 1
                self._courses[:, low:high] = self._before[touched][:, low:high]
                self._run(low, high, range(touched, end - 1), end)
                low = high
        new, self._begun = max(first, self._begun), end
        self._courses[:, new:end] = np.array(BEGIN)[:, None]
        self._run(new, end, range(new, end - 1), end)
        self._run(first, end, range(end - 1, end), end)

    def _run(self, start: int, stop: int, ops: range, end: int) -> None:
        """Some ops more for groups that begin with ops[start:stop] and end before `end`."""
        table = self.table
        for index in ops:
            last = min(stop, index + 1)
            if index in table.neighbours:
                before = self._before.setdefault(index, np.empty_like(self._courses))
                before[:, start:last] = self._courses[:, start:last]
            for low, high, step in table.steps(index, start, last, end):
                here = self._courses[:, low:high]
                if step is None:
                    here[:] = np.inf
                else:
                    here[:] = Course(*here).after(step, table.ahead(index, step.local_bytes))
