"""The files in `deploy/` fit together, and fit the programs that read them."""

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from types import SimpleNamespace

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from traitlets.config import Config

from minitape.cli.course_map import MAP_FILE

# The settings of the chart Zero to JupyterHub that values.yaml may contain, with their types from the chart's
# values.schema.yaml. Before adding a setting, look it up there, because helm refuses unknown names.
SETTINGS = {
    "singleuser.image.name": str, "singleuser.image.tag": str, "singleuser.defaultUrl": str,
    "singleuser.startTimeout": int, "singleuser.memory.guarantee": str, "singleuser.memory.limit": str,
    "singleuser.cpu.guarantee": float, "singleuser.cpu.limit": int, "singleuser.storage.capacity": str,
    "singleuser.extraEnv": dict, "prePuller.hook.enabled": bool, "prePuller.continuous.enabled": bool,
    "cull.enabled": bool, "cull.timeout": int, "cull.every": int, "hub.config": dict,
}  # fmt: skip


@pytest.fixture(scope="module")
def values(repository):
    return yaml.safe_load((repository / "deploy" / "jupyterhub" / "values.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hub(repository):
    """Return the settings in jupyterhub_config.py."""
    config = Config()
    text = (repository / "deploy" / "jupyterhub" / "jupyterhub_config.py").read_text(encoding="utf-8")
    exec(compile(text, "jupyterhub_config.py", "exec"), {"get_config": lambda: config})
    return SimpleNamespace(**config)


def iter_flat_settings(values, before=()):
    """Yield dotted names and values. Tables with names that the user chooses are not split."""
    for name, value in values.items():
        path = (*before, name)
        if isinstance(value, dict) and SETTINGS.get(".".join(path)) is not dict:
            yield from iter_flat_settings(value, path)
        else:
            yield ".".join(path), value


@pytest.mark.skipif(sys.platform != "linux", reason="the guide is for Debian")
def test_the_hubs_guide_leaves_no_passwords_and_closes_home_folders(repository, tmp_path):
    """The guide's commands are run with a `useradd` and a `chpasswd` that only print their arguments."""
    guide = (repository / "deploy" / "jupyterhub" / "TEACHERS.md").read_text(encoding="utf-8")
    [commands] = re.findall(r"```sh\n([^`]*accounts\.txt[^`]*)```", guide)
    for name in ("useradd", "chpasswd"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\necho {name} "$@"\nstat --format %a accounts.txt 2>/dev/null || true\n')
        program.chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    command = ["bash", "-euc", f"umask 022\n{commands}"]
    learners = "ann:one\nbob:two\n"
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, input=learners, text=True, capture_output=True, check=True
    )
    said = done.stdout.splitlines()
    assert set(said[1::2]) == {"600"} and said[-2:] == ["chpasswd", "600"]
    assert [line.split()[-1] for line in said[::2]] == ["ann", "bob", "chpasswd"]
    assert all("--key HOME_MODE=0700" in line for line in said[:4:2])
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_kubernetes_is_told_what_its_chart_knows(values):
    found = dict(iter_flat_settings(values))
    assert set(found) <= set(SETTINGS)
    assert {name: type(value) for name, value in found.items()} == {name: SETTINGS[name] for name in found}


def test_one_machine_and_kubernetes_get_the_same_sizes(values, hub):
    learner = values["singleuser"]
    assert learner["startTimeout"] == hub.Spawner.start_timeout == hub.Spawner.http_timeout
    assert values["hub"]["config"]["KubeSpawner"]["http_timeout"] == hub.Spawner.http_timeout
    assert f"--MappingKernelManager.cull_idle_timeout={values['cull']['timeout']}" in hub.Spawner.args
    assert learner["defaultUrl"] == hub.Spawner.default_url
    assert learner["defaultUrl"].rpartition("/")[2] == MAP_FILE
    assert learner["extraEnv"].items() <= hub.Spawner.environment.items()


def test_the_image_starts_where_the_hub_expects_it(repository, values):
    lines = (repository / "deploy" / "jupyterhub" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    told = {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}
    assert ast.literal_eval(told["ENTRYPOINT"])[-1] == "start" and ast.literal_eval(told["CMD"]) == [
        "jupyterhub-singleuser"
    ]
    assert told["USER"] == "$NB_UID"  # Kubernetes cannot tell whether a name is root, so this is a number.
    assert "HOME=/home/jovyan" in told["ENV"]  # The chart mounts a learner's disk here.


def test_binder_reads_the_same_image(repository):
    """Binder builds with BuildKit, which does not follow links out of the Dockerfile's folder."""
    for name in ("Dockerfile", "Dockerfile.dockerignore"):
        ours, binders = (repository / folder / name for folder in ("deploy/jupyterhub", ".binder"))
        assert not binders.is_symlink()
        assert binders.read_bytes() == ours.read_bytes()


def test_ci_tries_every_python_that_is_allowed_and_the_newest_with_the_newest_packages(repository):
    jobs = yaml.safe_load((repository / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    allowed = SpecifierSet(project["requires-python"])
    matrix = jobs["run"]["strategy"]["matrix"]["python"]
    assert matrix == [f"3.{minor}" for minor in range(100) if f"3.{minor}" in allowed]
    versions = {job["versions"]: job["python"] for job in jobs["bounds"]["strategy"]["matrix"]["include"]}
    assert versions["lowest-direct"] == matrix[0]
    assert SpecifierSet(versions["highest"].replace(" ", ",")) == allowed


@pytest.fixture
def package_page(repository):
    return SimpleNamespace(**runpy.run_path(str(repository / "deploy" / "package_page.py")))


@pytest.mark.parametrize("repository_says", ["", "https://host.test/me/minitape"])
def test_the_packages_page_leads_to_the_repository_and_has_no_dead_link_where_none_is_known(
    repository, package_page, monkeypatch, repository_says
):
    monkeypatch.setenv("MINITAPE_REPOSITORY", repository_says)
    for place in ("_read_git_origin_url", "_read_configured_repository_url"):
        monkeypatch.setitem(package_page.find_repository_url.__globals__, place, lambda project_folder: "")
    about = {"name": "minitape", "requires-python": ">=3.11"}
    package_page.PackagePage(str(repository), {}).update(about)
    given = (repository / "README.md").read_text(encoding="utf-8")
    text = about["readme"]["text"]
    if not repository_says:
        assert "urls" not in about and not re.search(r"<img|\]\((?!https?:)", text)
        assert re.sub(r"\W", "", text) in re.sub(r"\]\([^)]+\)|<picture>.*?</picture>|\W", "", given, flags=re.DOTALL)
        return
    links = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    assert len(links) > 10 and all(link.startswith("https://") for link in links)
    assert {f"{repository_says}/raw/HEAD/docs/{name}.gif" for name in ("sweep", "sweep-dark")} <= set(links)
    for link in (*links, *about["urls"].values()):
        kind, _, path = link.removeprefix(f"{repository_says}/").partition("/HEAD/")
        assert not path or (kind in ("raw", "blob") and (repository / path.partition("#")[0]).is_file())


@pytest.mark.parametrize("version", ["3.10.13", "3.15.0"])
def test_a_python_that_is_too_old_or_too_new_ends_the_build_before_anything_is_downloaded(
    repository, package_page, monkeypatch, version
):
    monkeypatch.setattr("platform.python_version", lambda: version)
    settings = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    with pytest.raises(SystemExit, match=rf"minitape needs Python >=3\.11,<3\.15, but this is Python {version}"):
        package_page.PackagePage(str(repository), {}).update(dict(settings["project"]))


@pytest.mark.skipif(shutil.which("git") is None, reason="no git, which knows a repository's address")
@pytest.mark.parametrize("remote, address", [
    ("https://host.test/me/minitape.git", "https://host.test/me/minitape"),
    ("https://name:token@host.test/me/minitape", "https://host.test/me/minitape"),
    ("git@host.test:me/minitape.git", "https://host.test/me/minitape"),
    ("/home/me/minitape", ""),
])  # fmt: skip
def test_the_repository_is_the_one_that_git_names_and_then_the_one_of_the_sdist(
    package_page, tmp_path, monkeypatch, remote, address
):
    monkeypatch.delenv("MINITAPE_REPOSITORY", raising=False)
    assert package_page.find_repository_url(tmp_path) == ""
    (tmp_path / "pyproject.toml").write_text("[tool.minitape]\nrepository = 'https://host.test/setting/'\n")
    assert package_page.find_repository_url(tmp_path) == "https://host.test/setting"
    (tmp_path / "PKG-INFO").write_text(
        "Metadata-Version: 2.4\nProject-URL: Repository, https://host.test/sdist\n\nText"
    )
    assert package_page.find_repository_url(tmp_path) == "https://host.test/sdist"
    for command in (["init", "--quiet"], ["remote", "add", "origin", remote]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    assert package_page.find_repository_url(tmp_path) == (address or "https://host.test/sdist")
