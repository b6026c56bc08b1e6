"""What a desk looks at in a test: nothing behind it but paper."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

from shaker_ctl.console.desk import CameraView, HealthView, JournalView
from shaker_ctl.journal.meters import Meters
from shaker_ctl.motion.parameters import MotionParameters
from shaker_ctl.motion.reports import MotionFigures
from shaker_ctl.ports import Interlocks
from shaker_ctl.rules.rulebook import Rulebook
from shaker_ctl.service.fault_queue import FaultQueue
from shaker_ctl.service.lamp_thread import LampPicture
from shaker_ctl.service.wall_time import WallTime
from shaker_ctl.view.announcer import Announcer
from shaker_ctl.view.table_view import TableFacts
from shaker_ctl.view.why_due import WhyDue

SHUT = Interlocks(
    compartment_open=False,
    cover_open=True,
    estop_pressed=False,
    driver_fault=False,
    button_pressed=False,
)
FIGURES = MotionFigures("idle", 0.0, 0.0, 0.0, tuple((i / 100, 3.0 * i) for i in range(200)))
CAMERA = CameraView(fps=30.0, state="ready", exposure="median grey 100 of 255")


def facts(rules: Rulebook, state: Any, **given: Any) -> TableFacts:
    """A table's facts; `given` takes the place of what is quiet and whole here."""
    clock: Any = SimpleNamespace(monotonic=time.monotonic, wall=time.time)
    paper: dict[str, Any] = {
        "lamps": SimpleNamespace(picture=LampPicture()),
        "motion": SimpleNamespace(figures=lambda: FIGURES, contacts=lambda: SHUT),
        "reader": SimpleNamespace(snap=lambda: b""),
        "camera": lambda: CAMERA,
        "taught": lambda _: "not taught",
        "faults": FaultQueue(),
        "wall": WallTime(clock, None),
        "journal": SimpleNamespace(append=lambda *_, **__: None),
        "archive": SimpleNamespace(view=lambda: JournalView(state="good")),
        "health": HealthView,
        "digests": (),
        "set_light": lambda _: None,
        "link": SimpleNamespace(trouble=lambda: None),
        "motion_parameters": MotionParameters(),
        "announcer": Announcer(),
        "dice": lambda: None,
        "meters": lambda: Meters({"rounds": 12, "void rounds": 1}, 400),
        "check_lid": lambda: None,
        "post": state.post,
        "why_due": WhyDue(),
        "keyed_answer": lambda seed: f"answer to {seed}",
    }
    return TableFacts(table_name="Table 7", rulebook=rules, state=state, **{**paper, **given})
