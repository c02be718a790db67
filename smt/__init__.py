"""exogpu.smt"""

if __name__ != "exogpu.smt":
    raise ImportError("import it as exogpu.smt")
