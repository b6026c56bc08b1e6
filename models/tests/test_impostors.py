"""Dice that show something else than pips are painted where they lie, and asked for no more."""

from __future__ import annotations

import cv2
import numpy as np

from models.training.impostors import deface
from models.training.targets import Mark, encode

_CORNERS = np.array([(60, 70), (130, 60), (140, 130), (70, 140)], float)


def _marked(visible: float = 1.0) -> Mark:
    return Mark(_CORNERS.copy(), 5, 1.0, np.array([0.0, 4.0]), visible)


def _picture() -> np.ndarray:
    image = np.full((192, 192, 3), (40, 90, 40), np.uint8)
    cv2.fillConvexPoly(image, _CORNERS.astype(np.int32), (235, 235, 235))
    for u, v in ((0.25, 0.25), (0.75, 0.25), (0.5, 0.5), (0.25, 0.75), (0.75, 0.75)):
        a, b, _, d = _CORNERS
        x, y = (a + u * (b - a) + v * (d - a)).astype(int).tolist()
        cv2.circle(image, (x, y), 7, (15, 15, 15), -1, cv2.LINE_AA)
    return image


def test_face_changes_and_everything_around_it_stays():
    before = _picture()
    around = np.ones(before.shape[:2], np.uint8)
    middle = _CORNERS.mean(axis=0)
    cv2.fillConvexPoly(around, (middle + (_CORNERS - middle) * 1.06).astype(np.int32), 0)
    for seed in range(12):
        after = before.copy()
        deface(np.random.default_rng(seed), after, [_marked()])
        assert np.array_equal(after[around > 0], before[around > 0])
        assert np.abs(after.astype(int) - before)[around == 0].mean() > 4


def test_defaced_die_is_no_longer_asked_for_but_nobody_calls_it_floor():
    mark = _marked()
    image = _picture()
    assert encode([mark], 192, 192).heat[0].max() == 1
    deface(np.random.default_rng(3), image, [mark])
    maps = encode([mark], 192, 192)
    assert maps.heat[0].max() == 0
    assert maps.heat[1].min() == 1, "a symbol read as a value costs"
    assert maps.parts[12, 12] == 3, "neither floor nor top face is taught there"


def test_hidden_and_inexact_dice_are_left_alone():
    before = _picture()
    guessed = _marked()
    guessed.exact = False
    for mark in (_marked(visible=0.7), guessed):
        after = before.copy()
        deface(np.random.default_rng(1), after, [mark])
        assert np.array_equal(after, before)


def test_same_generator_paints_the_same():
    pictures = []
    for _ in range(2):
        image = _picture()
        deface(np.random.default_rng(8), image, [_marked()])
        pictures.append(image)
    assert np.array_equal(pictures[0], pictures[1])
