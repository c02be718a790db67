"""exogpu.verify"""

if __name__ != "exogpu.verify":
    raise ImportError("import it as exogpu.verify")
