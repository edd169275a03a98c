# backend: jax 0.10.2
# Division by one number becomes multiplication by its reciprocal, which underflows to zero.
import jax.numpy as jnp

found = jnp.array([3e38, 1.5e38], jnp.float32) / jnp.float32(3e38)
print("expected [1, 0.5], found", found)
raise SystemExit(found.tolist() != [1, 0.5])
