"""What `deploy/` hands to teachers fits together, and fits to what reads it."""

from __future__ import annotations

import ast
import re
import runpy
from types import SimpleNamespace

import pytest
import yaml
from traitlets.config import Config

from minitape.cli.lessons import IN_REPOSITORY

# The settings of the chart Zero to JupyterHub that values.yaml may name, with their kinds, as its values.schema.yaml has them.
# A new one is looked up there first: helm refuses a name that is not in it.
SETTINGS = {
    "singleuser.image.name": str, "singleuser.image.tag": str, "singleuser.defaultUrl": str, "singleuser.startTimeout": int,
    "singleuser.memory.guarantee": str, "singleuser.memory.limit": str, "singleuser.cpu.guarantee": float, "singleuser.cpu.limit": int,
    "singleuser.storage.capacity": str, "singleuser.extraEnv": dict, "prePuller.hook.enabled": bool, "prePuller.continuous.enabled": bool,
    "cull.enabled": bool, "cull.timeout": int, "cull.every": int, "hub.config": dict,
}  # fmt: skip


@pytest.fixture(scope="module")
def values(repository):
    return yaml.safe_load((repository / "deploy" / "jupyterhub" / "values.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hub(repository):
    """What jupyterhub_config.py sets."""
    config = Config()
    text = (repository / "deploy" / "jupyterhub" / "jupyterhub_config.py").read_text(encoding="utf-8")
    exec(compile(text, "jupyterhub_config.py", "exec"), {"get_config": lambda: config})
    return SimpleNamespace(**config)


def flat(values, before=()):
    """Dotted names and values, down to the settings that are a table of the user's own."""
    for name, value in values.items():
        path = (*before, name)
        if isinstance(value, dict) and SETTINGS.get(".".join(path)) is not dict:
            yield from flat(value, path)
        else:
            yield ".".join(path), value


def test_kubernetes_is_told_what_its_chart_knows(values):
    found = dict(flat(values))
    assert set(found) <= set(SETTINGS)
    assert {name: type(value) for name, value in found.items()} == {name: SETTINGS[name] for name in found}


def test_one_machine_and_kubernetes_get_the_same_sizes(values, hub):
    learner = values["singleuser"]
    assert learner["startTimeout"] == hub.Spawner.start_timeout == hub.Spawner.http_timeout
    assert values["hub"]["config"]["KubeSpawner"]["http_timeout"] == hub.Spawner.http_timeout
    assert f"--MappingKernelManager.cull_idle_timeout={values['cull']['timeout']}" in hub.Spawner.args
    assert learner["defaultUrl"] == hub.Spawner.default_url
    assert (IN_REPOSITORY / learner["defaultUrl"].rpartition("/")[2]).is_file()
    assert learner["extraEnv"].items() <= hub.Spawner.environment.items()


def test_the_image_starts_where_the_hub_expects_it(repository, values):
    lines = (repository / "deploy" / "jupyterhub" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    told = {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}
    assert ast.literal_eval(told["ENTRYPOINT"])[-1] == "start" and ast.literal_eval(told["CMD"]) == [
        "jupyterhub-singleuser"
    ]
    assert told["USER"] == "$NB_UID"  # by number: Kubernetes cannot tell whether a name is root
    assert "HOME=/home/jovyan" in told["ENV"]  # where the chart mounts a learner's disk


def test_binder_reads_the_same_image(repository):
    """As a file of its own: BuildKit, with which Binder builds, does not follow a link out of the Dockerfile's folder."""
    for name in ("Dockerfile", "Dockerfile.dockerignore"):
        ours, binders = (repository / folder / name for folder in ("deploy/jupyterhub", ".binder"))
        assert not binders.is_symlink()
        assert binders.read_bytes() == ours.read_bytes()


@pytest.mark.parametrize("repository_says", ["", "https://host.test/me/minitape"])
def test_the_packages_page_leads_to_the_repository_where_that_is_known(repository, monkeypatch, repository_says):
    monkeypatch.setenv("MINITAPE_REPOSITORY", repository_says)
    hook = runpy.run_path(str(repository / "deploy" / "package_page.py"))["PackagePage"]
    about = {"name": "minitape"}
    hook(str(repository), {}).update(about)
    given = (repository / "README.md").read_text(encoding="utf-8")
    if not repository_says:
        assert about["readme"]["text"] == given and "urls" not in about
        return
    links = re.findall(r"\]\(([^)]+)\)", about["readme"]["text"])
    assert len(links) > 10 and all(link.startswith("https://") for link in links)
    assert f"]({repository_says}/raw/HEAD/docs/tapeview.png)" in about["readme"]["text"]
    for link in (*links, *about["urls"].values()):
        kind, _, path = link.removeprefix(f"{repository_says}/").partition("/HEAD/")
        assert not path or (kind in ("raw", "blob") and (repository / path.partition("#")[0]).is_file())
