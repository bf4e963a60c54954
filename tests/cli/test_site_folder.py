"""The folder that `minitape site` writes to may be a checkout with other files, which are kept."""

import errno
import os
from contextlib import suppress

import click
import pytest

from minitape.cli import site_folder
from minitape.cli.site_folder import replace_site_folder

CHECKOUT = {".git/HEAD": "ref: refs/heads/gh-pages", "CNAME": "lessons.example.org", ".gitignore": "*.part"}


def write_files(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def read_files(folder):
    found = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    return {name: text for name, text in found.items() if name != ".minitape-site"}


OLD = {"index.html": "old", "pages/one.html": "old", ".buildinfo": "old"}
NEW = {"index.html": "new", "pages/two.html": "new", ".buildinfo": "new"}


@pytest.fixture
def out(tmp_path):
    """Return a checkout that contains an older site."""
    write_files(tmp_path / "out", CHECKOUT)
    with replace_site_folder(tmp_path / "out") as new:
        write_files(new, OLD)
    return tmp_path / "out"


def test_a_site_takes_the_place_of_the_older_one_and_of_nothing_else(out):
    assert read_files(out) == CHECKOUT | OLD
    write_files(out, {"pages.txt": "put there later"})
    with replace_site_folder(out) as new:
        write_files(new, NEW)
        assert read_files(out).items() >= (CHECKOUT | OLD).items()  # The old site is still there.
    assert read_files(out) == CHECKOUT | NEW | {"pages.txt": "put there later"}


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, click.ClickException("broken")])
def test_a_site_that_fails_leaves_the_older_one(out, error):
    with pytest.raises(type(error) if isinstance(error, Exception) else error), replace_site_folder(out) as new:
        write_files(new, NEW)
        raise error
    assert read_files(out) == CHECKOUT | OLD


@pytest.mark.parametrize("name", ["mine.txt", "index.html", "index.html/x"])
def test_files_that_are_no_site_are_left_alone(tmp_path, name):
    write_files(tmp_path, {name: "mine", ".buildinfo": "# of another project's Sphinx"})
    with (
        pytest.raises(click.ClickException, match="contains files that do not belong to a site, such as"),
        replace_site_folder(tmp_path),
    ):
        raise AssertionError
    assert read_files(tmp_path) == {name: "mine", ".buildinfo": "# of another project's Sphinx"}


def test_a_mark_names_files_of_its_folder_only(tmp_path):
    write_files(tmp_path, {"out/.minitape-site": "../mine\n..\n/\n.\n", "mine": "mine"})
    with replace_site_folder(tmp_path / "out") as new:
        write_files(new, NEW)
    assert read_files(tmp_path / "out") == NEW and (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize("place", ["later.html", "later/one.html"])
def test_what_is_in_the_place_of_a_new_page_stays(out, place):
    write_files(out, {place: "mine"})
    with pytest.raises(click.ClickException, match="does not belong to the site"), replace_site_folder(out) as new:
        write_files(new, NEW | {place: "new"})
    assert read_files(out) == CHECKOUT | OLD | {place: "mine"}


class Killed(BaseException):
    """An error that stands for the end of the process, after which nothing is cleaned up."""


@pytest.mark.parametrize("renames", range(7))
def test_a_build_that_is_killed_while_the_sites_change_places_is_replaced_by_the_next(out, monkeypatch, renames):
    with monkeypatch.context() as patch:
        left = [site_folder.os.rename] * renames
        patch.setattr(site_folder.os, "rename", lambda *paths: left.pop()(*paths) if left else kill())
        patch.setattr(site_folder.shutil, "rmtree", lambda *arguments, **options: None)
        with suppress(Killed), replace_site_folder(out) as new:
            write_files(new, NEW)
    with replace_site_folder(out) as new:
        write_files(new, {"index.html": "next"})
    assert read_files(out) == CHECKOUT | {"index.html": "next"}
    assert not list(out.glob(".minitape-site-*"))


def kill():
    raise Killed


@pytest.mark.parametrize("renames", range(6))
def test_sites_that_cannot_change_places_stay_where_they_were(out, monkeypatch, renames):
    rename, calls = os.rename, []

    def refuse(*paths):
        calls.append(paths)
        if len(calls) == renames + 1:
            raise OSError(errno.EIO, "Input/output error")
        rename(*paths)

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises(OSError, match="Input/output"), replace_site_folder(out) as new:
        write_files(new, NEW)
    assert read_files(out) == CHECKOUT | OLD and not list(out.glob(".minitape-site-*"))
