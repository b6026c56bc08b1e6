"""Messages cross as they were sent, and nothing else crosses."""

from __future__ import annotations

import json
import math
import pickle
import random
from dataclasses import replace
from multiprocessing import Pipe

import pytest

from shaker_ctl.plain_form import PlainFormError
from shaker_ctl.reading.controls import Controls
from shaker_ctl.reading.messages import (
    BeginToss,
    CameraFault,
    DiePose,
    Picture,
    ReadDice,
    ReadingDone,
    SettleDice,
)
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.reading.wire import MAX_B, decoded, encoded, receive, send
from shaker_ctl.rules.vocabulary import play
from vision.reading import Kind, NoRoll, Reason, Unreadable, Verdict, Verified

SETUP = replace(
    CameraParameters().setup(),
    calibration={"image_size": [640, 480], "k1": 0.0},
    controls=Controls(exposure_ms=5.0, colour_gains=(1.5, 2.0)),
)


def done(verdict: Verdict) -> ReadingDone:
    frames = ((1.25, 34.5), (1.5, 8))
    return ReadingDone(
        play(3), verdict, 1.0, None, 2.0, 2.5, b"\xff\xd8\x00jpeg", b"", frames, frames_looked_at=9
    )


TOSS = {"type": "Occasion", "purpose": "play", "number": 3}

MESSAGES = [
    SETUP,
    BeginToss(play(1), (DiePose(1.0, 2.0, 45.0, None), DiePose(3.0, 4.0, 5.0, 6))),
    BeginToss(play(2)),
    SettleDice(play(3)),
    ReadDice(play(3)),
    CameraFault("black", "the picture is black \u2028 \x00"),
    Picture(4, bytes(range(256)) * 400),
    done(Verified((1, 2, 3), 0.9)),
    done(NoRoll(1, Kind.TILTED, 12.5)),
    done(Unreadable(Reason.COUNT, "four dice")),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_arrives_as_it_was_sent(message: object) -> None:
    assert decoded(encoded(message)) == message


def test_a_pickle_is_no_message() -> None:
    with pytest.raises(PlainFormError):
        decoded(pickle.dumps(SettleDice(play(3))))


@pytest.mark.parametrize(
    "plain",
    [
        7,
        [],
        {},
        {"type": "Path"},
        {"type": []},
        {"type": {}},
        {"type": "LightDipped", "occasion": TOSS, "t_set": 10**400},
        {"type": "SettleDice"},
        {"type": "SettleDice", "occasion": TOSS | {"number": "3"}},
        {"type": "SettleDice", "occasion": TOSS | {"number": True}},
        {"type": "SettleDice", "occasion": TOSS, "more": 1},
        {"type": "Picture", "request_id": 1, "jpeg": "\u00e4"},
        {"type": "BeginToss", "occasion": TOSS, "before": [TOSS]},
    ],
)
def test_what_does_not_fit_is_refused(plain: object) -> None:
    with pytest.raises(PlainFormError):
        decoded(json.dumps(plain).encode())


@pytest.mark.parametrize(
    ("verdict", "instead"),
    [
        (Verified((1, 2, 3), 0.9), {"values": [9, 9, 9]}),
        (Verified((1, 2, 3), 0.9), {"values": [1, 2]}),
        (Verified((1, 2, 3), 0.9), {"confidence": math.nan}),
        (NoRoll(1, Kind.TILTED, 12.5), {"angle_deg": math.inf}),
    ],
)
def test_a_verdict_that_no_toss_can_have_is_refused(verdict: Verdict, instead: object) -> None:
    plain = json.loads(encoded(done(verdict)))
    plain["verdict"] |= instead
    with pytest.raises(PlainFormError, match="ReadingDone"):
        decoded(json.dumps(plain).encode())


def test_half_a_character_is_refused() -> None:
    message = encoded(CameraFault("torn", "a picture", "")).replace(b"a picture", b"\\ud800")
    with pytest.raises(PlainFormError):
        decoded(message)


def test_whatever_is_flipped_or_cut_is_a_message_or_refused() -> None:
    chance = random.Random(4)
    whole = encoded(done(Verified((1, 2, 3), 0.9)))
    for _ in range(3000):
        at = chance.randrange(len(whole))
        content = bytearray(whole)
        content[at] ^= 1 << chance.randrange(8)
        for data in (bytes(content), whole[:at]):
            try:
                assert isinstance(decoded(data), ReadingDone)
            except PlainFormError:
                continue
    with pytest.raises(PlainFormError):
        decoded(b"[" * 100_000)


def test_a_message_that_is_too_long_ends_the_link() -> None:
    ours, theirs = Pipe()
    try:
        send(theirs, SettleDice(play(3)))
        assert receive(ours) == SettleDice(play(3))
        theirs._send((MAX_B + 1).to_bytes(4, "big"))  # type: ignore[attr-defined]
        with pytest.raises(OSError, match="bad message length"):
            receive(ours)
    finally:
        ours.close()
        theirs.close()
