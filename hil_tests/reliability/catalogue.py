"""The table of faults: what is done, when, and what must become of it. Written before it is run.

Owns the rows, and nothing that carries them out. The first moment of a row is its worst one: `make
faults` plays that; with `SHARD` it plays them all. A moment that is missing is one at which the
fault cannot show (a motor that fails while it is off) or which is another row's.

The requirements come from `shaker_ctl/rules` as read: before EN-on the round does not start; a
fault of the shaker in the toss voids it; once settled the result stands; lamps that fail do not
void but are settled by hand. Times are the product's own promises (motor watch, lamp exchange, GPIO
keeper), with a margin for a rig and a controller that share a computer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hil_tests.reliability.acts import (
    Act,
    Clock,
    Hands,
    Hang,
    Medium,
    Memory,
    OtherClient,
    Process,
    Rig,
    Start,
    Then,
    Typed,
)
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.required import (
    Ending,
    Lamps,
    Life,
    Motor,
    Required,
    RequiredSource,
    Wagers,
)

BETS, TOSS, REST, PUSH, LIT = Moment

Outcomes = tuple[Required, ...]


PROFILE = "pa-625a"
"""Uncovered; a cover is allowed and none is fitted."""

COVERED = "md"
"""A driven cover, and its contact in the interlock; bets close before the reveal."""

BARE = "pa-539"
"""A cover is forbidden: its contact must say that none is there."""


@dataclass(frozen=True, slots=True)
class CatalogueFault:
    """One row."""

    name: str
    act: Act
    required: Mapping[Moment, Outcomes]
    """Its moments, the worst first; with several outcomes each is right."""
    dwell_s: float = 1.2
    """How long people leave the table alone at `BETS` and `LIT` after the fault."""
    hold_s: float = 0.0
    """How long the fault is left after the round is over, for what shows only then."""
    profile: str = PROFILE
    """The table that it is played at."""
    restarts: bool = False
    """The service must be started again by a person before the round can end."""

    @property
    def worst(self) -> Moment:
        return next(iter(self.required))


# ── Outcomes ────────────────────────────────────────────────────────────────

OFF_S = 0.15
"""Longest drive of a motor whose controller is gone."""

DENIED_S = 0.05
"""Longest drive against a contact that denies it: 2 ms, where the computer is not late."""

STANDS = Required(
    Ending.SETTLED,
    Wagers.SETTLED,
    Life.OPEN,
    motor=Motor.FINISHED,
    lamps=(Lamps.TRUTH,),
    source=(RequiredSource.VERIFIED, RequiredSource.ENTERED),
)
"""Nothing happens to the round. A reading may be refused by chance: the dealer then enters it."""

NOT_STARTED = Required(
    Ending.NOT_STARTED,
    Wagers.RETURNED,
    Life.OUT_OF_SERVICE,
    motor=Motor.NEVER,
    lamps=(Lamps.DARK,),
)
VOID = Required(
    Ending.VOID,
    Wagers.RETURNED,
    Life.OUT_OF_SERVICE,
    lamps=(Lamps.DARK,),
)
BY_HAND = Required(
    Ending.BY_HAND,
    Wagers.SETTLED,
    Life.OUT_OF_SERVICE,
    motor=Motor.FINISHED,
    lamps=(Lamps.DARK,),
)


def stands(life: Life = Life.OPEN, *codes: str, seen: str = "", within_s: float = 2.0) -> Outcomes:
    """The result stands; the table then stops, where a fault or a due inspection says so."""
    return (
        replace(
            STANDS,
            life=life,
            codes=codes,
            seen_as=(seen,) if seen else (),
            within_s=within_s if seen else None,
        ),
    )


def finishes(kind: str, *codes: str, within_s: float) -> Outcomes:
    """The round is finished, then the table stops: `kind` is the event that says so."""
    return (
        replace(
            STANDS,
            life=Life.OUT_OF_SERVICE,
            codes=codes,
            seen_as=tuple(f"{kind}:{code}" for code in codes),
            within_s=within_s,
        ),
    )


def shaker(*codes: str, within_s: float, from_en: bool = False) -> Outcomes:
    """The shaker fails in the toss: EN low as soon as it is seen, void."""
    return (
        replace(
            VOID,
            motor=Motor.STOPPED,
            motor_within_s=within_s + 0.05,
            codes=codes,
            seen_as=tuple(f"ShakerFault:{code}" for code in codes),
            within_s=within_s,
            from_en=from_en,
        ),
    )


def not_started(kind: str, *codes: str, within_s: float, life: Life | None = None) -> Outcomes:
    """Found before the toss."""
    return (
        replace(
            NOT_STARTED,
            life=life or NOT_STARTED.life,
            codes=codes,
            seen_as=tuple(f"{kind}:{code}" for code in codes) or (kind,),
            within_s=within_s,
        ),
    )


def denied(kind: str, within_s: float, life: Life) -> Outcomes:
    """A contact that denies motion, in the toss: EN low, void, no fault of a device."""
    return (
        replace(
            VOID,
            motor=Motor.STOPPED,
            motor_within_s=within_s,
            life=life,
            seen_as=(kind,),
            within_s=within_s,
        ),
    )


def by_hand(*codes: str, within_s: float, lamps: tuple[Lamps, ...] = (Lamps.DARK,)) -> Outcomes:
    """The lamps fail: the result stands and is settled by hand, then all gaming ceases."""
    return (
        replace(
            BY_HAND,
            codes=codes,
            lamps=lamps,
            seen_as=tuple(f"LampFault:{code}" for code in codes),
            within_s=within_s,
        ),
    )


def wrong_lamps() -> Outcomes:
    """The box lights otherwise than it was told: dark and phase `fault` within a fifth of a second,
    before the watch on lit lamps, which looks every 0.2 s, could notice."""
    return (
        replace(
            by_hand("lamp-readback", within_s=30.0)[0],
            lamps=(Lamps.WRONG_THEN_DARK,),
            dark_within_s=0.2,
            within_s=None,
        ),
    )


def refused(within_s: float = 5.5) -> Outcomes:
    """The reader refuses; the dealer enters what lies there."""
    return (
        replace(
            STANDS,
            source=(RequiredSource.ENTERED,),
            seen_as=("ReadingMade:Unreadable",),
            within_s=within_s,
        ),
    )


def interrupted(ending: Ending, motor: Motor | None = None, **more: object) -> Outcomes:
    """The service was stopped; what the journal says is brought to its end, then inspected."""
    settled = ending is Ending.SETTLED
    return (
        replace(
            STANDS if settled else VOID,
            ending=ending,
            life=Life.INSPECTION_DUE,
            motor=motor,
            seen_as=("Restarted",),
            **more,  # type: ignore[arg-type]  # fields of Required
        ),
    )


def killed(ending: Ending, motor: Motor | None = None, **more: object) -> Outcomes:
    """The service was killed: as interrupted, and it comes back in the fault that says so."""
    required = interrupted(ending, motor, **more)[0]
    return (replace(required, life=Life.OUT_OF_SERVICE, codes=("controller-died",)),)


def unwritten(ending: Ending, motor: Motor | None = None, **more: object) -> Outcomes:
    """Nothing can be recorded any more; a person mends that and starts the service again."""
    return interrupted(ending, motor, codes=("journal-write",), **more)


UNAFFECTED = stands()
REFUSED = refused(7.0)
"""From within the toss: the reader has 3.0 s to see rest and 1.5 s to read."""

UNMOVED = replace(
    VOID,
    motor=Motor.FINISHED,
    codes=("dice-unmoved",),
    seen_as=("TossDisproved",),
    within_s=5.0,
    from_en=True,
)
"""The cam turns as planned, and the dice lie as they lay."""

# ── Motor, tach, supply ─────────────────────────────────────────────────────

MOTOR = (
    CatalogueFault(
        "motor-jam",
        Rig("jam"),
        {
            TOSS: shaker("tach-silent", "motor-stall", "motor-driver", within_s=0.25),
            BETS: shaker("tach-silent", "motor-driver", within_s=0.32, from_en=True),
        },
    ),
    CatalogueFault(
        "motor-slow-start",
        Rig("slow_start factor=0.12"),
        {
            # The driver's own protection is first: its current stays at the limit for too long.
            BETS: shaker("motor-driver", within_s=0.55, from_en=True),
            REST: UNAFFECTED,
        },
    ),
    CatalogueFault(
        "motor-overspeed",
        Rig("overspeed"),
        {
            TOSS: shaker("motor-overspeed", within_s=0.60),
            BETS: shaker("motor-overspeed", within_s=1.00, from_en=True),
        },
    ),
    CatalogueFault(
        "motor-driver-stuck-on",
        Rig("no_stop"),
        {
            TOSS: (
                replace(
                    VOID,
                    motor=Motor.FINISHED,
                    codes=("motor-no-stop",),
                    seen_as=("ShakerFault:motor-no-stop",),
                    within_s=2.6,  # 1.25 s of the toss are left, then 1.0 s of the watch
                ),
            ),
        },
    ),
    # Friction stops the cam well inside the second that the watch allows.
    CatalogueFault("motor-brake-lost", Rig("no_brake"), {TOSS: UNAFFECTED, BETS: UNAFFECTED}),
    CatalogueFault(
        "motor-driver-fault",
        Rig("driver_fault"),
        {
            TOSS: shaker("motor-driver", within_s=0.12),
            BETS: not_started("ShakerFault", "motor-driver", within_s=0.4),
            # Settled only when the tach has been silent for 0.12 s: until then it is the toss.
            REST: (
                *finishes("ShakerFault", "motor-driver", within_s=0.4),
                replace(
                    VOID,
                    motor=Motor.FINISHED,
                    codes=("motor-driver",),
                    seen_as=("ShakerFault:motor-driver",),
                    within_s=0.4,
                ),
            ),
            PUSH: finishes("ShakerFault", "motor-driver", within_s=0.4),
            LIT: finishes("ShakerFault", "motor-driver", within_s=0.4),
        },
    ),
    CatalogueFault(
        "motor-driver-dead",
        Rig("driver_dead"),
        {
            TOSS: shaker("motor-stall", "tach-silent", within_s=0.45),
            BETS: shaker("tach-silent", within_s=0.32, from_en=True),
        },
    ),
    CatalogueFault(
        "motor-supply-sag",
        Rig("supply_low volts=14"),
        {
            TOSS: shaker("motor-stall", within_s=0.60),
            BETS: shaker("motor-slow-start", within_s=0.70, from_en=True),
        },
    ),
    CatalogueFault(
        "motor-supply-lost",
        Rig("supply_low volts=6"),
        {
            TOSS: shaker("motor-driver", within_s=0.12),
            BETS: not_started("ShakerFault", "motor-driver", within_s=0.4),
        },
    ),
    CatalogueFault(
        "tach-silent",
        Rig("tach_silent"),
        {
            TOSS: shaker("tach-silent", within_s=0.25),
            BETS: shaker("tach-silent", within_s=0.32, from_en=True),
        },
    ),
    CatalogueFault(
        "tach-noise-shorter-than-the-filter",
        Rig("tach_noise rate_hz=400"),
        {TOSS: UNAFFECTED, BETS: UNAFFECTED, LIT: UNAFFECTED},
    ),
    CatalogueFault(
        "tach-noise",
        Rig("tach_noise rate_hz=400 width_us=300"),
        {
            TOSS: shaker("tach-unreliable", "motor-overspeed", within_s=0.50),
            BETS: not_started("ShakerFault", "motor-no-stop", within_s=1.5),
            PUSH: finishes("ShakerFault", "motor-no-stop", within_s=1.5),
            LIT: finishes("ShakerFault", "motor-no-stop", within_s=1.5),
        },
        dwell_s=1.8,
    ),
    CatalogueFault(
        "tach-pulses-missing",
        Rig("tach_missing fraction=0.3"),
        {
            TOSS: shaker("tach-unreliable", "motor-stall", within_s=0.50),
            BETS: shaker("tach-unreliable", "motor-slow-start", within_s=0.70, from_en=True),
        },
    ),
    CatalogueFault(
        "tach-doubled",
        Rig("tach_doubled"),
        {
            BETS: shaker(
                "motor-overspeed",
                "tach-unreliable",
                "motor-slow-start",
                "motor-stall",
                within_s=1.0,
                from_en=True,
            ),
            TOSS: shaker("motor-overspeed", "tach-unreliable", within_s=0.30),
        },
    ),
    # The values are those that the dice show, whatever lies in the compartment.
    CatalogueFault("die-exchanged-for-a-misspotted-one", Rig("die_misspotted"), {BETS: UNAFFECTED}),
    CatalogueFault(
        "cam-coupling-broken",
        Rig("cam_slip"),
        {BETS: (UNMOVED,)},
    ),
    CatalogueFault(
        "dice-stuck-to-the-floor",
        Rig("weak_shake factor=0.02"),
        {BETS: (UNMOVED,)},
    ),
)

# ── Contacts and hands ──────────────────────────────────────────────────────

ESTOP = Hands("press estop", "release estop")
LID = Hands("force compartment", "close compartment")
COVER = Hands("close cover", "open cover")

CONTACTS = (
    CatalogueFault(
        "estop-pressed",
        ESTOP,
        {
            TOSS: denied("EstopPressed", DENIED_S, Life.INSPECTION_DUE),
            BETS: not_started("EstopPressed", within_s=0.2, life=Life.OPEN),
            PUSH: stands(seen="EstopPressed", within_s=0.2),
            LIT: stands(seen="EstopPressed", within_s=0.2),
        },
    ),
    CatalogueFault(
        "estop-wire-broken",
        Rig("estop_contact_open"),
        {
            TOSS: denied("EstopPressed", DENIED_S, Life.INSPECTION_DUE),
            LIT: stands(seen="EstopPressed", within_s=0.2),
        },
    ),
    CatalogueFault(
        "compartment-forced",
        LID,
        {
            REST: (
                replace(
                    VOID,
                    motor=Motor.FINISHED,
                    life=Life.INSPECTION_DUE,
                    seen_as=("CompartmentOpened",),
                    within_s=0.2,
                ),
            ),
            TOSS: denied("CompartmentOpened", DENIED_S, Life.INSPECTION_DUE),
            BETS: not_started("CompartmentOpened", within_s=0.2, life=Life.INSPECTION_DUE),
            PUSH: stands(Life.INSPECTION_DUE, seen="CompartmentOpened", within_s=0.2),
            LIT: stands(Life.INSPECTION_DUE, seen="CompartmentOpened", within_s=0.2),
        },
    ),
    CatalogueFault(
        "compartment-wire-broken",
        Rig("compartment_contact_open"),
        {
            TOSS: denied("CompartmentOpened", DENIED_S, Life.INSPECTION_DUE),
            BETS: not_started("CompartmentOpened", within_s=0.2, life=Life.INSPECTION_DUE),
            LIT: stands(Life.INSPECTION_DUE, seen="CompartmentOpened", within_s=0.2),
        },
    ),
    # The table under test has no cover, so that its contact is not asked; the dice are hidden.
    CatalogueFault(
        "cover-put-on-where-none-is", COVER, {TOSS: REFUSED, BETS: REFUSED, LIT: UNAFFECTED}
    ),
    CatalogueFault(
        "cover-contact-welded-where-none-is",
        Rig("cover_contact_stuck"),
        {TOSS: UNAFFECTED, BETS: UNAFFECTED},
    ),
    CatalogueFault(
        "player-button-stuck", Rig("button_stuck"), {BETS: UNAFFECTED, TOSS: UNAFFECTED}
    ),
    CatalogueFault(
        "hand-over-the-dome",
        Hands("cover dome", "uncover dome"),
        {TOSS: REFUSED, REST: UNAFFECTED},
    ),
)

STUCK_S = 6.0
"""Until somebody has mended a cover that did not open: the table has called it stuck by then."""

STUCK_AT_THE_REVEAL = (
    replace(
        STANDS,
        life=Life.OUT_OF_SERVICE,
        codes=("cover-stuck",),
        seen_as=("TimerExpired:cover",),
        # 1.25 s of the toss are left; then it settles, the dealer closes bets, 2 s for the cover.
        within_s=STUCK_S,
    ),
)
"""The dice have been tossed: a person opens the cover, they are read, and then the table stops."""

COVERS = (
    CatalogueFault(
        "cover-contact-opens",
        Rig("cover_contact_open"),
        {
            TOSS: denied("CoverOpened", DENIED_S, Life.INSPECTION_DUE),
            # Bets are open over dice that can be seen. Until the tach has been silent it is the
            # toss, after which an inspection is due.
            REST: tuple(
                replace(VOID, motor=Motor.FINISHED, life=life, seen_as=("CoverOpened",), within_s=1)
                for life in (Life.OPEN, Life.INSPECTION_DUE)
            ),
        },
        profile=COVERED,
    ),
    CatalogueFault(
        "cover-sticks-open",
        Rig("cover_stuck"),
        {
            BETS: (
                replace(
                    NOT_STARTED,
                    codes=("cover-stuck",),
                    seen_as=("TimerExpired:cover",),
                    within_s=4.0,
                ),
            ),
        },
        dwell_s=0.1,
        profile=COVERED,
    ),
    CatalogueFault(
        "cover-sticks-closed",
        Rig("cover_stuck", for_s=STUCK_S),
        {TOSS: STUCK_AT_THE_REVEAL},
        profile=COVERED,
    ),
    CatalogueFault(
        "cover-contact-welded",
        Rig("cover_contact_stuck", for_s=STUCK_S),
        {TOSS: STUCK_AT_THE_REVEAL},
        profile=COVERED,
    ),
    CatalogueFault(
        "jam-under-the-cover",
        Rig("jam"),
        {TOSS: shaker("tach-silent", "motor-stall", "motor-driver", within_s=0.25)},
        profile=COVERED,
    ),
    CatalogueFault(
        "service-killed-under-the-cover",
        Process("service", "killed"),
        {
            REST: killed(Ending.VOID),
            TOSS: killed(Ending.VOID, Motor.STOPPED, motor_within_s=OFF_S),
            PUSH: killed(Ending.SETTLED, source=(RequiredSource.VERIFIED,)),
        },
        profile=COVERED,
    ),
    # The rig's cover takes 0.45 s from the hand to the contact.
    CatalogueFault(
        "cover-put-on-where-none-may-be",
        COVER,
        {
            TOSS: denied("CoverClosed", 0.45 + DENIED_S, Life.INSPECTION_DUE),
            BETS: not_started("CoverClosed", within_s=0.45 + 0.2, life=Life.OPEN),
            LIT: stands(seen="CoverClosed", within_s=0.45 + 0.2),
        },
        profile=BARE,
    ),
    CatalogueFault(
        "cover-contact-welded-where-none-may-be",
        Rig("cover_contact_stuck"),
        {
            TOSS: denied("CoverClosed", DENIED_S, Life.INSPECTION_DUE),
            BETS: not_started("CoverClosed", within_s=0.2, life=Life.OPEN),
        },
        profile=BARE,
    ),
)

# ── Light, camera, reader ───────────────────────────────────────────────────

CAMERA = (
    # At rest the dip may be over and the frames that count may have been taken: either is right.
    CatalogueFault("ring-light-dead", Rig("light_dead"), {TOSS: REFUSED, REST: UNAFFECTED}),
    CatalogueFault(
        "ring-light-stuck", Rig("light_stuck level=0.8"), {TOSS: REFUSED, REST: UNAFFECTED}
    ),
    CatalogueFault("camera-frozen", Rig("camera_frozen"), {TOSS: REFUSED, REST: UNAFFECTED}),
    CatalogueFault("camera-black", Rig("camera_black"), {TOSS: REFUSED, REST: UNAFFECTED}),
    CatalogueFault(
        "camera-over-exposed", Rig("camera_over_exposed"), {TOSS: REFUSED, REST: UNAFFECTED}
    ),
    CatalogueFault(
        "camera-defocused", Rig("camera_defocused"), {TOSS: UNAFFECTED, REST: UNAFFECTED}
    ),
    CatalogueFault("camera-shifted", Rig("camera_shifted"), {TOSS: REFUSED, REST: UNAFFECTED}),
    CatalogueFault("camera-blocked", Rig("camera_blocked"), {TOSS: REFUSED, REST: UNAFFECTED}),
    CatalogueFault(
        "camera-dome-blots",
        Rig("camera_dirty_dome specks=0 drops=0 blots=2"),
        {
            # Told once the dice moved long enough below it, after the result.
            TOSS: UNAFFECTED + REFUSED + finishes("ReaderFault", "dirty-dome", within_s=9.0),
            LIT: UNAFFECTED,
        },
    ),
    CatalogueFault("camera-slow", Rig("camera_slow fps=4"), {TOSS: UNAFFECTED, REST: UNAFFECTED}),
    CatalogueFault(
        "camera-wrong-size", Rig("camera_wrong_size"), {TOSS: UNAFFECTED, REST: UNAFFECTED}
    ),
    CatalogueFault("camera-torn", Rig("camera_torn"), {REST: UNAFFECTED, TOSS: UNAFFECTED}),
    CatalogueFault("camera-garbled", Rig("camera_garbled"), {TOSS: UNAFFECTED, REST: UNAFFECTED}),
    *(
        CatalogueFault(
            f"camera-late-{seconds}-s",
            Rig(f"camera_late seconds={seconds}"),
            {TOSS: REFUSED, REST: UNAFFECTED},
        )
        for seconds in ("0.5", "2", "10")
    ),
    CatalogueFault("camera-looped", Rig("camera_looped"), {TOSS: REFUSED, REST: UNAFFECTED}),
    CatalogueFault("camera-silent", Rig("camera_dead"), {TOSS: REFUSED, REST: UNAFFECTED}),
    CatalogueFault(
        "camera-connection-closed", Rig("camera_closed"), {TOSS: REFUSED, REST: UNAFFECTED}
    ),
    CatalogueFault(
        "camera-lost-before-the-toss",
        Rig("camera_dead"),
        {
            BETS: not_started("ReaderFault", "camera-silent", within_s=8.0),
            LIT: finishes("ReaderFault", "camera-silent", within_s=8.0),
        },
        dwell_s=8.5,
    ),
    CatalogueFault(
        "camera-frozen-for-good",
        Rig("camera_frozen"),
        {
            BETS: not_started("ReaderFault", "frozen", within_s=9.0),
            LIT: finishes("ReaderFault", "frozen", within_s=9.0),
        },
        dwell_s=9.5,
    ),
    CatalogueFault(
        "camera-moved-for-good",
        Rig("camera_shifted"),
        {
            BETS: not_started("ReaderFault", "camera-moved", within_s=11.0),
            LIT: finishes("ReaderFault", "camera-moved", within_s=11.0),
        },
        dwell_s=11.5,
    ),
    CatalogueFault(
        "camera-looped-for-good",
        Rig("camera_looped"),
        {
            BETS: not_started("ReaderFault", "looped", within_s=12.0),
            LIT: finishes("ReaderFault", "looped", within_s=12.0),
        },
        dwell_s=12.5,
    ),
    CatalogueFault(
        "camera-process-killed",
        Process("camera", "killed"),
        {REST: UNAFFECTED, TOSS: UNAFFECTED, BETS: UNAFFECTED, LIT: UNAFFECTED},
        dwell_s=0.3,
    ),
    CatalogueFault(
        "camera-process-stopped",
        Process("camera", "stopped", for_s=30.0),
        {REST: UNAFFECTED, TOSS: UNAFFECTED, BETS: UNAFFECTED},
        dwell_s=0.3,
    ),
)

# ── The lamp box and its line ───────────────────────────────────────────────

ANY_LINK = ("lamp-timeout", "lamp-reply")
EITHER = (*UNAFFECTED, *by_hand(*ANY_LINK, within_s=1.0, lamps=(Lamps.DARK, Lamps.TRUTH)))
"""Damage from which a reply may still be read, or not: the truth, or by hand."""

# The layout of the table under test has no `even`: a lamp that can never be among the winning ones.
LAMPS = (
    CatalogueFault(
        "lamp-box-silent",
        Rig("lamp_silent"),
        {
            PUSH: by_hand("lamp-timeout", within_s=0.7),
            LIT: by_hand("lamp-timeout", within_s=1.0, lamps=(Lamps.TRUTH,)),
            REST: by_hand("lamp-timeout", within_s=1.0),
            TOSS: by_hand("lamp-timeout", within_s=1.0),
            BETS: not_started("LampFault", "lamp-timeout", within_s=1.0),
        },
    ),
    CatalogueFault(
        "lamp-replies-late", Rig("lamp_late delay_s=0.5"), {PUSH: by_hand(*ANY_LINK, within_s=1.2)}
    ),
    CatalogueFault(
        "lamp-exception-replies",
        Rig("lamp_exception"),
        {PUSH: by_hand("lamp-reply", within_s=0.7), TOSS: by_hand("lamp-reply", within_s=1.0)},
    ),
    CatalogueFault(
        "lamp-checksum-wrong",
        Rig("lamp_crc"),
        {
            PUSH: by_hand(*ANY_LINK, within_s=0.7),
            LIT: by_hand(*ANY_LINK, within_s=1.0, lamps=(Lamps.TRUTH,)),
            BETS: not_started("LampFault", *ANY_LINK, within_s=1.0),
        },
    ),
    CatalogueFault(
        "lamp-replies-cut", Rig("lamp_truncated"), {PUSH: by_hand(*ANY_LINK, within_s=0.7)}
    ),
    CatalogueFault("lamp-garbage-before", Rig("lamp_garbage_before"), {PUSH: EITHER}),
    CatalogueFault(
        "lamp-garbage-inside", Rig("lamp_garbage_inside"), {PUSH: by_hand(*ANY_LINK, within_s=0.7)}
    ),
    CatalogueFault("lamp-garbage-after", Rig("lamp_garbage_after"), {PUSH: EITHER}),
    CatalogueFault(
        "lamp-other-unit", Rig("lamp_other_unit"), {PUSH: by_hand(*ANY_LINK, within_s=0.7)}
    ),
    CatalogueFault(
        "lamp-box-restarts-in-the-push",
        Rig("lamp_restart down_s=1.0"),
        {PUSH: by_hand(*ANY_LINK, within_s=0.7)},
    ),
    CatalogueFault(
        "lamp-box-restarts-when-lit",
        Rig("lamp_restart down_s=0.3"),
        {
            LIT: by_hand("lamp-readback", "lamp-timeout", within_s=1.0, lamps=(Lamps.TRUTH,)),
            TOSS: UNAFFECTED,
        },
    ),
    CatalogueFault(
        "lamps-wired-to-neighbours",
        Rig("lamps_shifted"),
        {REST: wrong_lamps(), TOSS: wrong_lamps()},
    ),
    CatalogueFault("lamp-lit-in-addition", Rig("lamp_extra area=even"), {REST: wrong_lamps()}),
    CatalogueFault(
        "bulb-burnt-out",
        Rig("bulb_burnt area=small,big,any-triple"),
        {REST: wrong_lamps(), LIT: wrong_lamps()},
    ),
    CatalogueFault(
        "bulb-stuck-on",
        Rig("bulb_stuck area=even"),
        {
            LIT: by_hand("lamp-readback", within_s=0.6, lamps=(Lamps.STUCK,)),
            BETS: (
                replace(
                    not_started("LampFault", "lamp-readback", within_s=0.6)[0], lamps=(Lamps.STUCK,)
                ),
            ),
            TOSS: by_hand("lamp-readback", within_s=0.6, lamps=(Lamps.STUCK,)),
        },
    ),
    CatalogueFault(
        "lamp-box-computes-otherwise",
        Rig("lamp_rule_wrong"),
        {REST: by_hand("lamp-readback", within_s=2.0)},
    ),
    CatalogueFault(
        "lamp-drivers-dead",
        Rig("lamp_dead_drivers"),
        {
            PUSH: by_hand("lamp-readback", "lamp-reply", within_s=0.7),
            LIT: by_hand("lamp-readback", within_s=0.6, lamps=(Lamps.TRUTH,)),
            BETS: not_started("LampFault", "lamp-readback", within_s=0.6),
        },
    ),
    CatalogueFault(
        "lamp-supply-low",
        Rig("lamp_supply_low"),
        {
            BETS: not_started("LampFault", "lamp-readback", "lamp", within_s=0.6),
            TOSS: by_hand("lamp-readback", "lamp", within_s=0.6),
        },
    ),
    CatalogueFault(
        "lamp-memory-lost",
        Rig("lamp_memory_bad"),
        {BETS: not_started("LampFault", "lamp-readback", "lamp", within_s=0.6)},
    ),
    CatalogueFault(
        "lamps-do-not-go-out",
        Rig("lamps_latched"),
        {
            LIT: (
                replace(
                    STANDS,
                    life=Life.OUT_OF_SERVICE,
                    codes=("lamp-readback",),
                    seen_as=("LampFault:lamp-readback",),
                ),
            ),
        },
        dwell_s=0.3,
    ),
    CatalogueFault(
        "lamp-line-cut",
        Rig("line_cut line=lamp"),
        {
            PUSH: by_hand("lamp-timeout", within_s=0.7),
            LIT: by_hand("lamp-timeout", within_s=1.0, lamps=(Lamps.TRUTH,)),
        },
    ),
    CatalogueFault(
        "lamp-line-unplugged",
        Rig("line_unplugged line=lamp"),
        {
            PUSH: by_hand("lamp-timeout", within_s=0.7),
            LIT: by_hand("lamp-timeout", within_s=1.0, lamps=(Lamps.TRUTH,)),
            BETS: not_started("LampFault", "lamp-timeout", within_s=1.0),
        },
    ),
    CatalogueFault(
        "lamp-line-unplugged-and-back",
        Rig("line_unplugged line=lamp", for_s=1.5),
        {
            PUSH: by_hand("lamp-timeout", within_s=0.7),
            TOSS: by_hand("lamp-timeout", within_s=1.0),
            LIT: by_hand("lamp-timeout", within_s=1.0, lamps=(Lamps.TRUTH,)),
        },
        dwell_s=2.0,
    ),
    CatalogueFault(
        "lamp-line-noise",
        Rig("line_noise line=lamp per_byte=0.3"),
        {PUSH: by_hand(*ANY_LINK, within_s=0.7)},
    ),
    CatalogueFault(
        "lamp-line-noise-slight",
        Rig("line_noise line=lamp per_byte=0.001"),
        {TOSS: UNAFFECTED, PUSH: UNAFFECTED},
    ),
    CatalogueFault(
        "lamp-line-bytes-lost",
        Rig("line_loss line=lamp per_byte=0.3"),
        {PUSH: by_hand(*ANY_LINK, within_s=0.7)},
    ),
    CatalogueFault(
        "lamp-line-delayed",
        Rig("line_delay line=lamp delay_s=0.5"),
        {PUSH: by_hand(*ANY_LINK, within_s=1.2)},
    ),
)

# ── Consoles ────────────────────────────────────────────────────────────────

CONSOLES = (
    CatalogueFault(
        "console-noise",
        Rig("line_noise line=technician per_byte=0.3", for_s=1.5),
        {TOSS: UNAFFECTED, PUSH: UNAFFECTED},
    ),
    CatalogueFault(
        "console-unplugged-and-back",
        Rig("line_unplugged line=technician", for_s=1.5),
        {TOSS: UNAFFECTED, PUSH: UNAFFECTED},
    ),
    CatalogueFault(
        "console-flooded",
        Typed("technician", b"\x00\xff\x1b[A~~~~\r\nactivate\r" * 8, for_s=1.0),
        {TOSS: UNAFFECTED},
    ),
)

# ── The GPIO daemon ─────────────────────────────────────────────────────────

GPIO_LOST = replace(VOID, codes=("gpio-link",), seen_as=("ShakerFault:gpio-link",), within_s=1.0)

GPIO = (
    CatalogueFault(
        "gpio-daemon-hangs",
        Rig("pigpiod_hang"),
        {
            TOSS: (replace(GPIO_LOST, motor=Motor.STOPPED, motor_within_s=OFF_S),),
            BETS: not_started("ShakerFault", "gpio-link", within_s=1.0),
            REST: (*finishes("ShakerFault", "gpio-link", within_s=1.0), GPIO_LOST),
            PUSH: finishes("ShakerFault", "gpio-link", within_s=1.0),
            LIT: finishes("ShakerFault", "gpio-link", within_s=1.0),
        },
    ),
    CatalogueFault(
        "another-client-drives-the-motor",
        OtherClient(),
        {
            BETS: (
                replace(
                    not_started("ShakerFault", "motor-no-stop", within_s=1.5)[0],
                    motor=None,  # EN is high at the other program's will
                ),
            ),
        },
        dwell_s=1.8,
    ),
    CatalogueFault(
        "gpio-link-cut",
        Rig("pigpiod_vanish"),
        {TOSS: (replace(GPIO_LOST, motor=Motor.STOPPED, motor_within_s=OFF_S),)},
    ),
    CatalogueFault(
        "gpio-daemon-frozen",
        Rig("pigpiod_freeze"),
        {TOSS: (replace(GPIO_LOST, still_within_s=1.0),)},
    ),
    CatalogueFault(
        "gpio-daemon-terminated",
        Rig("pigpiod_terminate"),
        {TOSS: (replace(GPIO_LOST, still_within_s=1.0),)},
    ),
    CatalogueFault(
        "gpio-daemon-killed",
        Rig("pigpiod_kill"),
        {
            TOSS: (replace(GPIO_LOST, still_within_s=1.0),),
            BETS: not_started("ShakerFault", "gpio-link", within_s=1.0),
        },
    ),
)

# ── The service and its threads ─────────────────────────────────────────────

HELD = (
    *("controller-late", "tach-silent", "tach-unreliable"),
    *("motor-stall", "motor-enable", "gpio-link"),
)
"""What a controller that was away says when it is back: whichever it looks at first."""

STOPPED_IN_THE_TOSS = (replace(VOID, motor=Motor.STOPPED, motor_within_s=OFF_S, codes=HELD),)

SERVICE = (
    CatalogueFault(
        "service-killed",
        Process("service", "killed"),
        {
            TOSS: killed(Ending.VOID, Motor.STOPPED, motor_within_s=OFF_S),
            REST: killed(Ending.VOID),
            PUSH: killed(Ending.SETTLED, source=(RequiredSource.VERIFIED,)),
            LIT: killed(Ending.SETTLED, source=(RequiredSource.VERIFIED, RequiredSource.ENTERED)),
            BETS: killed(Ending.NOT_STARTED, Motor.NEVER),
        },
    ),
    CatalogueFault("service-stopped", Process("service", "stopped"), {TOSS: STOPPED_IN_THE_TOSS}),
    CatalogueFault("state-thread-hangs", Hang("state", 0.6), {TOSS: STOPPED_IN_THE_TOSS}),
    CatalogueFault("motion-thread-hangs", Hang("motion", 0.6), {TOSS: STOPPED_IN_THE_TOSS}),
    CatalogueFault(
        "lamp-thread-hangs",
        Hang("lamps", 5.0),
        {
            PUSH: (
                replace(
                    BY_HAND,
                    lamps=(Lamps.DARK, Lamps.TRUTH),
                    codes=("lamps-silent",),
                    seen_as=("TimerExpired:lamps",),
                    within_s=3.5,
                ),
            ),
        },
    ),
    CatalogueFault(
        "camera-thread-hangs",
        Hang("camera", 7.0),
        {
            REST: (
                replace(
                    STANDS,
                    source=(RequiredSource.ENTERED,),
                    seen_as=("TimerExpired:rest",),
                    within_s=6.0,
                ),
            ),
        },
    ),
)

# ── The journal and its media ───────────────────────────────────────────────

SYNC = ("fsync",)
LATE_SYNC = Medium("journal", SYNC, late_s=2.0)

JOURNAL = (
    CatalogueFault(
        "sync-takes-2-s", LATE_SYNC, {TOSS: UNAFFECTED, PUSH: UNAFFECTED, LIT: UNAFFECTED}
    ),
    CatalogueFault(
        "estop-while-a-sync-takes-2-s",
        Then(LATE_SYNC, ESTOP, after_s=0.3),
        {
            TOSS: denied("EstopPressed", 0.3 + DENIED_S, Life.INSPECTION_DUE),
        },
    ),
    CatalogueFault(
        "sync-hangs",
        Medium("journal", SYNC, late_s=4.0),
        {
            TOSS: unwritten(Ending.VOID),
            PUSH: unwritten(Ending.SETTLED),
        },
        restarts=True,
    ),
    CatalogueFault(
        "journal-disk-full",
        Medium("journal", ("pwrite",), error="ENOSPC"),
        {
            TOSS: unwritten(Ending.VOID, Motor.STOPPED, motor_within_s=1.0),
            BETS: unwritten(Ending.NOT_STARTED, Motor.NEVER),
            LIT: unwritten(Ending.SETTLED),
        },
        restarts=True,
    ),
    CatalogueFault(
        "journal-read-only",
        Medium("journal", ("pwrite",), error="EROFS"),
        {
            PUSH: unwritten(Ending.SETTLED),
            TOSS: unwritten(Ending.VOID, Motor.STOPPED, motor_within_s=1.0),
        },
        restarts=True,
    ),
    CatalogueFault(
        "journal-sync-error",
        Medium("journal", SYNC, error="EIO"),
        {LIT: unwritten(Ending.SETTLED)},
        restarts=True,
    ),
    # A day later by the clock, so that the volume ends behind the round; its next one cannot be.
    CatalogueFault(
        "volume-change-on-a-full-disk",
        Then(Clock(86_400.0), Medium("journal", ("rename",), error="ENOSPC"), after_s=0.0),
        {
            LIT: (
                replace(
                    STANDS,
                    life=Life.OUT_OF_SERVICE,
                    codes=("journal-write",),
                    seen_as=("ControllerFault:clock",),
                    within_s=1.5,
                ),
            ),
        },
        hold_s=3.0,
        restarts=True,
    ),
    CatalogueFault(
        "second-copy-full",
        Medium("journal-second", ("pwrite",), error="ENOSPC"),
        {
            TOSS: finishes("ControllerFault", "journal-write", within_s=4.0),
            LIT: finishes("ControllerFault", "journal-write", within_s=4.0),
        },
    ),
    CatalogueFault(
        "second-copy-lags",
        Medium("journal-second", SYNC, late_s=5.0),
        {PUSH: finishes("ControllerFault", "journal-write", within_s=4.0)},
        hold_s=3.0,
    ),
)

# ── Starts that must not succeed ────────────────────────────────────────────


def _no_start(says: str) -> Mapping[Moment, Outcomes]:
    return {LIT: killed(Ending.SETTLED, start_says=says)}


STARTS = (
    CatalogueFault(
        "second-copy-missing-at-start", Start("second missing"), _no_start("second copy")
    ),
    CatalogueFault(
        "second-copy-of-another-journal", Start("second foreign"), _no_start("another journal")
    ),
    CatalogueFault("journal-byte-flipped", Start("main flipped"), _no_start("record")),
    CatalogueFault(
        "journal-tail-cut", Start("main cut"), _no_start("end of the journal is missing")
    ),
    CatalogueFault("link-planted-for-the-lock", Start("lock planted"), _no_start("locked")),
    CatalogueFault(
        "link-planted-for-the-second-copy", Start("second planted"), _no_start("is a link")
    ),
    CatalogueFault("journal-missing-at-start", Start("main missing"), _no_start("is missing")),
    CatalogueFault("lamp-box-silent-at-start", Start("lamp silent"), _no_start("lamp")),
    CatalogueFault("spare-lamp-box-at-start", Start("lamp exchanged"), _no_start("lamp adopt")),
    CatalogueFault("no-lamp-box-on-the-line", Start("lamp not a box"), _no_start("no lamp box")),
    CatalogueFault("lamp-box-of-another-map", Start("lamp other map"), _no_start("register map")),
    CatalogueFault("gpio-daemon-absent-at-start", Start("gpio gone"), _no_start("pigpiod")),
    CatalogueFault("camera-absent-at-start", Start("camera gone"), _no_start("camera")),
)

# ── The wall clock ──────────────────────────────────────────────────────────

CLOCK = (
    CatalogueFault(
        "clock-steps-back-an-hour",
        Clock(-3600.0),
        {
            BETS: not_started("ControllerFault", "clock", within_s=1.5),
            TOSS: finishes("ControllerFault", "clock", within_s=1.5),
            LIT: finishes("ControllerFault", "clock", within_s=1.5),
        },
        dwell_s=2.0,
    ),
    CatalogueFault(
        "clock-steps-forward-a-day",
        Clock(86_400.0),
        {
            TOSS: finishes("ControllerFault", "clock", within_s=1.5),
            BETS: not_started("ControllerFault", "clock", within_s=1.5),
        },
        dwell_s=2.0,
    ),
)

# ── Memory ──────────────────────────────────────────────────────────────────

MEMORY = (
    CatalogueFault(
        "memory-runs-low",
        Memory(available_kb=12_000),
        {
            TOSS: finishes("ControllerFault", "memory-low", within_s=1.5),
            BETS: not_started("ControllerFault", "memory-low", within_s=1.5),
            LIT: finishes("ControllerFault", "memory-low", within_s=1.5),
        },
        dwell_s=2.0,
    ),
)

FAULTS: tuple[CatalogueFault, ...] = (
    *MOTOR,
    *CONTACTS,
    *COVERS,
    *CAMERA,
    *LAMPS,
    *CONSOLES,
    *GPIO,
    *SERVICE,
    *JOURNAL,
    *STARTS,
    *CLOCK,
    *MEMORY,
)

BY_NAME = {fault.name: fault for fault in FAULTS}


def rows(*, every_moment: bool) -> list[tuple[CatalogueFault, Moment]]:
    """What is to be played: each fault at its worst moment, or the whole matrix."""
    if not every_moment:
        return [(fault, fault.worst) for fault in FAULTS]
    return [(fault, moment) for fault in FAULTS for moment in fault.required]
