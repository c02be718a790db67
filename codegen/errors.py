"""The exception of the driver and the runtime."""


class LaunchError(Exception):
    """The kernel was not launched: the arguments do not fit it, or the driver refused. The text says which and why."""
