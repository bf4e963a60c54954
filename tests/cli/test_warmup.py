"""`minitape warmup` compiles the kernels in advance."""

from pathlib import Path

from minitape.speed import code_cache

from .conftest import run_minitape


def test_the_kernels_are_compiled():
    done = run_minitape("warmup")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the kernels are ready (")


def test_compiled_code_is_kept_in_the_users_folder_and_never_in_the_package(tmp_path, monkeypatch):
    """pip would not remove files that it did not install, and Python could import the remaining folder."""
    monkeypatch.delenv("MINITAPE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    monkeypatch.setattr(code_cache.sys, "prefix", str(tmp_path / "python"))
    package = Path(code_cache.__file__).parents[1]
    places = list(code_cache.iter_cache_folders())
    assert places[0] == tmp_path / "own" / "minitape" and not any(place.is_relative_to(package) for place in places)
    code_cache.get_shared_cache_folder().mkdir(parents=True)  # `minitape warmup --shared` does the same.
    assert list(code_cache.iter_cache_folders())[:2] == [
        tmp_path / "python" / "var" / "cache" / "minitape",
        tmp_path / "own" / "minitape",
    ]
