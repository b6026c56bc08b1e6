"""Logits to probabilities, however large."""

import math

import numpy as np
import pytest

from vision.networks import probability


@pytest.mark.parametrize("logit", [-2000.0, -3.0, 0.0, 0.4, 2000.0])
def test_one_logit(logit):
    wanted = 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0
    assert probability.of_logit(logit) == pytest.approx(wanted)
    assert probability.of_logit(logit) + probability.of_logit(-logit) == pytest.approx(1)


def test_several_logits_that_may_be_large():
    shares = probability.of_logits(np.array([1000.0, 1000.0 + math.log(3), -1000.0]))
    assert shares == pytest.approx([0.25, 0.75, 0.0])
    assert shares.dtype == np.float32


def test_the_mean_of_two_logits():
    one, other = probability.of_logit(-1.0), probability.of_logit(4.0)
    assert probability.mean_of(one, other) == pytest.approx(probability.of_logit(1.5))
    assert probability.mean_of(1.0, 0.0) == 0.5
