"""aiebuild as a wheel brings it: everything that it needs is in it, and it works from any folder."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from projects import REPOSITORY, SECONDS

pytestmark = pytest.mark.skipif(importlib.util.find_spec("setuptools") is None, reason="setuptools is not installed")
WHEEL = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
FOREIGN = """\
from aiebuild.scons import aie

DefaultEnvironment(tools=[])
env = Environment(tools=[aie])
design, p = env.AieConfiguration("designs/foo", length=256, line=64)
SConscript("designs/foo/SConscript", exports={"env": design, "p": p})
"""


def run(*words: str | Path, cwd: Path) -> str:
    """Run a command with nothing in its environment that leads to this repository; return what it prints."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(cwd)}
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that aiebuild's wheel is installed in, beside the packages that it needs."""
    folder = tmp_path_factory.mktemp("installed")
    sources = folder / "sources"
    shutil.copytree(REPOSITORY / "site_scons", sources / "site_scons", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, sources / name)
    run(sys.executable, "-c", WHEEL, folder, cwd=sources)
    venv.create(folder / "env", symlinks=True)
    python = folder / "env" / "bin" / "python"
    packages = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(place).iterdir():
            if "aiebuild" not in entry.name and not (packages / entry.name).exists():
                (packages / entry.name).symlink_to(entry)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(packages)
    return python


def test_a_newcomer_begins_in_an_empty_folder(python: Path, tmp_path: Path) -> None:
    def aiebuild(*words: str) -> str:
        return run(python, "-c", "from aiebuild.cli import main; raise SystemExit(main())", *words, cwd=tmp_path)

    assert "aiebuild/cli.py" in run(python, "-c", "from aiebuild import cli; print(cli.__file__)", cwd=tmp_path)
    assert "SConstruct" in aiebuild("new", "design=foo")
    assert "foo: Y agrees with the reference" in aiebuild("build", "design=foo", "variant=small")
    (tmp_path / "LICENSE").write_text("Do what you like.\n")
    assert "packaged as dist/foo-0.1.0-host-small.tar.gz" in aiebuild("package", "design=foo", "variant=small")
    assert ": good (" in aiebuild("verify", "dist/foo-0.1.0-host-small.tar.gz")
    assert "manifest" in aiebuild("inspect", "build/host/designs/foo/npu1_1col,length=256,line=64/manifest.json")

    (tmp_path / "SConstruct").write_text(FOREIGN)
    shutil.rmtree(tmp_path / "build")
    assert "foo: Y agrees with the reference" in run(python, "-m", "SCons", "-Q", cwd=tmp_path)
