"""numba's files of machine code, so that nothing that is wrong with them reaches who wants a gradient.

numba raises whatever opening or unpickling such a file raises, and believes machine code in which bits have flipped.
Here each file ends with a checksum, what cannot be read is removed and counts as not there, and what cannot be written
is kept in memory only. The first trouble of a process is logged.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile
from numba.core.compiler import CompileResult

from ..engine.record.log_warnings import log_warning_up_to_limit
from . import code_cache


class MachineCodeCache:
    """The machine code of one function of a generated module, as numba's dispatchers ask for it."""

    cache_path = None  # numba's statistics ask for it

    def __init__(self, module: str, text: str, function_name: str, options: str) -> None:
        self.module, self.text, self.function_name, self.options = module, text, function_name, options
        self.is_on_disk = False

    def _open_files(self, folder: Path) -> _ChecksummedFiles:
        return _ChecksummedFiles(str(folder / "__pycache__"), f"{self.module}.{self.function_name}", self.options)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the code that numba compiled for a signature before; None where it is missing or cannot be used."""
        target.refresh()
        for folder in filter(_is_trusted_folder, code_cache.iter_cache_folders()):
            files = self._open_files(folder)
            try:
                code = files.load((signature, target.codegen().magic_tuple()))
                if code is not None:
                    code = CompileResult._rebuild(target, *code)
                    self.is_on_disk = True
                    return code
            except Exception as error:  # unpickling can raise anything
                files.remove_files()
                _log_once(
                    f"Compiled code in {folder} cannot be read ({_describe_error(error)}) and is compiled anew. "
                    "If this is said again, delete that folder."
                )
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what numba compiled in the first folder that takes it."""
        reason = "there is no folder for it"
        for folder in code_cache.iter_cache_folders():
            try:
                code_cache.write_source_if_changed(folder, self.module, self.text)
                self._open_files(folder).save((signature, result.codegen.magic_tuple()), result._reduce())
                self.is_on_disk = True
                return
            except Exception as error:
                reason = _describe_error(error)
        _log_once(
            f"Compiled code cannot be kept ({reason}): each process compiles it again, which takes seconds. Set "
            "MINITAPE_CACHE to a folder on a disk with room that only you can write to."
        )


class _ChecksummedFiles(IndexDataCacheFile):
    """The index and the code of a function, each with a checksum behind the end of its pickles, where none is read."""

    def load(self, key: Any) -> Any:
        _check_checksum(self._index_path)
        return super().load(key)

    def _load_data(self, name: str) -> Any:
        _check_checksum(self._data_path(name))
        return super()._load_data(name)

    @contextlib.contextmanager
    def _open_for_write(self, path: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(path) as file:
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    def remove_files(self) -> None:
        """Remove the files, where that is possible."""
        index = Path(self._index_path)
        for path in (index, *index.parent.glob(f"{index.stem}.*.nbc")):
            with contextlib.suppress(OSError):
                path.unlink()


def _is_trusted_folder(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return code_cache.is_private_folder(folder)
    return False


def _check_checksum(path: str) -> None:
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return  # nothing was kept
    except OSError as error:
        raise ValueError(_describe_error(error)) from error  # numba takes an OSError for a file that is not there
    if hashlib.sha256(content[:-32]).digest() != content[-32:]:
        raise ValueError(f"{Path(path).name} is damaged")


def _describe_error(error: Exception) -> str:
    return " ".join([type(error).__name__, *str(error).splitlines()[:1]])


def _log_once(message: str) -> None:
    log_warning_up_to_limit("compiled code", message, limit=1)
