"""Compilation with NVRTC, which needs no GPU. The only module besides `driver` that imports `cuda`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exogpu.diagnostics import InternalError

TARGET = "sm_90a"

OPTIONS = (f"--gpu-architecture={TARGET}", "--std=c++17", "--ptxas-options=-v")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A cubin, the compiler's log (ptxas -v included) and NVRTC's version."""

    cubin: bytes
    log: str
    version: str


def compile_cubin(source: str, name: str) -> Compiled:
    """The cubin of a CUDA C++ source for sm_90a; InternalError with the log if it is rejected."""
    from cuda.bindings import nvrtc

    major, minor = _value(nvrtc.nvrtcVersion(), 2)
    (program,) = _value(nvrtc.nvrtcCreateProgram(source.encode(), f"{name}.cu".encode(), 0, [], []), 1)
    try:
        options = [option.encode() for option in OPTIONS]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).decode()
        if int(status) != 0:
            raise InternalError(f"the generated source of `{name}` does not compile:\n{log}")
        cubin = _text(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return Compiled(cubin, log.rstrip("\0").strip(), f"{major}.{minor}")


def _value(result: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    status, *values = result
    if int(status) != 0 or len(values) != count:
        raise InternalError(f"NVRTC reports {status}")
    return tuple(values)


def _text(size_of: Any, read: Any, program: Any) -> bytes:
    (size,) = _value(size_of(program), 1)
    buffer = bytes(size)
    _value(read(program, buffer), 0)
    return buffer
