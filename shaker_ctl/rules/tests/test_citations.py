"""What the journal keeps as the clause of a decision is the clause of its cause."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.citations import BARRED
from shaker_ctl.rules.row import Context, cited
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, TECHNICIAN, TILTED, Playing
from shaker_ctl.rules.vocabulary import Barrier, FaultKind, TimeTrust


def clause(t: Playing) -> str:
    """The clause of the first row that the last event took."""
    return t.last.because()[0][1].clause


@pytest.mark.parametrize("barrier", Barrier)
def test_what_bars_a_round_has_its_own_clause(barrier: Barrier) -> None:
    t = Playing()
    context = Context(t.state.changed({"barred": barrier}), None, t.rules)
    key = cited(BARRED, context)
    on_dice = ("dice.automated", "dice.number")
    assert (key in on_dice) is barrier.value.startswith("dice")
    assert key.startswith("in_force.") is (barrier in (Barrier.EXPIRED, Barrier.NOT_YET_IN_FORCE))


@pytest.mark.parametrize("at", ["open", "bets"])
def test_an_untrusted_clock_cites_no_age_of_dice_and_no_days_of_a_text(at: str) -> None:
    t = Playing()
    if at == "open":
        t.inspected().do(ev.OpenRequested(FLOOR))
    else:
        t.open().do(ev.BetsRequested(DEALER))
    t.clock(TimeTrust.NONE)
    assert clause(t) == "clock: untrusted time starts nothing"
    assert t.last_of(do.Announce).clause == clause(t)


def test_dice_over_age_when_bets_are_asked_for_cite_their_age() -> None:
    t = Playing().open().do(ev.BetsRequested(DEALER))
    t.now += timedelta(days=40)
    assert clause(t.clock()) == t.rules.cite("dice.automated").clause


def test_an_estop_while_the_clock_is_asked_for_bets_cites_no_age_of_dice() -> None:
    t = Playing().open().do(ev.BetsRequested(DEALER), ev.EstopPressed()).clock()
    assert t.phase is Phase.READY
    assert clause(t).startswith("device: ")


@pytest.mark.parametrize(
    ("end", "cites"),
    [
        ("no roll", "no_roll.wagers"),
        ("void", "void.disturbed"),
        ("not started", "not_started.wagers"),
    ],
)
def test_wagers_are_dealt_with_by_the_clause_of_how_the_round_ended(end, cites) -> None:
    t = Playing().open()
    if end == "no roll":
        t.awaiting_dealer(TILTED).do(ev.NoRollCalled(DEALER, 1))
    elif end == "void":
        t.settled().do(ev.CompartmentOpened())
    else:
        t.betting().do(ev.ShakerFault(None, "stall"))
    assert t.phase is Phase.WITHOUT_RESULT
    t.do(ev.WagersSettled(DEALER, 1))
    assert clause(t) == t.rules.cite(cites).clause


@pytest.mark.parametrize(
    ("fault", "kind", "cites"),
    [
        (ev.ShakerFault(None, "stall"), FaultKind.SHAKER, "out_of_order.steps"),
        (ev.ControllerFault("disk"), FaultKind.CONTROLLER, "O-10"),
        (ev.LampFault(None, "open"), FaultKind.LAMP, "lamp_fault.resume_when_fixed"),
    ],
)
def test_a_fault_is_cleared_and_stops_the_table_by_the_clause_of_its_kind(
    fault, kind, cites
) -> None:
    t = Playing().open().betting().do(fault)
    t.do(ev.WagersSettled(DEALER, 1))
    stopped = {name: citation.clause for name, citation in t.last.because()}
    wanted = t.rules.cite(cites).clause
    assert stopped["something is broken: all gaming ceases"].startswith(wanted)
    t.do(ev.FaultCleared(TECHNICIAN, kind))
    assert clause(t).startswith(wanted)


def test_lamps_that_fail_between_rounds_cite_no_clause_on_a_toss() -> None:
    t = Playing().open().do(ev.LampFault(None, "open"))
    assert clause(t).startswith("device: ")
