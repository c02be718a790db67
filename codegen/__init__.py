"""exogpu.codegen"""

if __name__ != "exogpu.codegen":
    raise ImportError("import it as exogpu.codegen")
