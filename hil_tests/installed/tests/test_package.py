"""The package's scripts and units keep their promises, also where no Debian is at hand."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from hil_tests.installed.arm64_wheels import NEWEST_GLIBC, OLDEST_GLIBC, PYTHONS
from hil_tests.installed.debian import LIBRARIES
from shaker_ctl.view import standing

LIFE_WORDS = frozenset(standing._LIFE.values())
"""Of a table that is not in use."""
HERE = Path(__file__).resolve().parents[3] / "systemd"
SCRIPTS = [HERE / "debian" / name for name in ("preinst", "prerm", "postinst", "postrm")]
SCRIPTS += [HERE / "table-is-closed", HERE / "motor-off", HERE / "build-deb"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_each_script_is_a_shell_script(script: Path) -> None:
    subprocess.run(["sh", "-n", str(script)], check=True)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(script: Path) -> None:
    subprocess.run(["shellcheck", "--shell=sh", str(script)], check=True)


def test_the_package_is_built_for_the_systems_that_the_emulated_check_runs() -> None:
    text = (HERE / "build-deb").read_text("utf-8")
    found = re.findall(r"^(\w+)\) release=\d+ minor=(\d+) glibc=(\d+)", text, re.MULTILINE)
    assert {suite: f"3.{minor}" for suite, minor, _ in found} == PYTHONS
    assert {suite: int(glibc) for suite, _, glibc in found} == NEWEST_GLIBC
    assert f'[ "$glibc" -ge {OLDEST_GLIBC} ]' in text


@pytest.mark.parametrize("suite", LIBRARIES)
def test_the_package_depends_on_the_libraries_that_no_wheel_brings(suite: str) -> None:
    control = (HERE / "debian" / "control").read_text("utf-8")
    (depends,) = re.findall(r"^Depends: (.*)$", control, re.MULTILINE)
    named = {word.strip() for word in re.split(r"[,|]", depends)}
    assert set(LIBRARIES[suite]) <= named


@pytest.mark.parametrize(
    ("life", "may"),
    [
        *((life, True) for life in ("closed", "inspection due", "out of service")),
        *((life, False) for life in ("open", "inspected", "opening inspection", "trial", "")),
    ],
)
def test_only_a_table_that_is_not_in_play_may_be_changed(
    tmp_path: Path, life: str, may: bool
) -> None:
    program = tmp_path / "shaker-ctl"
    program.write_text(f'#!/bin/sh\nprintf \'{{\\n  "life": "{life}",\\n  "x": 1\\n}}\\n\'\n')
    program.chmod(0o755)
    text = (HERE / "table-is-closed").read_text("utf-8")
    script = tmp_path / "table-is-closed"
    script.write_text(text.replace("/usr/lib/shaker-ctl/bin/shaker-ctl", str(program)))
    ran = subprocess.run(["sh", str(script)], capture_output=True, text=True)
    assert (ran.returncode == 0) is may
    assert may or "systemctl stop shaker-ctl" in ran.stderr


def test_the_script_knows_the_words_for_a_tables_life() -> None:
    text = (HERE / "table-is-closed").read_text("utf-8")
    (permitted,) = [line.split(")")[0] for line in text.splitlines() if "exit 0" in line]
    words = {word.strip().strip('"') for word in permitted.split("|")}
    assert words < LIFE_WORDS


def test_purge_never_takes_the_record_of_play() -> None:
    removals = [
        line
        for name in ("postrm", "prerm", "preinst", "postinst")
        for line in (HERE / "debian" / name).read_text("utf-8").splitlines()
        if re.search(r"\brm -|find .*-delete", line)
    ]
    assert removals
    assert [line for line in removals if "/var/lib/shaker-ctl" in line] == []


ACTS = ("mv", "cp", "rm", "touch")
"""What the script changes the disk with."""


@dataclass(frozen=True)
class Upgraded:
    """A table on which an unfit version was laid over the former one, below a folder."""

    folder: Path

    def lay(self) -> None:
        for at, version in (("usr", "new"), ("usr/lib/shaker-ctl.former/usr", "former")):
            program = self.folder / at / "lib/shaker-ctl/bin/shaker-ctl"
            program.parent.mkdir(parents=True)
            program.write_text("#!/bin/sh\nexit 1\n", "utf-8")
            program.chmod(0o755)
            (program.parents[1] / "version").write_text(version, "utf-8")
            unit = self.folder / at / "lib/systemd/system/shaker-ctl.service"
            unit.parent.mkdir(parents=True)
            unit.write_text(version, "utf-8")
        (self.folder / "usr/lib/shaker-ctl.former/version").write_text("0.1.0", "utf-8")
        (self.folder / "etc/shaker-ctl").mkdir(parents=True)
        (self.folder / "etc/shaker-ctl/settings.toml").touch()
        (self.folder / "run/systemd/system").mkdir(parents=True)
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "systemctl").write_text("#!/bin/sh\n", "utf-8")
        for name in ACTS:
            (tools / name).write_text(
                f"#!/bin/sh\necho {name} >>{self.folder}/acts\n"
                f'[ "$(wc -l <{self.folder}/acts)" -ne "$CUT" ] || kill -9 $PPID\n'
                f'exec {shutil.which(name)} "$@"\n',
                "utf-8",
            )
        for tool in tools.iterdir():
            tool.chmod(0o755)
        text = (HERE / "debian" / "postinst").read_text("utf-8")
        for root in ("/usr", "/etc", "/run"):
            text = re.sub(rf"(?<![\w.\"]){root}/", f"{self.folder}{root}/", text)
        (self.folder / "postinst").write_text(text, "utf-8")

    def configure(self, cut: int = 0) -> int:
        """Run the script, cut before its act of that number; return its status."""
        (self.folder / "acts").write_text("")
        path = f"{self.folder / 'tools'}:/usr/bin:/bin"
        ran = subprocess.run(
            ["sh", str(self.folder / "postinst"), "configure"],
            env={"PATH": path, "CUT": str(cut)},
            capture_output=True,
            check=False,
        )
        return ran.returncode


def test_a_power_cut_while_the_former_version_comes_back_leaves_no_table_without_a_program(
    tmp_path: Path,
) -> None:
    cut = 0
    while True:
        cut += 1
        table = Upgraded(tmp_path / str(cut))
        table.lay()
        was_cut = table.configure(cut) < 0
        assert table.configure() == 1, "dpkg must know that its version is not in service"
        usr = table.folder / "usr/lib"
        assert (usr / "shaker-ctl/version").read_text("utf-8") == "former", cut
        assert (usr / "systemd/system/shaker-ctl.service").read_text("utf-8") == "former", cut
        left = sorted(path.name for path in usr.iterdir())
        assert left == ["shaker-ctl", "systemd"], cut
        if not was_cut:
            break
    assert cut > 5
