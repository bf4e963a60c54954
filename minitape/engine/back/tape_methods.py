"""The methods of a tape besides gradients: Jacobians, explanations, its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from ..hooks import hooks
from .backward import rows_of
from .endpoints import UnconnectedGradients

if TYPE_CHECKING:
    from ..tensor.tensor import Tensor
    from ..types import AnySource, End, GradientSource, Reason, Result, Structure


class TapeMethods:
    """The methods of a tape that other modules answer."""

    _rows_of = rows_of

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """The picture that a notebook shows of a tape."""
        picture = hooks.draw(self)
        return {"text/plain": repr(picture).replace("Picture", "GradientTape"), "text/html": picture.html()}

    @overload
    def explain(self, target: Structure, sources: GradientSource) -> Reason: ...
    @overload
    def explain(self, target: Structure, sources: list[AnySource]) -> list[Reason]: ...
    @overload
    def explain(self, target: Structure, sources: Structure) -> Structure: ...
    def explain(self, target: Structure, sources: Structure) -> Structure:
        """Why the gradient of ``target`` with respect to each of ``sources`` is None, or that it is not.

        Returns one :class:`minitape.explain.Explanation` for each source, in the structure of ``sources``: whether it
        is ``connected``, the ``cause``, the ``line`` and ``filename`` of the statement that broke the chain, and a
        ``message`` and ``fix`` in words. It may be called before or after ``gradient``, also on a tape that was used.

        >>> import minitape as tf
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.explain(y, x).cause
        'not_watched'
        """
        return hooks.explain(self, target, sources)

    @overload
    def jacobian(
        self,
        target: Structure,
        sources: GradientSource,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor | None: ...
    @overload
    def jacobian(
        self,
        target: Structure,
        sources: Structure,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Structure: ...
    def jacobian(
        self,
        target: Structure,
        sources: Structure,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Structure:
        """The Jacobian of ``target`` with respect to each source, of shape target.shape + source.shape.

        Computed in one sweep: ``parallel_iterations`` has nothing to do, though 1 is refused as in TensorFlow. Raises
        RuntimeError on the second call for a tape that is not persistent, ValueError for one inside a gradient.

        >>> import minitape as tf
        >>> x = tf.Variable([1.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy()
        array([[2., 0.],
               [0., 4.]], dtype=float32)
        """
        from ..derivatives.jacobian import jacobian

        return jacobian(
            self,  # type: ignore[arg-type]  # a tape
            target,
            sources,
            unconnected_gradients,
            parallel_iterations,
            experimental_use_pfor,
        )

    def batch_jacobian(
        self,
        target: End,
        source: End,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Result:
        """The Jacobian of each example: of shape [batch] + target.shape[1:] + source.shape[1:].

        Zeros when nothing connects them, as in TensorFlow. Raises ValueError when the first axes differ.

        >>> import minitape as tf
        >>> x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> tape.batch_jacobian(y, x).shape
        TensorShape([2, 2, 2])
        """
        from ..derivatives.jacobian import batch_jacobian

        return batch_jacobian(
            self,  # type: ignore[arg-type]  # a tape
            target,
            source,
            unconnected_gradients,
            parallel_iterations,
            experimental_use_pfor,
        )


for _method in (TapeMethods.explain, TapeMethods.jacobian, TapeMethods.batch_jacobian):
    _method.__qualname__ = f"GradientTape.{_method.__name__}"  # what Python's own errors call it, as in TensorFlow
