"""How a round comes to its values, ends, is recorded, and is followed by the next."""

from __future__ import annotations

from typing import Any

from hil_tests.proofs.properties.case import IN_CHARGE, SPEAKING_ROLES, Case, proves
from hil_tests.proofs.watch import is_one
from shaker_ctl.rules import commands as do
from shaker_ctl.rules import events as ev
from shaker_ctl.rules.state import Lamps, Phase, TableState
from shaker_ctl.rules.vocabulary import Cause, Ending, FaultKind, Notice, Role, Source, WagersDo
from vision.reading import NoRoll, Verified

P = Phase


UNSETTLED = (P.COLLECTING, P.PAYING, P.SETTLING_BY_HAND, P.WITHOUT_RESULT)


def _is_first_word(case: Case) -> bool:
    """Nothing stands or was typed before the reader's word on this round."""
    return case.before.playing and not case.before.by_eye and case.before.typed is None


@proves(
    "what is read after it was typed confirms it, or is a dispute; after the result it is told",
    granted=(ev.ReadingMade,),
)
def _read_late(case: Case) -> bool | None:
    if not case.before.playing or _is_first_word(case):
        return None
    verdict = case.event.verdict
    read = tuple(sorted(verdict.values)) if isinstance(verdict, Verified) else ()
    if case.before.by_eye:
        same = read == tuple(sorted(case.before.stands or ()))
        told = case.tells(Notice.LATE_SAME if same else Notice.LATE_OTHER)
        first = not case.before.late and case.phase in (*UNSETTLED, P.PUSHING, P.AWAITING_PRESENCE)
        return told and first and case.to is case.phase and case.next.values == case.state.values
    if read == case.before.typed:
        lit = P.AWAITING_PRESENCE if case.before.lamp_failed else P.PUSHING
        return case.to is lit and case.next.source is Source.CONFIRMED
    return case.to is P.DISPUTED and case.tells(Notice.DISPUTE) and not case.orders(do.PushLamps)


@proves("a round by eye is told to the floorperson", accepted=True)
def _by_eye_told(case: Case) -> bool | None:
    now = case.after.by_eye and not case.before.by_eye
    return case.tells(Notice.BY_EYE) if now else None


@proves("a round by eye is marked, and what was read late", commands=(do.RecordRound,))
def _by_eye_marked(case: Case) -> bool | None:
    record = case.first(do.RecordRound)
    return (record.by_eye, record.late is not None) == (case.before.by_eye, case.before.late)


@proves("where nothing was read, a reader that may look looks on", accepted=True)
def _looks_on(case: Case) -> bool | None:
    w = case.after
    blind = w.cover or w.manual or w.camera_off or FaultKind.READER in w.faults
    if case.orders(do.KeepLooking):
        return case.to is P.AWAITING_DEALER and w.verdict == "unreadable" and not blind
    unread = w.verdict == "unreadable" and case.before.verdict != "unreadable"
    if case.to is not P.AWAITING_DEALER or case.on(ev.Restarted) or not unread:
        return None
    return blind


@proves(
    "nothing looks on under a cover, in an open compartment, or at settled wagers", accepted=True
)
def _looks_no_more(case: Case) -> bool | None:
    if not case.before.looking:
        return None
    opened = case.on(ev.CompartmentOpened, ev.CoverClosed)
    over = case.to in (P.SETTLED_LIT, P.CLEARING) or not case.after.playing
    return not case.after.looking if opened or over else None


@proves(
    "not flat is no roll: called by the table where it enters, else by the dealer",
    granted=(ev.ReadingMade,),
)
def _no_roll(case: Case) -> bool | None:
    if not _is_first_word(case) or not isinstance(case.event.verdict, NoRoll):
        return None
    if case.expected.auto:
        return case.ends(Ending.NO_ROLL, Cause.NOT_FLAT)
    if case.before.interrupted and case.before.present is None:
        return case.to is P.INTERRUPTED and case.tells(Notice.READ_IN_PRESENCE)
    confirms = case.rules.entry.value == "dealer_confirm"
    told = case.tells(Notice.NOT_FLAT if confirms else Notice.ENTER)
    return told and case.to is P.AWAITING_DEALER


def to_enter(case: Case) -> Notice:
    """What a dealer hears who has to enter with no reading beside it."""
    return Notice.BY_HAND if case.before.manual else Notice.ENTER


@proves("unreadable is not void where a dealer can read", accepted=True)
def _unreadable(case: Case) -> bool | None:
    if not case.before.playing or case.after.verdict != "unreadable" or case.before.verdict:
        return None
    if case.expected.attended and case.before.interrupted and case.phase is not P.INTERRUPTED:
        return case.to is P.INTERRUPTED and case.tells(Notice.READ_IN_PRESENCE)
    if case.expected.attended:
        return case.to is P.AWAITING_DEALER and case.tells(to_enter(case))
    return case.ends(Ending.VOID, Cause.READER)


@proves(
    "a verified value goes to the lamps where the table enters, else to the dealer",
    granted=(ev.ReadingMade,),
)
def _verified(case: Case) -> bool | None:
    if not _is_first_word(case) or not isinstance(case.event.verdict, Verified):
        return None
    if not case.expected.auto:
        confirms = case.rules.entry.value == "dealer_confirm"
        asked = case.tells(Notice.CONFIRM if confirms else Notice.ENTER)
        return asked and case.to is P.AWAITING_DEALER
    if case.before.lamp_failed:
        return case.to is P.AWAITING_PRESENCE
    return case.to is P.PUSHING and case.next.source is Source.VERIFIED


DEALERS = (ev.ValuesEntered, ev.ValuesConfirmed, ev.NoRollCalled)


@proves("dealer and reader agree, or the floorperson decides", events=DEALERS)
def _dealer_and_reader(case: Case) -> bool | None:
    if case.phase not in (P.AWAITING_DEALER, P.DISPUTED) or not case.is_current:
        return None
    present, who = case.before.present, case.event.person
    is_present = present is not None and is_one(who.name, present.name)
    asked_for = present is not None or case.before.interrupted
    if asked_for and (who.role is not Role.DEALER or is_present):
        return case.refused  # interrupted: the dealer reads, and not who is present
    if who.role not in SPEAKING_ROLES:
        return case.refused
    enterer = case.before.enterer
    if enterer is not None and (
        not is_one(enterer.name, case.event.person.name) or case.on(ev.ValuesConfirmed)
    ):
        return case.refused
    read = case.before.read
    if case.on(ev.ValuesConfirmed):
        asked = case.rules.entry.value == "dealer_confirm" and case.before.verdict == "verified"
        may = asked and tuple(sorted(case.event.values)) == read
        return case.accepted == may and (not may or case.next.source is Source.CONFIRMED)
    if case.on(ev.NoRollCalled):
        if case.before.verdict == "verified":
            return case.to is P.DISPUTED
        return case.ending is Ending.NO_ROLL
    values = tuple(sorted(case.event.values))
    if case.before.verdict == "unreadable" and case.before.typed != values:
        return case.to is P.AWAITING_DEALER and case.tells(Notice.ENTER_AGAIN)
    if case.before.verdict == "unreadable" or values == read:
        lit = P.AWAITING_PRESENCE if case.before.lamp_failed else P.PUSHING
        alone = case.before.verdict == "unreadable"
        source = Source.ENTERED if alone else Source.CONFIRMED
        return case.to is lit and case.next.source is source
    return case.to is P.DISPUTED and _said(case.next) == case.event.values


def _said(state: TableState) -> Any:
    return state.stated and state.stated.said


def needs_presence(case: Case) -> bool:
    """True where only who is to be present after an interruption decides for these values."""
    values = tuple(sorted(case.event.values or ()))
    agrees = bool(values) and values == case.before.read
    enterer = case.before.enterer
    roles = {case.event.person.role, *({enterer.role} if enterer else ())}
    return case.before.interrupted and not agrees and not roles & case.expected.presence


@proves("only the floorperson or above decides a dispute", events=(ev.DisputeDecided,))
def _dispute(case: Case) -> bool | None:
    if case.phase is not P.DISPUTED or not case.is_current:
        return case.refused
    if case.event.person.role not in IN_CHARGE:
        return case.refused
    if case.refused:
        return None  # what must be granted, and to whom, is people's
    if case.event.values is None:
        # Two results were named where nobody named a no roll.
        neither = len(case.before.named) == 2
        ended = (Ending.VOID, Cause.UNDECIDED) if neither else (Ending.NO_ROLL, Cause.NOT_FLAT)
        return case.ends(*ended)
    stands = case.to in (P.PUSHING, P.AWAITING_PRESENCE)
    return stands and case.next.values == case.event.values and case.next.source is Source.DECIDED


@proves(
    "a wrong entry has a way back until wagers are settled, by two persons, once a round",
    events=(ev.CorrectionNamed, ev.CorrectionAgreed),
)
def _corrected(case: Case) -> bool | None:
    w, who = case.before, case.event.person
    if case.event.values == ():
        return case.refused
    values = tuple(sorted(case.event.values or ()))
    if not case.is_current or case.phase not in UNSETTLED:
        return case.refused
    if case.on(ev.CorrectionNamed):
        stands = tuple(sorted(w.stands or ()))
        alone = w.by_person and w.first is None and not w.doubt
        may = who.role is Role.DEALER and alone and values != stands
        return case.accepted == may and (not may or case.tells(Notice.CORRECTION))
    second = who.role in IN_CHARGE and who.name.strip().lower() != Role.DEALER.value
    if not (second and w.offered is not None and values == w.offered):
        return case.refused
    made = case.next.correction
    if case.again:
        return case.tells(Notice.CORRECTED) and not values
    if not case.tells(Notice.CORRECTED) or made is None:
        return False
    if (made.first, made.agreed_by) != (w.stands, who) or made.named_by.role is not Role.DEALER:
        return False
    if not values:
        return case.accepted and case.ends(Ending.NO_ROLL, Cause.NOT_FLAT)
    return case.to is (P.AWAITING_PRESENCE if w.lamp_failed else P.PUSHING)


@proves("once wagers are settled, nobody waits for a second person or a presence", accepted=True)
def _nothing_open(case: Case) -> bool | None:
    y = case.next
    settled = y.phase in (P.SETTLED_LIT, P.CLEARING) and case.before.playing
    return not (y.stated or y.denied_by or y.witness) if settled else None


@proves("the record of a corrected round names the first result", commands=(do.RecordRound,))
def _first_kept(case: Case) -> bool | None:
    correction = case.first(do.RecordRound).correction
    if case.before.first is None:
        return correction is None
    return correction is not None and bool(correction.first) == bool(case.before.first)


def _wagers(case: Case, ending: Ending) -> WagersDo:
    if ending in (Ending.SETTLED, Ending.SETTLED_BY_HAND):
        return WagersDo.SETTLED
    if ending is Ending.NOT_STARTED:
        return WagersDo.RETURNED
    if case.again:
        return WagersDo.STAND
    return case.expected.wagers_without_result


@proves("wagers are returned exactly where the profile says so", commands=(do.RecordRound,))
def _wagers_recorded(case: Case) -> bool | None:
    record = case.first(do.RecordRound)
    return record.wagers is _wagers(case, record.ending)


@proves("the fate of the wagers is told when a round ends without a result", accepted=True)
def _wagers_told(case: Case) -> bool | None:
    ending = case.ending
    if ending is None:
        return None
    notice = {
        Ending.NO_ROLL: Notice.NO_ROLL,
        Ending.VOID: Notice.VOID,
        Ending.NOT_STARTED: Notice.NOT_STARTED,
    }[ending]
    told = [
        each for each in case.commands if isinstance(each, do.Announce) and each.notice is notice
    ]
    return len(told) == 1 and told[0].wagers is _wagers(case, ending) and bool(told[0].clause)


@proves(
    "after a no roll a house's wagers stand exactly where the dice can be shaken", accepted=True
)
def _stand(case: Case) -> bool | None:
    if case.ending is not Ending.NO_ROLL:
        return None
    w, may = case.before, case.expected.stands_after_no_roll
    denied = not w.manual and (w.compartment or w.estop)
    may = may and w.valid and not (case.broken or denied)
    y = case.next
    left = (y.plan, y.reading, y.stated, y.values, y.source, y.ending, y.cause, y.by_eye)
    return case.again == may and not (may and (any(left) or case.orders(do.RecordRound)))


@proves("the record says how a toss was shaken and seen", commands=(do.RecordRound,))
def _camera_off(case: Case) -> bool | None:
    record = case.first(do.RecordRound)
    told = (record.camera_off, record.manual_shaker)
    return told == (case.before.camera_off, case.before.manual)


@proves("every round is recorded once, with the values that stood", accepted=True)
def _recorded(case: Case) -> bool | None:
    records = [each for each in case.commands if isinstance(each, do.RecordRound)]
    opens = case.tells(Notice.BETS_OPEN)
    if not records and not opens:
        return None
    if opens:
        return not case.before.playing and case.next.round == case.state.round + 1
    record = records[0]
    settled = record.ending in (Ending.SETTLED, Ending.SETTLED_BY_HAND)
    values = sorted(record.values or ()) == (sorted(case.before.stands or ()) if settled else [])
    named = case.before.by_person and record.ending is Ending.NO_ROLL
    source = (record.source is not None) == (settled or named)
    paid = case.before.paid or record.ending is not Ending.SETTLED
    return (
        len(records) == 1
        and case.before.playing
        and record.round == case.state.round
        and values
        and source
        and paid
    )


@proves("a round leaves nothing behind for the next", commands=(do.RecordRound,))
def _forgotten(case: Case) -> bool | None:
    y = case.next
    left = (y.plan, y.reading, y.stated, y.values, y.source, y.ending, y.cause)
    clean = (
        not any((*left, y.correction, y.reveal_overdue, y.witness))
        and not (y.interrupted or y.denied_by)
        and not y.multipliers
        and not y.multipliers_shown
        and not y.retried
    )
    return clean and y.after.value == "next_round"


@proves(
    "closing is granted after the round, unless an inspection or a repair is due",
    commands=(do.RecordRound,),
)
def _closing(case: Case) -> bool | None:
    if not case.before.valid or case.before.faults or case.next.faults:
        return None
    open_phases = (P.PACING, P.READY, P.ADMITTING)
    return case.to is P.CLOSED if case.state.after.value == "close" else case.to in open_phases


@proves(
    "pace: bets, settling and payout follow each other, and the next round comes",
    granted=(ev.TimerExpired, ev.LampsShown, ev.LampsDark, ev.WagersSettled),
)
def _pace(case: Case) -> bool | None:
    to = case.to
    match case.phase, case.event:
        case ((P.BETTING | P.COVERED), ev.TimerExpired()):
            return case.tells(Notice.NO_MORE_BETS)
        case P.COLLECTING, ev.TimerExpired():
            return to is P.PAYING
        case P.PAYING, ev.TimerExpired():
            return to is P.CLEARING
        case P.PACING, ev.TimerExpired():
            return to in (P.READY, P.ADMITTING)
        case P.NO_MORE_BETS, ev.TimerExpired():
            return to in (P.COVERING, P.PLANNING)
        case P.PUSHING, ev.LampsShown():
            return to is P.COLLECTING
        case P.COLLECTING, ev.WagersSettled():
            return to is P.SETTLED_LIT
        case ((P.SETTLING_BY_HAND | P.WITHOUT_RESULT), (ev.WagersSettled() | ev.TimerExpired())):
            return case.orders(do.RecordRound)
        case P.CLEARING, ev.LampsDark():
            return case.first(do.RecordRound).ending is Ending.SETTLED
        case P.LAMP_ENTRY, ev.LampsShown():
            return to is P.LAMP_ENTRY_LIT
        case P.LAMP_ENTRY_LIT, ev.TimerExpired():
            return to is P.LAMP_ENTRY_TO_BE_SEEN
        case P.LAMP_ENTRY_CLEARING, ev.LampsDark():
            return to is P.LAMP_VALUES_AWAITED
    return None


@proves("a table that paces itself goes on unless something stands in the way", accepted=True)
def _goes_on(case: Case) -> bool | None:
    if not case.rules.autonomous or case.to is not P.READY:
        return None
    y = case.next
    wrong_cover = case.rules.cover_must_be_absent and case.after.cover
    denied = case.after.compartment or case.after.estop or wrong_cover
    unanswered = case.after.lamps is not Lamps.DARK  # they were told to be: dark, or their fault
    return bool(y.barred or denied or y.shift_due or unanswered)
