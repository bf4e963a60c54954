"""Files: read and written whole, and datasets of the lines of text files and of the rows of comma-separated values.

See https://www.tensorflow.org/guide/data#consuming_text_data and https://www.tensorflow.org/api_docs/python/tf/io/decode_csv.
"""

from __future__ import annotations

import contextlib
import csv
import glob
import gzip
import io
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...engine import dtypes, errors, nest
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.tensor import Tensor, wrap
from .dataset import Dataset
from .elements import tensor_spec
from .recipe import UNKNOWN_CARDINALITY

MOST = 2**28  # bytes that a compressed file may unpack to


def _unzipped(data: bytes) -> bytes:
    parts: list[bytes] = []
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        while len(parts) <= MOST >> 20 and (part := file.read(2**20)):
            parts.append(part)
    return b"".join(parts)


def _inflated(data: bytes) -> bytes:
    stream = zlib.decompressobj()
    text = stream.decompress(data, MOST + 1)
    if not stream.eof and len(text) <= MOST:
        raise zlib.error("incomplete or truncated stream")
    return text


_OPENED = {"": lambda data: data, "GZIP": _unzipped, "ZLIB": _inflated}


def _names(filenames: Any) -> Any:
    """A function of nothing that gives the names of files, which are a text, several, or a dataset of texts."""
    if isinstance(filenames, Dataset):
        return lambda: (str(part.numpy().decode()) for part in filenames)
    given = convert_to_tensor(filenames)
    if given.dtype is not dtypes.string:
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements. Got `{given.dtype!r}` elements.")
    return lambda: (name.decode() for name in np.asarray(given.numpy(), object).reshape(-1))


def whole_file(name: str, compression: Any, end: str = "IteratorGetNext") -> bytes:
    """What is in a file; NotFoundError, of the operation ``end``, for one that is not there.

    ResourceExhaustedError for a compressed file that unpacks to more than ``MOST`` bytes.
    """
    kind = "" if compression is None else str(compression)
    if kind not in _OPENED:
        raise invalid("Unsupported compression_type.", end)
    try:
        with open(name, "rb") as file:
            content = _OPENED[kind](file.read())
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{name}; No such file or directory [Op:{end}] name: ") from None
    if kind and len(content) > MOST:
        raise errors.ResourceExhaustedError(None, None, f"{name} unpacks to more than {MOST} bytes. Unpack it before, if you trust it. [Op:{end}] name: ")
    return content


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """All that is in a file, as one text. NotFoundError for a file that is not there; nothing to differentiate.

    >>> import minitape as tf, tempfile
    >>> path = tempfile.mkdtemp() + "/greeting"
    >>> tf.io.write_file(path, "hello")
    >>> tf.io.read_file(path).numpy()
    b'hello'
    """
    path = convert_to_tensor(filename, dtypes.string)
    return _now_or_later(lambda t: wrap(np.array(whole_file(_one(t, "filename").decode(), "", "ReadFile"), object)), path)


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Writes a text to a file, whose folder is made if it is not there.

    >>> import minitape as tf, tempfile
    >>> path = tempfile.mkdtemp() + "/folder/greeting"
    >>> tf.io.write_file(path, "hello")
    >>> tf.io.read_file(path).numpy()
    b'hello'
    """
    path = Path(_one(convert_to_tensor(filename, dtypes.string), "filename").decode())
    text = _one(convert_to_tensor(contents, dtypes.string), "contents")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


def _one(tensor: Tensor, what: str) -> bytes:
    if tensor.ndim:
        raise invalid(f"Input {what} tensor must be scalar, but had shape: {list(tensor.shape)}", "ReadFile")
    return tensor.numpy()


def _now_or_later(function: Any, tensor: Tensor) -> Any:
    """A text that is made of a tensor: now, or in a graph when it runs."""
    if hasattr(tensor, "array"):
        return function(tensor)
    from ...engine.shape import TensorShape
    from ...graphs.effects import later

    return later(lambda t: [function(t)], (tensor,), [(TensorShape([]), dtypes.string)])[0]


class TextLineDataset(Dataset):
    """The lines of text files, one after the other, without what ends them.

    ``filenames`` is a text, several, or a dataset of them; ``compression_type`` is None, "GZIP" or "ZLIB". How much is read
    at a time (``buffer_size``, ``num_parallel_reads``) has no effect. NotFoundError for a file that is not there.

    >>> import minitape as tf, tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     _ = file.write("first\\nsecond\\n"), file.flush()
    ...     list(tf.data.TextLineDataset(file.name).as_numpy_iterator())
    [b'first', b'second']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        names = _names(filenames)

        def start() -> Iterator[Any]:
            for file in names():
                lines = whole_file(file, compression_type).split(b"\n")
                for line in lines[:-1] if lines[-1] == b"" else lines:
                    yield wrap(np.array(line.removesuffix(b"\r"), object))

        super().__init__(start, UNKNOWN_CARDINALITY, "TextLineDatasetV2", tensor_spec((), dtypes.string))


# -- comma-separated values -------------------------------------------------------------------------------------------


class _Column:
    """How the fields of a column are read: the type, and what stands for one that is missing (None: nothing may)."""

    def __init__(self, default: Any, index: int) -> None:
        given = None if isinstance(default, dtypes.DType) else convert_to_tensor(default)
        self.dtype = default if given is None else given.dtype
        if self.dtype not in (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string):
            raise invalid(
                f"Value for attr 'OUT_TYPE' of {self.dtype.name} is not in the list of allowed values: float, double, int32, "
                "int64, string",
                "DecodeCSV",
            )
        values = [] if given is None else list(np.asarray(given.numpy(), object).reshape(-1))
        if len(values) > 1:
            raise invalid(f"There should only be 1 default per field but field {index} has {len(values)}", "DecodeCSV")
        self.default = values[0] if values else None

    def value(self, field: str, index: int, na_value: str, where: str, end: str) -> Any:
        """The value of a field. InvalidArgumentError for one that is missing without a default or of another type."""
        if field in ("", na_value):
            if self.default is None:
                raise invalid(f"Field {index} is required but missing in record{where}!", end)
            return self.default
        if self.dtype is dtypes.string:
            return field.encode()
        try:
            read = self.dtype.as_numpy_dtype(field.strip())
            if self.dtype.is_integer and str(int(field)) != str(read):
                raise OverflowError
        except (ValueError, OverflowError):
            kind = {"float32": "float", "float64": "double"}.get(self.dtype.name, self.dtype.name)
            raise invalid(f"Field {index} in record{where} is not a valid {kind}: {field}", end) from None
        return read

    def tensor(self, values: Any, shape: Any) -> Tensor:
        """Values of the column as a tensor."""
        kind = object if self.dtype is dtypes.string else self.dtype.as_numpy_dtype
        array = np.empty(len(values), kind)
        array[:] = values
        return wrap(array.reshape(shape))


def _rows(text: str, delimiter: str, quoted: bool) -> Iterator[list[str]]:
    return csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE, strict=True
    )


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    name: str | None = None,
) -> list[Tensor]:
    """The columns of texts that are rows of values: a tensor of the shape of ``records`` for each.

    ``record_defaults`` tells the type of each column, and what stands for an empty field or ``na_value``: a scalar, or an
    empty tensor where nothing may. InvalidArgumentError for another number of fields and for a field of another type.
    Nothing to differentiate.

    >>> import minitape as tf
    >>> [column.numpy().tolist() for column in tf.io.decode_csv(["1,2.5", "3,"], [0, 7.0])]
    [[1, 3], [2.5, 7.0]]
    """
    for default in record_defaults:
        if isinstance(default, dtypes.DType):
            convert_to_tensor(default)  # refuses it
    if not record_defaults:
        raise invalid("Length for attr 'OUT_TYPE' of 0 must be at least minimum 1", "DecodeCSV")
    texts = convert_to_tensor(records)
    columns = [_Column(default, i) for i, default in enumerate(record_defaults)]
    found: list[list[Any]] = [[] for _ in columns]
    for number, record in enumerate(np.asarray(texts.numpy(), object).reshape(-1)):
        if b'"' not in record and (b"\n" in record or b"\r" in record):
            raise invalid("Unquoted fields cannot have quotes/CRLFs inside", "DecodeCSV")
        try:
            fields = next(iter(_rows(record.decode(), field_delim, use_quote_delim)), [])
        except csv.Error:
            raise invalid("Quote inside a string has to be escaped by another quote", "DecodeCSV") from None
        fields = fields if select_cols is None else [fields[i] for i in select_cols]
        if len(fields) != len(columns):
            raise invalid(f"Expect {len(columns)} fields but have {len(fields)} in record {number}", "DecodeCSV")
        for i, (column, field) in enumerate(zip(columns, fields, strict=True)):
            found[i].append(column.value(field, i, na_value, f" {number}", "DecodeCSV"))
    return [column.tensor(values, texts.shape) for column, values in zip(columns, found, strict=True)]


class CsvDataset(Dataset):
    """The rows of files of comma-separated values: tuples of scalars.

    ``record_defaults`` and ``na_value`` are as for ``tf.io.decode_csv``; it may also name types. ``header`` skips the first
    line of each file. ``select_cols`` are the numbers of the columns to keep, ``exclude_cols`` those to leave out.
    ``buffer_size`` has no effect. InvalidArgumentError for a row that does not fit, NotFoundError for a missing file.

    >>> import minitape as tf, tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     _ = file.write("x,y\\n1,2.5\\n"), file.flush()
    ...     [x.numpy().item() for x in next(iter(tf.data.experimental.CsvDataset(file.name, [0, 0.0], header=True)))]
    [1, 2.5]
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> None:
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("Either select_cols or exclude_cols should be empty")
        names, columns = _names(filenames), [_Column(default, i) for i, default in enumerate(record_defaults)]

        def start() -> Iterator[Any]:
            for file in names():
                rows = _rows(whole_file(file, compression_type).decode(), field_delim, use_quote_delim)
                if header:
                    next(rows, None)
                for row in rows:
                    yield tuple(fields_of(row))

        def fields_of(row: list[str]) -> Iterator[Any]:
            kept = range(len(row)) if select_cols is None else select_cols
            fields = [row[i] for i in kept if exclude_cols is None or i not in exclude_cols]
            if len(fields) != len(columns):
                more = "more" if len(fields) > len(columns) else f"{len(fields)}"
                raise invalid(f"Expect {len(columns)} fields but have {more} in record", "IteratorGetNext")
            for i, (column, field) in enumerate(zip(columns, fields, strict=True)):
                yield column.tensor([column.value(field, i, na_value, "", "IteratorGetNext")], ())

        spec = tuple(tensor_spec((), column.dtype) for column in columns)
        super().__init__(start, UNKNOWN_CARDINALITY, "CsvDatasetV2", spec)


def _kind(values: list[str]) -> dtypes.DType:
    """The first type that all values of a column fit."""
    for kind in (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64):
        column = _Column(kind, 0)
        with contextlib.suppress(errors.InvalidArgumentError):
            if all(np.isfinite(column.value(v, 0, "", "", "")) for v in values):
                return kind
    return dtypes.string


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Any = None,
    column_defaults: Any = None,
    label_name: str | None = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of the rows of files: dictionaries of columns by name, with ``label_name`` pairs of these and that column.

    Names are in the first line of the files unless ``column_names`` are given; types are found from the first rows unless
    ``column_defaults`` tell them. Without ``num_epochs`` the rows come again and again. What says how files are read
    (``prefetch_buffer_size``, ``num_parallel_reads``, ``sloppy``) has no effect, ``ignore_errors`` is refused. ValueError
    when there are no files, for names that are no columns, and for a column named twice.

    >>> import minitape as tf, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("x,y\\n1,a\\n2,b\\n"), file.flush()
    ...     rows = tf.data.experimental.make_csv_dataset(file.name, 2, label_name="y", num_epochs=1, shuffle=False)
    ...     features, label = next(iter(rows))
    >>> features["x"].numpy().tolist(), label.numpy().tolist()
    ([1, 2], [b'a', b'b'])
    """
    if ignore_errors or encoding != "utf-8":
        raise ValueError(f"minitape reads all rows, as UTF-8. Received: ignore_errors={ignore_errors}, encoding={encoding}")
    files = sorted(name for pattern in nest.flatten(file_pattern) for name in glob.glob(pattern))
    if not files:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    rows = list(_rows(whole_file(files[0], compression_type).decode(), field_delim, use_quote_delim))
    names = list(column_names) if column_names is not None else rows[0]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"Either `column_names` argument or CSV header row contains duplicate column names: {twice}.")
    if label_name is not None and label_name not in names:
        raise ValueError(f"`label_name` provided must be one of the columns: {names}. Received: {label_name}.")
    for wanted in select_columns or ():
        if isinstance(wanted, str) and wanted not in names:
            raise ValueError(
                f"Column {wanted} specified in `select_columns` must be of one of the columns: {dict.fromkeys(names).keys()}."
            )
    kept = sorted(names.index(c) if isinstance(c, str) else c for c in select_columns) if select_columns else list(range(len(names)))
    body = rows[bool(header) : None if num_rows_for_inference is None else num_rows_for_inference + bool(header)]
    if column_defaults is None:
        kinds = [_kind([row[i] for row in body if row[i] not in ("", na_value)]) for i in kept]
        column_defaults = ["" if kind is dtypes.string else wrap(kind.as_numpy_dtype(0)) for kind in kinds]
    order: Any = Dataset.from_tensor_slices(files)
    if shuffle:
        order = order.shuffle(len(files), shuffle_seed)
    dataset: Dataset = CsvDataset(
        order, column_defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, kept
    )
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    dataset = dataset.repeat(num_epochs).batch(batch_size, drop_remainder=num_epochs is None)

    def by_name(*columns: Any) -> Any:
        features = OrderedDict(zip([names[i] for i in kept], columns, strict=True))
        return features if label_name is None else (features, features.pop(label_name))

    named = dataset.map(by_name)
    named._spec = by_name(*dataset.element_spec)
    return named.prefetch(1)
