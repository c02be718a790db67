"""Running compiled kernels: needs the CUDA driver, NumPy and a bundle; neither the compiler nor the prover.

from exogpu.codegen.runtime import Kernel
gemm = Kernel.load("gemm_bf16.exogpu")
gemm(a, b, c)          # arrays of PyTorch, CuPy, JAX or NumPy; sizes come from their shapes

tf32 is passed in arrays of float32. Of NumPy arrays, which are copied to the device, elements are rounded to tf32, to
nearest even, and infinities of e5m2 become its largest number, as in the sequential program. Arrays on the device are
used as they are: their elements must be such numbers already.
"""

from exogpu.codegen.errors import LaunchError
from exogpu.codegen.runtime.kernel import Kernel

__all__ = ["Kernel", "LaunchError"]
