"""The interpreter: what a procedure means, as NumPy arrays."""

from exogpu.ir.interp.arguments import Argument, Arguments, random_inputs, written_tensors
from exogpu.ir.interp.compare import Mismatch, compare
from exogpu.ir.interp.errors import InterpError
from exogpu.ir.interp.plan import sequential
from exogpu.ir.interp.run import interpret

__all__ = [
    "Argument",
    "Arguments",
    "InterpError",
    "Mismatch",
    "compare",
    "interpret",
    "random_inputs",
    "sequential",
    "written_tensors",
]
