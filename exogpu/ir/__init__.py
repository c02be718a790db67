"""The intermediate representation: frozen nodes with source spans. `index`, `value`, `stmt`, `proc` give the
grammar in their module docstrings; `instr` is what an instruction declares."""
