"""The table's text: what a row may say, and how a wrong one is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shaker_ctl.rules import effects as fx
from shaker_ctl.rules import events as ev
from shaker_ctl.rules import guards as g
from shaker_ctl.rules import phases as ph
from shaker_ctl.rules.citations import ENDED
from shaker_ctl.rules.state import Phase
from shaker_ctl.rules.table_text import RowTextError, entries, read

ROW = """# the words of the clause
lamps do not clear  [lamp_fault.resume_when_fixed]
    SHUT | clearing - closed · LampFault · of this or none & not in play
    → round over · sets(cover_closed, true) · hide multipliers;
        raise fault(lamp, lamps-silent)
"""


def test_a_row_is_read_into_what_the_machine_runs():
    (found,) = read("tried", ROW)
    row = found.row
    assert (row.name, row.may_cite) == ("lamps do not clear", ("lamp_fault.resume_when_fixed",))
    assert row.phases == (ph.SHUT | {Phase.CLEARING}) - {Phase.CLOSED}
    assert (row.on, row.to) == (ev.LampFault, Phase.ROUND_OVER)
    assert [each.name for each in row.when] == ["of this or none", "not in play"]
    assert [each.holds for each in row.when] == [g.of_this_or_none.holds, g.not_in_play.holds]
    assert [note.__name__ for note in row.notes] == ["sets(cover_closed, true)"]
    assert row.do[0] is fx.hide_multipliers
    assert row.do[1].__name__ == "raise fault(lamp, lamps-silent)"
    assert (found.line, found.above) == (2, "# the words of the clause")


def test_a_row_may_be_taken_at_once_stay_where_it_is_and_cite_by_cause():
    (found,) = read("tried", "told  [ENDED]\n    EVERY_PHASE · (at once)\n    → =\n")
    assert found.row.phases == frozenset(Phase)
    assert (found.row.on, found.row.to, found.row.cites) == (None, None, ENDED)


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("clearing", "claring", "no phase is called `claring`; did you mean clearing"),
        ("SHUT", "SHUTS", "no group of phases is called `SHUTS`; did you mean SHUT"),
        ("LampFault", "LampsFault", "no event is called `LampsFault`; did you mean LampFault"),
        ("of this or none", "of these", "no guard is called `of these`"),
        ("hide multipliers", "hide lamps", "no note or command is called `hide lamps`"),
        ("(lamp, ", "(lamps, ", "no FaultKind is called `lamps`; did you mean lamp"),
        ("(lamp, lamps-silent)", "", "`raise fault` needs its arguments"),
        ("lamps-silent", "a, b", "too many arguments"),
        ("cover_closed, true", "cover_closed", "too few arguments"),
        (
            "cover_closed",
            "cover_shut",
            "no field of the state that is true or false is called `cover_shut`",
        ),
        ("true", "yes", "no truth value is called `yes`"),
        ("lamp_fault.resume", "lamp_fault.resumed", "no key of the profile is called"),
        ("[lamp_fault.resume_when_fixed]", "[MENDING]", "no citation by cause"),
        ("lamps-silent)", "lamps-silent", "no closing bracket"),
        ("→ round over", "", "a row is `title  [clause]`"),
        ("  [lamp_fault.resume_when_fixed]", "", "a row is `title  [clause]`"),
        (" · LampFault · of this or none & not in play", "", "a row is `title  [clause]`"),
        ("none & not", "none · hurried · not", "a row is `title  [clause]`"),
        ("of this or none", "negated(in play, why)", "no guard is called `negated`"),
        ("of this or none", "not in play", "`not in play` stands there 2 times"),
        ("hide multipliers", "raise fault(lamp, lamps-silent)", "stands there 2 times"),
        ("lamps-silent", "", "the argument `code` is empty"),
        ("cover_closed", "witness", "is called `witness`"),
        ("LampFault", "Event", "no event is called `Event`"),
        ("SHUT | clearing", "clearing", "`- closed` leaves all or nothing of"),
        ("SHUT | clearing", "closed", "`- closed` leaves all or nothing of"),
        ("resume_when_fixed]", "resume_when_fixed] [entry.mode]", "no phase is called"),
        ("resume_when", "Resume_when", "did you mean lamp_fault.resume_when_fixed"),
        ("lamp_fault.resume_when_fixed", " ", "no key of the profile is called ` `"),
        ("lamps do", "l\u0430mps do", r"the character '\u0430' has no place in a row"),
        ("    SHUT", "\tSHUT", r"the character '\t' has no place in a row"),
    ],
)
def test_a_wrong_row_is_refused_with_its_place_and_the_nearest_names(right, wrong, told):
    with pytest.raises(RowTextError) as refused:
        list(read("tried", ROW.replace(right, wrong)))
    assert str(refused.value).startswith("tried.rows, line 2: ")
    assert told in str(refused.value)


def test_a_text_without_a_row_is_refused_and_blank_lines_are_counted():
    with pytest.raises(RowTextError, match=r"tried\.rows has no row"):
        list(read("tried", "# all of it is a comment\n"))
    assert [each.line for each in read("tried", f"{ROW}\n \n\n{ROW}")] == [2, 10]


MATRIX = """| fault | what | event | when |
| lid | lid opened | CompartmentOpened | |
| cover | cover on | CoverClosed | covered |

{what}: shut  [ENDED]
    SHUT · {event} · {when} & in play
    → =
    for lid, cover
"""


def test_a_row_of_the_matrix_stands_for_one_row_of_each_fault_that_it_names():
    lid, cover = read("tried", MATRIX)
    assert (lid.row.name, lid.row.on) == ("lid opened: shut", ev.CompartmentOpened)
    assert lid.text.splitlines()[1] == "    SHUT · CompartmentOpened · in play"
    assert cover.text.splitlines()[1] == "    SHUT · CoverClosed · covered & in play"


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("for lid", "for lids", "line 5: no line of the matrix is called `lids`; did you mean lid"),
        ("{when}", "{where}", "line 5: the matrix has no column 'where'"),
        ("CompartmentOpened | |", "CompartmentOpened |", "line 1: the matrix's line `lid` has not"),
    ],
)
def test_a_wrong_matrix_is_refused_with_its_place(right, wrong, told):
    with pytest.raises(RowTextError, match=re.escape(told)):
        list(read("tried", MATRIX.replace(right, wrong)))


README = Path(ph.__file__).with_name("README.md").read_text("utf-8")
FAULTS = {
    "shaker fault": ev.ShakerFault,
    "compartment opened": ev.CompartmentOpened,
    "e-stop": ev.EstopPressed,
    "lamp fault": ev.LampFault,
    "reader fault": ev.ReaderFault,
    "controller fault": ev.ControllerFault,
    "restart": ev.Restarted,
}
MOMENTS = (Phase.BETTING, Phase.TOSSING, Phase.COMING_TO_REST, Phase.COLLECTING)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_readme_s_matrix_says_how_the_rows_end_a_round(fault):
    """It starts no round, or voids one, in the moments where some row of the table does."""
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {fault} |")]
    cells = [cell.strip() for cell in line.split("|")[2:-1]]
    voids = ("**void**", "else void")
    said = [
        "void" if any(each in cell for each in voids) else cell == "does not start"
        for cell in cells
    ]
    assert said == [_ends(FAULTS[fault], phase) for phase in MOMENTS]


def _ends(kind, phase):
    rows = [each.row for each in entries() if each.row.on is kind and phase in each.row.phases]
    notes = {note.__name__.partition(",")[0] for row in rows for note in row.notes}
    return "void" if "ends(void" in notes else "ends(not started" in notes
