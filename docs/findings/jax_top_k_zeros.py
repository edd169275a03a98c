# backend: jax 0.10.2
# Of equal elements top_k promises the lower index first, but takes -0.0 for less than 0.0.
import jax

found = jax.lax.top_k(jax.numpy.array([-0.0, 0.0, -0.0, 0.0]), 4)[1].tolist()
print("expected [0, 1, 2, 3], found", found)
raise SystemExit(found != [0, 1, 2, 3])
