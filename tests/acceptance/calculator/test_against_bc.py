# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distribution's bc says the same, to the digit: of expressions and programs that are drawn."""

import random
import re
import shutil
import subprocess
from collections.abc import Callable

import pytest

from .conftest import Calculator

EXPRESSIONS = 3000
PROGRAMS = 60
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
NAMES = "abc"


@pytest.fixture(scope="session")
def bc() -> str:
    found = shutil.which("bc", path="/usr/local/bin:/usr/bin:/bin")
    if found is None:
        pytest.skip("bc is not installed (package bc)")
    return found


def bc_says(bc: str, text: str) -> str:
    # Its breaks are the usual ones; what is in the tester's environment could change them.
    done = subprocess.run(
        [bc, "-q"], input=text, capture_output=True, text=True, check=False, env={}, timeout=300
    )
    # A power whose digits are all cut off keeps its sign in bc 1.07: -0.
    return re.sub(r"(?m)(^|: )-0$", r"\g<1>0", done.stdout)


class Drawn:
    """Texts of the language, drawn from a seed."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def number(self) -> str:
        """Of few digits or many, with a point or without one, 0 and 1 more often."""
        kind = self.random.random()
        if kind < 0.15:
            return self.random.choice(["0", "1", "0.0", "1.00", ".5", "2", "10", "100.", "00.10"])
        whole = str(self.random.randrange(10 ** self.random.choice([1, 2, 5, 9, 10, 18, 19, 40])))
        if kind < 0.6:
            return whole
        places = self.random.choice([1, 2, 5, 8, 9, 10, 20, 30])
        return f"{whole}.{self.random.randrange(10**places):0{places}}"

    def value(self, depth: int) -> str:
        """A term, of as many others in each other as `depth` allows."""
        if depth == 0 or self.random.random() < 0.25:
            return self.number()

        def inner() -> str:
            return self.value(depth - 1)

        forms: list[tuple[int, Callable[[], str]]] = [
            (7, lambda: self.random.choice(NAMES)),
            (13, lambda: f"({inner()})"),
            (9, lambda: f"(-{inner()})"),
            (7, lambda: f"({inner()})^{self.random.randrange(-3, 8)}"),
            # A square is not negative; of something of either sign there would be no root.
            (7, lambda: f"sqrt(({inner()})^2)"),
            (5, lambda: f"{self.random.choice(['length', 'scale'])}({inner()})"),
            (5, lambda: f"(!{inner()})"),
            (47, lambda: f"{inner()} {self.random.choice('++--**//%')} {inner()}"),
        ]
        (form,) = self.random.choices([f for _, f in forms], [weight for weight, _ in forms])
        return form()

    def expression(self) -> str:
        kind = self.random.random()
        if kind < 0.1:
            sign = self.random.choice(["=", "+=", "-=", "*="])
            return f"{self.random.choice(NAMES)} {sign} {self.value(2)}"
        if kind < 0.25:
            return f"{self.value(2)} {self.random.choice(COMPARISONS)} {self.value(2)}"
        if kind < 0.3:
            return f"{self.value(1)} {self.random.choice(['&&', '||'])} {self.value(1)}"
        return self.value(3)

    def line(self) -> str:
        # The scale first: one line that fails in one of the two must not change what follows.
        return f"scale={self.random.choice([0, 0, 1, 2, 5, 9, 10, 20, 33])}; {self.expression()}"

    def program(self) -> str:
        """A function with a loop, an array and a call of itself, and what it makes of numbers."""
        small = self.random.randrange(2, 30)
        return f"""
define f(n, v[]) {{
    auto i, s
    for (i = 0; i < {small}; i++) {{
        if (i % 3 == 1) continue
        v[i % 5] += n * i {self.random.choice("+-")} {self.number()}
        if (v[i % 5] > {self.number()}) s -= v[i % 5] else s += i
        {self.random.choice(["i += 1", "a += 1", "b = i", "v[i]--"])}
    }}
    if (n > 0) return (f(n - 1, v[]) + s)
    return (s {self.random.choice("+-*")} v[{self.random.randrange(6)}])
}}
scale = {self.random.randrange(12)}
w[{self.random.randrange(6)}] = {self.number()}
while (a < {self.random.randrange(1, 6)}) {{
    print "value ", f(a, w[]), " of ", a, "\\n"
    a++
}}
w[0]; b; last * 2; f({self.number()[:2]}0 % 7, w[])
"""


def test_expressions(bc: str, calculator: Calculator) -> None:
    drawn = Drawn(2026)
    lines = [drawn.line() for _ in range(EXPRESSIONS)]
    # Each tells its number, so that the first that differs is known.
    text = "".join(f'"{number}: "; {line}\n' for number, line in enumerate(lines))
    ours, theirs = calculator(text).out.split("\n"), bc_says(bc, text).split("\n")
    for mine, other in zip(ours, theirs, strict=True):
        assert mine == other, lines[int(other.split(":")[0])] if ":" in other else other
    assert len(ours) > 0.9 * EXPRESSIONS


@pytest.mark.parametrize("seed", range(4))
def test_programs(bc: str, calculator: Calculator, seed: int) -> None:
    drawn = Drawn(seed)
    for _ in range(PROGRAMS // 4):
        text = drawn.program()
        expected = bc_says(bc, text)
        assert expected.count("\n") > 4
        assert calculator(text).out == expected, text


def test_many_digits(bc: str, calculator: Calculator) -> None:
    """Long multiplication and division, roots, and lines that are broken."""
    drawn = random.Random(7)
    lines = ["scale=200", "sqrt(2)", "1/7", "2^4000", "2.5^-30"]
    for _ in range(40):
        a, b = (drawn.randrange(10 ** drawn.randrange(1, 700)) + 1 for _ in "ab")
        lines += [f"{a}*{b}", f"{a}/{b}", f"{a}%{b}", f"sqrt({a})"]
        # Close to what makes an estimated digit of a quotient too large.
        lines += [f"(10^{drawn.randrange(90)}-1)*{b}/{b}", f"(({a}+1)*{b}-1)/{b}"]
    text = "\n".join(lines) + "\n"
    assert calculator(text).out == bc_says(bc, text)
