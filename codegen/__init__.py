"""The emitter: a proven kernel as CUDA C++ and as a bundle, and the runtime that launches it."""

if __name__ != "exogpu.codegen":
    raise ImportError("import it as exogpu.codegen")
