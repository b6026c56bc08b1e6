"""Wagers that stand after a no roll, in a house's own rules: the same round is tossed again."""

from __future__ import annotations

import pytest

from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.profile_files import EXAMPLES
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.tests.playing import DEALER, FLOOR, PLAN, TECHNICIAN, TILTED, Playing
from shaker_ctl.rules.vocabulary import Ending, Notice, WagersDo
from vision.reading import Verified

SHOWN = (2, 3, 4)
READ = Verified(SHOWN)


def playing(**settings: object) -> Playing:
    house = {"profile": str(EXAMPLES / "house-four-numbers.toml"), "entry_mode": "dealer_confirm"}
    return Playing(**{**house, **settings})


def no_roll(t: Playing) -> Playing:
    return t.awaiting_dealer(TILTED).do(ev.NoRollCalled(DEALER, 1))


def test_after_a_no_roll_the_dealer_shakes_again_and_the_round_is_settled():
    t = no_roll(playing().open())
    said = t.last_of(do.Announce)
    assert (said.notice, said.wagers) == (Notice.NO_ROLL, WagersDo.STAND)
    assert do.RecordRound not in t.commands
    assert (t.phase, t.state.round, t.state.reading) == (Phase.NO_MORE_BETS, 1, None)
    t.do(ev.ActivationRequested(DEALER, 1)).tossed().at_rest().read(READ)
    t.do(ev.ValuesConfirmed(DEALER, 1, SHOWN))
    assert {"four-1-2-3-4", "four-2-3-4-5"} <= {*t.last_of(do.PushLamps).areas}
    t.do(ev.LampsShown(t.state.occasion, SHOWN))
    t.do(ev.WagersSettled(DEALER, 1), ev.LampsOffRequested(DEALER, 1))
    t.do(ev.LampsDark(t.state.occasion))
    record = t.last_of(do.RecordRound)
    assert (record.ending, record.wagers) == (Ending.SETTLED, WagersDo.SETTLED)
    assert record.cause is None


def test_a_lamp_that_the_layout_has_not_is_not_tried():
    t = playing().locked()
    refused = t.tell(ev.LampTrialRequested(TECHNICIAN, ("four-6",))).refused
    assert refused is not None
    assert "no such area" in refused.reason
    t.do(ev.LampTrialRequested(TECHNICIAN, ("four-1-2-3-4",)))
    assert t.last_of(do.ProveEachLamp).areas == ("four-1-2-3-4",)


def test_a_table_that_paces_itself_shakes_again_at_once():
    t = playing(entry_mode="auto", autonomous=True, attended=False).open()
    t.betting().no_more_bets().tossed().at_rest().read(TILTED)
    assert t.last_of(do.Announce).wagers is WagersDo.STAND
    t.tossed().at_rest().read(READ)
    assert t.last_of(do.PushLamps).values == SHOWN


def test_a_no_roll_that_two_persons_agree_on_darkens_the_lamps_before_the_next_toss():
    t = playing().open().lit()
    assert t.tell(ev.CorrectionNamed(DEALER, 1, None)).refused  # a reading proves it
    t = playing().open().awaiting_dealer(TILTED)
    t.do(ev.ValuesEntered(DEALER, 1, (1, 2, 3)))
    t.do(ev.DisputeDecided(FLOOR, 1, (1, 2, 3)), ev.LampsShown(t.state.occasion, (1, 2, 3)))
    t.do(ev.CorrectionNamed(DEALER, 1, None), ev.CorrectionAgreed(FLOOR, 1, None))
    assert do.ClearLamps in t.commands
    assert (t.phase, t.state.correction) == (Phase.NO_MORE_BETS, None)
    t.do(ev.ActivationRequested(DEALER, 1), ev.TossPlanDrawn(t.state.occasion, PLAN, t.now))
    assert do.ProveLampsDark in t.commands


def test_a_no_roll_that_the_floorperson_decides_is_shaken_again():
    t = playing().open().awaiting_dealer(TILTED).do(ev.ValuesEntered(DEALER, 1, SHOWN))
    assert t.tell(ev.DisputeDecided(DEALER, 1, None)).refused
    t.do(ev.DisputeDecided(FLOOR, 1, None))
    assert (t.phase, t.said) == (Phase.NO_MORE_BETS, None)


@pytest.mark.parametrize(
    "broken",
    [ev.ShakerFault(None, "motor-stall"), ev.CompartmentOpened(), ev.EstopPressed()],
    ids=["fault", "lid", "e-stop"],
)
def test_wagers_go_back_where_the_dice_cannot_be_shaken_again(broken):
    t = playing().open().awaiting_dealer(TILTED).do(broken)
    if t.phase is Phase.AWAITING_DEALER:
        t.do(ev.NoRollCalled(DEALER, 1))
    assert t.phase is Phase.WITHOUT_RESULT
    assert t.last_of(do.Announce).wagers is WagersDo.RETURNED
    t.do(ev.WagersSettled(DEALER, 1))
    assert t.last_of(do.RecordRound).wagers is WagersDo.RETURNED
