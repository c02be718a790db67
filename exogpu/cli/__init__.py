"""The command line. `app` parses and dispatches; each command is one module, imported only when it is used."""
