"""minitape writes each file completely or not at all, whether it is a picture, a page or a table."""

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

import minitape as tf
from minitape.cli import main
from minitape.common import atomic_write
from minitape.common.atomic_write import open_replacement_file, write_file
from minitape_widgets import TapeView

KILLED = """
import os, signal, sys
from minitape.common.atomic_write import open_replacement_file
with open_replacement_file(sys.argv[1]) as file:
    file.write("half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def build_used_tape():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
    tape.gradient(y, x)
    return tape


def write_class_table(path):
    progress = path.parent / "ada" / ".minitape-progress.json"
    if not progress.exists():
        progress.parent.mkdir()
        progress.write_text('{"version": 1, "exercises": {"01.1": {"tries": 1, "solved": true}}, "predictions": {}}')
    done = CliRunner().invoke(main, ["class", f"--{path.suffix[1:]}", str(path), str(progress.parent)])
    if done.exit_code:
        raise OSError(errno.ENOSPC, done.output)


WRITERS = {
    "a picture.svg": lambda path: tf.draw(build_used_tape()).save(path),
    "a view.html": lambda path: TapeView(build_used_tape()).save(path),
    "a class.csv": write_class_table,
    "any text.txt": lambda path: write_file(path, "new"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, name):
    target = tmp_path / name
    target.write_text("old")

    def raise_full_disk(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    WRITERS[name](tmp_path / f"first {name}")  # This must not raise an error.
    before = sorted(tmp_path.iterdir())
    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left on device") as caught:
        patched.setattr(os, "fsync", raise_full_disk)
        WRITERS[name](target)
    assert target.read_text() == "old" and sorted(tmp_path.iterdir()) == before
    if WRITERS[name] is not write_class_table:
        note = f"{target} was not written: the disk is full. The existing file is unchanged."
        assert caught.value.__notes__ == [note] and str(target) in str(caught.value)
    WRITERS[name](target)
    assert target.read_bytes() == (tmp_path / f"first {name}").read_bytes() or name == "a view.html"
    assert target.read_text() != "old" and sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_what_a_killed_process_left_goes_with_a_save_an_hour_later(tmp_path):
    target = tmp_path / "kept.txt"
    target.write_text("old")
    done = subprocess.run([sys.executable, "-c", KILLED, target], check=False, timeout=600)
    assert done.returncode == -signal.SIGKILL and target.read_text() == "old" and len(list(tmp_path.iterdir())) == 2
    left = next(path for path in tmp_path.iterdir() if path != target)
    os.utime(left, (time.time() - 3700, time.time() - 3700))
    with open_replacement_file(target) as other:  # A file that is being written stays.
        write_file(target, "new")
        assert not left.exists() and Path(other.name).exists()
        other.write("newer")
    assert target.read_text() == "newer" and list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(atomic_write.flock is None, reason="files are not locked here")
@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP], ids=errno.errorcode.get)
def test_a_file_system_without_locks_is_written_to(tmp_path, monkeypatch, code):
    """Lustre without `-o flock` returns ENOSYS, and NFS without its lock server returns ENOLCK."""
    monkeypatch.setattr(atomic_write, "flock", Mock(side_effect=OSError(code, os.strerror(code))))
    target = tmp_path / "kept.txt"
    write_file(target, "new")
    with atomic_write.lock_file(target):
        assert target.read_text() == "new"


def test_a_disk_without_modes_is_written_to(tmp_path, monkeypatch):
    """A USB stick refuses every change of a file's mode."""
    target = tmp_path / "kept.txt"
    write_file(target, "old")
    monkeypatch.setattr(Path, "chmod", Mock(side_effect=PermissionError(errno.EPERM, "no modes here")))
    write_file(target, "new")
    assert target.read_text() == "new"


def test_a_file_that_was_written_directly_is_not_said_to_be_as_it_was(tmp_path, monkeypatch):
    target = tmp_path / "kept.txt"
    write_file(target, "old")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) == target)  # No file can be created next to it.
    with pytest.raises(OSError, match="full") as caught, open_replacement_file(target) as file:
        raise OSError(errno.ENOSPC, "full")
    assert caught.value.__notes__ == [f"{target} was not written: the disk is full."] and file.closed


KILLED_ANYWHERE = """
import os, signal, sys
from pathlib import Path
from test_atomic_write import WRITERS

def trace(frame, event, arg):
    global left
    if not frame.f_code.co_filename.endswith("atomic_write.py"):
        return None
    left -= event == "line"
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return trace

save, target, step = WRITERS[sys.argv[1]], Path(sys.argv[2], sys.argv[1]), int(sys.argv[3])
save(target)
whole, kills, status = target.read_bytes(), 0, 1
while status:
    target.write_text("old")
    for part_file in target.parent.glob(".*.part"):  # Each of them would add lines to the next save.
        part_file.unlink()
    left = 1 + step * kills
    if not (child := os.fork()):
        sys.settrace(trace)
        save(target)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    kills += status == signal.SIGKILL
    there = target.read_bytes()
    assert status in (0, signal.SIGKILL) and (there in (b"old", whole) or (there.endswith(b"</html>\\n") and \
len(there) == len(whole))), there
print(kills)
"""


# Half of the writers work in the same way as another writer.
@pytest.mark.long(sample=3)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.longest] * (at % 2)) for at, name in enumerate(WRITERS)]
)
def test_a_save_that_is_killed_at_any_line_leaves_the_old_file_or_the_new_one(tmp_path, name, long):
    command = [sys.executable, "-c", KILLED_ANYWHERE, name, tmp_path, "1" if long else "9"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    print(done.stdout, "kills")
    assert int(done.stdout) >= (20 if long else 3)


@pytest.mark.parametrize(("path", "says"), [
    ("nowhere/a.svg", "the folder does not exist"), ("a file/a.svg", "is a file"),
    ("a folder.svg", "do not have permission to write there|a folder with this name"),
])  # fmt: skip
def test_what_forbids_writing_is_said(tmp_path, path, says):
    (tmp_path / "a file").touch()
    (tmp_path / "a folder.svg").mkdir()
    with pytest.raises(OSError, match="a") as caught:
        tf.draw(build_used_tape()).save(tmp_path / path)
    assert any(re.search(says, note) for note in caught.value.__notes__), caught.value.__notes__


@pytest.mark.skipif(os.name != "posix", reason="modes and links are those of POSIX")
def test_mode_and_link_stay_and_a_pipe_is_written_to(tmp_path):
    target, link = tmp_path / "kept.txt", tmp_path / "link.txt"
    target.touch(mode=0o640)
    link.symlink_to(target)
    write_file(link, b"new\r\n")
    assert link.is_symlink() and target.read_bytes() == b"new\r\n" and stat.S_IMODE(target.stat().st_mode) == 0o640
    with open_replacement_file(tmp_path / "own.txt", private=True) as file:
        file.write("mine")
    assert stat.S_IMODE((tmp_path / "own.txt").stat().st_mode) == 0o600
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "from minitape.common.atomic_write import write_file; write_file('/dev/stdout', 'said')",
        ],
        capture_output=True,
        check=True,
    )
    assert said.stdout == b"said"


@pytest.mark.parametrize("place", ["nowhere/a.txt", "file/a.txt"])
def test_an_error_names_the_file_and_no_other(place, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError) as told:
        write_file(tmp_path / place, "a")
    assert str(told.value).endswith(repr(str(tmp_path / place)))
