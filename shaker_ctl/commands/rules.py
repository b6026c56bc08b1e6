"""`shaker-ctl rules`: a profile as a person wants to see it.

Owns the wording on the screen. Every value stands with its clause; what rests on a reading is
marked with ※ and says which. Decides nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from shaker_ctl.errors import RefusedError, SettingsError, reraise_as
from shaker_ctl.rules import diagram as drawing
from shaker_ctl.rules import profile_files
from shaker_ctl.rules.clauses import TEXTS, Clause, clauses
from shaker_ctl.rules.clauses import cited as named_in
from shaker_ctl.rules.clauses.words import words
from shaker_ctl.rules.multipliers import MAX_POSITIONS
from shaker_ctl.rules.paytable import prices
from shaker_ctl.rules.profile_files import PROFILES
from shaker_ctl.rules.regulation import Profile, said, values_of
from shaker_ctl.rules.row import Row
from shaker_ctl.rules.rulebook import out_of_force
from shaker_ctl.rules.table_text import EVENTS, PHASES, entries
from shaker_ctl.rules.vocabulary import Barrier

app = typer.Typer(
    help="Show, compare and check the rule profiles.", no_args_is_help=True, add_completion=False
)
screen = Console()

ProfileName = Annotated[
    str, typer.Argument(help=f"One of {', '.join(PROFILES)}; or the path of a profile file.")
]


def standing(profile: Profile) -> str:
    """Say whether a profile is in force now, and since when or until when."""
    day = profile.day(datetime.now(UTC))
    first, last = profile.in_force.effective_from.value, profile.in_force.last_day.value
    match out_of_force(profile, day):
        case Barrier.EXPIRED:
            return f"not in force since the end of {last} ({profile.in_force.last_day.clause})"
        case Barrier.NOT_YET_IN_FORCE:
            return f"not in force before {first} ({profile.in_force.effective_from.clause})"
    if not profile.rests_on_instrument:
        return "rests on no instrument"
    since = f"since {first}" if isinstance(first, date) else "undated"
    return f"in force, {since}" + (f", until {last}" if isinstance(last, date) else "")


@app.command("list")
def list_profiles() -> None:
    """List the profiles that come with the product, and whether they are in force today."""
    grid = Table("profile", "what it is", "today")
    for profile in profile_files.shipped_profiles():
        words = standing(profile)
        style = "red" if words.startswith("not in force") else ""
        grid.add_row(profile.name, escape(profile.title), Text(words, style=style))
    screen.print(grid)


@app.command()
def show(
    context: typer.Context,
    profile: Annotated[
        str | None, typer.Argument(help=f"One of {', '.join(PROFILES)}; or a profile file.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="Show this clause instead, as 625a.5(g) or 5.B(2).")
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="A text file, or a folder of .txt files, with the words of the rule texts.",
            envvar="SHAKER_CTL_TEXTS",
        ),
    ] = None,
) -> None:
    """Show every value of a profile with its clause; or one clause: its duty, and its words."""
    if text is not None:
        _clause(text, profile, texts)
        return
    if profile is None:
        raise RefusedError(
            "neither a profile nor a clause is named",
            remedy="shaker-ctl rules show PROFILE, or rules show --text CLAUSE",
        )
    source = context.get_parameter_source("texts")
    if source is not None and source.name == "COMMANDLINE":
        raise RefusedError("--from is for the words of one clause", remedy="Add --text CLAUSE")
    one = profile_files.load(profile)
    _head(one)
    grid = Table("what", "value", "clause")
    before = ""
    for key, value in values_of(one):
        group, _, name = key.partition(".")
        if before and group != before:
            grid.add_section()
        before = group
        words = escape(said(value.value)) + (" ※" if value.reading else "")
        grid.add_row(f"{said(group)}: {said(name)}", words, escape(value.clause))
        if value.reading:
            grid.add_row("", f"[dim]※ {escape(value.reading)}[/]", "")
    screen.print(grid)
    if one.areas:
        areas = Table("area of the house", "wins where", "pays by", "lamp")
        for area, rule in one.areas.items():
            told = rule.model_dump(exclude_defaults=True, exclude={"lamp", "pays", "clause"})
            where = "; ".join(f"{key} {said(value)}" for key, value in told.items())
            areas.add_row(area, where, ", ".join(rule.pays), str(rule.lamp))
        screen.print(areas)
    if one.multipliers.ranges:
        odds = Table("multiplied position", "pays", "clause", title="Multipliers")
        for name, span in one.multipliers.ranges.items():
            odds.add_row(said(name), f"{span.least} to {span.most}, to 1", escape(span.clause))
        screen.print(odds)
    screen.print(f"Paytables: {escape(', '.join(one.payout.tables))} (`shaker-ctl rules paytable`)")
    for oddity in one.oddities:
        screen.print(f"[dim]as printed:[/] {escape(oddity)}")


def _clause(number: str, profile: str | None, folder: Path | None) -> None:
    """Print a clause: what it asks for in our words, and its own words where a file has them."""
    chosen = [profile] if profile is not None else list(TEXTS)
    found = [(text, clauses(text)[number]) for text in chosen if number in _of(text)]
    if not found:
        raise RefusedError(
            f"no rule text here has a clause {number}",
            remedy="Write it as the pages in shaker_ctl/rules/clauses do: 625a.5(g), 5(d), 5.B(2)",
        )
    for text, clause in found:
        one = profile_files.load(text)
        screen.print(Text.assemble((number, "bold"), f"  {one.title}"))
        screen.print(escape(f"{clause.duty}. Who: {clause.who}. Here: {clause.verdict.words}."))
        own = next((told for each in _files(folder) if (told := words(each, number))), "")
        if own:
            screen.print(escape(own))
        else:
            screen.print(escape(f"{_without_words(folder)} They stand in {one.instrument}."))


def _without_words(folder: Path | None) -> str:
    if folder is not None:
        return f"{folder} does not hold the words of this clause."
    return "The words are not part of this program: name a file that has them, --from FILE."


def _of(text: str) -> dict[str, Clause]:
    if text not in TEXTS:
        raise RefusedError(
            f"{text} rests on no rule text that comes with the product",
            remedy=f"Name one of {', '.join(TEXTS)}, or none",
        )
    return clauses(text)


def _files(place: Path | None) -> Iterator[str]:
    """Yield what the files with the rule texts hold."""
    if place is None:
        return
    with reraise_as(RefusedError, f"{place} cannot be read", remedy="Name another --from"):
        for path in sorted(place.glob("*.txt")) if place.is_dir() else [place]:
            yield path.read_text(encoding="utf-8", errors="replace")


def _head(one: Profile) -> None:
    screen.print(Text.assemble((one.name, "bold"), f"  {one.title}"))
    screen.print(escape(one.instrument))
    screen.print(escape(standing(one)))
    if one.caution:
        screen.print(f"[yellow]{escape(one.caution)}[/]")


@app.command()
def compare(
    profiles: Annotated[list[str], typer.Argument(help="Two or more profiles.")],
    every: Annotated[bool, typer.Option("--all", help="Also what they have in common.")] = False,
) -> None:
    """Show where profiles differ, side by side, each value with its clause."""
    if len(profiles) < 2:
        raise RefusedError(
            "one profile alone cannot be compared", remedy="Name two profiles or more"
        )
    chosen = [profile_files.load(name) for name in profiles]
    grid = Table("what", *(escape(one.name) for one in chosen))
    columns = [dict(values_of(one)) for one in chosen]
    for key in columns[0]:
        cells = [column[key] for column in columns]
        words = [said(cell.value) for cell in cells]
        if every or len(set(words)) > 1:
            grid.add_row(
                said(key).replace(".", ": "),
                *(
                    f"{escape(word)}{' ※' if cell.reading else ''}\n[dim]{escape(cell.clause)}[/]"
                    for word, cell in zip(words, cells, strict=True)
                ),
            )
    screen.print(grid)
    screen.print("[dim]※ rests on a reading: see `shaker-ctl rules show`[/]")


@app.command()
def paytable(
    profile: ProfileName, table: Annotated[str, typer.Option(help="Letter of the paytable.")] = "A"
) -> None:
    """Show odds as printed, true probability and exact house edge of every wager."""
    one = profile_files.load(profile)
    if table not in one.payout.tables:
        raise RefusedError(
            f"{one.name} has no paytable `{table}`",
            remedy=f"Give --table {' or '.join(one.payout.tables)}",
        )
    _head(one)
    grid = Table(
        "wager",
        "pays, as printed",
        "wins in 216",
        "probability",
        "house edge",
        "exactly",
        title=escape(f"{one.name}, paytable {table}"),
    )
    flagged = False
    for price in prices(one, table):
        literal = price.edge_as_printed != price.edge
        flagged = flagged or literal
        edge = f"{float(price.edge):.2%}"
        exact = str(price.edge)
        if literal:
            edge += f"\n{float(price.edge_as_printed):.2%} as printed"
            exact += f"\n{price.edge_as_printed}"
        if price.edge_multiplied not in (None, price.edge):
            edge += f"\n{float(price.edge_multiplied):.2%} multiplied"
            exact += f"\n{price.edge_multiplied}"
        odds = " / ".join(price.odds) + (" ※" if literal else "")
        ways, chance = str(price.ways), f"{float(price.probability):.2%}"
        grid.add_row(price.wager, escape(odds), ways, chance, edge, exact)
    screen.print(grid)
    force = said(one.payout.force.value)
    words = f"Odds: {force} ({one.payout.force.clause}); worded {one.payout.wording.value}."
    screen.print(escape(words))
    if any("/" in " / ".join(price.odds) for price in prices(one, table)):
        screen.print("[dim]One of a kind: by one, two or three dice showing the number.[/]")
    if flagged:
        for line in one.payout.tables[table].values():
            if line.pays:
                screen.print(escape(f"※ {line.clause}: {line.reading}."))
    if one.multipliers.ranges:
        words = f"each round draws 0 to {MAX_POSITIONS} positions and their odds, all evenly"
        screen.print(f"[dim]The edge, multiplied, is that over all draws: {words}.[/]")
    for name, span in one.multipliers.ranges.items():
        if span.least < span.most:
            screen.print(f"[dim]multiplied {said(name)}: {span.least} to {span.most}, to 1[/]")


@app.command()
def diagram(
    out: Annotated[Path, typer.Option(help="File to write: .svg or .dot.")] = Path("table.svg"),
) -> None:
    """Draw the state diagram from the table itself; SVG needs Graphviz."""
    if out.suffix not in {".svg", ".dot"}:
        raise RefusedError(f"{out} ends neither in .svg nor in .dot", remedy="Name another --out")
    drawn = drawing.svg() if out.suffix == ".svg" else drawing.dot()
    with reraise_as(RefusedError, f"{out} cannot be written", remedy="Name another --out"):
        out.write_text(drawn, encoding="utf-8")
    screen.print(escape(f"{out}: {drawing.summary()}"))


@app.command()
def rows(
    phase: Annotated[str, typer.Option(help="Rows of one phase, as `awaiting dealer`.")] = "",
    event: Annotated[str, typer.Option(help="Rows of one event, as `LampFault`.")] = "",
    clause: Annotated[
        str, typer.Option(help="Rows that cite `no_roll.wagers`, or 625a.5(g), or announce by it.")
    ] = "",
    explain: Annotated[bool, typer.Option(help="Each condition and command in words.")] = False,
) -> None:
    """Print the table of the rules: its text is what the table does, row by row.

    A row: its title and clause; phases · event · conditions; → phase · notes · commands.
    """
    known = {key: key for each in entries() for key in each.cites}
    keys = _keys_of(clause) or {_asked(clause, known)} if clause else set(known)
    found = [
        each
        for each in entries()
        if (not phase or _asked(phase, PHASES) in each.row.phases)
        and (not event or _asked(event, EVENTS) is each.row.on)
        and not keys.isdisjoint(each.cites)
    ]
    if not found:
        raise RefusedError(
            "no row is so",
            remedy="Leave out --phase, --event or --clause, or name another; what a clause asks "
            "for: shaker-ctl rules show --text CLAUSE",
        )
    above = ""
    for each in found:
        told = "" if each.above == above else f"{each.above}\n"
        ways = each.row.may_cite
        causes = f"\n    cites, as the cause is: {'; '.join(ways)}" if len(ways) > 1 else ""
        screen.print(Text(f"{told}{each.text}{causes}\n"), soft_wrap=True)
        above = each.above
    if explain:
        for line in _terms([each.row for each in found]):
            screen.print(Text(line), soft_wrap=True)


def _terms(of: list[Row]) -> list[str]:
    """Say in its own words what each condition, note and command of these rows is."""
    told: dict[str, str | None] = {}
    for row in of:
        for one in row.when:
            refused = f"Refused: {one.otherwise}." if isinstance(one.otherwise, str) else ""
            told[one.name] = f"{one.holds.__doc__ or ''} {refused}"
        told |= {one.__name__: one.__doc__ for one in (*row.notes, *row.do)}
    return [f"{name}: {' '.join(words.split())}" for name, words in sorted(told.items()) if words]


def _keys_of(clause: str) -> set[str]:
    """Return the keys of every text's profile that rest on a clause; itself where none does."""
    keys = {
        key
        for text in TEXTS
        for key, value in values_of(profile_files.load(text))
        if clause in named_in(value.clause, clauses(text))
    }
    return keys or {clause for text in TEXTS if clause in clauses(text)}


def _asked(name: str, known: Mapping[str, Any]) -> Any:
    """Return what is called `name`, however it is spaced, and in letters of either case."""
    found = {_folded(each): value for each, value in known.items()}.get(_folded(name))
    if found is None:
        near = difflib.get_close_matches(name, known, 3, cutoff=0.5)
        raise RefusedError(
            f"nothing in the rows is called `{name}`",
            remedy=f"Did you mean {', '.join(near)}?" if near else f"One of {', '.join(known)}",
        )
    return found


def _folded(name: str) -> str:
    return name.lower().replace("_", "").replace(" ", "")


def _kind(one: Profile) -> str:
    """Say what a file is, so that nobody takes it for a text that comes with the product."""
    if not one.own_file:
        return "it comes with the product"
    if not one.rests_on_instrument:
        return "the house's own rules, which rest on no instrument"
    return f"a file of the house, which nobody has compared with {one.instrument}"


@app.command()
def check(file: Annotated[Path, typer.Argument(help="A profile file.")]) -> None:
    """Check a profile file: every key, bound and clause."""
    if str(file) in PROFILES and not file.exists():
        raise SettingsError(
            f"there is no file {file}; a profile of that name comes with the product",
            remedy=f"Name a .toml file, or look at the profile: shaker-ctl rules show {file}",
        )
    if file.suffix != ".toml":  # `load` would list the profiles that come with the product
        raise SettingsError(
            f"{file} is no profile file: its name does not end in .toml", remedy="Name a .toml file"
        )
    one = profile_files.load(file)
    readings = sum(bool(value.reading) for _, value in values_of(one))
    words = (
        f"{file}: profile {one.name} is complete: {_kind(one)}. "
        f"{sum(1 for _ in values_of(one))} values cited, {readings} of them readings; "
        f"{standing(one)}."
    )
    screen.print(escape(words))
