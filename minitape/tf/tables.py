"""Tables from keys to values, which are looked up for each element of a tensor: eagerly, in graphs and in datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import dtypes, errors
from ..engine.convert import convert_to_tensor
from ..engine.evidence import decided
from ..engine.invalid import invalid
from ..engine.shape import TensorShape
from ..engine.state import state
from ..engine.tensor import wrap


def _now_or_later(function: Callable[..., Any], tensors: list[Any], shape: Any, dtype: Any) -> Any:
    """A function of tensors: called now, or in a graph each time that it runs, in the order of the program."""
    if state.graph is None:
        return function(*tensors)
    from ..graphs.effects import later

    return later(lambda *given: [function(*given)], tensors, [(shape, dtype)], stateful=True)[0]


# -- what tables are filled with --------------------------------------------------------------------------------------


class KeyValueTensorInitializer:
    """Keys and their values, two tensors (or lists) of one length, for a table.

    >>> import minitape as tf
    >>> tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]).value_dtype
    tf.int32
    """

    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None) -> None:
        self._keys, self._values = convert_to_tensor(keys, key_dtype), convert_to_tensor(values, value_dtype)
        self.key_dtype, self.value_dtype = self._keys.dtype, self._values.dtype

    def _read(self) -> tuple[list[Any], list[Any]]:
        keys, values = self._keys.array.ravel(), self._values.array.ravel()
        if len(keys) != len(values):
            raise invalid(f"Expected shape [{len(keys)}] for value, got [{len(values)}]", "LookupTableImportV2")
        return keys.tolist(), values.tolist()


class TextFileIndex:
    """What of a line of a text file is a key or a value, beside the number of a column: the line, or its number.

    >>> import minitape as tf
    >>> tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    (-2, -1)
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer:
    """Keys and values out of the lines of a text file, whose columns a ``delimiter`` divides.

    ``key_index`` and ``value_index`` are numbers of columns or one of ``tf.lookup.TextFileIndex``; the number of a line begins at
    ``value_index_offset`` where it is the value. Only the first ``vocab_size`` lines count. ValueError for a type that the line or
    its number has not; a table made of it raises NotFoundError for a file that is not there, InvalidArgumentError for lines with
    fewer columns.

    >>> import minitape as tf, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "words.txt")
    ...     _ = path.write_text("the\\nquick\\n")
    ...     number = tf.lookup.TextFileIndex.LINE_NUMBER
    ...     words = tf.lookup.TextFileInitializer(str(path), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, number)
    ...     print(tf.lookup.StaticHashTable(words, -1).lookup(tf.constant(["quick", "fox"])).numpy())
    [ 1 -1]
    """

    def __init__(
        self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int, vocab_size: int | None = None,
        delimiter: str = "\t", name: str | None = None, value_index_offset: int = 0,
    ) -> None:  # fmt: skip
        if not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        self.key_dtype, self.value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        for what, dtype, index in (("key", self.key_dtype, key_index), ("value", self.value_dtype, value_index)):
            if index == TextFileIndex.LINE_NUMBER and dtype is not dtypes.int64:
                raise ValueError(f"`{what}_dtype` must be int64 if `{what}_index` is {index}, received: {dtype}")
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
        self._filename, self._delimiter, self._size = filename, delimiter, vocab_size
        self._key = (key_index, self.key_dtype, 0)
        self._value = (value_index, self.value_dtype, value_index_offset)

    def _read(self) -> tuple[list[Any], list[Any]]:
        from .data.files import whole_file

        op = "InitializeTableFromTextFileV2"
        lines = whole_file(str(self._filename), "", op).splitlines()[: self._size]
        pairs = [(self._part(line, i, *self._key), self._part(line, i, *self._value)) for i, line in enumerate(lines)]
        return [key for key, _ in pairs], [value for _, value in pairs]

    def _part(self, line: bytes, number: int, index: int, dtype: Any, offset: int) -> Any:
        """The key or the value that a line holds."""
        if index == TextFileIndex.LINE_NUMBER:
            return number + offset
        columns = line.split(self._delimiter.encode())
        op, shown = "InitializeTableFromTextFileV2", f"line {number} ({line.decode()})"
        if index >= len(columns):
            raise invalid(f"Invalid number of columns in {self._filename} {shown} : expected at least {index + 1} got "
                          f"{len(columns)}", op)  # fmt: skip
        text = line if index == TextFileIndex.WHOLE_LINE else columns[index]
        if dtype is dtypes.string:
            return text
        try:
            return dtype.as_numpy_dtype(text).item()
        except ValueError:
            raise invalid(f"Field {text.decode()} in {shown} is not a valid {dtype.name}.", op) from None


# -- tables -----------------------------------------------------------------------------------------------------------


class _Table:
    """Looks keys up: ``table.lookup(keys)`` and ``table[keys]``."""

    _checkpointed: Any = None  # a checkpoint takes it, and keeps nothing of it
    _name: str | None = None
    _key_dtype: Any
    _value_dtype: Any

    @property
    def key_dtype(self) -> Any:
        """The type of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> Any:
        """The type of the values."""
        return self._value_dtype

    @property
    def name(self) -> str | None:
        """The name that was given."""
        return self._name

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, in their shape; of ragged and sparse keys too. TypeError for keys of another type."""
        return self._each(keys, self._found, TensorShape([]))

    def _each(self, keys: Any, find: Callable[..., Any], inner: TensorShape, *more: Any) -> Any:
        if keys.dtype != self._key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self._key_dtype}, received: {keys.dtype}")
        kind = type(keys).__name__
        if kind == "RaggedTensor":
            return keys.with_flat_values(self._each(keys.flat_values, find, inner, *more))
        if kind == "SparseTensor":
            return type(keys)(keys.indices, self._each(keys.values, find, inner, *more), keys.dense_shape)
        keys = convert_to_tensor(keys)

        def run(*tensors: Any) -> Any:
            return decided(wrap(find(*[t.array for t in tensors])), tensors, "LookupTableFindV2")

        return _now_or_later(run, [keys, *more], keys.shape.concatenate(inner), self._value_dtype)

    def _found(self, keys: Any) -> Any:
        raise NotImplementedError


class StaticHashTable(_Table):
    """A table that is filled once: ``lookup`` gives the value of each key, ``default_value`` for those that are not there.

    Works in ``tf.function`` and in datasets; nothing to differentiate. ``experimental_is_anonymous`` has no effect.
    FailedPreconditionError for two values of one key. See https://www.tensorflow.org/api_docs/python/tf/lookup/StaticHashTable.

    >>> import minitape as tf
    >>> table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
    >>> print(table.lookup(tf.constant(["b", "z"])).numpy(), int(table.size()))
    [ 2 -1] 2
    >>> [part.numpy().tolist() for part in table.export()]
    [[b'a', b'b'], [1, 2]]
    """

    def __init__(self, initializer: Any, default_value: Any, name: str | None = None, experimental_is_anonymous: bool = False) -> None:
        self._key_dtype, self._value_dtype, self._name = initializer.key_dtype, initializer.value_dtype, name
        if self._key_dtype not in (dtypes.string, dtypes.int32, dtypes.int64):
            raise errors.NotFoundError(None, None, f"Could not find device for node: {{{{node HashTableV2}}}} with key_dtype="
                                       f"{self._key_dtype.name}: keys are strings, int32 or int64")  # fmt: skip
        self._default = convert_to_tensor(default_value, self._value_dtype)
        self._entries: dict[Any, Any] = {}
        for key, value in zip(*initializer._read(), strict=True):
            if self._entries.setdefault(key, value) != value:
                raise errors.FailedPreconditionError(None, None, "HashTable has different value for same key. Key "
                    f"{_text(key)} has {_text(self._entries[key])} and trying to add value {_text(value)} "
                    "[Op:LookupTableImportV2] name: ")  # fmt: skip

    @property
    def default_value(self) -> Any:
        """The value of keys that are not there."""
        return self._default

    def size(self, name: str | None = None) -> Any:
        """How many keys there are, int64."""
        return convert_to_tensor(np.int64(len(self._entries)))

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """All keys, and their values."""
        pairs = (list(self._entries), self._key_dtype), (list(self._entries.values()), self._value_dtype)
        keys, values = (wrap(np.array(items, dtype.as_numpy_dtype)) for items, dtype in pairs)
        return keys, values

    def _found(self, keys: Any) -> Any:
        default = self._default.array[()]
        values = [self._entries.get(key, default) for key in keys.ravel().tolist()]
        return np.array(values, self._value_dtype.as_numpy_dtype).reshape(keys.shape)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


class StaticVocabularyTable(_Table):
    """A table whose other keys get one of ``num_oov_buckets`` numbers behind those of the vocabulary, by their hash.

    ``initializer`` gives int64 values from 0 on (else TypeError), or is None. Keys are strings or integers, which
    ``lookup_key_dtype`` tells where the vocabulary has others. ``experimental_is_anonymous`` has no effect.

    >>> import minitape as tf
    >>> words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    >>> table = tf.lookup.StaticVocabularyTable(words, num_oov_buckets=3)
    >>> print(table.lookup(tf.constant(["b", "z"])).numpy(), int(table.size()))
    [1 3] 5
    """

    def __init__(
        self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None, name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        self._known: dict[Any, Any] = {}
        self._key_dtype, self._value_dtype, self._name = dtypes.string, dtypes.int64, name
        if initializer is not None:
            if initializer.value_dtype is not dtypes.int64:
                raise TypeError(f"Invalid `value_dtype`, expected {dtypes.int64} but got {initializer.value_dtype}.")
            self._known, self._key_dtype = StaticHashTable(initializer, -1)._entries, initializer.key_dtype
        if lookup_key_dtype is not None:
            self._key_dtype = dtypes.as_dtype(lookup_key_dtype)
        self._buckets = num_oov_buckets

    def size(self, name: str | None = None) -> Any:
        """How many keys there are, with the buckets, int64."""
        return convert_to_tensor(np.int64(len(self._known) + self._buckets))

    def _found(self, keys: Any) -> Any:
        return np.array([self._number(key) for key in keys.ravel().tolist()], np.int64).reshape(keys.shape)

    def _number(self, key: Any) -> int:
        from .strings.hashing import farm64

        if key in self._known:
            return self._known[key]
        return farm64(key if isinstance(key, bytes) else str(key).encode()) % self._buckets + len(self._known)


class MutableHashTable(_Table):
    """A table that may be changed: ``insert`` and ``remove`` keys; values may be vectors, as ``default_value`` is.

    Checkpoints do not keep it: ``checkpoint`` and ``experimental_is_anonymous`` have no effect.

    >>> import minitape as tf
    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> table.insert(tf.constant(["a", "b"]), [1, 2])
    >>> table.remove(tf.constant(["b"]))
    >>> table.lookup(tf.constant(["a", "b"])).numpy()
    array([ 1, -1])
    >>> int(table.size()), [part.numpy().tolist() for part in table.export()]
    (1, [[b'a'], [1]])
    """

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, name: str = "MutableHashTable", checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        self._default = convert_to_tensor(default_value, self._value_dtype)
        self._entries: dict[Any, Any] = {}

    def size(self, name: str | None = None) -> Any:
        """How many keys there are, int64."""
        return _now_or_later(lambda: wrap(np.int64(len(self._entries))), [], TensorShape([]), dtypes.int64)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Gives keys these values, in place of those that they have. InvalidArgumentError for another number of them."""
        keys, values = convert_to_tensor(keys, self._key_dtype), convert_to_tensor(values, self._value_dtype, name="values")

        def run(keys: Any, values: Any) -> Any:
            wanted = [*keys.shape, *self._default.shape]
            if list(values.shape) != wanted:
                found, shape = (",".join(map(str, s)) for s in (values.shape, wanted))
                raise invalid(f"Expected shape [{shape}] for value, got [{found}]", "LookupTableInsertV2")
            rows = values.array.reshape(-1, *self._default.shape)
            self._entries.update(zip(keys.array.ravel().tolist(), rows, strict=True))
            return wrap(np.bool_(True))

        return self._done(run, [keys, values])

    def remove(self, keys: Any, name: str | None = None) -> Any:
        """Takes keys out; those that are not there are passed over. TypeError for keys of another type."""
        if keys.dtype != self._key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self._key_dtype}, received: {keys.dtype}")

        def run(keys: Any) -> Any:
            for key in keys.array.ravel().tolist():
                self._entries.pop(key, None)
            return wrap(np.bool_(True))

        return self._done(run, [convert_to_tensor(keys)])

    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> Any:
        """The values of keys, in their shape; ``dynamic_default_values`` are those of keys that are not there."""
        given = self._default if dynamic_default_values is None else dynamic_default_values
        return self._each(keys, self._found, self._default.shape, convert_to_tensor(given, self._value_dtype))

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """All keys, and their values. NotImplementedError while a graph is being built."""
        if state.graph is not None:
            raise NotImplementedError("minitape exports tables outside of graphs only.")
        keys = np.array(list(self._entries), self._key_dtype.as_numpy_dtype)
        values = np.array(list(self._entries.values()), self._value_dtype.as_numpy_dtype)
        return wrap(keys), wrap(values.reshape(len(keys), *self._default.shape))

    def _done(self, run: Callable[..., Any], tensors: list[Any]) -> Any:
        """Runs what changes the table: None, or in a graph the operation."""
        made = _now_or_later(run, tensors, TensorShape([]), dtypes.bool)
        return None if state.graph is None else made.op

    def _found(self, keys: Any, default: Any = None) -> Any:
        shape = (*keys.shape, *self._default.shape)
        out = np.array(np.broadcast_to(default, shape)).reshape(-1, *self._default.shape)
        for i, key in enumerate(keys.ravel().tolist()):
            if key in self._entries:
                out[i] = self._entries[key]
        return out.reshape(shape)
