"""Formulas and models of one Z3 context, through Z3's C interface: its Python classes cost more than the solving."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import z3
from z3 import z3core

from exogpu.smt.poly import Monomial, Poly
from exogpu.smt.script import product
from exogpu.smt.terms import Formula

Ast = Any
"""A pointer to a Z3 term; z3 ships no types."""


class Z3Terms:
    """A Z3 context and every formula already translated to it; terms live as long as the context."""

    def __init__(self) -> None:
        self.context = z3.Context()
        self._ref = self.context.ref()
        self._int = z3core.Z3_mk_int_sort(self._ref)
        self._bool = z3core.Z3_mk_bool_sort(self._ref)
        self._zero = self._number(0)
        self._formulas: dict[Formula, Ast] = {}
        self._products: dict[tuple[Monomial, int], Ast] = {}
        self._symbols: dict[str, Ast] = {}
        self._names: dict[int | None, str] = {}

    def formula(self, f: Formula) -> Ast:
        """The term of a formula."""
        found = self._formulas.get(f)
        if found is None:
            found = self._formulas[f] = self._keep(self._build(f))
        return found

    def integers(self, model: Ast) -> Iterator[tuple[str, int]]:
        """Names and values of the integer symbols that a model mentions."""
        ref = self._ref
        for i in range(z3core.Z3_model_get_num_consts(ref, model)):
            declaration = z3core.Z3_model_get_const_decl(ref, model, i)
            name = self._names.get(_address(declaration))
            if name is not None:
                value = z3core.Z3_model_get_const_interp(ref, model, declaration)
                yield name, int(z3core.Z3_get_numeral_string(ref, value))

    # -- terms ---------------------------------------------------------------------------------------------------

    def _keep(self, ast: Ast) -> Ast:
        z3core.Z3_inc_ref(self._ref, ast)
        return ast

    def _build(self, f: Formula) -> Ast:
        ref = self._ref
        match f.op:
            case "true":
                return z3core.Z3_mk_true(ref)
            case "false":
                return z3core.Z3_mk_false(ref)
            case "flag":
                return self._constant(f.name, self._bool)
            case "ge":
                return z3core.Z3_mk_ge(ref, self._sum(f.left), self._zero)
            case "eq":
                return z3core.Z3_mk_eq(ref, self._sum(f.left), self._zero)
            case "not":
                return z3core.Z3_mk_not(ref, self.formula(f.parts[0]))
            case "and":
                return z3core.Z3_mk_and(ref, *_array([self.formula(p) for p in f.parts]))
            case "or":
                return z3core.Z3_mk_or(ref, *_array([self.formula(p) for p in f.parts]))

    def _sum(self, p: Poly | None) -> Ast:
        assert p is not None
        parts = [self._product(m, c) for m, c in p.terms]
        return parts[0] if len(parts) == 1 else z3core.Z3_mk_add(self._ref, *_array(parts))

    def _product(self, monomial: Monomial, coefficient: int) -> Ast:
        key = (monomial, coefficient)
        found = self._products.get(key)
        if found is None:
            found = self._products[key] = self._keep(self._scaled(monomial, coefficient))
        return found

    def _scaled(self, monomial: Monomial, coefficient: int) -> Ast:
        if not monomial:
            return self._number(coefficient)
        name = product(monomial)
        if name not in self._symbols:
            self._symbols[name] = constant = self._keep(self._constant(name, self._int))
            declaration = z3core.Z3_get_app_decl(self._ref, z3core.Z3_to_app(self._ref, constant))
            self._names[_address(declaration)] = name
        if coefficient == 1:
            return self._symbols[name]
        return z3core.Z3_mk_mul(self._ref, *_array([self._number(coefficient), self._symbols[name]]))

    def _constant(self, name: str, sort: Ast) -> Ast:
        return z3core.Z3_mk_const(self._ref, z3core.Z3_mk_string_symbol(self._ref, name), sort)

    def _number(self, value: int) -> Ast:
        return self._keep(z3core.Z3_mk_numeral(self._ref, str(value), self._int))


def _array(terms: Sequence[Ast]) -> tuple[int, Any]:
    return len(terms), (z3.Ast * len(terms))(*terms)


def _address(declaration: Any) -> int | None:
    found = declaration.value
    return int(found) if found is not None else None
