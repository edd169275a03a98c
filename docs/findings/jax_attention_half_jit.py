# backend: jax 0.10.2
# Attention in float16 works operator by operator and fails under jit on the CPU.
import jax
import jax.numpy as jnp

q = jnp.ones((1, 2, 1, 4), jnp.float16)
print("expected, as eagerly,", jax.nn.dot_product_attention(q, q, q).ravel()[:2])
try:
    print("found", jax.jit(jax.nn.dot_product_attention)(q, q, q).ravel()[:2])
except Exception as failure:
    print("found", str(failure).splitlines()[0])
    raise SystemExit(1)
