"""Names for variables on several devices. minitape runs on one: they can be passed on and read back."""

from __future__ import annotations

import enum


class VariableSynchronization(enum.Enum):
    """When copies of a variable would be made equal; without effect on one device.

    >>> import minitape as tf
    >>> tf.VariableSynchronization.AUTO
    <VariableSynchronization.AUTO: 0>
    """

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregationV2(enum.Enum):
    """How updates of copies of a variable would be combined; without effect on one device.

    >>> import minitape as tf
    >>> tf.VariableAggregation.SUM
    <VariableAggregationV2.SUM: 1>
    """

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


VariableAggregation = VariableAggregationV2
