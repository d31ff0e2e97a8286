"""The scaling bench on very short snakes."""

import numpy as np
import pytest

from taction.bench.scaling import bench_scaling, bend_targets, snake_peer
from taction.robots.snake import snake


def test_rows_have_the_keys_of_a_bench():
    result = bench_scaling(links=(2, 4), budget=0.02)
    assert [row["case"] for row in result["rows"]] == ["2 links", "4 links"]
    for row in result["rows"]:
        assert row["ours"] > 0 and row["reduced"] > 0 and row["memory"] > 0
        assert row["residual"] <= 1e-8 and row["joint_gap"] <= 1e-10 and row["unconverged"] == 0
        assert row["contacts"] == 2 * row["links"] and row["speed"] > 1e-3
    assert set(result["slope"]) == {"ours", "reduced", "peer", "memory"}


def test_the_peer_gets_the_same_snake():
    mujoco = pytest.importorskip("mujoco", reason="the peer is an extra")
    from taction.dynamics.crba import mass_matrix

    model, peer = snake(links=4), snake_peer(4)
    data = mujoco.MjData(peer)
    data.qpos[7:] = bend_targets(4)
    mujoco.mj_forward(peer, data)
    M = np.zeros((peer.nv, peer.nv))
    mujoco.mj_fullM(peer, data, M)
    q = model.q0.copy()
    q[7:] = bend_targets(4)
    assert np.allclose(mass_matrix(model, q), M, atol=1e-10)
