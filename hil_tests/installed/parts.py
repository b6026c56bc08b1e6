"""Parts of an installed table are changed, as `systemd/PARTS.md` says, with its commands."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING

from hil_tests.installed.debian import Teller
from hil_tests.installed.machine import STICK, OuterRig, plug_in_stick
from vision.calibrating.target import Target
from vision.calibrating.target_paper import png

if TYPE_CHECKING:
    from hil_tests.installed.computer import Computer

HEIGHT_MM = "300"


class Workshop:
    """A technician with the table's page in hand."""

    def __init__(self, computer: Computer, machine: OuterRig, program: str, say: Teller) -> None:
        self._computer = computer
        self._machine = machine
        self._program = program
        self._say = say

    def change_all(self) -> None:
        """Change each part that a rig has; the table must start afterwards. It is stopped."""
        self._change_lamp_box()
        self._change_stick()
        self._change_card()
        self._change_camera()

    def _change_lamp_box(self) -> None:
        for what, act in (("a spare box", "inject"), ("the old box again", "heal")):
            self._machine.session.ask_rig(f"{act} lamp_other_box")
            if act == "heal":
                # The button inside its housing.
                self._machine.session.ask_rig("inject lamp_memory_erased")
            self._starts(f"{what} is refused", "lamp-", is_refused=True)
            word = self._machine.session.passphrases["tom"]
            self._does("lamp adopt --by tom --reason exchanged", answer=word)
            self._starts(f"{what} is adopted, and the table starts")

    def _change_stick(self) -> None:
        self._computer.run("umount", STICK)
        plug_in_stick(self._computer)
        self._starts("without its second copy it does not start", "second", is_refused=True)
        self._does("journal rebuild --second --yes")
        self._starts("with a new stick it starts")

    def _change_card(self) -> None:
        kept = self._journal_head()
        data = self._computer.root / "var/lib/shaker-ctl"
        for path in data.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self._starts("with a new card it does not start", "rebuild --main", is_refused=True)
        self._does("journal rebuild --main --yes")
        self._say("the journal of the new card is the one before", self._journal_head() == kept)
        self._starts("with a new card it starts")

    def _change_camera(self) -> None:
        card = self._machine.session.folder / "card.png"
        drawing = self._machine.session.rig["drawing"]
        card.write_bytes(png(Target(drawing["compartment_radius_mm"])))
        height = str(self._machine.session.rig["camera"].get("ruler_mm", HEIGHT_MM))
        self._machine.session.ask_rig("hands force compartment")
        self._machine.session.ask_rig(f"hands lay card {card}")
        settings = "/etc/shaker-ctl/settings.toml"
        self._does(f"calibrate camera --config {settings} --height {height} --yes")
        self._machine.session.ask_rig("hands take card")
        self._machine.session.ask_rig("hands close compartment")
        self._starts("with a calibrated camera it starts")

    # ── Acts ────────────────────────────────────────────────────────────────

    def _does(self, words: str, answer: str = "") -> None:
        """Type one of the page's commands, as root."""
        line = f"{self._program} {words}"
        if answer:
            line = f"echo {shlex.quote(answer)} | {line}"
        ran = self._computer.try_("setsid", "--wait", "sh", "-c", line)
        said = ran.stdout.strip().splitlines()
        self._say(f"{words}: {said[-1] if said else ''}", ran.returncode == 0)

    def _starts(self, what: str, said: str = "", *, is_refused: bool = False) -> None:
        self._computer.run("systemctl", "reset-failed", "shaker-ctl")
        started = self._computer.try_("systemctl", "start", "shaker-ctl")
        log = self._computer.run("journalctl", "--no-pager", "--unit=shaker-ctl", "--lines=12")
        is_right = (started.returncode != 0) is is_refused and (not is_refused or said in log)
        self._say(what, is_right, log)
        self._computer.run("systemctl", "stop", "shaker-ctl")

    def _journal_head(self) -> str:
        ran = self._computer.try_(self._program, "journal", "verify")
        return ran.stdout.strip().splitlines()[0] if ran.stdout.strip() else ran.stdout
