"""A table under test whose service may die, and a rig whose every fault is mended.

Owns what people do beyond the consoles: start the service again, put the machine right, wait for
the camera. Must not know faults.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hil_tests.processes import TrialError
from hil_tests.rig.control import RigRefusedError
from hil_tests.rig.gpio_sides import CANNOT
from hil_tests.table_under_test.session import COVERED, Plan, Session, merged
from hil_tests.table_under_test.table import READY_S, TableUnderTest
from hil_tests.table_under_test.world import World
from shaker_ctl.adapters.camera.dice_reader import LOST
from shaker_ctl.console.client import ConsoleRefusedError, Reply
from shaker_ctl.errors import ConsoleLineError, ShakerError
from shaker_ctl.service.status_socket import read_status

SETTINGS: dict[str, Any] = {
    "table": {"entry_mode": "auto", "autonomous": False},
    "motion": {"shake": {"min_s": 1.8, "max_s": 1.8}},
    "journal": {"second_lag_s": 2.0, "media_wait_s": 2.0},
}
"""Dealer's pace, so that every moment can be waited for; the shortest shake that is approved by
default; and a second copy that is missed soon. No inspection is left out."""

COVER: dict[str, Any] = {"table": {"cover_s": 2.0}}
"""A cover that takes 0.45 s counts as stuck after two seconds, not after five."""

LOOK_S = 0.05

SIGHT_S = 10.0
"""Longest time in which a camera that was healed is seen to give pictures again."""


def trial_session(
    plan: Plan, folder: Path, *, tree: Path | None = None, rig_file: Path | None = None
) -> Session:
    """A session with these settings, in a world that can be bent; `tree`: see `World`."""
    changes = merged(dict(plan.changes), SETTINGS)
    if plan.profile in COVERED:
        changes = merged(changes, COVER)
    plan = replace(plan, changes=changes)
    return Session(plan, folder, rig_file=rig_file, world=World(folder, tree))


class CannotError(TrialError):
    """A part of this rig is a real one, and nobody can break it by a command."""


class Bench(TableUnderTest):
    """One table. A context: everything is ended at the end."""

    reply_s = 3.0
    restarts = 0
    is_evidence = False
    """Whether something was wrong at it, so that its logs and journals are kept."""

    @property
    def world(self) -> World:
        """What the service sees of its computer."""
        assert self.session.world is not None
        return self.session.world

    # ── The rig's door ──────────────────────────────────────────────────────

    def ask_rig(self, command: str) -> Any:
        """Give the rig one command; raises `TrialError` where it refuses or does not answer."""
        try:
            return super().ask_rig(command)
        except RigRefusedError as refused:
            cannot = str(refused).startswith(CANNOT)
            kind = CannotError if cannot else TrialError
            raise kind(f"the rig refused `{command}`: {refused}") from refused
        except (OSError, ValueError) as error:
            raise TrialError(f"the rig does not answer `{command}`: {error}") from error

    def mend_everything(self) -> None:
        """Heal every fault and put every movable part where it belongs."""
        self.ask_rig("heal all")
        for act in ("close compartment", "open cover", "release estop", "uncover dome"):
            self.ask_rig(f"hands {act}")
        self.ask_rig("hands release button")

    # ── People ──────────────────────────────────────────────────────────────

    def restart_service(self) -> None:
        """Start the service again, whatever became of it; raises `BenchError` where it will not."""
        self.leave_consoles()
        self.session.kill_service()
        self.restarts += 1
        self.session.start_service()

    def make_ready(self, *, unless: Callable[[], bool] = lambda: False) -> None:
        """From wherever the table stands to open and between rounds, or until `unless` is so.

        Raises `TrialError`.
        """
        self.mend_everything()
        until_s = time.monotonic() + READY_S
        while time.monotonic() < until_s:
            if unless():
                return
            try:
                if not self.session.is_serving:
                    self.restart_service()
                status = self.status()
                if status["life"] == "open" and status["phase"] == "ready":
                    return
                if self.mend_step(status):
                    continue
            except ConsoleRefusedError as refused:
                self._say(f"refused: {refused}")
                self._who.clear()
            except (ConsoleLineError, OSError):
                if self.session.is_serving:
                    self._say("the console does not answer: the service is started again")
                    self.session.kill_service()
                continue
            time.sleep(0.1)
        raise TrialError(f"the table did not become ready within {READY_S:g} s: {self._where()}")

    def play_until(self, is_over: Callable[[Reply], bool], seconds: float) -> bool:
        """Mend, open and play, whatever the table is at; False where the service died before.

        Raises `TrialError` where it takes too long.
        """
        until_s = time.monotonic() + seconds
        while self.session.is_serving:
            if time.monotonic() > until_s:
                raise TrialError(f"the table did not come there in {seconds:g} s: {self._where()}")
            with suppress(ShakerError, OSError):
                status = self.status()
                if is_over(status):
                    return True
                if not self.mend_step(status) and status["life"] == "open":
                    self.play_step(status)
            time.sleep(LOOK_S)
        return False

    def await_sight(self) -> None:
        """Wait until the camera is back from a fault of an earlier round, which would hide the next
        one. A camera that stays lost is for the next round to show."""
        until_s = time.monotonic() + SIGHT_S
        while time.monotonic() < until_s:
            with suppress(ShakerError, OSError):
                state = read_status(self.session.runtime_dir)["camera"]["state"]
                if state.partition(":")[0] not in LOST | {"starting"}:
                    return
            time.sleep(0.1)

    def _where(self) -> str:
        try:
            status = self.status()
        except (ShakerError, OSError) as error:
            return f"its console is silent ({error})"
        return f"{status['says']} Faults: {', '.join(status['faults']) or 'none'}"
