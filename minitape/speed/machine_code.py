"""Store numba's machine code in files, without letting a problem with these files break a gradient.

Numba itself does not handle errors that occur while it opens or unpickles such a file, and runs damaged machine code.
This module adds a checksum to the end of each file. A file that cannot be read is removed and treated as missing. Code
that cannot be written is kept only in memory. Only the first problem in a process is logged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile
from numba.core.compiler import CompileResult

from ..engine.record.log_warnings import log_warning_up_to_limit
from ..engine.types import Object
from . import code_cache


@dataclass(eq=False)
class MachineCodeCache:
    """The stored machine code of a generated function, with the interface that numba's dispatchers use.

    Attributes:
        cache_path: None. Numba's statistics read this attribute.
        module: The name of the generated module.
        text: The source of the module.
        function_name: The name of the function in the module.
        options: The compilation options, as text. Code that was compiled with other options is not used.
        is_on_disk: Whether the code was read from a file or written to a file.
    """

    cache_path = None
    module: str
    text: str
    function_name: str
    options: str
    is_on_disk: bool = False

    def _open_files(self, folder: Path) -> _ChecksummedFiles:
        return _ChecksummedFiles(str(folder / "__pycache__"), f"{self.module}.{self.function_name}", self.options)

    def load_overload(self, signature: Object, target: Object) -> Any:
        """Return the stored code for a signature.

        Args:
            signature: Numba's signature, which contains the types of the arguments.
            target: Numba's target context, for which the code is rebuilt.

        Returns:
            Numba's ``CompileResult``, or None if the code is missing or cannot be used.
        """
        target.refresh()
        for folder in filter(_is_trusted_folder, code_cache.iter_cache_folders()):
            files = self._open_files(folder)
            try:
                code = files.load((signature, target.codegen().magic_tuple()))
                if code is not None:
                    code = CompileResult._rebuild(target, *code)
                    self.is_on_disk = True
                    return code
            except Exception as error:  # Unpickling can raise any error.
                files.remove_files()
                _log_once(
                    f"Compiled code in {folder} cannot be read ({code_cache.describe_error(error)}), so it is compiled "
                    "again. If this message appears again, delete the folder."
                )
        return None

    def save_overload(self, signature: Object, result: Object) -> None:
        """Store compiled code in the first folder that accepts it, or log why none does.

        Args:
            signature: Numba's signature, the types of the arguments.
            result: Numba's ``CompileResult``.
        """
        reason = "there is no folder for the compiled code"
        for folder in code_cache.iter_cache_folders():
            try:
                code_cache.write_source_if_changed(folder, self.module, self.text)
                self._open_files(folder).save((signature, result.codegen.magic_tuple()), result._reduce())
                self.is_on_disk = True
                return
            except Exception as error:
                reason = code_cache.describe_error(error)
        _log_once(
            f"Compiled code cannot be saved ({reason}), so each process spends several seconds on compiling it again. "
            "Set MINITAPE_CACHE to a folder that only you can write to, on a disk with free space."
        )


class _ChecksummedFiles(IndexDataCacheFile):
    """Numba's cache files for a function (the index and the code), each with a checksum.

    The checksum is at the end of a file, after the pickles. Unpickling ignores this part of the file.
    """

    def load(self, key: Object) -> Any:
        _check_checksum(self._index_path)
        return super().load(key)

    def _load_data(self, name: str) -> Any:
        _check_checksum(self._data_path(name))
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[BytesIO]:
        content = BytesIO()
        yield content
        with super()._open_for_write(path) as file:
            file.write(content.getvalue() + sha256(content.getvalue()).digest())

    def remove_files(self) -> None:
        """Remove the index and the code, ignoring files that cannot be removed."""
        index = Path(self._index_path)
        for path in (index, *index.parent.glob(f"{index.stem}.*.nbc")):
            with suppress(OSError):
                path.unlink()


def _is_trusted_folder(folder: Path) -> bool:
    with suppress(OSError):
        return code_cache.is_private_folder(folder)
    return False


def _check_checksum(path: str) -> None:
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return  # No code was stored.
    except OSError as error:
        raise ValueError(code_cache.describe_error(error)) from error  # Numba would treat an OSError as a missing file.
    if sha256(content[:-32]).digest() != content[-32:]:
        raise ValueError(f"{Path(path).name} is damaged")


def _log_once(message: str) -> None:
    log_warning_up_to_limit("compiled code", message, limit=1)
