"""The model's manifest, and the proof that the file beside it is the one it describes.

Owns: reading `models/manifest.toml`, the SHA-256 check, the thresholds that were chosen on
data. Must not know: inference, images, cameras.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vision.errors import ModelError
from vision.reading import VALUES

MODELS = Path(__file__).resolve().parents[2] / "models"
MANIFEST = MODELS / "manifest.toml"

CLASSES = VALUES
"""Order of the value channels. A manifest that says otherwise is refused: a permuted class
order would read every die wrong with full confidence."""


MULTIPLE = 32
"""Width and height of the finder's input are multiples of this, pixels: its smallest map has cells
of 32."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file, and the digest that its manifest promises."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model and what its manifest promises about it."""

    finder: ModelFile
    """The network that finds all dice of a picture."""
    name: str
    min_score: float
    """Lowest heat-map peak that counts as a die, 0..1, where nobody asks for another. Chosen on
    data by `models.training.evaluate`."""
    near: ModelFile | None
    """The network that looks at each die again, for how it lies; None where there is none."""
    photo: ModelFile | None
    """The network that looks at each thing on a photograph; None where there is none."""


def read_model_card(manifest: Path = MANIFEST) -> ModelCard:
    """The manifest, checked against the file it names.

    Raises ModelError when either file is missing, a key is missing, of the wrong type or out of
    range, the classes are in another order, or the file's SHA-256 is not the manifest's. A network
    that is still in training may lack the two that look again; `models/manifest.toml` may not.
    """
    try:
        content = tomllib.loads(manifest.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelError(
            f"no model manifest at {manifest}: restore models/ from the release, "
            "or train a model with `make model`"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"cannot read the model manifest {manifest}: {error}") from error
    try:
        model, thresholds = content["model"], content["thresholds"]
        card = ModelCard(
            finder=_file(manifest, model),
            name=str(model["name"]),
            min_score=float(thresholds["score"]),
            near=_file(manifest, content["near"]) if "near" in content else None,
            photo=_file(manifest, content["photo_look"]) if "photo_look" in content else None,
        )
        classes, multiple = tuple(content["output"]["classes"]), content["input"]["multiple"]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelError(
            f"the model manifest {manifest} lacks or garbles {error}: export the model again"
        ) from error
    if classes != CLASSES:
        raise ModelError(
            f"the model manifest {manifest} lists the classes {classes}; needed: {CLASSES}"
        )
    if multiple != MULTIPLE:
        raise ModelError(
            f"the model manifest {manifest} has pictures of multiples of {multiple} pixels; "
            f"needed: {MULTIPLE}"
        )
    if not 0.0 < card.min_score < 1.0:  # false for nan, too
        raise ModelError(
            f"the model manifest {manifest} has the score {card.min_score:g}; "
            "needed: between 0 and 1"
        )
    if manifest == MANIFEST and None in (card.near, card.photo):
        raise ModelError(
            f"the model manifest {manifest} names no second look at a die ([near], [photo_look]): "
            "restore models/ from the release"
        )
    for file in (card.finder, card.near, card.photo):
        if file is not None:
            _check_digest(file)
    return card


def _file(manifest: Path, entry: dict[str, Any]) -> ModelFile:
    return ModelFile(manifest.parent / str(entry["file"]), str(entry["sha256"]).lower())


def digest_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_digest(file: ModelFile) -> None:
    try:
        found = digest_of(file.path)
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise ModelError(
            f"cannot read the model {file.path}: {error}; restore models/ from the "
            "release, or train a model with `make model`"
        ) from error
    if found != file.sha256:
        shown, wanted = (digest[:16] for digest in (found, file.sha256))
        raise ModelError(
            f"{file.path} is not the model that its manifest describes: SHA-256 {shown}…, "
            f"expected {wanted}…; restore models/ from the release"
        )
