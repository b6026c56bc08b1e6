"""The shaker's contacts for the motion loop: what they deny, and who learns of a change.

Owns the newest levels and the order of actions after a change: the thread that notices the change
first takes EN low, then posts the event. Must not know runs: the loop decides whether a driver's
fault voids a toss.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from shaker_ctl.ports import InterlockLines, Interlocks, Motor
from shaker_ctl.rules import events


class Contacts:
    """Fed by the adapter's thread and by the loop; read by the loop."""

    def __init__(
        self,
        lines: InterlockLines,
        motor: Motor,
        post: Callable[[events.Event], None],
        button: Callable[[], None],
        wake: Callable[[], None],
    ) -> None:
        """`button`: called for each new press. `wake`: tells the loop that a level changed."""
        self._lines = lines
        self._motor = motor
        self._post = post
        self._button = button
        self._wake = wake
        self._seen: deque[Interlocks] = deque(maxlen=256)
        self.now: Interlocks | None = None
        """As last looked at; None before `start`."""
        self.cover_needed: bool | None = None
        """Where the cover must be while the motor is driven: closed, open, or no matter."""

    def start(self) -> None:
        """Read them once and listen to their changes. Raises `GpioLinkError`."""
        self.now = self._lines.read()
        self._lines.on_change(self._changed)

    @property
    def is_driver_faulted(self) -> bool:
        return self.now is not None and self.now.driver_fault

    def denial(self) -> str:
        """Say why the contacts deny motion; empty where they do not."""
        return "the contacts have not been read" if self.now is None else self._denied(self.now)

    def look(self, *, read: bool) -> bool:
        """Tell of everything that changed, read afresh if asked; True: the driver's fault rose.

        Changes that the adapter noticed are told one by one, so that a contact which opened and
        closed between two looks is told both ways. Raises `GpioLinkError`.
        """
        if read or self._seen:
            self._seen.append(self._lines.read())
        has_risen = False
        while self._seen:
            has_risen = self._note(self._seen.popleft()) or has_risen
        return has_risen

    def _changed(self, contacts: Interlocks) -> None:
        """In the adapter's thread."""
        if self._denied(contacts):
            self._motor.stop()
        self._seen.append(contacts)
        self._wake()

    def _denied(self, contacts: Interlocks) -> str:
        if contacts.estop_pressed:
            return "the e-stop is pressed"
        if contacts.compartment_open:
            return "the compartment is not closed and locked"
        if contacts.driver_fault:
            return "the motor driver reports a fault"
        if self.cover_needed is not None and contacts.cover_open is self.cover_needed:
            return f"the cover is not {'closed' if self.cover_needed else 'open'}"
        return ""

    def _note(self, contacts: Interlocks) -> bool:
        before, self.now = self.now, contacts
        if before is None or before == contacts:
            return False
        if self._denied(contacts):
            self._motor.stop()
        if contacts.estop_pressed != before.estop_pressed:
            self._post(events.EstopPressed() if contacts.estop_pressed else events.EstopReleased())
        if contacts.compartment_open != before.compartment_open:
            opened = contacts.compartment_open
            self._post(events.CompartmentOpened() if opened else events.CompartmentClosed())
        if contacts.cover_open != before.cover_open:
            self._post(events.CoverOpened() if contacts.cover_open else events.CoverClosed())
        if contacts.button_pressed and not before.button_pressed:
            self._button()
        return contacts.driver_fault and not before.driver_fault
