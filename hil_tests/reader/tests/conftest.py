"""One taught table of the rig for all tests of a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
import pytest

from hil_tests.reader.samples import STEREO
from hil_tests.reader.stage import Stage
from hil_tests.reader.tables import Table, rig_tables
from hil_tests.rig.plant.geometry import GEOMETRIES
from hil_tests.rig.plant.looks import STYLES
from vision.networks.classifier import DieFinder

SEED = 3


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    cv2.setNumThreads(1)
    sample = replace(
        STEREO, compartments={"standard": GEOMETRIES["standard"]}, lenses=STEREO.lenses[:1],
        styles={"white": STYLES["white"]},
    )  # fmt: skip
    return rig_tables(DieFinder(), SEED, tmp_path_factory.mktemp("taught"), sample)(0)


@pytest.fixture
def stage_of(table: Table) -> Callable[[int], Stage]:
    """The stage of a case, by its number."""
    return lambda number: Stage(table, number, np.random.default_rng((SEED, number)))
