"""``record_if_bad`` of JAX: a compiled step is recorded only where its gradient is bad."""

import pytest

from .frameworks import FRAMEWORKS

_, _, JAX = FRAMEWORKS


def test_a_compiled_step_of_jax():
    jax = JAX.module
    jnp, bridge = jax.numpy, JAX.bridge

    def loss(params, x):
        return jnp.sum(jnp.sqrt(params["w"] * x) + params["b"])

    step = jax.jit(jax.grad(loss))
    recordings = []
    for w in (1.0, 0.5, 0.0):
        params = {"w": jnp.array([w, 1.0]), "b": jnp.array(1.0)}
        recordings.append(bridge.record_if_bad(step(params, 2.0), loss, params, 2.0))
    assert recordings[:2] == [None, None]
    assert recordings[2].explain(params["w"]).cause == "nan_backward"
    # small and large are good
    assert bridge.record_if_bad({"w": jnp.array([1e-30]), "b": jnp.array(1e30)}, loss, params, 2.0) is None
    assert bridge.record_if_bad(jnp.zeros(2), loss, params, 2.0) is not None
    with pytest.raises(TypeError, match="there are none while a function is traced"):
        jax.jit(lambda g: bridge.record_if_bad(g, loss, params, 2.0))(jnp.ones(2))
