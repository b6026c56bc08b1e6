"""Train the small network that looks at one die at a time: `vision/lie.py` says what it sees.

    python -m models.training.lies --scenes SETS… --samples 500000 --work var/lies --out models

Owns: its layers, its windows cut from calibrated sets of shots, their variation, the optimiser, the
export. A window is cut along the true corners and then seen askew, as the first network's corners
are: moved by up to a few hundredths of an edge, turned by degrees, too large or too small.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import torch
from rich.progress import track
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from models.training import augment, scenes
from models.training.export import LIE, OPSET
from models.training.layout import FLAT_DEG
from models.training.network import Residual, convolve
from vision import lie
from vision.calibration import Calibration

MARGIN = 16
"""Pixels kept around a window, so that it can be moved and turned."""
WIDE = lie.SIDE + 2 * MARGIN
BATCH = 128
_LEAST_VISIBLE = 0.7
_NOT_FLAT_DEG = 5.0
"""From here on a window is to be called not flat; truth in the counts begins at 6°."""
_SHIFT, _TURN_DEG, _SIZE = 0.02, 1.5, 0.025
"""Deviations of corners as found from true ones: shift in edges, turn, relative size."""
_OFF_SHARE = 6.0
_GENTLE = 0.5
"""Share of windows that keep their light: side faces are narrow, and blur hides them."""


class LieNet(nn.Module):
    """Windows (n, 96, 96, 3) uint8 BGR and places (n, 3) to (n, 3): the logit of flat, and how far
    the bottom face is from an upright die's (2, in edges)."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            convolve(3, 24, stride=2),
            convolve(24, 32, stride=2), Residual(32),
            convolve(32, 48, stride=2), Residual(48),
            convolve(48, 64, stride=2), Residual(64),
            convolve(64, 24, 1),
        )  # fmt: skip
        cells = (lie.SIDE // 16) ** 2
        self.weigh = nn.Sequential(
            nn.Linear(24 * cells + 3, 96), nn.ReLU(), nn.Dropout(0.15), nn.Linear(96, 3)
        )

    def forward(self, windows: Tensor, places: Tensor) -> Tensor:
        seen = self.trunk(windows.permute(0, 3, 1, 2).float() / 64.0 - 2.0)
        return self.weigh(torch.cat([seen.flatten(1), places], dim=1))


def cut_windows(folder: Path, store: Path) -> tuple[np.ndarray, np.ndarray]:
    """(N, WIDE, WIDE, 3) uint8 windows of a set's dice, and (N, 7) float32: place (3), where the
    bottom face is beyond an upright die's (2, in edges), flat (1, 0, or -1 for neither), sure of
    sight. Cut once, then read from `store`."""
    shown_at, truth_at = store / f"{folder.name}.npy", store / f"{folder.name}-truth.npy"
    if not truth_at.exists():
        store.mkdir(parents=True, exist_ok=True)
        shown: list[np.ndarray] = []
        truths: list[list[float]] = []
        for path, row in track(list(scenes.rows(folder)), folder.name):
            image = cv2.imread(str(path), cv2.IMREAD_COLOR)
            if image is None:
                continue
            calibration = Calibration.from_table(row["calibration"])
            for die in row["dice"]:
                if die["visible"] < _LEAST_VISIBLE:
                    continue
                # A pixel of a label has its middle at halves, one of a calibration at wholes.
                corners = np.array(die["corners"], float) - 0.5
                seen = lie.window(corners, calibration)
                wide = seen.matrix.copy()
                wide[:, 2] += MARGIN
                shown.append(
                    cv2.warpAffine(image, wide, (WIDE, WIDE), borderMode=cv2.BORDER_REPLICATE)
                )
                down = seen.matrix[:, :2] @ np.array(die["down"], float) / lie.FACE
                tilt = die["tilt_deg"]
                flat = 0.0 if die["stacked"] or tilt >= _NOT_FLAT_DEG else -1.0
                flat = 1.0 if flat and tilt <= FLAT_DEG else flat
                truths.append([*seen.place, *(down - seen.place[:2]), flat, die["visible"]])
        np.save(shown_at, np.array(shown, np.uint8))
        np.save(truth_at, np.array(truths, np.float32))
    return np.load(shown_at, mmap_mode="r"), np.load(truth_at)


class Windows(Dataset):
    """Window `i` of a run: drawn, moved and lit by its own generator."""

    def __init__(self, sets: Sequence[tuple[np.ndarray, np.ndarray]], seed: int, count: int):
        self.sets, self.seed, self.count = sets, seed, count
        shares = np.array([len(truth) for _, truth in sets], float)
        self.shares = shares / shares.sum()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor]:
        cv2.setNumThreads(1)
        rng = np.random.default_rng([self.seed, index])
        shown, truths = self.sets[int(rng.choice(len(self.sets), p=self.shares))]
        pick = int(rng.integers(len(truths)))
        truth = np.array(truths[pick])
        size = float(np.exp(rng.normal(0, _SIZE)))
        angle = np.radians(rng.normal(0, _TURN_DEG)) + np.pi / 2 * rng.integers(4)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        if rng.random() < 0.5:
            turn = turn @ np.diag([-1.0, 1.0])
        matrix = np.zeros((2, 3))
        matrix[:, :2] = turn * size
        middle = np.full(2, (WIDE - 1) / 2)
        shift = rng.normal(0, _SHIFT * lie.FACE, 2)
        matrix[:, 2] = (lie.SIDE - 1) / 2 + shift - matrix[:, :2] @ middle
        window = cv2.warpAffine(
            np.asarray(shown[pick]), matrix, (lie.SIDE, lie.SIDE), borderMode=cv2.BORDER_REPLICATE
        )
        if rng.random() > _GENTLE:
            window = augment.relight(rng, window)
        else:
            grain = np.asarray(rng.normal(0, 2.5, window.shape), np.float32)
            window = np.clip(window + grain, 0, 255).astype(np.uint8)
        place = np.array([*(turn @ truth[:2]) * size, truth[2] / size])
        wanted = np.array([truth[5], *(turn @ truth[3:5]) * size])
        return (
            torch.from_numpy(np.ascontiguousarray(window)),
            torch.from_numpy(place.astype(np.float32)),
            torch.from_numpy(wanted.astype(np.float32)),
        )


def loss_of(answers: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Of the logit, flat and others counted alike; and of where the bottom face is."""
    told = wanted[:, 0] >= 0
    flat = wanted[:, 0].clamp(min=0)
    worth = torch.where(flat > 0.5, 1 / flat[told].mean().clamp(0.05, 0.95), 1.0)
    worth = torch.where(flat > 0.5, worth, 1 / (1 - flat[told].mean()).clamp(0.05, 0.95)) * told
    each = functional.binary_cross_entropy_with_logits(answers[:, 0], flat, reduction="none")
    off = functional.smooth_l1_loss(answers[:, 1:], wanted[:, 1:], beta=0.03)
    return (each * worth).sum() / worth.sum().clamp(min=1.0), off


def train(sets: Sequence[Path], work: Path, samples: int, seed: int, workers: int) -> LieNet:
    """The network after that many windows, its weights averaged over the last ones."""
    torch.manual_seed(seed)
    work.mkdir(parents=True, exist_ok=True)
    data = Windows([cut_windows(folder, work / "windows") for folder in sets], seed, samples)
    net, average = LieNet(), LieNet()
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.03)
    steps = samples // BATCH
    began = time.monotonic()
    sums = np.zeros(2)
    loader = DataLoader(data, BATCH, num_workers=workers, drop_last=True)
    for step, (windows, places, wanted) in enumerate(track(loader, "training", total=steps), 1):
        for group in optimiser.param_groups:
            rise = min(1.0, step / 100)
            group["lr"] = 2e-3 * rise * 0.5 * (1 + math.cos(math.pi * step / steps))
        with torch.autocast("cpu", torch.bfloat16):
            answers = net(windows, places)
        flat, off = loss_of(answers.float(), wanted)
        optimiser.zero_grad(set_to_none=True)
        (flat + _OFF_SHARE * off).backward()
        optimiser.step()
        keep = min(0.998, step / (step + 10))
        with torch.no_grad():
            mine, theirs = average.state_dict(), net.state_dict()
            for name, value in mine.items():
                if value.dtype.is_floating_point:
                    value.lerp_(theirs[name], 1 - keep)
                else:
                    value.copy_(theirs[name])
        sums += float(flat.detach()), float(off.detach())
        if step % 200 == 0:
            spent = time.monotonic() - began
            print(f"step {step}/{steps} {spent:.0f} s  flat {sums[0] / 200:.4f} off "
                  f"{sums[1] / 200:.5f}", flush=True)  # fmt: skip
            sums[:] = 0
            torch.save(average.state_dict(), work / "lie.pt")
    torch.save(average.state_dict(), work / "lie.pt")
    return average.eval()


def export(net: LieNet, path: Path) -> None:
    """Write the ONNX file; any number of windows at once."""
    net.eval()
    example = torch.zeros((3, lie.SIDE, lie.SIDE, 3), dtype=torch.uint8)
    torch.onnx.export(
        net, (example, torch.zeros(3, 3)), str(path), dynamo=False, opset_version=OPSET,
        input_names=["windows", "places"], output_names=["lies"],
        dynamic_axes={name: {0: "dice"} for name in ("windows", "places", "lies")},
    )  # fmt: skip


def main() -> None:
    """Command line: see the module's docstring."""
    parser = argparse.ArgumentParser(description="Train the network that looks at one die.")
    parser.add_argument("--scenes", type=Path, nargs="+", required=True, help="calibrated sets")
    parser.add_argument("--samples", type=int, default=500_000)
    parser.add_argument("--seed", type=int, default=81)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--work", type=Path, default=Path("var/lies"))
    parser.add_argument("--out", type=Path, default=Path("models"))
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    net = train(given.scenes, given.work, given.samples, given.seed, given.workers)
    given.out.mkdir(parents=True, exist_ok=True)
    export(net, given.out / LIE)
    print(given.out / LIE)


if __name__ == "__main__":
    main()
