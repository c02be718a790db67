"""`exogpu run`: launch a bundle on random inputs and compare with the sequential program in fp64."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exogpu.cli.errors import UsageError
from exogpu.cli.output import render
from exogpu.codegen.runtime import Kernel, LaunchError
from exogpu.diagnostics import BadInput
from exogpu.ir.interp import compare, interpret, random_inputs, written_tensors
from exogpu.ir.proc import Proc, SizeArg, TensorArg
from exogpu.ir.types import Scalar
from exogpu.lang import load
from exogpu.report.model import Exit, Run

DEFAULT_SIZE = 256

FACTOR, FLOOR = 4.0, 1e-6
"""The error allowed: so many times that of the sequential program in the kernel's own types, and at least `FLOOR`."""
REASSOCIATION = 8.0
"""So many roundings of the tensor's type are allowed besides, where the proof lets its sums happen in any order: the
sequential order may be a lucky one."""
ROUNDING = {Scalar.F64: 2.0**-53, Scalar.F32: 2.0**-24, Scalar.F16: 2.0**-11, Scalar.BF16: 2.0**-8}


def execute(arguments: argparse.Namespace) -> Exit:
    """Exit 0 if every written tensor agrees with the reference, 1 if one does not, 2 if nothing could be launched."""
    try:
        kernel = Kernel.load(arguments.bundle)
        proc = source(kernel)
        inputs = random_inputs(proc, _sizes(proc, arguments.size), arguments.seed)
        reference = interpret(proc, inputs, precise=True)
        own_types = interpret(proc, inputs)
        outputs = _launch(kernel, proc, inputs)
    except BadInput as error:
        sys.stdout.write(render(Run(problems=error.diagnostics), "text", arguments.color))
        return Exit.BAD_INPUT
    except LaunchError as error:
        raise UsageError(str(error)) from error
    return _verdict(kernel, proc, outputs, own_types, reference)


def source(kernel: Kernel) -> Proc:
    """The procedure whose text is in the bundle."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{kernel.manifest.kernel}.py"
        path.write_text(kernel.bundle.proc, encoding="utf-8")
        return load(path)[kernel.manifest.kernel]


def _sizes(proc: Proc, given: list[str]) -> dict[str, int]:
    sizes = {a.name: DEFAULT_SIZE for a in proc.args if isinstance(a, SizeArg)}
    for text in given:
        name, _, value = text.partition("=")
        if name not in sizes:
            raise UsageError(f"`{proc.name}` has no size `{name}`; its sizes are {', '.join(sizes) or 'none'}")
        if not value.isdecimal():
            raise UsageError(f"--size takes NAME=VALUE with a whole number, not `{text}`")
        sizes[name] = int(value)
    return sizes


def _launch(kernel: Kernel, proc: Proc, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors that the kernel writes, after one launch on copies of the inputs."""
    written = written_tensors(proc)
    copies = {name: value.copy() if name in written else value for name, value in inputs.items()}
    kernel(**copies)
    return {name: copies[name] for name in written}


def _verdict(
    kernel: Kernel,
    proc: Proc,
    outputs: Mapping[str, Any],
    own_types: Mapping[str, Any],
    reference: Mapping[str, Any],
) -> Exit:
    status = Exit.PROVED
    types = {a.name: ROUNDING.get(a.dtype, 0.0) for a in proc.args if isinstance(a, TensorArg)}
    rounding = {m.tensor: m.relative for m in compare(proc, own_types, reference)}
    for mismatch in compare(proc, outputs, reference):
        allowed = FACTOR * rounding[mismatch.tensor] + FLOOR
        if mismatch.tensor in kernel.bundle.certificate["reassociated"]:
            allowed += REASSOCIATION * types[mismatch.tensor]
        agrees = mismatch.relative <= allowed
        text = f"{mismatch} (allowed {allowed:.3g})" if mismatch.relative else f"{mismatch.tensor}: no difference"
        print(f"{'agrees' if agrees else 'DIFFERS'}  {text}")
        status = status if agrees else Exit.REFUTED
    return status
