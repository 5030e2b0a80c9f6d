"""Normalisations and softmax."""

from abc import ABC
from math import prod

from xdsl.ir import SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_result_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import ChoiceKind
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of
from xdsl_tpu.dialects.oneflow.base import (
    BOOL,
    DATA_FORMAT,
    F32,
    F64,
    SI32,
    SI64,
    OneFlowOp,
    UnaryOp,
    channel_axis,
    default_attr_def,
)
from xdsl_tpu.dialects.oneflow.layout import ChannelAxisLayout, GroupNormLayout, LayerNormLayout
from xdsl_tpu.dialects.oneflow.segments import OperandSegments, ResultSegments, oneflow_op

ACTIVATION = ChoiceKind("none", "silu")


class BatchNormOp(OneFlowOp, ABC):
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta + _add_to_output, per index of `axis`.

    In training, mean and variance are those of x; otherwise they are the moving ones.
    """

    x = operand_def(RANKED)
    moving_mean = opt_operand_def(RANKED)
    moving_variance = opt_operand_def(RANKED)
    gamma = opt_operand_def(RANKED)
    beta = opt_operand_def(RANKED)
    add_to_output = opt_operand_def(RANKED)
    y = result_def(RANKED)
    axis = default_attr_def(SI32, 0)
    epsilon = default_attr_def(F32, 0.0)
    training = default_attr_def(BOOL, False)
    momentum = default_attr_def(F32, 0.0)

    traits = traits_def(Pure(), ChannelAxisLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.x)
        axis = axis_of(self.axis.value.data, len(shape))
        parameters = (self.moving_mean, self.moving_variance, self.gamma, self.beta)
        for parameter in parameters:
            if parameter is not None and self.shape_of(parameter) != (shape[axis],):
                raise ShapeError(
                    f"parameter {dims(self.shape_of(parameter))} must have the {shape[axis]} "
                    f"elements of dimension {axis} of {dims(shape)}"
                )
        if (self.moving_mean is None) != (self.moving_variance is None):
            raise ShapeError("moving_mean and moving_variance come together or not at all")
        if self.moving_mean is None and not self.uses_batch_statistics:
            raise ShapeError("without moving_mean and moving_variance it must be in training")
        more = self.add_to_output
        if more is not None and self.shape_of(more) != shape:
            raise ShapeError(f"_add_to_output {dims(self.shape_of(more))} must be {dims(shape)}")
        return (shape, *((shape[axis],) for _ in self.results[1:]))

    @property
    def uses_batch_statistics(self) -> bool:
        """Whether mean and variance are taken from `x`."""
        return bool(self.training.value.data)


@oneflow_op
class NormalizationOp(BatchNormOp):
    """Batch normalisation; `mean` and `inv_variance` are those it used."""

    name = "oneflow.normalization"

    y = result_def(RANKED)  # named first: a class's own results precede those it inherits
    mean = opt_result_def(RANKED)
    inv_variance = opt_result_def(RANKED)

    irdl_options = (OperandSegments(), ResultSegments())


@oneflow_op
class NormalizationInferOp(BatchNormOp):
    """Batch normalisation with moving statistics, whatever `training` says."""

    name = "oneflow.normalization_infer"

    irdl_options = (OperandSegments(),)

    @property
    def uses_batch_statistics(self) -> bool:
        return False


class StatisticsOp(OneFlowOp, ABC):
    """y = (x - mean) * inv_variance * gamma + beta; also gives mean and inv_variance.

    Operands come in the order x, beta, gamma.
    """

    x = operand_def(RANKED)
    beta = opt_operand_def(RANKED)
    gamma = opt_operand_def(RANKED)
    y = result_def(RANKED)
    mean = result_def(RANKED)
    inv_variance = result_def(RANKED)

    irdl_options = (OperandSegments(),)
    traits = traits_def(Pure())

    def _check_parameters(self, count: int) -> None:
        for parameter in (self.beta, self.gamma):
            if parameter is not None and prod(self.shape_of(parameter)) != count:
                raise ShapeError(
                    f"parameter {dims(self.shape_of(parameter))} must have {count} elements"
                )


@oneflow_op
class LayerNormOp(StatisticsOp):
    """Over dimension `begin_norm_axis` and all after it."""

    name = "oneflow.layer_norm"

    center = default_attr_def(BOOL, False)
    scale = default_attr_def(BOOL, False)
    begin_norm_axis = default_attr_def(SI64, 0)
    begin_params_axis = default_attr_def(SI64, 0)
    epsilon = default_attr_def(F64, 0.0)

    traits = traits_def(LayerNormLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.x)
        axis = axis_of(self.begin_norm_axis.value.data, len(shape))
        first = axis_of(self.begin_params_axis.value.data, len(shape))
        self._check_parameters(prod(shape[first:]))
        return (shape, shape[:axis], shape[:axis])


@oneflow_op
class GroupNormOp(StatisticsOp):
    """Over each of `num_groups` parts of the channels; then `activation`."""

    name = "oneflow.group_norm"

    affine = default_attr_def(BOOL, False)
    num_groups = default_attr_def(SI32, 0)
    epsilon = default_attr_def(F64, 0.0)
    data_format = default_attr_def(DATA_FORMAT, "channels_first")
    activation = default_attr_def(ACTIVATION, "none")

    traits = traits_def(GroupNormLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, groups = self.shape_of(self.x), self.num_groups.value.data
        if len(shape) < 3:
            raise ShapeError(f"{dims(shape)} has no batch, channels and positions")
        channels = shape[channel_axis(self.data_format, len(shape))]
        if groups < 1 or channels % groups:
            raise ShapeError(f"{channels} channels do not divide into {groups} groups")
        self._check_parameters(channels)
        return (shape, (shape[0], groups), (shape[0], groups))


@oneflow_op
class SoftmaxOp(UnaryOp):
    """exp(x) over its sum, along the last dimension."""

    name = "oneflow.softmax"


@oneflow_op
class LogSoftmaxOp(UnaryOp):
    """The logarithm of softmax."""

    name = "oneflow.log_softmax"


def parameters_of(op: BatchNormOp) -> tuple[SSAValue | None, ...]:
    """mean, variance, gamma, beta."""
    return op.moving_mean, op.moving_variance, op.gamma, op.beta
