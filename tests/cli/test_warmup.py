"""`minitape warmup` compiles ahead."""

from .conftest import run


def test_the_kernels_are_compiled():
    done = run("warmup")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("kernels are ready (")
