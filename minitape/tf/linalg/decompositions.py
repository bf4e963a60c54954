"""``tf.linalg`` on square matrices: determinants, inverses, linear equations, factors, eigenvalues, matrix functions.

Matrices are the last two axes; the axes before them are a batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...engine.evidence import decided
from ...engine.invalid import invalid, shown
from ...engine.operands import call, flag, generated, strict, tensor_of, together
from ...engine.operation import apply
from ...engine.primitives import TABLE, decompositions, diagonals  # noqa: F401 - they fill the table
from ...engine.tensor import Tensor, wrap
from ...ops.reductions import reduce_max, reduce_sum
from .products import matmul, swapped


class LogMatrixDeterminant(NamedTuple):
    """What ``slogdet`` returns."""

    sign: Any
    log_abs_determinant: Any


class Qr(NamedTuple):
    """What ``qr`` returns."""

    q: Any
    r: Any


@generated("matrix_determinant")
def det(input: Any, name: str | None = None) -> Tensor:
    """The determinants of square matrices. Differentiable where they are invertible.

    Raises InvalidArgumentError for matrices that are not square, and for the gradient of a singular one.

    >>> import minitape as tf
    >>> print(tf.linalg.det([[2.0, 0.0], [0.0, 3.0]]).numpy())
    6.0
    """
    return call("det", tensor_of(input))


@generated("log_matrix_determinant")
def slogdet(input: Any, name: str | None = None) -> Any:
    """Sign and logarithm of the absolute value of determinants, a pair ``sign, log_abs_determinant``.

    The logarithm is differentiable. Raises InvalidArgumentError for matrices that are not square.

    >>> import minitape as tf
    >>> sign, log = tf.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]])
    >>> print(sign.numpy(), log.numpy())
    -1.0 0.0
    """
    return LogMatrixDeterminant(*call("slogdet", tensor_of(input)))


@strict
def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of positive definite matrices, by cholesky; NaN for others. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.logdet([[1.0, 0.0], [0.0, 1.0]]).numpy())
    0.0
    """
    factor = call("cholesky", tensor_of(matrix))
    diagonal = diag_part(factor)
    diagonal = call("real", diagonal) if diagonal.dtype.kind == "c" else diagonal
    return 2.0 * reduce_sum(apply(TABLE["log"], (diagonal,), {}), axis=[-1])


@generated("matrix_inverse")
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of square matrices (or their adjoints). Differentiable.

    Raises InvalidArgumentError for matrices that are not square or not invertible.

    >>> import minitape as tf
    >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist())
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return call("inv", tensor_of(input), adjoint=flag("adjoint", adjoint))


@generated("matrix_solve")
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The x with ``matrix @ x = rhs`` (with the adjoint of the matrix on demand). Differentiable in both.

    ``rhs`` is a matrix whose columns are solved for. Raises InvalidArgumentError when the matrix is not square or not
    invertible, or the shapes do not fit.

    >>> import minitape as tf
    >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy().tolist())
    [[1.0], [0.5]]
    """
    return call("solve", *together(matrix, rhs), adjoint=flag("adjoint", adjoint))


@strict
def triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The x with ``matrix @ x = rhs`` for a triangular matrix; the other triangle is not read. Differentiable in both.

    Raises InvalidArgumentError when the shapes do not fit. A zero on the diagonal gives infinities.

    >>> import minitape as tf
    >>> print(tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 3.0]], [[2.0], [4.0]]).numpy().tolist())
    [[1.0], [1.0]]
    """
    return call("triangular_solve", *together(matrix, rhs), lower=flag("lower", lower, True), adjoint=flag("adjoint", adjoint))


@generated("cholesky")
def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangular L with ``L @ adjoint(L) = input`` of positive definite matrices; NaN for others.

    Reads the lower triangle. Differentiable. Raises InvalidArgumentError for matrices that are not square.

    >>> import minitape as tf
    >>> print(tf.linalg.cholesky([[4.0, 2.0], [2.0, 2.0]]).numpy().tolist())
    [[2.0, 0.0], [1.0, 1.0]]
    """
    return call("cholesky", tensor_of(input))


@strict
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """The x with ``A @ x = rhs``, given the cholesky factor of A. Differentiable in both.

    >>> import minitape as tf
    >>> print(tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [3.0]]).numpy().tolist())
    [[1.0], [3.0]]
    """
    factor, b = together(chol, rhs)
    y = call("triangular_solve", factor, b, lower=True, adjoint=False)
    return call("triangular_solve", factor, y, lower=True, adjoint=True)


@generated("qr")
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """The factors ``q`` (orthonormal columns) and ``r`` (upper triangular). Differentiable if rows >= columns.

    >>> import minitape as tf
    >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> print(tf.matmul(q, r).numpy().round(5).tolist())
    [[3.0, 1.0], [4.0, 2.0]]
    """
    return Qr(*call("qr", tensor_of(input), full=bool(full_matrices)))


@strict
def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """Singular values s, largest first, with u and v so that ``tensor = u @ diag(s) @ adjoint(v)``; or s alone.

    Differentiable where the singular values differ; NotImplementedError for the gradient of full matrices that are not
    square. The signs of the columns of u and v are not settled by the problem and may differ from TensorFlow's.

    >>> import minitape as tf
    >>> print(tf.linalg.svd([[3.0, 0.0], [0.0, 2.0]], compute_uv=False).numpy())
    [3. 2.]
    """
    x = tensor_of(tensor)
    return call("svd", x, full=bool(full_matrices)) if compute_uv else call("singular_values", x)


@strict
def eigh(tensor: Any, name: str | None = None) -> Any:
    """Eigenvalues, smallest first, and eigenvectors (in columns) of symmetric matrices: a pair. Differentiable.

    Reads the lower triangle. Raises InvalidArgumentError for matrices that are not square.

    >>> import minitape as tf
    >>> values, vectors = tf.linalg.eigh([[2.0, 0.0], [0.0, 3.0]])
    >>> print(values.numpy())
    [2. 3.]
    """
    return call("eigh", tensor_of(tensor))


@strict
def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of symmetric matrices, smallest first. Differentiable; reads the lower triangle.

    >>> import minitape as tf
    >>> print(tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 3.0]]).numpy())
    [2. 3.]
    """
    return call("eigvalsh", tensor_of(tensor))


@strict
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose inverses of matrices, by singular values. Differentiable.

    Singular values below ``rcond`` times the largest count as 0 (default: 10 * max(rows, columns) * machine epsilon).

    >>> import minitape as tf
    >>> print(tf.linalg.pinv([[1.0, 0.0], [0.0, 2.0]]).numpy().tolist())
    [[1.0, 0.0], [0.0, 0.5]]
    """
    x = tensor_of(a)
    if x.dtype.kind != "f":
        raise TypeError("Input `a` must have `float`-like `dtype`.")
    if validate_args and x.ndim < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions; saw: {x.ndim}.")
    if rcond is None:
        rcond = 10.0 * max(x.shape[-2:]) * np.finfo(x.dtype.as_numpy_dtype).eps
    s, u, v = call("svd", x, full=False)
    cutoff = rcond * reduce_max(s, axis=-1, keepdims=True)
    s = call("select", s > cutoff, s, wrap(np.full(s.shape.as_list(), np.inf, s.dtype.as_numpy_dtype)))
    scaled = v / call("reshape", s, shape=(*s.shape[:-1], 1, s.shape[-1]))
    return matmul(scaled, u, adjoint_b=True)


@strict
def lstsq(matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True, name: str | None = None) -> Tensor:
    """The x that minimises the squared error of ``matrix @ x = rhs`` plus ``l2_regularizer`` times its square.

    ``fast`` solves the normal equations by cholesky and is differentiable; otherwise singular values are used, without
    regularisation and gradient (LookupError).

    >>> import minitape as tf
    >>> print(tf.linalg.lstsq([[1.0], [1.0]], [[1.0], [3.0]]).numpy())
    [[2.]]
    """
    a, b = together(matrix, rhs)
    if not fast:
        return call("least_squares", a, b, regularizer=0.0)
    rows, columns = a.shape[-2:]
    tall = rows >= columns
    gram = matmul(a, a, adjoint_a=tall, adjoint_b=not tall)
    if l2_regularizer:
        unit = np.eye(min(rows, columns), dtype=a.dtype.as_numpy_dtype)
        gram = gram + wrap(unit * unit.dtype.type(l2_regularizer))
    factor = cholesky(gram)
    if tall:
        return cholesky_solve(factor, matmul(a, b, adjoint_a=True))
    return matmul(a, cholesky_solve(factor, b), adjoint_a=True)


@strict
def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The rank of matrices: how many singular values exceed ``tol``; int32, not differentiable.

    TypeError for what is no float, ValueError for fewer than two axes, with ``validate_args`` or without.

    >>> import minitape as tf
    >>> print(tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).numpy())
    1
    """
    x = tensor_of(a)
    if x.dtype.kind != "f":
        raise TypeError("Input `a` must have `float`-like `dtype`.")
    if x.ndim < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {x.ndim}).")
    s = np.linalg.svd(x.array, compute_uv=False)
    if tol is None:
        tol = np.finfo(s.dtype).eps * max(x.shape[-2:]) * s.max(axis=-1, keepdims=True)
    return decided(wrap(np.sum(s > np.asarray(tol), axis=-1).astype(np.int32)), (a,), "MatrixRank")


_PADE = (17643225600.0, 8821612800.0, 2075673600.0, 302702400.0, 30270240.0, 2162160.0, 110880.0, 3960.0, 90.0, 1.0)


@strict
def expm(input: Any, name: str | None = None) -> Tensor:
    """The exponentials of square matrices: scaling, a Padé approximation of order 9, squaring. Differentiable.

    Raises ValueError for inputs with fewer than two axes, InvalidArgumentError for matrices that are not square.
    See N. Higham, "The scaling and squaring method for the matrix exponential revisited" (2005).

    >>> import minitape as tf
    >>> print(tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy().tolist())
    [[1.0, 1.0], [0.0, 1.0]]
    """
    x = tensor_of(input)
    if x.ndim < 2:
        raise ValueError(f"The input must have at least two dimensions. Received shape {x.shape}")
    if x.shape[-1] != x.shape[-2]:
        raise invalid("Input matrix must be square.", "MatrixSolve")
    if not x.array.size:
        return x
    size = np.abs(x.array).sum(axis=-2).max(initial=0.0)
    squarings = max(0, int(np.ceil(np.log2(size / 2.09))) if np.isfinite(size) and size > 2.09 else 0)
    a = x / wrap(x.dtype.as_numpy_dtype(2.0**squarings))
    unit = wrap(np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype.as_numpy_dtype), x.shape.as_list()).copy())
    square = matmul(a, a)
    odd, even, power = unit * _PADE[1], unit * _PADE[0], unit
    for i in range(2, 10, 2):
        power = matmul(power, square)
        even, odd = even + power * _PADE[i], odd + power * _PADE[i + 1]
    odd = matmul(a, odd)
    out = call("solve", even - odd, even + odd, adjoint=False)
    for _ in range(squarings):
        out = matmul(out, out)
    return out


# -- diagonals and triangles ------------------------------------------------------------------------------------------


def _band(k: Any) -> tuple[int, int]:
    """The argument k as a range of diagonals."""
    numbers = np.asarray(tensor_of(k).array).reshape(-1)
    return int(numbers[0]), int(numbers[-1])


def _align(align: str) -> str:
    if align not in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
        raise invalid(f"Value for attr 'align' of \"{align}\" is not in the list of allowed values: \"LEFT_RIGHT\", "
                      "\"RIGHT_LEFT\", \"LEFT_LEFT\", \"RIGHT_RIGHT\"")  # fmt: skip
    return align


@strict
def diag(
    diagonal: Any, name: str = "diag", k: Any = 0, num_rows: int = -1, num_cols: int = -1, padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:  # fmt: skip
    """Matrices with the given diagonals and ``padding_value`` elsewhere. Differentiable.

    The last axis of ``diagonal`` becomes the k-th diagonal; for a pair k = (low, high) its last two axes hold a band,
    highest diagonal first. Raises InvalidArgumentError when sizes contradict.

    >>> import minitape as tf
    >>> print(tf.linalg.diag([1, 2]).numpy().tolist(), tf.linalg.diag([5], k=1).numpy().tolist())
    [[1, 0], [0, 2]] [[0, 5], [0, 0]]
    """
    x = tensor_of(diagonal)
    return call(
        "diag", x, k=_band(k), rows=int(num_rows), columns=int(num_cols), align=_align(align), padding=padding_value
    )


@strict
def diag_part(
    input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """The k-th diagonals of matrices, or a band of them for a pair k = (low, high), padded. Differentiable.

    Raises InvalidArgumentError for a diagonal that is not there.

    >>> import minitape as tf
    >>> print(tf.linalg.diag_part([[1, 2], [3, 4]]).numpy(), tf.linalg.diag_part([[1, 2], [3, 4]], k=1).numpy())
    [1 4] [2]
    """
    return call("diag_part", tensor_of(input), k=_band(k), align=_align(align), padding=padding_value)


@strict
def set_diag(input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """Matrices with their k-th diagonals (or a band) replaced. Differentiable in both.

    Raises InvalidArgumentError when the diagonal has another length.

    >>> import minitape as tf
    >>> print(tf.linalg.set_diag([[1, 2], [3, 4]], [9, 9]).numpy().tolist())
    [[9, 2], [3, 9]]
    """
    return call("set_diag", *together(input, diagonal), k=_band(k), align=_align(align))


@generated("matrix_band_part")
def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Matrices with all elements set to 0 that are outside a band around the main diagonal; -1 keeps a whole triangle.

    Differentiable. Raises InvalidArgumentError for a band wider than the matrix.

    >>> import minitape as tf
    >>> print(tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy().tolist())
    [[1, 0], [3, 4]]
    """
    lower, upper = (int(tensor_of(n).array) for n in (num_lower, num_upper))
    return call("band_part", tensor_of(input), lower=lower, upper=upper)


@strict
def trace(x: Any, name: str | None = None) -> Tensor:
    """The sums of the main diagonals of matrices. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    return reduce_sum(diag_part(x), [-1])


@generated("diag")
def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor of twice the rank that is zero but for ``out[i, j, i, j] = diagonal[i, j]``. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.tensor_diag([1, 2]).numpy().tolist())
    [[1, 0], [0, 2]]
    """
    x = tensor_of(diagonal)
    shape = tuple(x.shape)
    return call("reshape", diag(call("reshape", x, shape=(-1,))), shape=shape + shape)


@strict
def tensor_diag_part(input: Any, name: str | None = None) -> Tensor:
    """The diagonal of a tensor whose shape is a shape twice, the opposite of ``tensor_diag``. Differentiable.

    Raises InvalidArgumentError for other shapes.

    >>> import minitape as tf
    >>> print(tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy())
    [1 4]
    """
    x = tensor_of(input)
    sizes, half = list(x.shape), x.ndim // 2
    if x.ndim % 2 or x.ndim == 0:
        raise invalid("The rank of the tensor should be                                          even and positive, "
                      f"got shape {shown(sizes)}", "DiagPart")  # fmt: skip
    for i in range(half):
        if sizes[i] != sizes[i + half]:
            raise invalid(f"Invalid shape {shown(sizes)}: dimensions {i} and {i + half} do not match.", "DiagPart")
    n = int(np.prod(sizes[:half]))
    return call("reshape", diag_part(call("reshape", x, shape=(n, n))), shape=tuple(sizes[:half]))


@strict
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """The last two axes swapped, conjugated on demand. Differentiable. Raises ValueError for fewer than two axes.

    >>> import minitape as tf
    >>> print(tf.linalg.matrix_transpose([[1, 2], [3, 4]]).numpy().tolist())
    [[1, 3], [2, 4]]
    """
    x = tensor_of(a)
    if x.ndim < 2:
        raise ValueError(
            f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {x.array} with shape: {x.shape}"
        )
    return swapped(x, conjugate)


@strict
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The last two axes swapped and conjugated. Differentiable.

    >>> import minitape as tf
    >>> print(tf.linalg.adjoint([[1 + 1j]]).numpy())
    [[1.-1.j]]
    """
    return matrix_transpose(matrix, conjugate=True)


@generated("cross")
def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross products of vectors of three elements, which are the last axis. Differentiable in both.

    Raises InvalidArgumentError for unlike shapes, FailedPreconditionError for vectors of another length.

    >>> import minitape as tf
    >>> print(tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy())
    [0 0 1]
    """
    return call("cross", *together(a, b))
