"""What a run says of corrections that move or work far more than they should."""

import numpy as np

import taction as ta
from taction.sim.contact_summary import FAR, LEFT_MOST, first_unsolved, is_far
from taction.steppers.columns import ASKED, COLUMNS, PUSHED, TURNED

SIZE = 0.1  # of links [m]


def test_a_correction_is_far_where_it_moves_a_hundred_times_the_gap():
    """Points, or links as far as their mass reaches; nothing within a micrometre."""
    rows = np.zeros((6, COLUMNS))
    rows[:, ASKED] = 1e-4
    rows[1, PUSHED], rows[2, PUSHED] = 0.99 * FAR * 1e-4, 1.01 * FAR * 1e-4
    rows[3, TURNED], rows[4, TURNED] = 0.99 * FAR * 1e-4 / SIZE, 1.01 * FAR * 1e-4 / SIZE
    rows[5, PUSHED], rows[5, ASKED] = 0.9 * LEFT_MOST, 1e-9
    assert is_far(rows, SIZE).tolist() == [False, False, True, False, True, False]
    step, why = first_unsolved(rows, 1e-8, 1e-9, [], size=SIZE)
    assert step == 2 and "moved points by 0.0101 m" in why and "gaps of 0.0001 m" in why


def test_a_flat_ellipsoid_that_rocks_is_said_and_a_thick_one_is_not():
    """It lies on one point at a time, far out on either side, and every correction lifts it."""
    for thickness, is_said in ((1e-5, True), (0.05, False)):
        body = ta.free_body("disc", ta.Ellipsoid((0.1, 0.1, thickness)), mass=0.1, position=(0, 0, 0.3))
        q = body.q0.copy()
        q[3:7] = [0.6 * np.sin(0.15), 0.8 * np.sin(0.15), 0.0, np.cos(0.15)]
        world = ta.World(body, ground=ta.Plane(friction=0.5))
        run = ta.Simulation(world, dt=1e-3, stepper="stewart-trinkle").run(1.0, q=q)
        assert bool(run.certificate.lifted_in_words) == is_said
        assert ("of the motion's energy" in repr(run)) == is_said
