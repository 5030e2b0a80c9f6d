"""Ops that choose the names their results print under, as MLIR's OpAsmOpInterface lets them."""

from abc import ABC, abstractmethod

from xdsl.ir import Operation


class ResultNames(Operation, ABC):
    """An op whose results print as `%out, %mask` rather than as `%3:2`."""

    @abstractmethod
    def result_names(self) -> tuple[str, ...]:
        """One name a result; empty for an op whose results are numbered like any other's.

        A name that is taken already gets a number behind it.
        """
