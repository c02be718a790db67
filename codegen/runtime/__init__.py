"""Running compiled kernels: needs the CUDA driver, NumPy and a bundle; neither the compiler nor the prover.

from exogpu.codegen.runtime import Kernel
gemm = Kernel.load("gemm_bf16.exogpu")
gemm(a, b, c)          # arrays of PyTorch, CuPy, JAX or NumPy; sizes come from their shapes
"""

from exogpu.codegen.errors import LaunchError
from exogpu.codegen.runtime.kernel import Kernel

__all__ = ["Kernel", "LaunchError"]
