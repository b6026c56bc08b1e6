"""The exchange with a box that is a list of answers, on a clock that moves only when told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from shaker_ctl.errors import LampReadbackError, LampReplyError, LampTimeoutError
from shaker_ctl.lamp import registers as r
from shaker_ctl.lamp.exchange import LampExchange, LampRefusedError, check_identity
from shaker_ctl.lamp.parameters import LampParameters
from shaker_ctl.rules.layout import sic_bo

LAYOUT = sic_bo("lose")
VALUES = (2, 2, 5)
EXPECTED = LAYOUT.mask(LAYOUT.won(VALUES))
SHOWN = 4711, VALUES
PATIENCE = LampParameters()
REQUEST_S = 0.008


class Box:
    """A lamp box reduced to what the exchange can see of one; `spoil` changes its answers."""

    def __init__(self) -> None:
        self.now = 100.0
        self.left_at = 0.0
        self.openings = 1
        self.requests: list[str] = []
        self.stage: list[int] = []
        self.driven = 0
        self.glow_delay_s = 0.02
        self.switched_at = 0.0
        self.dim = 0
        self.stray = 0
        self.extra = 0
        self.state = 0
        self.round = 0
        self.sequence = 0
        self.phase = 0
        self.flags = int(r.Flag.HEALTHY)
        self.verdict = 0
        self.own_mask: int | None = None
        self.refusal = 0
        self.uptime_off_ms = 0
        self.odds: list[int] = [0] * r.MULTIPLIERS.words
        self.anchor = [0] * r.ANCHOR.words
        self.spoil: Callable[[str, list[int]], list[int]] = lambda request, words: words

    def exchange(self) -> LampExchange:
        """One that has met the box, which counts its requests from here."""
        made = LampExchange(self, PATIENCE, LAYOUT, clock=lambda: self.now, sleep=self.sleep)
        spoil, self.spoil = self.spoil, lambda _, words: words
        made.identify()
        self.spoil = spoil
        self.requests.clear()
        return made

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    # ── Registers ──
    def read(self, address: int, count: int, ends_at: float) -> list[int]:
        self.left_at = self.now
        self.now += REQUEST_S
        request, words = {
            r.STATUS.address: ("status", self.status),
            r.IDENTITY.address: ("identity", self.identity),
            r.ANCHOR.address: ("anchored", lambda: self.anchor),
        }[address]
        self.requests.append(request)
        return self.spoil(request, words())

    def identity(self) -> list[int]:
        return [0x51B0, 0x0102, 1, 0, 7, 52, 15, 20, 1000, 10000, 40, 2, 0, 0, 0, 0]

    def write_read(
        self, address: int, words: list[int], read_address: int, read_count: int, ends_at: float
    ) -> list[int]:
        self.left_at = self.now
        self.now += REQUEST_S
        if address == r.STAGE.address:
            self.requests.append("stage")
            self.stage = words
            own = r.join(words[8:12]) if self.own_mask is None else self.own_mask
            return self.spoil("stage", [*words, self.verdict, *r.split(own, 4)])
        if address == r.MULTIPLIERS.address:
            self.requests.append("multipliers")
            self.odds = words
            return self.spoil("multipliers", list(words))
        if address == r.ANCHOR.address:
            self.requests.append("anchor")
            if self.refusal:
                raise LampRefusedError("exception 3", refusal=3)
            self.anchor = [*words, 0]
            return self.spoil("anchor", self.anchor)
        request = r.CommandCode(words[1]).name.lower()
        self.requests.append(request)
        if self.refusal:
            raise LampRefusedError("exception 3", refusal=3)
        self.obey(request, words)
        return self.spoil(request, self.status())

    def obey(self, request: str, words: list[int]) -> None:
        self.sequence = words[0]
        before = self.driven
        if request in ("commit", "correct"):
            self.state, self.round, self.driven = 1, r.join(words[2:4]), r.join(self.stage[8:12])
        elif request in ("clear", "dark"):
            self.state, self.round, self.driven = 0, 0, 0
        elif request == "phase":
            self.phase = words[4]
        elif request == "test":
            self.state = 2 if words[4] else 0
            self.driven = 1 << words[4] - 1 if words[4] else 0
        if self.driven != before:
            self.switched_at = self.now

    def status(self) -> list[int]:
        is_warm = self.now - self.switched_at >= self.glow_delay_s
        driven = self.driven | (self.extra if self.driven else 0)
        glowing = (driven & ~self.dim if is_warm else 0) | self.stray
        words = [0] * r.STATUS.words
        words[0:4] = [self.state, self.flags | is_warm << 1, self.refusal, 1]
        words[4:6] = r.split(round(self.now * 1000) + self.uptime_off_ms, 2)
        words[6:8] = [self.sequence, self.phase]
        words[10:12] = r.split(self.round, 2)
        words[14:18] = r.split(driven, 4)
        words[18:22] = r.split(glowing, 4)
        return words


@pytest.fixture
def box() -> Box:
    return Box()


# ── The good way ──


def test_lamps_are_not_judged_before_they_are_warm(box):
    box.glow_delay_s = 0.05
    assert box.exchange().show(*SHOWN) == LAYOUT.won(VALUES)
    assert box.requests.count("status") > 1


def test_each_attempt_has_a_sequence_of_its_own(box):
    exchange = box.exchange()
    exchange.show(*SHOWN)
    first = box.stage[0]
    exchange.show(*SHOWN)
    assert box.stage[0] != first


def test_a_dead_bulb_under_test_is_an_answer_and_no_error(box):
    box.dim = EXPECTED
    assert box.exchange().test_area("small") == frozenset()


# ── Corrections and anchors ──

ANCHOR = r.BoxAnchor(b"\x5b" * 8, 4711, 61244, bytes(range(32)))


def test_a_corrected_result_is_proved_like_any_other(box):
    assert box.exchange().correct(*SHOWN) == LAYOUT.won(VALUES)
    assert box.requests == ["stage", "correct", "status"]


def test_an_anchor_is_written_and_read_back_in_one_request(box):
    box.exchange().keep(ANCHOR)
    assert box.requests == ["anchor"]
    assert box.exchange().anchored() == (ANCHOR, 0)


def test_an_anchor_that_reads_back_otherwise_is_found(box):
    box.spoil = lambda request, words: [*words[:9], words[9] ^ 1, *words[10:]]
    with pytest.raises(LampReadbackError, match="anchor of round 4711"):
        box.exchange().keep(ANCHOR)


# ── What is shown wrongly is never lit, or never taken for shown ──


def test_a_box_that_computes_a_lamp_that_no_box_has_is_a_fault_of_the_box(box):
    box.own_mask, box.verdict = EXPECTED | 1 << 52, r.BoxRefusal.MASK_DIFFERS
    with pytest.raises(LampReplyError, match="more than its 52 areas"):
        box.exchange().show(*SHOWN)
    assert "commit" not in box.requests


def test_a_box_that_only_forgets_to_compare_is_not_told_to_commit_either(box):
    box.own_mask = EXPECTED ^ 1
    with pytest.raises(LampReadbackError):
        box.exchange().show(*SHOWN)
    assert "commit" not in box.requests


def test_a_stage_that_reads_back_differently_is_never_committed(box):
    box.spoil = lambda request, words: [*words[:3], 6, *words[4:]] if request == "stage" else words
    with pytest.raises(LampReplyError, match="another stage"):
        box.exchange().show(*SHOWN)
    assert "commit" not in box.requests


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ({"dim": 1}, "dark: small"),
        ({"stray": 1 << 10}, "nobody lit: triple-6"),
        ({"extra": 1 << 10}, "wrong lamps: too many triple-6"),
    ],
)
def test_lamps_that_differ_are_measured_twice_and_then_refused(box, fault, text):
    for name, value in fault.items():
        setattr(box, name, value)
    with pytest.raises(LampReadbackError, match=text):
        box.exchange().show(*SHOWN)
    assert box.requests.count("status") == 2


# ── Damage, deadlines, refusals ──


def lose_first(request: str, times: int = 1) -> Callable[[str, list[int]], list[int]]:
    """Lose the reply to the first requests of that name: they were executed."""
    left = [times]

    def spoil(name: str, words: list[int]) -> list[int]:
        if name == request and left[0]:
            left[0] -= 1
            raise LampTimeoutError("no reply")
        return words

    return spoil


@pytest.mark.parametrize(
    ("lost", "act"),
    [
        *((lost, lambda lamp: lamp.show(*SHOWN)) for lost in ("stage", "commit", "status")),
        ("correct", lambda lamp: lamp.correct(*SHOWN)),
        ("anchor", lambda lamp: lamp.keep(ANCHOR)),
    ],
)
def test_one_lost_reply_is_asked_for_again(box, lost, act):
    box.spoil = lose_first(lost)
    exchange = box.exchange()
    act(exchange)
    assert exchange.repeats == 1
    assert box.requests.count(lost) >= 2


@pytest.mark.parametrize(
    ("refusal", "act", "said"),
    [
        (r.BoxRefusal.COMMITTED, lambda lamp: lamp.correct(*SHOWN), "with another result"),
        (r.BoxRefusal.ANCHORED, lambda lamp: lamp.keep(ANCHOR), "the anchor stands"),
        (r.BoxRefusal.RESULT_LIT, lambda lamp: lamp.clear(1), "clear: a committed result is lit"),
    ],
)
def test_a_refusal_is_said_with_its_reason_and_not_repeated(box, refusal, act, said):
    box.refusal = refusal
    with pytest.raises(LampRefusedError, match=said) as refused:
        act(box.exchange())
    assert refused.value.refusal == refusal
    assert box.requests[-1] == "status"
    assert len(set(box.requests)) == len(box.requests)


def test_a_garbled_reply_is_asked_for_again(box):
    box.spoil = lambda request, words: words[:-1] if box.requests == ["status"] else words
    assert box.exchange().status().state is r.BoxState.DARK


def test_silence_ends_at_the_total_deadline_whatever_the_number_of_attempts(box):
    box.spoil = lose_first("stage", times=10**6)
    exchange, began = box.exchange(), box.now
    with pytest.raises(LampTimeoutError, match="did not show round 4711 in time: no reply"):
        exchange.show(*SHOWN)
    assert box.now - began <= PATIENCE.show_deadline_s + REQUEST_S
    assert len(box.requests) > 5


def test_lamps_that_never_warm_up_are_a_timeout(box):
    box.glow_delay_s = 10.0
    with pytest.raises(LampTimeoutError, match="did not finish measuring"):
        box.exchange().show(*SHOWN)


def test_a_stage_that_a_restart_wiped_is_staged_again(box):
    box.refusal = r.BoxRefusal.NOTHING_STAGED

    def mend_after_the_second_stage(request: str, words: list[int]) -> list[int]:
        if box.requests.count("stage") == 2:
            box.refusal = 0
        return words

    box.spoil = mend_after_the_second_stage
    assert box.exchange().show(*SHOWN) == LAYOUT.won(VALUES)


def test_the_reply_to_an_earlier_command_is_not_taken_for_this_ones(box):
    def late(request: str, words: list[int]) -> list[int]:
        return [*words[:6], words[6] - 1, *words[7:]] if request == "phase" else words

    box.spoil = late
    with pytest.raises(LampReplyError, match="status after command"):
        box.exchange().show_phase(3, 1)


def test_a_status_from_earlier_is_not_taken_for_one_of_now(box):
    exchange = box.exchange()
    exchange.status()
    old = box.status()
    box.now += 5.0
    box.spoil = lambda request, words: old if box.requests.count("status") < 3 else words
    assert exchange.status().uptime_ms > r.decode_status(old, LAYOUT).uptime_ms


def test_a_box_that_only_repeats_its_status_is_refused(box):
    exchange = box.exchange()
    old = box.status()
    box.spoil = lambda request, words: old if request == "status" else words
    exchange.status()
    for _ in range(10):
        box.now += 0.4
        with pytest.raises(LampReplyError, match="not fresh"):
            exchange.status()


def test_a_program_that_slept_over_a_reply_still_believes_it(box):
    exchange = box.exchange()
    exchange.status()

    def oversleep(request: str, words: list[int]) -> list[int]:
        box.now += 0.15
        return words

    box.spoil = oversleep
    exchange.status()
    box.spoil = lambda request, words: words
    exchange.status()
    assert box.requests == ["status"] * 3


def test_a_reply_that_is_a_tenth_of_a_second_old_is_found(box):
    exchange = box.exchange()
    exchange.status()
    old = box.status()
    box.now += 0.1
    box.spoil = lambda request, words: old if box.requests.count("status") == 2 else words
    exchange.status()
    assert box.requests.count("status") > 2


def test_a_box_that_restarted_is_fresh(box):
    exchange = box.exchange()
    exchange.status()
    box.spoil = lambda request, words: [*words[:3], 2, 0, 500, *words[6:]]
    assert exchange.status().restarts == 2


# ── Identity ──

GOOD = r.decode_identity([0x51B0, 0x0102, 1, 0, 7, 52, 15, 20, 1000, 10000, 40, 2, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"areas_fitted": 50}, "50 areas, the profile 52"),
        ({"map_version": (1, 0)}, "register map 1.0"),
        ({"capabilities": r.Capability.SHOWS_PHASE}, "MEASURES_BULBS|RETAINS_ROUND"),
    ],
)
def test_a_box_that_cannot_serve_this_table_is_refused(change, text):
    with pytest.raises(LampReplyError) as refusal:
        check_identity(replace(GOOD, **change), LAYOUT)
    assert text in str(refusal.value)
    assert refusal.value.remedy
