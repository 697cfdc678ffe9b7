import numpy as np
import pytest

import kempe


@pytest.fixture(params=["four_bar", "mini_cheetah", "tello", "belt_chain"])
def model(request) -> kempe.Model:
    return kempe.robots.load(request.param)


@pytest.fixture
def state(model: kempe.Model):
    """Local coordinates around a random configuration, velocities and forces."""
    rng = np.random.default_rng(4)
    x, v, tau = rng.normal(size=(3, model.nv))
    return model.random_configuration(seed=2), 0.1 * x, v, tau
