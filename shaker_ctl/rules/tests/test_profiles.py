"""Profiles: what they hold, and how a bad one is refused."""

# ruff: noqa: E501 - a table of the texts reads as a table

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from shaker_ctl.errors import SettingsError
from shaker_ctl.rules import multipliers, profile_files
from shaker_ctl.rules.machine import ROWS
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.rules.profile_files import load
from shaker_ctl.rules.regulation import DiceAge, said, values_of
from shaker_ctl.rules.rulebook import dice_end, out_of_force, rulebook
from shaker_ctl.rules.vocabulary import Barrier, DiceSet, Multiplied, TimeTrust

TEXTS = ("pa-625a", "pa-625b", "ma", "pa-539", "md")
SAID = """
in_force.effective_from                | 2019-08-31 | 2023-08-05 | not stated | 2010-04-03 | not stated
in_force.last_day                      | none | 2026-08-04 | not stated | 2012-04-03 | not stated
cover.use                              | optional | optional | forbidden | forbidden | required
cover.interlock                        | as fitted | as fitted | must be absent | must be absent | must be closed
cover.drive                            | yes | yes | no | no | yes
order.nmb_before                       | reveal | reveal | activate | activate | reveal
order.uncovered_or_player_activated    | activate | activate | not provided | not provided | not provided
order.manual                           | reveal | reveal | activate | activate | reveal
activation.by_player                   | yes | yes | no | no | no
pacing.by_table                        | no
entry.mode                             | dealer confirm
entry.auto_needs_approval              | yes
entry.dispute                          | the floorperson or above decides
attendance.shaker                      | required
opening_inspection.signed_by           | floorperson | floorperson | floorperson | floorperson | floorperson, supervisor
opening_inspection.lamp_entries        | 3
opening_inspection.cycles              | 3
opening_inspection.consecutive         | yes
opening_inspection.each_lamp           | yes
shift_inspection.required              | no | no | yes | no | no
shift_inspection.signed_by             | nobody | nobody | supervisor | nobody | nobody
shift_inspection.cycles                | 0 | 0 | 3 | 0 | 0
no_roll.wagers                         | returned | returned | silent | returned | returned
void.wagers                            | returned | returned | silent | returned | returned
not_started.wagers                     | returned
lamp_fault.presence                    | floorperson, supervisor | floorperson, supervisor | supervisor | floorperson, supervisor | floorperson, supervisor
lamp_fault.resume_when_fixed           | device | device | device | device or area | device
lamp_fault.covers                      | device and area | device and area | device | device and area | device and area
reader_fault.attended                  | dealer enters
reader_fault.unattended                | void
interruption.after_toss                | dealer reads
out_of_order.steps                     | dice removed, covered or signed | dice removed, covered or signed | shaker removed | shaker removed | dice removed, covered or signed
dice.number                            | 3
dice.automated                         | 1 month | 1 month | 24 hours | 24 hours | 1 month
dice.otherwise                         | 24 hours
dice.manual                            | 24 hours
round.min_length_s                     | 0
settling.order                         | collect losing, then pay winning
wagers.areas                           | 50 | 52 | 50 | 50 | 50
wagers.even_odd_on_triple              | not offered | win | not offered | not offered | not offered
wagers.two_of_a_kind_on_triple         | win
wagers.small_big_on_triple             | lose
payout.force                           | exactly | no less than | no less than | no less than | no less than
payout.wording                         | "to 1" or "1 wins" | "to 1" | "to" or "win", never "for" | "to", never "for" | "to 1"
multipliers.offered                    | no | yes | no | no | no
multipliers.never                      | nobody | small, big, odd, even | nobody | nobody | nobody
"""
"""The five texts in the order of `TEXTS`, typed a second time; one value where all five agree."""

PROSE = {
    *("in_force.time_zone", "activation.by_dealer", "void.disturbed"),
    *("entry.announce", "entry.settled_when", "entry.correction", "settling.clear"),
    *("opening_inspection.due_again", "multipliers.when", "multipliers.displays"),
    *("no_roll.told", "void.told", "not_started.told", "lamp_fault.told"),
    *("reader_fault.told", "out_of_order.told"),
}
"""Keys whose values are words for people, or have one possible value."""


@pytest.mark.parametrize("name", TEXTS)
def test_profiles_say_what_the_texts_say(name):
    typed = {}
    for line in SAID.strip().splitlines():
        key, *told = (cell.strip() for cell in line.split(" | "))
        typed[key] = told[TEXTS.index(name) if len(told) > 1 else 0]
    found = {key: said(value.value) for key, value in values_of(load(name)) if key not in PROSE}
    assert found == typed


@pytest.mark.parametrize("name", TEXTS)
def test_people_are_told_what_the_text_has_them_do(name):
    p, silent = load(name), name == "ma"
    for told in (p.no_roll.told.value, p.void.told.value):
        assert ("do not say whether wagers are returned" in told) == silent
        assert ("eturn all wagers" in told) != silent
    assert "o roll" in p.no_roll.told.value.lower()
    assert "return all wagers" in p.not_started.told.value.lower()
    assert "collect losing wagers and pay winning" in p.lamp_fault.told.value
    presence = "casino supervisor" if silent else "floorperson or above"
    assert presence in p.lamp_fault.told.value
    steps = (
        ("emove the automated shaker",) if name in ("ma", "pa-539") else ("dice", "cover", "sign")
    )
    assert all(step in p.out_of_order.told.value for step in steps)


RANGES = (
    "150-999 8-87 30-87 50-499 20-249 15-87 12-29 8-24 6-49 6-24 6-24 6-49 8-24 12-29 15-87 20-249 "
    "50-499 5-24 1-1 2-19 3-87"
)
"""625b.1(f)(3), typed a second time, in the order of the text."""


def test_multipliers_keep_to_the_ranges_that_the_text_prints():
    ranges = load("pa-625b").multipliers.ranges.values()
    assert " ".join(f"{span.least}-{span.most}" for span in ranges) == RANGES


def test_the_house_profile_says_that_it_rests_on_no_instrument():
    rules = rulebook(TableParameters(profile="house-auto", attended=False, autonomous=True))
    assert rules.marks == ("rests on no instrument",)
    assert not rules.profile.rests_on_instrument
    assert "no instrument" in rules.profile.title


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("pa-625a", date(2019, 8, 31), None),
        ("pa-625b", date(2023, 8, 5), date(2026, 8, 4)),
        ("pa-539", date(2010, 4, 3), date(2012, 4, 3)),
    ],
)
def test_a_dated_text_holds_from_its_first_day_to_its_last(name, first, last):
    text, day = load(name), timedelta(days=1)
    assert out_of_force(text, first - day) is Barrier.NOT_YET_IN_FORCE
    assert out_of_force(text, first) is None
    assert out_of_force(text, last or date(2100, 1, 1)) is None
    if last is not None:
        assert out_of_force(text, last + day) is Barrier.EXPIRED


def test_an_expired_text_names_its_last_day_and_its_instrument():
    said = rulebook(TableParameters(profile="pa-625b")).explain(Barrier.EXPIRED)
    assert "2026-08-04" in said
    assert "53 Pa.B. 4409" in said


def test_an_expired_text_bars_play_but_for_a_demonstration():
    day = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    dice = DiceSet(("1", "2", "3"), day - timedelta(hours=2))
    real = rulebook(TableParameters(profile="pa-625b"))
    show = rulebook(TableParameters(profile="pa-625b", as_demonstration=True))
    assert real.bars(day, TimeTrust.RTC, False, dice) is Barrier.EXPIRED
    assert show.bars(day, TimeTrust.RTC, False, dice) is None
    assert show.marks == ("DEMONSTRATION",)


def test_the_clock_must_be_trusted_and_not_behind_the_last_record():
    day = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    dice = DiceSet(("1", "2", "3"), day - timedelta(hours=2))
    rules = rulebook(TableParameters())
    assert rules.bars(day, TimeTrust.NONE, False, dice) is Barrier.TIME_UNTRUSTED
    assert rules.bars(day, TimeTrust.RTC, True, dice) is Barrier.TIME_UNTRUSTED
    assert rules.bars(day, TimeTrust.CONFIRMED, False, dice) is None
    assert rules.bars(day, TimeTrust.RTC, False, None) is Barrier.DICE_UNKNOWN


@pytest.mark.parametrize(
    ("since", "age", "end"),
    [
        ("2026-03-02", DiceAge.DAY, "2026-03-03"),
        ("2026-01-31", DiceAge.MONTH, "2026-02-28"),  # calendar month, cut to February
        ("2026-02-10", DiceAge.MONTH, "2026-03-10"),  # 28 days: the calendar month is shorter
        ("2026-03-10", DiceAge.MONTH, "2026-04-09"),  # 31 days: 30 are shorter
        ("2026-12-15", DiceAge.MONTH, "2027-01-14"),
    ],
)
def test_a_month_of_dice_is_the_shorter_reading(since, age, end):
    start = datetime.fromisoformat(since).replace(tzinfo=UTC)
    assert dice_end(start, age) == datetime.fromisoformat(end).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ({"profile": "pa-625a"}, 30),
        ({"profile": "pa-625b"}, 30),
        ({"profile": "ma"}, 1),
        ({"profile": "pa-539", "as_demonstration": True}, 1),
        ({"profile": "md", "cover_fitted": True}, 30),
    ],
)
def test_dice_that_are_not_locked_or_not_compliant_have_a_day(settings, days):
    """Locked in and compliant they have a month where the text says so."""
    noon, hour = datetime(2026, 5, 20, 12, 0, tzinfo=UTC), timedelta(hours=1)
    for compliant, limit in ((True, timedelta(days=days)), (False, timedelta(days=1))):
        given = {**settings, "dice_locked_and_compliant": compliant}
        rules = rulebook(TableParameters.model_validate(given))
        for age, bar in ((limit - hour, None), (limit, Barrier.DICE_EXPIRED)):
            dice = DiceSet(("1", "2", "3"), noon - age)
            assert rules.bars(noon, TimeTrust.RTC, False, dice) is bar


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"profile": "md"}, "requires a cover (1.D(2)(a)"),
        ({"profile": "ma", "cover_fitted": True}, "forbids a cover (5(f))"),
        ({"profile": "pa-539", "cover_fitted": True}, "forbids a cover"),
        ({"profile": "pa-625a", "entry_mode": "auto"}, "needs an approval"),
        ({"profile": "pa-625a", "attended": False}, "requires attendance"),
        ({"profile": "ma", "attended": False}, "requires attendance"),
        ({"profile": "pa-539", "attended": False}, "requires attendance"),
        ({"profile": "md", "cover_fitted": True, "attended": False}, "requires attendance"),
        ({"profile": "house-auto", "attended": False}, "read and pace itself"),
        ({"profile": "ma", "player_activated": True}, "has the dealer activate"),
        ({"profile": "ma", "paytable": "B"}, "has no paytable `B`"),
        ({"profile": "pa-625a", "cover_driven": True}, "no cover to drive"),
        ({"profile": "nowhere"}, "there is no profile `nowhere`"),
    ],
)
def test_what_the_profile_does_not_allow_is_refused_at_start(settings, says):
    with pytest.raises(SettingsError) as error:
        rulebook(TableParameters.model_validate(settings))
    assert says in error.value.line()
    assert error.value.remedy


@pytest.mark.parametrize("approval", [" ", "letter", "2026-01-15", "BGLO, letter of 2027-13-01"])
def test_an_approval_names_instrument_and_date(approval):
    with pytest.raises(SettingsError, match="names no instrument with its date"):
        rulebook(TableParameters(entry_mode="auto", approval=approval))
    rulebook(TableParameters(entry_mode="auto", approval=approval, as_demonstration=True))


def test_automatic_entry_names_its_approval():
    rules = rulebook(
        TableParameters(entry_mode="auto", approval="BGLO 461a.4, letter of 2026-01-15")
    )
    assert rules.marks == ("automatic entry by approval: BGLO 461a.4, letter of 2026-01-15",)


OPTIONAL = 'value = "optional", clause = "625a.1(d)(2)(i)"'
CYCLES = 'cycles = { value = 3, clause = "625a.5(a)(2)" }'
BAD = [
    (
        OPTIONAL,
        OPTIONAL.replace("optional", "optionl"),
        ("cover.use.value", "optionl", ".1(d)(2)(i)"),
    ),
    (CYCLES, CYCLES.replace("3", "2", 1), ("opening_inspection.cycles.value", "or equal to 3")),
    ("[round]", "[rounds]", ("rounds", "Extra inputs")),
    ('"50 to 1"', '"50 for 1"', ("payout.tables.A.total-4.printed", "50 for 1", "625a.6(a)")),
    ("total-9 =", "total-19 =", ("`total-9` is missing", "`total-19` is no wager")),
    (
        "areas = { value = 50",
        "areas = { value = 52",
        ("`wagers.areas` says 52, but the layout has 50",),
    ),
    ('name = "pa-625a"', 'name = "pa-625a"\nname = "twice"', ("Cannot overwrite",)),
    ("consecutive = { value = true", "consecutive = { value = false", ("consecutive.value",)),
    ("each_lamp = { value = true", "each_lamp = { value = false", ("each_lamp.value",)),
    (
        'small_big_on_triple = { value = "lose"',
        'small_big_on_triple = { value = "win"',
        ("`lose`",),
    ),
    (
        'wagers = { value = "returned"',
        'wagers = { value = "stand"',
        ("`no_roll.wagers` that stand, are a house's own",),
    ),
    (
        '[void]\nwagers = { value = "returned"',
        '[void]\nwagers = { value = "stand"',
        ("void.wagers.value`: one of `returned`, `silent`, not 'stand'",),
    ),
]


@pytest.mark.parametrize(("good", "wrong", "says"), BAD)
def test_a_bad_profile_names_file_key_bound_and_clause(tmp_path: Path, good, wrong, says):
    text = profile_files.source(load("pa-625a")).read_text(encoding="utf-8")
    assert good in text
    bad = tmp_path / "bad.toml"
    bad.write_text(text.replace(good, wrong, 1), encoding="utf-8")
    with pytest.raises(SettingsError) as error:
        load(bad)
    for words in ("bad.toml", *says):
        assert words in error.value.line()


def test_a_new_jurisdiction_is_a_new_file(tmp_path: Path):
    new = tmp_path / "nj.toml"
    text = profile_files.source(load("ma")).read_text(encoding="utf-8")
    text = text.replace('name = "ma"', 'name = "nj"').replace('clause = "6(a)"', 'clause = "7.1"')
    text = text.replace("SIC BO Rules", "N.J.A.C. 13:69")
    new.write_text(text, encoding="utf-8")
    rules = rulebook(TableParameters(profile=str(new)))
    assert rules.cite("no_roll.wagers").clause == "7.1"
    assert rules.marks[0] == "a profile file of the house"


def on_top(folder: Path, of: str, name: str, *lines: str) -> Path:
    path = folder / "mine.toml"
    head = [f'on_top_of = "{of}"', f'name = "{name}"']
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    return path


def test_a_file_beside_does_not_take_the_place_of_a_shipped_profile(tmp_path: Path):
    """It would be one that no seal covers."""
    text = profile_files.source(load("ma")).read_text(encoding="utf-8")
    (tmp_path / "pa-625a.toml").write_text(text.replace('name = "ma"', 'name = "x"'), "utf-8")
    mine = on_top(tmp_path, "pa-625a", "strict")
    assert load(mine).instrument == load("pa-625a").instrument
    assert profile_files.own_files(mine) == (mine,)


HOUSE = "rests_on_instrument = false"
LOOSER = [
    '[no_roll]\nwagers = { value = "silent", clause = "7.1" }',
    '[dice]\nautomated = { value = "unlimited", clause = "7.1" }',
    '[entry]\nauto_needs_approval = { value = false, clause = "7.1" }',
    '[lamp_fault]\npresence = { value = ["floorperson", "dealer"], clause = "7.1" }',
    '[out_of_order]\nsteps = { value = ["dice_removed"], clause = "7.1" }',
    '[attendance]\nshaker = { value = "may_be_unattended", clause = "7.1" }',
    '[interruption]\nafter_toss = { value = "void", clause = "7.1" }',
    '[in_force]\neffective_from = { value = 2019-05-19, clause = "7.1" }',
    '[opening_inspection]\ncycles = { value = 3, clause = "another clause" }',
    'instrument = "another instrument"',
]


@pytest.mark.parametrize("line", LOOSER)
def test_on_top_of_a_text_nothing_is_loosened_but_by_the_house_in_its_own_name(
    tmp_path: Path, line: str
):
    lines = [line] if line.startswith("[") else [line, ""]
    with pytest.raises(SettingsError, match="may only tighten"):
        load(on_top(tmp_path, "pa-625a", "strict", *lines))
    head = [HOUSE, *lines] if line.startswith("[") else [*lines, HOUSE]
    rules = rulebook(TableParameters(profile=str(on_top(tmp_path, "pa-625a", "house-x", *head))))
    assert rules.marks == ("rests on no instrument", "a profile file of the house")


TIGHTER = [
    '[opening_inspection]\ncycles = { value = 5, clause = "house rule 3" }',
    '[dice]\nautomated = { value = "24 hours", clause = "house rule 3" }',
    '[activation]\nby_player = { value = false, clause = "house rule 3" }',
    '[order]\nnmb_before = { value = "activate", clause = "house rule 3" }',
    '[in_force]\nlast_day = { value = 2030-01-01, clause = "house rule 3" }',
    '[shift_inspection]\nrequired = { value = true, clause = "house rule 3" }\n'
    'signed_by = { value = ["supervisor"], clause = "house rule 3" }\n'
    'cycles = { value = 3, clause = "house rule 3" }',
    '[lamp_fault]\npresence = { value = ["supervisor"], clause = "house rule 3" }',
    '[cover]\nuse = { value = "required", clause = "house rule 3" }\n'
    'interlock = { value = "must_be_closed", clause = "house rule 3" }',
]


@pytest.mark.parametrize("line", TIGHTER)
def test_a_file_may_tighten_a_text_and_still_rests_on_it(tmp_path: Path, line: str):
    profile = load(on_top(tmp_path, "pa-625a", "strict", line))
    assert profile.rests_on_instrument
    assert profile.own_file
    assert profile.instrument == load("pa-625a").instrument


@pytest.mark.parametrize("name", profile_files.PROFILES)
def test_the_names_of_the_shipped_profiles_are_reserved(tmp_path: Path, name: str):
    with pytest.raises(SettingsError, match="comes with the product"):
        load(on_top(tmp_path, name, name))


@pytest.mark.parametrize(
    ("name", "lines"), [("house-x", ()), ("mine", (HOUSE,)), ("household", (HOUSE,))]
)
def test_only_the_house_s_own_rules_are_called_house(tmp_path: Path, name: str, lines):
    with pytest.raises(SettingsError, match="rests_on_instrument"):
        load(on_top(tmp_path, "pa-625a", name, *lines))


@pytest.mark.parametrize("of", ["pa-625a", "ma"])
@pytest.mark.parametrize("name", ["mine", "house-x"])
def test_odds_of_a_text_are_loosened_under_no_name(tmp_path: Path, of: str, name: str):
    """`exactly` means these, and `no less than` means at least these."""
    text = profile_files.source(load(of)).read_text(encoding="utf-8")
    table = text[text.index("[payout.tables.A]") :].partition("\n\n")[0]
    head = (HOUSE,) if name != "mine" else ()
    worse = table.replace("8 to 1", "7 to 1", 1)
    with pytest.raises(SettingsError, match=r"payout\.tables\.A\.two-of-a-kind: 7 to 1"):
        load(on_top(tmp_path, of, name, *head, worse))
    more = '"8 to 1", pays = "9 to 1", reading = "the house pays more"'
    better = on_top(tmp_path, of, name, *head, table.replace('"8 to 1"', more, 1))
    if of == "ma":
        assert load(better).payout.tables["A"]["two-of-a-kind"].odds == 9
    else:
        with pytest.raises(SettingsError, match="9 to 1"):
            load(better)
    for words in (('"8 to 1"', '"9 to 1"'), ('clause = "', 'clause = "house ')):
        with pytest.raises(SettingsError, match=r"payout\.tables\.A"):
            load(on_top(tmp_path, of, name, *head, table.replace(*words, 1)))


@pytest.mark.parametrize("of", ["pa-625a", "ma"])
def test_odds_of_a_text_are_loosened_in_no_number_of_steps(tmp_path: Path, of: str):
    text = profile_files.source(load(of)).read_text(encoding="utf-8")
    table = text[text.index("[payout.tables.A]") :].partition("\n\n")[0]
    on_top(tmp_path, of, "house-1", HOUSE).rename(tmp_path / "house-1.toml")
    worse = on_top(tmp_path, "house-1", "house-2", table.replace("8 to 1", "7 to 1", 1))
    with pytest.raises(SettingsError, match=r"payout\.tables\.A\.two-of-a-kind: 7 to 1"):
        load(worse)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("naming", ["{}", "{}, amended", "the {}"])
def test_a_file_on_top_of_nothing_names_no_shipped_text_as_its_instrument(
    tmp_path: Path, name: str, naming: str
):
    """It could say of a text whatever it likes, and nothing would say that it is the house's."""
    lower = profile_files.source(load("ma")).read_text(encoding="utf-8")
    said = naming.format(load(name).instrument.partition(" (")[0]).replace('"', '\\"')
    lines = [
        f'instrument = "{said}"' if line.startswith("instrument =") else line
        for line in lower.replace('name = "ma"', 'name = "mine"').splitlines()
    ]
    own = tmp_path / "own.toml"
    own.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(SettingsError, match=f"`{name}` has this text") as error:
        load(own)
    assert error.value.remedy
    house = own.read_text("utf-8").replace('name = "mine"', 'name = "house-mine"')
    own.write_text(house.replace("rests_on_instrument = true", HOUSE), encoding="utf-8")
    assert rulebook(TableParameters(profile=str(own))).marks[0] == "rests on no instrument"


@pytest.mark.parametrize("name", ["boston", "house-boston"])
@pytest.mark.parametrize("line", ['caution = ""', "oddities = []"])
def test_what_is_said_of_a_text_is_kept_under_any_name(tmp_path: Path, name: str, line: str):
    head = (HOUSE,) if name != "boston" else ()
    with pytest.raises(SettingsError, match=line.split()[0]):
        load(on_top(tmp_path, "ma", name, *head, line))
    added = f'caution = "{load("ma").caution} Read by counsel."'
    assert load(on_top(tmp_path, "ma", name, *head, added)).caution.endswith("Read by counsel.")


def test_a_file_on_top_of_a_text_has_its_title(tmp_path: Path):
    title = 'title = "Massachusetts, confirmed by the Commission"'
    with pytest.raises(SettingsError, match="title: without the words"):
        load(on_top(tmp_path, "ma", "boston", title))
    assert load(on_top(tmp_path, "ma", "house-boston", HOUSE, title)).caution


def test_a_tightened_value_has_a_clause_of_its_own_or_a_reading(tmp_path: Path):
    day = '[dice]\nautomated = { value = "24 hours", clause = "625a.2(b)"'
    assert load("pa-625a").dice.automated.clause == "625a.2(b)"
    with pytest.raises(SettingsError, match="another value under the text's own clause"):
        load(on_top(tmp_path, "pa-625a", "strict", f"{day} }}"))
    assert load(on_top(tmp_path, "pa-625a", "strict", f'{day}, reading = "house rule" }}'))


def test_an_approval_permits_nothing_before_its_day():
    approval = "BGLO 461a.4, letter of 2026-03-12"
    rules = rulebook(TableParameters(entry_mode="auto", approval=approval))
    for day, bar in ((11, Barrier.NOT_YET_IN_FORCE), (12, None)):
        noon = datetime(2026, 3, day, 16, 0, tzinfo=UTC)
        dice = DiceSet(("1", "2", "3"), noon - timedelta(hours=2))
        assert rules.bars(noon, TimeTrust.RTC, False, dice) is bar
    assert "its approval before 2026-03-12" in rules.explain(Barrier.NOT_YET_IN_FORCE)


def test_a_text_that_says_exactly_pays_what_it_prints(tmp_path: Path):
    text = profile_files.source(load("pa-625a")).read_text(encoding="utf-8")
    own = tmp_path / "own.toml"
    own.write_text(
        text.replace('"pa-625a"', '"own"').replace(
            'printed = "50 to 1", clause', 'printed = "50 to 1", pays = "60 to 1", reading = "r", '
            "clause", 1
        ),
        encoding="utf-8",
    )  # fmt: skip
    with pytest.raises(SettingsError, match="paid exactly"):
        load(own)


@pytest.mark.parametrize("key", ["opening_inspection", "lamp_fault"])
def test_somebody_signs_and_somebody_is_present(tmp_path: Path, key: str):
    field = "signed_by" if key == "opening_inspection" else "presence"
    line = f'[{key}]\n{field} = {{ value = [], clause = "x" }}'
    with pytest.raises(SettingsError, match="at least 1 item"):
        load(on_top(tmp_path, "pa-625a", "house-x", HOUSE, line))


def test_a_shift_is_inspected_by_somebody_who_can_ask_for_it(tmp_path: Path):
    line = TIGHTER[5].replace('"supervisor"', '"technician"')
    with pytest.raises(SettingsError, match="a floorperson or a supervisor"):
        load(on_top(tmp_path, "pa-625a", "strict", line))


def test_a_table_that_owes_a_shift_inspection_and_knows_no_shift_is_marked():
    """It inspects at each opening, and never again while it stays open."""
    mark = "no shift begins by itself: table.shifts is empty"
    assert rulebook(TableParameters(profile="ma")).marks == (mark,)
    assert not rulebook(TableParameters(profile="ma", shifts=("06:00",))).marks


def test_days_are_the_jurisdiction_s_own():
    """Super Sic Bo begins and ends at midnight in Pennsylvania, not in Greenwich."""
    b = load("pa-625b")
    first = datetime(2023, 8, 5, 4, 0, tzinfo=UTC)
    last = datetime(2026, 8, 5, 3, 59, tzinfo=UTC)
    minute = timedelta(minutes=1)
    assert out_of_force(b, b.day(first - minute)) is Barrier.NOT_YET_IN_FORCE
    assert out_of_force(b, b.day(first)) is None
    assert out_of_force(b, b.day(last)) is None
    assert out_of_force(b, b.day(last + minute)) is Barrier.EXPIRED


@pytest.mark.parametrize(
    ("zone", "says"), [("not stated", "needs the `time_zone`"), ("Nowhere/Else", "tzdata")]
)
def test_a_dated_text_names_a_zone_that_there_is(tmp_path: Path, zone: str, says: str):
    line = f'[in_force]\ntime_zone = {{ value = "{zone}", clause = "x" }}'
    with pytest.raises(SettingsError, match=says):
        load(on_top(tmp_path, "pa-625a", "house-x", HOUSE, line))


def test_every_row_cites_a_clause_of_every_profile():
    words = (
        *("O-", "clock: ", "e-stop: ", "house: ", "device: "),
        *("technician's trial", "lamps answered"),
    )
    for profile in profile_files.shipped_profiles():
        settings = {"profile": profile.name, "as_demonstration": True}
        settings["cover_fitted"] = profile.cover.use.value.value == "required"
        rules = rulebook(TableParameters.model_validate(settings))
        for row in ROWS:
            for key in row.may_cite:
                own = key.startswith(words)
                assert own or rules.cite(key).clause != key, (row.name, key)


@pytest.mark.parametrize(
    ("settings", "row", "clause", "is_reading"),
    [
        ({"profile": "ma"}, "activated by the dealer", "5(d)(2)", False),
        ({"profile": "pa-539"}, "activated by the dealer", "539.5(c)(2)", False),
        ({}, "no more bets, called before activation", "625a.5(g)", False),
        ({}, "EN on", "625a.5(b)(2), (g)", False),
        ({}, "activates itself", "625a.5(b)(2), (c), (f), (g)", True),
        ({}, "the floorperson decides on values", "625a.5(d)", True),
        ({}, "compartment opened in the toss: void", "625a.7(c)", True),
        ({}, "shaker fault in the toss: void", "625a.7(c)", False),
        (
            {},
            "settings, light or calibration changed between rounds: inspection due",
            "625a.5(a)",
            True,
        ),
        ({}, "close: after this round", "house: the table is closed", False),
        (
            {"cover_fitted": True},
            "no more bets, called before the reveal",
            "625a.5(b)(2), (c)",
            False,
        ),
    ],
)
def test_a_row_cites_the_clause_that_asks_for_it_and_says_where_that_is_a_reading(
    settings, row, clause, is_reading
):
    rules = rulebook(TableParameters.model_validate({**settings, "as_demonstration": True}))
    (key,) = next(each.may_cite for each in ROWS if each.name == row)
    cited = rules.cite(key)
    assert (cited.clause, bool(cited.reading)) == (clause, is_reading)


def test_draws_are_lawful_and_reach_every_position():
    p = load("pa-625b")
    ranges = p.multipliers.ranges
    areas = rulebook(TableParameters(profile="pa-625b")).areas
    import random

    luck = random.Random(5)
    seen = set()
    for _ in range(2000):
        drawn = multipliers.draw(ranges, areas, luck.randrange)
        assert len(drawn) <= multipliers.MAX_POSITIONS
        assert multipliers.lawful(drawn, ranges, areas)
        seen |= {(each.area, each.dice) for each in drawn}
    assert seen == set(multipliers.positions(ranges, areas))
    assert not {area for area, _ in seen} & {"small", "big", "even", "odd"}
    assert len(seen) == 6 + 6 + 1 + 14 + 15 + 12


@pytest.mark.parametrize(
    "bad",
    [
        (Multiplied("small", 2),),
        (Multiplied("odd", 2),),
        (Multiplied("triple-1", 1000),),
        (Multiplied("triple-1", 149),),
        (Multiplied("one-1", 2, 1),),
        (Multiplied("one-1", 20, 2),),
        (Multiplied("total-4", 60), Multiplied("total-4", 61)),
        (Multiplied("total-3", 60),),
    ],
)
def test_unlawful_multipliers_are_known(bad):
    p = load("pa-625b")
    areas = rulebook(TableParameters(profile="pa-625b")).areas
    assert not multipliers.lawful(bad, p.multipliers.ranges, areas)
