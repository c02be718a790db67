"""The way from a proof to machine code: `emit` takes a `ProvenKernel` and nothing else."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from importlib.resources import files
from math import lcm

from exogpu import __version__
from exogpu.codegen.bundle import Bundle
from exogpu.codegen.cuda.printer import print_source
from exogpu.codegen.lower.kernel import (
    KernelParam,
    Lowered,
    MapParam,
    PitchParam,
    PointerParam,
    ScalarParam,
    SizeParam,
    lower,
)
from exogpu.codegen.manifest import (
    Argument,
    Json,
    Manifest,
    Parameter,
    Precondition,
    ScalarArgument,
    SizeArgument,
    TensorArgument,
)
from exogpu.codegen.nvrtc import TARGET, compile_cubin
from exogpu.codegen.ptxas import Resources, check_log
from exogpu.ir.buffers import buffers_of
from exogpu.ir.index import Index
from exogpu.ir.print_expr import cond_text
from exogpu.ir.printer import to_source
from exogpu.ir.proc import Arg, Proc, ScalarArg, SizeArg, TensorArg
from exogpu.ir.stmt import For, InstrCall, Tasks
from exogpu.ir.types import Gmem
from exogpu.ir.walk import walk
from exogpu.verify.proven import ProvenKernel
from exogpu.verify.result import Obligation, Report

MAP_ALIGNMENT = 16
"""Address and pitch of a tensor that TMA accesses (CUDA driver API, cuTensorMapEncodeTiled)."""


def emit(proven: ProvenKernel) -> Bundle:
    """The compiled kernel; TypeError for anything that is not proven, BadInput if it exceeds a resource."""
    if not isinstance(proven, ProvenKernel):
        raise TypeError("only a ProvenKernel is emitted; get one from exogpu.verify.prove")
    proc, report = proven.proc, proven.report
    source = to_source(proc)
    digest = hashlib.sha256(source.encode()).hexdigest()
    lowered = lower(proc, header(proc.name, digest, report), prelude())
    cuda = print_source(lowered.source)
    compiled = compile_cubin(cuda, proc.name)
    resources = check_log(compiled.log, proc)
    manifest = make_manifest(proc, lowered, digest, resources)
    queries = {q.sha256: q.smtlib for o in report.obligations for q in o.queries if q.smtlib}
    return Bundle(manifest, cuda, compiled.cubin, source, certificate(report, digest, compiled.version), queries)


def prelude() -> str:
    """The fixed text before the kernel."""
    return files("exogpu.codegen.cuda").joinpath("prelude.cuh").read_text(encoding="utf-8")


def header(name: str, digest: str, report: Report) -> tuple[str, ...]:
    """The comment at the head of the source: who made it, from what, and what was proved."""
    lines = [
        f"{name}, emitted by exogpu {__version__} for {TARGET}",
        f"source SHA-256 {digest}",
        f"proved for all sizes ({len(report.obligations)} obligations, {report.solver}):",
    ]
    counts: dict[str, int] = {}
    for obligation in report.obligations:
        counts[obligation.rule] = counts.get(obligation.rule, 0) + 1
    lines += [f"  {rule}: {count}" for rule, count in sorted(counts.items())]
    lines += [f"axioms used: {', '.join(report.axioms) or 'none'}"]
    if report.reassociated:
        lines.append(f"up to reassociation of the sums in {', '.join(report.reassociated)}")
    return tuple(lines)


def make_manifest(proc: Proc, lowered: Lowered, digest: str, resources: Resources) -> Manifest:
    """The launch data of a lowered kernel."""
    alignments = tensor_alignments(proc, lowered)
    return Manifest(
        kernel=proc.name,
        entry=lowered.source.kernel.name,
        tool=f"exogpu {__version__}",
        sha256=digest,
        arguments=tuple(_argument(a, lowered.written, alignments) for a in proc.args),
        requires=tuple(Precondition(r.cond, cond_text(r.cond)) for r in proc.requires),
        parameters=tuple(_parameter(p) for p in lowered.params),
        threads=proc.block.threads,
        shared_bytes=lowered.layout.total,
        tasks=task_bounds(proc),
        persistent=proc.block.persistent,
        cluster=proc.block.cluster,
        resources=asdict(resources),
    )


def task_bounds(proc: Proc) -> tuple[tuple[Index, Index], ...]:
    """Bounds of the task loops, outermost first."""
    return tuple((s.lo, s.hi) for s in walk(proc.body) if isinstance(s, For) and isinstance(s.mode, Tasks))


def tensor_alignments(proc: Proc, lowered: Lowered) -> dict[str, int]:
    """For each tensor, what its address and row pitch in bytes must be multiples of."""
    infos = buffers_of(proc)
    needs = {a.name: a.dtype.bytes for a in proc.args if isinstance(a, TensorArg)}
    for param in lowered.params:
        if isinstance(param, MapParam):
            needs[param.spec.tensor] = lcm(needs[param.spec.tensor], MAP_ALIGNMENT)
    for stmt in walk(proc.body):
        if not isinstance(stmt, InstrCall):
            continue
        for need in stmt.instr.alignments(stmt, infos):
            buffer = stmt.window(need.operand).buffer
            last = need.dim in (-1, len(infos[buffer].shape) - 1)
            if isinstance(infos[buffer].memory, Gmem) and last:
                needs[buffer] = lcm(needs[buffer], need.multiple * infos[buffer].dtype.bytes)
    return needs


def _argument(arg: Arg, written: frozenset[str], alignments: dict[str, int]) -> Argument:
    match arg:
        case SizeArg(name):
            return SizeArgument(name)
        case ScalarArg(name, dtype):
            return ScalarArgument(name, dtype.value)
        case TensorArg(name, dtype, shape):
            return TensorArgument(name, dtype.value, shape, name in written, alignments[name])


def _parameter(param: KernelParam) -> Parameter:
    match param:
        case MapParam(spec):
            return Parameter("map", spec.tensor, spec.box, spec.swizzle)
        case PointerParam(tensor):
            return Parameter("pointer", tensor)
        case PitchParam(tensor):
            return Parameter("pitch", tensor)
        case SizeParam(name):
            return Parameter("size", name)
        case ScalarParam(name):
            return Parameter("scalar", name)


def certificate(report: Report, digest: str, compiler: str) -> Json:
    """What was proved and how, as JSON values."""
    return {
        "kernel": report.kernel,
        "source_sha256": digest,
        "solver": report.solver,
        "compiler": f"NVRTC {compiler}",
        "axioms": list(report.axioms),
        "reassociated": list(report.reassociated),
        "obligations": [_obligation(o) for o in report.obligations],
    }


def _obligation(obligation: Obligation) -> Json:
    return {
        "name": obligation.name,
        "rule": obligation.rule,
        "title": obligation.title,
        "status": obligation.status.value,
        "chains": [{"text": c.text, "axioms": list(c.axioms)} for c in obligation.chains],
        "queries": [
            {"name": q.name, "sha256": q.sha256, "answer": q.answer, "rlimit": q.rlimit} for q in obligation.queries
        ],
    }
