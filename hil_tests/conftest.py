"""`pytest hil_tests --rig FILE`: which rig the tests run on, and what they leave behind.

Owns the options and the fixtures that every test of a rig may ask for. A test that needs something
the rig cannot do is skipped, with the reason.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hil_tests.report.header import header
from hil_tests.report.measurement import Measure
from hil_tests.report.plugin import ReportPlugin
from hil_tests.report.record import TestRecord
from hil_tests.report.story import Story
from hil_tests.rig.rigfile import RigFile, RigFileError, load

Operator = Callable[[str], bool]

PLUGIN = pytest.StashKey[ReportPlugin]()
RIG = pytest.StashKey[RigFile]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rig", "the rig")
    group.addoption(
        "--rig", metavar="FILE", help="rig file (see hil_tests/rigs); without it, all is virtual"
    )
    group.addoption(
        "--rig-report",
        metavar="DIR",
        help="keep report.html, report.json, junit.xml and openhtf.json there; "
        "`shaker-rig trend` takes such folders",
    )
    group.addoption("--rig-operator", metavar="NAME", help="who runs it, for the report")
    group.addoption(
        "--rig-prompt",
        action="store_true",
        help="ask the operator to do what this rig cannot do by itself, instead of skipping",
    )
    group.addoption("--rig-station", metavar="NAME", help="which bench it is, for the report")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    try:
        rig = load(Path(config.option.rig)) if config.option.rig else RigFile()
    except RigFileError as error:
        raise pytest.UsageError(str(error)) from error
    folder = Path(config.option.rig_report).resolve() if config.option.rig_report else None
    if folder is not None:
        _make(folder)
    if folder is not None and not config.option.xmlpath:
        config.option.xmlpath = str(folder / "junit.xml")
    about = header(config.option.rig_operator, config.option.rig_station) if folder else {}
    plugin = ReportPlugin(config, rig.name, folder, about)
    config.stash[PLUGIN], config.stash[RIG] = plugin, rig
    config.pluginmanager.register(plugin, "rig-report")


def _make(folder: Path) -> None:
    """Make the report's folder now: its first file is written after twenty minutes of stories."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise pytest.UsageError(
            f"--rig-report {folder}: nothing can be written there ({error}); name another folder"
        ) from error


UNTIMED = frozenset({"test_calibration.py", "test_dice.py", "test_physics.py", "test_scene.py"})
UNTIMED_FOLDERS = frozenset({"proofs", "reader"})
"""Of rules, pictures and physics, which no machine is too late for."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """All else here talks to processes in real time; whole stories keep what they saw."""
    is_untimed = item.path.name in UNTIMED or item.path.parts[-3] in UNTIMED_FOLDERS
    if item.get_closest_marker("rig") is None and not is_untimed:
        item.add_marker("timed")


@pytest.fixture(scope="session")
def rig_file(pytestconfig: pytest.Config) -> Path | None:
    """The file of `--rig`; None where everything is virtual."""
    return Path(pytestconfig.option.rig).resolve() if pytestconfig.option.rig else None


@pytest.fixture(scope="session")
def operator(pytestconfig: pytest.Config) -> Operator | None:
    """Asks the person at the bench to do something by hand; None without --rig-prompt.

    It returns whether they could.
    """
    if not pytestconfig.option.rig_prompt:
        return None
    shown = pytestconfig.pluginmanager.getplugin("capturemanager")

    def ask(what: str) -> bool:
        with shown.global_and_fixture_disabled():
            try:
                answer = input(f"\n    {what}\n    Enter when it is done, s where it cannot be: ")
            except EOFError:  # nobody sits there
                return False
        return not answer.strip().lower().startswith("s")

    return ask


@pytest.fixture(scope="session")
def rig_table(pytestconfig: pytest.Config) -> RigFile:
    """What the rig of this run is made of."""
    return pytestconfig.stash[RIG]


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> ReportPlugin:
    """The run's report."""
    return pytestconfig.stash[PLUGIN]


@pytest.fixture
def record(report: ReportPlugin, request: pytest.FixtureRequest) -> TestRecord:
    """What is kept of this test."""
    return report.record_of(request.node)


@pytest.fixture
def measure(record: TestRecord) -> Measure:
    """Take a measurement with limits: `measure(name, value, unit, lower=, upper=)`."""
    return record.measure


@pytest.fixture
def story(record: TestRecord) -> Story:
    """Tell what happens, in plain words."""
    return record.story
