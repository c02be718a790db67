"""exogpu: proves Hopper GPU kernels correct before it compiles them."""

__version__ = "0.1.0"
