"""The solver layer: index terms, queries as SMT-LIB text, and the one narrow interface to Z3."""

if __name__ != "exogpu.smt":
    raise ImportError("import it as exogpu.smt")
