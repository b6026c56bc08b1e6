"""The table's view as text for people: ASCII in 80 columns, one function per read command.

Owns wording and layout. Must not know lines, sessions or where the view came from. What is not
known is printed as `?`, never as zero.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from shaker_ctl.console.desk import JournalLine, RoundView, TableView
from shaker_ctl.rules.outcome import Values

WIDTH = 79
LABEL = 14

_HEIGHTS = "_.,-=+*#"

Lines = list[str]


# ── Small parts ─────────────────────────────────────────────────────────────


def shown(value: object, unit: str = "", digits: int = 1) -> str:
    """A figure with its unit, or `?`."""
    if value is None or value == "":
        return "?"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        value = f"{value:.{digits}f}"
    return f"{value} {unit}".rstrip()


def time_of(wall_s: float | None) -> str:
    """Local wall time to the second."""
    if wall_s is None:
        return "?"
    try:
        return datetime.fromtimestamp(wall_s).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return "?"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    minutes, hours, days = int(seconds // 60), int(seconds // 3600), int(seconds // 86_400)
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {int(seconds % 60)} s" if minutes else f"{seconds:.0f} s"


def size(count: int | None) -> str:
    if count is None:
        return "?"
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def dice(values: Values | None) -> str:
    return "?" if values is None else " ".join(str(value) for value in values)


def pair(label: str, text: str) -> Lines:
    """`label   text`, wrapped under itself."""
    return textwrap.wrap(
        text or "-",
        WIDTH,
        initial_indent=f"{label:<{LABEL}}",
        subsequent_indent=" " * LABEL,
        break_on_hyphens=False,
    )


def pairs(*rows: tuple[str, str]) -> Lines:
    return [line for label, text in rows for line in pair(label, text)]


def paragraph(text: str, indent: str = "") -> Lines:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def figures(figures: Mapping[str, object]) -> Lines:
    """Any mapping of labels to figures. An inner mapping stands in a row behind its label, each
    of a list of mappings on lines of its own.
    """
    lines: Lines = []
    for label, value in figures.items():
        head = f"{label.replace('_', ' '):<{LABEL - 1}} "
        items = value if isinstance(value, list | tuple) else ()
        if any(isinstance(item, Mapping) for item in items):
            rows = [head.rstrip(), *(f"  {_figure(item)}" for item in items)]
        else:
            rows = [head + _figure(value)]
        for row in rows:
            under = " " * (4 if row.startswith("  ") else len(head))
            lines += textwrap.wrap(row, WIDTH, subsequent_indent=under, break_on_hyphens=False)
    return lines


def _figure(value: object) -> str:
    if isinstance(value, Mapping):
        named = [f"{key}: {_figure(inner)}" for key, inner in value.items() if inner is not None]
        return ", ".join(named) or "-"
    if isinstance(value, list | tuple):
        are_dice = all(isinstance(one, int) for one in value)
        return (" " if are_dice else ", ").join(map(_figure, value)) or "-"
    return shown(value, digits=4)


def sparkline(speeds: Sequence[float], width: int = 60) -> str:
    """Speeds over time as one line, scaled from 0 to the highest."""
    if not speeds:
        return "-"
    columns = min(width, len(speeds))
    highest = max(max(speeds), 1.0)
    spans = [
        speeds[i * len(speeds) // columns : max((i + 1) * len(speeds) // columns, 1)]
        for i in range(columns)
    ]
    means = [sum(span) / len(span) for span in spans if span]
    top = len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[min(top, max(0, round(mean / highest * top)))] for mean in means)


# ── The read commands ───────────────────────────────────────────────────────


def status(view: TableView) -> Lines:
    state = " - ".join(word for word in (view.life, view.phase) if word)
    lines = [f"{view.table}: {state}"]
    lines += view.marks
    lines += paragraph(view.says)
    result = f"last result {dice(view.last_result)}" if view.last_result else "no result yet"
    last = view.last_ended or result
    lines += pair("round", f"{view.round_id}, {last}" if view.round_id else "none yet")
    if view.pending:
        by = " or ".join(role.value for role in view.pending.roles)
        if by and view.since_s:
            by += f", since {time_of(view.since_s)[11:]}"
        lines += pair("waits for", f"{by}: {view.pending.text}" if by else view.pending.text)
    if view.next_step:
        lines += pair("next", view.next_step)
    if view.faults:
        codes = ", ".join(fault.code for fault in view.faults)
        lines.append(f"{'faults':<{LABEL}}{len(view.faults)}: {codes}"[:WIDTH])
    else:
        lines += pair("faults", "none")
    if any(what == "seal" and not is_verified for what, _, is_verified in view.digests):
        lines += pair("seal", "unsealed: program and settings are not signed")
    return lines


def faults(view: TableView) -> Lines:
    if not view.faults:
        return ["no faults"]
    lines: Lines = []
    for fault in view.faults:
        lines.append(f"{fault.code}  {time_of(fault.wall_s)}")
        lines += paragraph(fault.cause, "  ")
        lines += paragraph(f"-> {fault.remedy}", "  ")
        if fault.is_clearable:
            lines += paragraph(f"clear it with: fault clear {fault.code}", "  ")
    return lines


def lamps(view: TableView) -> Lines:
    lamp = view.lamps
    measured = "?" if lamp.measured is None else ", ".join(lamp.measured) or "all dark"
    lines = pairs(
        ("phase", lamp.phase or "?"),
        ("commanded", ", ".join(lamp.commanded) or "all dark"),
        ("measured", measured),
        ("box", f"{lamp.box or '?'}, answered {shown(lamp.age_s, 's ago', 2)}"),
        (
            "line",
            f"reply in {shown(lamp.reply_ms, 'ms', 1)}, slowest {shown(lamp.slowest_ms, 'ms', 1)}, "
            f"said again {lamp.repeats} times",
        ),
    )
    if lamp.broken:
        lines.append(f"{'broken':<{LABEL}}{', '.join(lamp.broken)}"[:WIDTH])
    return lines


NO_AMMETER = "not fitted: an overload shows as the driver's fault"


def motor(view: TableView) -> Lines:
    drive = view.motor
    lines = pairs(
        ("speed", f"{shown(drive.rpm, 'rpm', 0)}, duty {shown(drive.duty, digits=2)}"),
        ("current", NO_AMMETER if drive.current_a is None else shown(drive.current_a, "A", 2)),
        ("enabled", shown(drive.is_enabled)),
        ("gpio", drive.link or "?"),
        ("contacts", ", ".join(f"{name} {state}" for name, state in drive.interlocks) or "?"),
        ("last run", drive.last_toss_verdict or ("none yet" if not drive.last_toss_rpm else "-")),
    )  # fmt: skip
    if not drive.last_toss_rpm:
        return lines
    top, lasted = max(drive.last_toss_rpm), shown(drive.last_toss_s, "s", 2)
    scale = f"0 to {top:.0f} rpm in {lasted} from EN high to standstill"
    return [*lines, *pair("", sparkline(drive.last_toss_rpm)), *pair("", scale)]


def camera(view: TableView) -> Lines:
    eye = view.camera
    return pairs(
        ("camera", eye.state or "?"),
        ("frames", f"{shown(eye.fps, 'a second')}, late {shown(eye.late_frames)}"),
        ("exposure", eye.exposure or f"brightness {shown(eye.brightness)}"),
        ("sharpness", shown(eye.sharpness)),
        ("last reading", eye.last_reading or "none"),
        ("teaching", eye.taught or "?"),
    )


def dice_set(view: TableView) -> Lines:
    held = view.dice
    lines = pairs(
        ("serials", ", ".join(held.serials) or "not recorded: dice changed SERIALS"),
        ("age", "not known" if held.age_s is None
                else f"{duration(held.age_s)} of at most {duration(held.limit_s)}"),
        ("tosses", shown(held.tosses)),
        ("wear", held.wear or "?"),
        ("test", held.test or "?"),
    )  # fmt: skip
    if held.age_s is not None and held.limit_s is not None and held.age_s > held.limit_s:
        lines.append("over age: no round starts until dice are changed")
    return lines


def inspection(view: TableView) -> Lines:
    now = view.inspection
    entries = f"{now.entries_seen} of {now.entries_of} seen"
    if now.unseen:
        entries += f"; not seen yet: {', '.join(now.unseen)} (the house's care)"
    signed = f"{now.signed_by} ({now.signer_role})" if now.signed_by else "no"
    return pairs(
        ("stage", now.stage or "?"),
        ("due because", "; ".join(now.reasons) or "-"),
        ("lamp entries", entries),
        ("each lamp", f"{now.lamps_proved} of {now.lamps_of} proved"),
        ("seen by", now.lamps_seen_by or "nobody yet"),
        ("cycles", f"{now.cycles_good} of {now.cycles_of} good in a row"),
        ("signed", f"{signed}; asked of: {now.signer_role or '?'}"),
    )


def profile(view: TableView) -> Lines:
    rules = view.profile
    lines = pairs(
        ("profile", f"{rules.key or '?'}: {rules.title}"),
        ("paytable", rules.paytable or "?"),
        ("instrument", rules.instrument or "rests on no instrument"),
        ("in force", shown(rules.is_in_force)),
        ("entry", rules.entry_mode or "?"),
        ("no more bets", f"before {rules.nmb_before or '?'}"),
        ("attendance", rules.attendance or "?"),
    )
    lines += view.marks
    for what, value, clause in rules.facts:
        lines += textwrap.wrap(f"{what}: {value}  [{clause}]", WIDTH, subsequent_indent="    ")
    return lines


def digests(view: TableView) -> Lines:
    lines: Lines = []
    for what, digest, is_verified in view.digests:
        verdict = "verified" if is_verified else "unsealed"
        lines += [f"{what}: {verdict}", f"  {digest}"]
    return lines or ["no digests known"]


TRUST = {
    "none": "not trusted: if it is right, a floorperson says: time confirm",
    "rtc": "from the battery-backed clock",
    "synchronised": "synchronised",
    "confirmed": "confirmed by a person",
}


def health(view: TableView) -> Lines:
    now = view.health
    lines = pairs(
        ("temperature", shown(now.temperature_c, "C")),
        ("power", "not known" if now.throttled is None
                  else ", ".join(now.throttled) or "no undervoltage reported"),
        ("disk free", size(now.disk_free_b)),
        ("memory free", size(now.memory_free_b)),
        ("up for", duration(now.uptime_s)),
        ("clock", f"{time_of(now.wall_s)}, {TRUST.get(now.clock_trust, now.clock_trust) or '?'}"),
        ("journal", f"record {shown(view.journal.sequence)}, {view.journal.state or '?'}, "
                    f"second copy {view.journal.second_copy or '?'}"),
    )  # fmt: skip
    if view.journal.volumes:
        lines += pair("volumes", view.journal.volumes)
    if view.journal.head:
        lines += pair("chain head", view.journal.head)
    return lines


def game_round(view: RoundView) -> Lines:
    lines = figures(view.facts)
    lines += ["", "what happened"] if view.events else []
    for wall_s, what in view.events:
        lines += textwrap.wrap(f"{time_of(wall_s)}  {what}", WIDTH, subsequent_indent=" " * 21)
    return lines


def journal(records: Iterable[JournalLine]) -> Lines:
    lines: Lines = []
    for record in records:
        text = f"{record.sequence:>7} {time_of(record.wall_s)} {record.kind} {record.text}"
        lines += textwrap.wrap(text, WIDTH, subsequent_indent=" " * 28)
    return lines or ["the journal is empty"]


def progress(name: str, view: TableView) -> str:
    """How far the work is that a person started: one screen line, drawn over itself."""
    now = view.inspection
    if name == "lamp test":
        lamps = view.lamps
        text = f"{name}: {lamps.tried} of {lamps.to_try} proved, {' '.join(lamps.commanded)}"
    elif view.life == "trial":
        text = f"{name}: {shown(view.motor.rpm, 'rpm', 0)} - {view.says}"
    else:
        done, of = now.lamps_proved, now.lamps_of
        if now.stage == "cycles":
            done, of = now.cycles_good, now.cycles_of
        elif now.stage == "lamp entries":
            done, of = now.entries_seen, now.entries_of
        bar = "#" * round(20 * done / max(of, 1))
        text = f"{name}: {now.stage or view.life} [{bar:.<20}] {done} of {of}"
    return text[:WIDTH]
