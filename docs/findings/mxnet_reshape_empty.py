# backend: mxnet-1.9 1.9.1
# Reshaping an array without elements to an extent that is to be found kills the process (SIGFPE).
import mxnet as mx

mx.util.set_np_shape(True)
print("expected an array without elements, or an error", flush=True)
print("found", mx.nd.reshape(mx.nd.zeros((0, 3)), shape=(0, -1)).shape)
