"""Why an inspection is due: the event that made it so, in words.

Owns the words and the newest reason. Must not decide anything: the rules have by then.
"""

from __future__ import annotations

from shaker_ctl.rules import events
from shaker_ctl.rules.row import Step
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.vocabulary import Condition

_WORDS: dict[type[events.Event], str] = {
    events.Restarted: "the controller was started",
    events.OpenRequested: "the table was closed",
    events.CompartmentOpened: "the compartment was opened",
    events.LidRequested: "the lid was released",
    events.DiceChanged: "other dice were locked in",
    events.ReturnRequested: "the table came back to service",
    events.ShakerRetired: "the automated shaker was taken out of use",
    events.JogFinished: "a technician turned the motor",
    events.EachLampProved: "a technician tried the lamps",
    events.TrialTossRequested: "a technician tossed",
    events.InspectionAbandoned: "the last one was given up",
    events.TossNotStarted: "the shaker did not start",
    events.ShiftBegan: "a new shift began",
}


_CHANGED = {
    Condition.SETTINGS: "the settings or the profile are not those of the last record",
    Condition.CALIBRATION: "the camera's calibration is not that of the last record",
    Condition.LIGHT: "the ring light was changed, or did not obey",
}


class WhyDue:
    """An observer of the state thread's steps."""

    def __init__(self, rules_changed: str = "") -> None:
        """`rules_changed`: from which rules to which, where others hold since this start."""
        self._rules_changed = rules_changed
        self.words = ""
        """The newest reason; empty before there was one."""

    def observe(self, step: Step, event: events.Event) -> None:
        """Take the reason down where the step made an inspection due."""
        if isinstance(event, events.DiceChanged) and step.state.stated is not None:
            return  # the first of two persons: the former dice are still in
        is_due = step.state.phase is Phase.INSPECTION_DUE
        if (is_due or isinstance(event, events.ShiftBegan)) and type(event) in _WORDS:
            self.words = _WORDS[type(event)]
        elif is_due and isinstance(event, events.ConditionChanged):
            self.words = _CHANGED[event.what]
            if event.what is Condition.SETTINGS and self._rules_changed:
                self.words = f"other rules: {self._rules_changed}"
