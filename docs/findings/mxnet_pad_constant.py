# backend: mxnet-1.9 1.9.1
# np.pad pads with zeros whatever constant is asked for.
import mxnet as mx

mx.npx.set_np()
found = mx.np.pad(mx.np.ones((1, 1)), ((1, 1), (0, 0)), mode="constant", constant_values=5)
print("expected [[5], [1], [5]], found", found.tolist())
raise SystemExit(found.tolist() != [[5], [1], [5]])
