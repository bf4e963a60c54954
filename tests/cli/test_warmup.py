"""`minitape warmup` compiles ahead."""

from pathlib import Path

from minitape.speed import code_cache

from .conftest import run_minitape


def test_the_kernels_are_compiled():
    done = run_minitape("warmup")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the kernels are ready (")


def test_compiled_code_is_kept_in_the_users_folder_and_never_in_the_package(tmp_path, monkeypatch):
    """What pip did not put into site-packages it does not remove, and Python imports a folder that is left."""
    monkeypatch.delenv("MINITAPE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    monkeypatch.setattr(code_cache.sys, "prefix", str(tmp_path / "python"))
    package = Path(code_cache.__file__).parents[1]
    places = list(code_cache.iter_cache_folders())
    assert places[0] == tmp_path / "own" / "minitape" and not any(place.is_relative_to(package) for place in places)
    code_cache.get_shared_cache_folder().mkdir(parents=True)  # as after: minitape warmup --shared
    assert list(code_cache.iter_cache_folders())[:2] == [
        tmp_path / "python" / "var" / "cache" / "minitape",
        tmp_path / "own" / "minitape",
    ]
