"""`shaker-ctl calibrate`: print the target, and measure the camera with it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import typer

from shaker_ctl import settings, settings_text
from shaker_ctl.adapters.camera.calibration import Measured, draw_fit, measured
from shaker_ctl.adapters.pins import daemon_network
from shaker_ctl.adapters.pins.gpio_backend import GpioPins, make_pins
from shaker_ctl.errors import CameraError, GpioLinkError, RefusedError, SettingsError, reraise_as
from shaker_ctl.installation import told
from shaker_ctl.reading.parameters import HEIGHT_MM, RADIUS_MM, CameraParameters
from vision.calibrating.calibrate import Fit, View
from vision.calibrating.calibrate import calibrate as measure
from vision.calibrating.second_lens import calibrate_both
from vision.calibrating.target import PRINT_SCALES, Target
from vision.calibrating.target_paper import RULE_MM, pdf, png
from vision.calibration import MIN_DICE_HIGH, Calibration, CalibrationError
from vision.frame import Frame
from vision.pictures import PictureError, load_whole

app = typer.Typer(no_args_is_help=True, help="Calibrate the camera by a printed target.")

CARD_MM = (0.0, 20.0)
"""A sheet of paper to a card glued onto a board."""

RAISED_MM = (1.0, 200.0)
RAISED_BESIDE_MM = 2.0
"""By so much the card before a stereo camera may be beside the height of the dice, at which both
lenses must agree."""
MAX_RAISED = 0.5
"""Share of the lens's height up to which a card may be raised: nearer, it is out of focus."""

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Settings file of the table.", show_default=False)
]
ChangedConfig = Annotated[Path, typer.Option("--config", help="Settings file, which is changed.")]
Height = Annotated[
    float | None,
    typer.Option(help="Lens above the floor by a ruler, mm (±3); else as in the settings."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask, neither to lay nor to write.")]


@app.command()
def target(
    out: Annotated[Path, typer.Option(help="File to write: .pdf (a page, to scale) or .png.")],
    config: ConfigOption = None,
    radius: Annotated[
        float | None, typer.Option(help="Radius of the compartment's floor, mm; else of --config.")
    ] = None,
) -> None:
    """Write the calibration target for a printer.

    Print it at 100 %, on matt paper; glue it onto card and cut it out: it fills the floor of the
    compartment.
    """
    if radius is None:
        if config is None:
            raise RefusedError(
                "the target's size is not known", remedy="Give --config FILE or --radius MM"
            )
        radius = settings.load(config).camera.calibration.compartment_radius_mm
    _require_within("--radius", radius, *RADIUS_MM)
    design = Target(radius)
    makers = {".pdf": pdf, ".png": png}
    if out.suffix not in makers:
        raise RefusedError(f"{out} is neither .pdf nor .png", remedy="Name a file of one of them")
    with reraise_as(RefusedError, f"cannot write {out}", remedy="Name another --out"):
        out.write_bytes(makers[out.suffix](design))
    typer.echo(
        f"{out}: a card of {2 * design.radius_mm:g} mm for a compartment of {radius:g} mm radius, "
        f"{design.squares} squares of {design.square_mm:g} mm along its board"
    )


@app.command()
def camera(
    config: ChangedConfig,
    height: Height = None,
    raised: Annotated[
        float | None,
        typer.Option(help="Take a second picture, with the card raised by so many mm: no ruler."),
    ] = None,
    card: Annotated[float, typer.Option(help="Thickness of the card, mm.")] = 0.3,
    rule: Annotated[
        float, typer.Option(help=f"Length of the printed {RULE_MM:g} mm rule as measured, mm.")
    ] = RULE_MM,
    photo: Annotated[
        list[Path] | None,
        typer.Option(help="Use these pictures, floor first, and not the camera.", exists=True),
    ] = None,
    yes: Yes = False,
) -> None:
    """Measure the camera by the printed target and write the table camera.calibration, and
    camera.second for a stereo camera.

    Stop the service and open the lid. Take the dice out, lay the card flat onto the floor; the ring
    light is switched on. With --raised, a second picture is taken of the card on something of that
    height; it replaces the ruler. Before a stereo camera, whose second lens is measured as well,
    lay it on three dice. The table is then due an inspection.
    """
    found = settings.load(config)
    start = _start(found.camera, height)
    if start.right is not None and abs((raised or 0.0) - start.die_mm) > RAISED_BESIDE_MM:
        raise RefusedError(
            "both lenses of a stereo camera are measured at the height of the dice",
            remedy=f"Give --raised {start.die_mm:g}, and lay the card on three dice for the second "
            "picture; nothing was done",
        )
    _require_within("--card", card, *CARD_MM)
    _require_within("--rule", rule, *(RULE_MM * scale for scale in PRINT_SCALES))
    if raised is not None:
        least, most = RAISED_MM
        _require_within("--raised", raised, least, min(most, MAX_RAISED * start.height_mm))
    heights = [card] if raised is None else [card, card + raised]
    if photo:
        views = _photos(photo, heights)
        _require_size([view.image for view in views], start, yes)
    else:
        words = ["Lay the card flat on the floor", f"Lay it level, raised by {raised or 0:g} mm"]
        if start.right is not None:
            words[1] += ": on three dice"
        taken = _take(found, words[: len(heights)], yes)
        views = [View(image, z) for image, z in zip(taken, heights, strict=True)]
    _require_lenses(views[0].image, start)
    target, lenses = Target(start.compartment_radius_mm, rule / RULE_MM), _by_lens(views, start)
    with _to_be_mended():
        if len(lenses) == 1:
            fits = [measure(views, target, start)]
        else:
            fits = list(calibrate_both(lenses, target, replace(start, right=None)))
    _keep(fits, start, lenses, config, yes)


@contextlib.contextmanager
def _to_be_mended() -> Iterator[None]:
    """Pictures that no calibration can be made of are an error that names the remedy."""
    try:
        yield
    except CalibrationError as error:
        raise CameraError(str(error), remedy="Mend that and take the pictures again") from error


def _require_within(option: str, value: float, least: float, most: float) -> None:
    """Refuse a wrong measure before anything is measured by it. Raises RefusedError."""
    if not least <= value <= most:  # false for nan, too
        raise RefusedError(
            f"{option} is {value:g} mm", remedy=f"Give {least:g} to {most:g} mm; nothing was done"
        )


def _start(p: CameraParameters, height: float | None) -> Calibration:
    """What the settings say, with the height that a person has measured now."""
    start = Calibration.from_table(p.calibration_table())
    if height is None:
        return start
    least = max(HEIGHT_MM[0], MIN_DICE_HIGH * start.die_mm)
    if not least < height <= HEIGHT_MM[1]:  # false for nan, too
        raise RefusedError(
            f"--height is {height:g} mm",
            remedy=f"Give what a ruler says from the floor up to the lens, above {least:g} and at "
            f"most {HEIGHT_MM[1]:g} mm; nothing was done",
        )
    return replace(start, height_mm=height)


def _require_lenses(image: np.ndarray, start: Calibration) -> None:
    """Refuse a stereo camera's picture where the settings have one lens, and the reverse. Another
    size is no reason: it is what a calibration may find. Raises CameraError."""
    width, height = start.image_size
    other = width if start.right is not None else 2 * width
    if image.shape[1::-1] == (other, height):
        raise CameraError(
            start.misfit(Frame(image)),
            remedy="Set camera.second.fitted as the camera is; nothing was done",
        )


def _by_lens(views: list[View], start: Calibration) -> list[list[View]]:
    """The pictures of each lens: those of the second are the right halves."""
    if start.right is None:
        return [views]
    width = views[0].image.shape[1] // 2
    halves = (np.s_[:, :width], np.s_[:, width:])
    return [[replace(v, image=v.image[half].copy()) for v in views] for half in halves]


def _photos(files: list[Path], heights: list[float]) -> list[View]:
    if len(files) != len(heights):
        raise RefusedError(
            f"{len(files)} pictures for {len(heights)} heights of the card",
            remedy="Give one --photo, or two with --raised",
        )
    return [View(_read(file), height) for file, height in zip(files, heights, strict=True)]


def _read(file: Path) -> np.ndarray:
    try:
        return load_whole(file)
    except PictureError as error:
        raise CameraError(str(error), remedy="Name a JPEG or PNG file") from error


def _require_size(images: Sequence[np.ndarray], start: Calibration, yes: bool) -> None:
    """Ask whether a picture of another size is the table's. Raises RefusedError where it is not."""
    width, height = start.frame_size
    for image in images:
        if image.shape[1::-1] == (width, height):
            continue
        size = f"{image.shape[1]} x {image.shape[0]} px"
        if yes or not typer.confirm(
            f"The picture has {size}, the table's have {width} x {height} px. "
            "Does its camera now send pictures of this size?"
        ):
            raise RefusedError(
                f"the picture has {size}, by the settings the camera's have {width} x {height} px",
                remedy="Take a picture with the table's camera, or leave out --yes and say that "
                "its size has changed; nothing was done",
            )


def _take(found: settings.Settings, words: Sequence[str], yes: bool) -> list[np.ndarray]:
    """One picture for each of `words`, which say what to lay where, in the table's own light."""
    from shaker_ctl.adapters.camera.stopped_camera import StoppedCamera
    from shaker_ctl.doctor.examination import refuse_beside_a_service

    refuse_beside_a_service(found)
    images = []
    with _lit_and_uncovered(found):
        for asked in words:
            if not yes:
                typer.prompt(f"{asked}. Enter", default="", show_default=False)
            typer.echo(f"taking a picture from {found.camera.device} ...")
            with StoppedCamera(found.camera) as camera:
                images.append(camera.quiet_picture())
    return images


@contextlib.contextmanager
def _lit_and_uncovered(found: settings.Settings) -> Iterator[None]:
    """Have the ring light as in play and a driven cover open, where the pins can be reached."""
    with contextlib.ExitStack() as held:
        try:
            daemon_network.enter()
            held.enter_context(lit_and_uncovered(found))
        except (GpioLinkError, SettingsError) as error:
            typer.echo(f"the ring light stays as it is ({error}): light the floor as in play")
        yield


@contextlib.contextmanager
def lit_and_uncovered(found: settings.Settings) -> Iterator[GpioPins]:
    """The pins, with the ring light as in play and a driven cover open. Raises GpioLinkError and
    SettingsError where they cannot be reached."""
    pins = make_pins(found.gpio)
    with contextlib.ExitStack() as held:
        pins.link.open()
        held.callback(pins.link.close)
        held.callback(_put_back, pins)
        pins.outputs.set_light(1.0)
        if found.table.cover_driven:
            pins.outputs.drive_cover(True)
            time.sleep(found.table.cover_s)
        yield pins


def _put_back(pins: GpioPins) -> None:
    """Ring light off, cover closed: the daemon would keep both as they are when nobody is there."""
    try:
        pins.outputs.set_light(0.0)
        pins.outputs.drive_cover(False)
    except GpioLinkError as error:
        typer.echo(f"the ring light may still burn ({error}): start the service, or switch it off")


def _compare(fit: Fit, before: Calibration) -> None:
    """Say how far the new calibration puts the dice from where the old one did."""
    r = 0.8 * before.compartment_radius_mm
    turn = np.linspace(0.0, 2.0 * np.pi, 13)
    tops = np.c_[r * np.cos(turn), r * np.sin(turn), np.full(13, before.die_mm)]
    off = np.hypot(*(fit.calibration.to_px(tops) - before.to_px(tops)).T)
    typer.echo(f"compared with the settings, the tops of the dice move by up to {off.max():.1f} px")


def _keep(
    fits: list[Fit],
    before: Calibration,
    lenses: list[list[View]],
    config: Path,
    yes: bool,
) -> None:
    """Show what was measured of each lens beside what stood there `before`, ask, and write both
    files."""
    for fit in fits:
        typer.echo(fit.line)
    _compare(fits[0], before)

    today = date.today()
    picture = config.resolve().with_name(f"camera-calibration-{today.isoformat()}.jpg")
    found = measured(fits, today, picture)
    typer.echo(settings_text.changed("", found.values, found.notes))
    text = _with_measured(config, found)  # before anybody is asked, or a picture kept
    if not yes and not typer.confirm(f"Write this into {config}?", default=True):
        raise typer.Exit(1)
    shown = [
        draw_fit(view, corners)
        for views, fit in zip(lenses, fits, strict=True)
        for view, corners in zip(views, fit.found, strict=True)
    ]
    _write_picture(picture, np.concatenate(shown, axis=1))
    settings_text.replace(config, text)
    typer.echo(f"written: {config}; picture: {picture}. Start the service, and inspect the table")


def _with_measured(config: Path, found: Measured) -> str:
    """The text of the settings file. Raises SettingsError where no table starts with it."""
    try:
        return told.with_keys(config, found.values, found.notes)
    except SettingsError as error:
        raise SettingsError(
            f"what was measured cannot be written, and {config} stays as it was: {error}",
            remedy="Check the options and the pictures, and measure again",
        ) from error


def _write_picture(file: Path, image: np.ndarray) -> None:
    try:
        is_written = cv2.imwrite(str(file), image)
    except cv2.error:
        is_written = False
    if not is_written:
        raise RefusedError(
            f"cannot write the picture {file}, and the settings stay as they were",
            remedy="Run it as root",
        )
