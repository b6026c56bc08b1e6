"""The package's scripts and units keep their promises, also where no Debian is at hand."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from hil_tests.installed.arm64_wheels import NEWEST_GLIBC, OLDEST_GLIBC, PYTHONS
from shaker_ctl.view.phase_words import PHASE_WORDS

LIFE_WORDS = frozenset(words.life for words in PHASE_WORDS.values() if words.life)
"""Of a table that is not in use."""
HERE = Path(__file__).resolve().parents[3] / "systemd"
SCRIPTS = [HERE / "debian" / name for name in ("preinst", "prerm", "postinst", "postrm")]
SCRIPTS += [HERE / "table-is-closed", HERE / "motor-off", HERE / "build-deb"]
SCRIPTS += [
    path for path in (HERE / "debian/tests").iterdir() if path.name not in ("control", "lib")
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_each_script_is_a_shell_script(script: Path) -> None:
    subprocess.run(["sh", "-n", str(script)], check=True)
    if shutil.which("shellcheck"):
        subprocess.run(["shellcheck", "--shell=sh", str(script)], check=True)


def test_the_package_is_built_for_the_systems_that_the_emulated_check_runs() -> None:
    text = (HERE / "build-deb").read_text("utf-8")
    found = re.findall(r"^(\w+)\) release=\d+ minor=(\d+) glibc=(\d+)", text, re.MULTILINE)
    assert {suite: f"3.{minor}" for suite, minor, _ in found} == PYTHONS
    assert {suite: int(glibc) for suite, _, glibc in found} == NEWEST_GLIBC
    assert f'[ "$glibc" -ge {OLDEST_GLIBC} ]' in text


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

CUT_SCRIPT = """#!/bin/sh
echo {name} >>{folder}/acts
if [ "$(wc -l <{folder}/acts)" -eq "$CUT" ]; then
    if [ {name} = rm ]; then # a power cut may leave half of a folder
        for last in "$@"; do :; done
        find "$last" -type f -print -quit 2>/dev/null | xargs -r {real}
    fi
    kill -9 $PPID
fi
exec {real} "$@"
"""


@dataclass(frozen=True)
class Upgraded:
    """A table on which a version was laid over the former one, below a folder."""

    folder: Path
    is_fit: bool = False
    was_active: bool = True

    @property
    def lib(self) -> Path:
        return self.folder / "usr/lib"

    def lay(self) -> None:
        for at, version in (("usr", "new"), ("usr/lib/shaker-ctl.former/usr", "former")):
            program = self.folder / at / "lib/shaker-ctl/bin/shaker-ctl"
            program.parent.mkdir(parents=True)
            program.write_text(f"#!/bin/sh\nexit {0 if self.is_fit else 1}\n", "utf-8")
            program.chmod(0o755)
            (program.parents[1] / "version").write_text(version, "utf-8")
            unit = self.folder / at / "lib/systemd/system/shaker-ctl.service"
            unit.parent.mkdir(parents=True)
            unit.write_text(version, "utf-8")
        (self.lib / "shaker-ctl.former/version").write_text("0.1.0", "utf-8")
        house = self.folder / "etc/shaker-ctl"
        house.mkdir(parents=True)
        (house / "settings.toml").touch()
        (house / "seal.json").write_text("former", "utf-8")
        (house / "seal-next.json").write_text("new", "utf-8")
        (self.folder / "run/systemd/system").mkdir(parents=True)
        if self.was_active:
            (self.folder / "run/shaker-ctl.was-active").touch()
            (self.lib / "shaker-ctl.former/was-active").touch()
        self._lay_tools()
        text = (HERE / "debian" / "postinst").read_text("utf-8")
        for root in ("/usr", "/etc", "/run"):
            text = re.sub(rf"(?<![\w.\"]){root}/", f"{self.folder}{root}/", text)
        (self.folder / "postinst").write_text(text, "utf-8")

    def _lay_tools(self) -> None:
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "systemctl").write_text(f"#!/bin/sh\necho $* >>{self.folder}/asked\n", "utf-8")
        (tools / "dpkg-query").write_text("#!/bin/sh\nprintf $INSTALLED\n", "utf-8")
        for name in ACTS:
            script = CUT_SCRIPT.format(name=name, folder=self.folder, real=shutil.which(name))
            (tools / name).write_text(script, "utf-8")
        for tool in tools.iterdir():
            tool.chmod(0o755)

    def ask(self, act: str = "configure", cut: int = 0, installed: str = "0.1.0") -> int:
        """Run the script, cut in its act of that number; return its status."""
        for name in ("acts", "asked"):
            (self.folder / name).write_text("")
        path = f"{self.folder / 'tools'}:/usr/bin:/bin"
        ran = subprocess.run(
            ["sh", str(self.folder / "postinst"), act],
            env={"PATH": path, "CUT": str(cut), "INSTALLED": installed},
            capture_output=True,
            check=False,
        )
        return ran.returncode

    @property
    def is_started(self) -> bool:
        return "start shaker-ctl.service" in (self.folder / "asked").read_text().splitlines()

    def in_service(self) -> tuple[str, str, str]:
        """Return which program, unit and seal lie there."""
        files = (
            self.lib / "shaker-ctl/version",
            self.lib / "systemd/system/shaker-ctl.service",
            self.folder / "etc/shaker-ctl/seal.json",
        )
        program, unit, seal = (file.read_text("utf-8") for file in files)
        return program, unit, seal

    def left(self) -> list[str]:
        """Return what lies beside the program and the unit, and the seal that was to come."""
        beside = [path.name for path in self.lib.iterdir()]
        house = [path.name for path in (self.folder / "etc/shaker-ctl").glob("seal-*")]
        run = [path.name for path in (self.folder / "run").glob("shaker-ctl.*")]
        return sorted(set(beside + house + run) - {"shaker-ctl", "systemd"})


def files_below(folder: Path) -> list[Path]:
    return sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("is_fit", [False, True])
def test_a_power_cut_in_an_upgrade_leaves_one_whole_version(tmp_path: Path, is_fit: bool) -> None:
    version = "new" if is_fit else "former"
    cut = 0
    while True:
        cut += 1
        table = Upgraded(tmp_path / str(cut), is_fit)
        table.lay()
        aside = files_below(table.lib / "shaker-ctl.former")
        was_cut = table.ask(cut=cut) < 0
        if is_fit:
            left = files_below(table.lib / "shaker-ctl.former")
            assert not left or set(aside) <= set(left), "half of a version must never come back"
        status = table.ask()
        assert (status == 0) is is_fit, "dpkg must know which version is in service"
        assert table.in_service() == (version,) * 3, cut
        assert table.left() == ([] if is_fit else ["seal-next.json"]), cut
        if not was_cut:
            break
    assert cut > 5


@pytest.mark.parametrize("act", ["configure", "abort-upgrade", "abort-remove"])
@pytest.mark.parametrize("was_active", [False, True])
def test_a_table_starts_again_only_where_it_ran_before(
    tmp_path: Path, act: str, was_active: bool
) -> None:
    table = Upgraded(tmp_path, is_fit=True, was_active=was_active)
    table.lay()
    if act == "abort-remove":
        shutil.rmtree(table.lib / "shaker-ctl.former")
    assert table.ask(act) == 0
    assert table.is_started is was_active
    assert table.left() == ([] if act == "configure" else ["seal-next.json"])


def test_a_version_that_nobody_looked_at_is_not_kept_when_the_next_one_fails_to_unpack(
    tmp_path: Path,
) -> None:
    table = Upgraded(tmp_path)
    table.lay()
    assert table.ask("abort-upgrade", installed="0.2.0") == 1
    assert "shaker-ctl.former" in table.left()
    assert not table.is_started
