# backend: mxnet-1.9 1.9.1
# softrelu of a negative number is itself negative.
import mxnet as mx

found = mx.nd.Activation(mx.nd.array([-20.0]), act_type="softrelu").asscalar()
print("expected 2.06e-09, found", found)
raise SystemExit(bool(found < 0))
