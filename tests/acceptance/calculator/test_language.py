# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of the language outside the comparison with bc, and the messages for a wrong text."""

from pathlib import Path

import pytest

from .conftest import Calculator

PRIMES = Path(__file__).parents[3] / "catalogue" / "studies" / "programs" / "primes.bc"


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("-2^2; 2^3^2; 7-2-1", "4\n512\n4\n"),
        ("scale=3; 1/3; .10; -0.004; 0.00", ".333\n.10\n-.004\n0\n"),
        ("a=b=3; a; (c=4); a+=2", "3\n4\n"),
        ("x=5; x++; ++x; x--; --x; -x", "5\n7\n7\n5\n-5\n"),
        ("a[2]=4; a[2]^=2; a[2]++; a[2]; a[1.9]; a", "16\n17\n0\n0\n"),
        ("0&&(b=3); 1||(b=3); b", "0\n1\n0\n"),
        ("!1<2; 1+!0", "0\n2\n"),
        ("if (0) 1 else if (1) 2 else 3", "2\n"),
        ("for (;;) { if (i++ == 2) break }; i", "3\n"),
        ("for (i = 0; i < 4; ++i) { if (i == 1) continue; i }", "0\n2\n3\n"),
        ('"a\\n"; print "b\\t", 1+1, "\\n"; .; last+1', "a\\nb\t2\n2\n3\n"),
        ("define f(n) { if (n == 0) return; return (n + f(n - 1)) }\nf(1000)", "500500\n"),
        (
            "define g() { x = 7 }\ndefine f() { auto x; g(); return (x) }\nf(); x; g(); x",
            "0\n7\n0\n0\n7\n",
        ),
        (
            "define f(a[], b[]) { return (a[0] - b[0]) }\na[0]=1; b[0]=9; f(b[], a[]); a[0]",
            "8\n1\n",
        ),
        ("define f() { auto scale; scale = 2; return (1/3) }\nscale=5; f(); 1/3", ".33\n.33333\n"),
        ("define f() { 1/0 }\nx = 3\ndefine g(x) { f() }\ng(5)\nx", "3\n"),
        ("1 # one\n/* two\n */ 3 \\\n + 4", "1\n7\n"),
        ("1; quit; 2\n3", ""),
        ("1; halt; 2\n3", "1\n"),
        ("sqrt(2); length(123.4500); scale(1.20); ibase; obase", "1\n7\n2\n10\n10\n"),
    ],
)
def test_text(calculator: Calculator, text: str, out: str) -> None:
    said = calculator(text)
    assert said.out == out
    assert said.status == ("1/0" in text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1\n2 +\n3", "line 2: syntax error"),
        ('"no end', "line 1: syntax error"),
        ("/* no end", "line 1: syntax error"),
        ("1 $ 2", "line 1: syntax error"),
        ("1/0", "line 1: divide by zero"),
        ("5 % 0", "line 1: divide by zero"),
        ("0^-1", "line 1: divide by zero"),
        ("sqrt(-1)", "line 1: square root of a negative number"),
        ("a[-1]", "line 1: subscript out of bounds"),
        ("a[2^40] = 1", "line 1: subscript out of bounds"),
        ("f(1)", "line 1: function not defined"),
        ("define f(a) { }\nf()", "line 2: arguments do not fit the parameters"),
        ("define f(a[]) { }\nf(1)", "line 2: arguments do not fit the parameters"),
        ("define f(a, a) { }", "line 1: a name is there twice"),
        ("define f(n) { return (f(n)) }\nf(1)", "line 2: too many calls in each other"),
        ("return 1", "line 1: return outside of a function"),
        ("break", "line 1: break outside of a loop"),
        ("continue", "line 1: continue outside of a loop"),
        ("scale = -1", "line 1: negative scale"),
        ("ibase = 16", "line 1: ibase and obase are always 10"),
        ("2^99999999999", "line 1: exponent too large"),
        ("10^2000000000", "line 1: number too large"),
        ("(" * 5000 + "1" + ")" * 5000, "line 1: nested too deeply"),
        ("-" * 5000 + "1", "line 1: syntax error"),  # these are decrements
        ("- " * 5000 + "1", "line 1: nested too deeply"),
        ("{" * 5000 + "}" * 5000, "line 1: nested too deeply"),
        ("2^" * 5000 + "2", "line 1: nested too deeply"),
        ("a=" * 5000 + "2", "line 1: nested too deeply"),
        ("if(1)" * 5000 + "2", "line 1: nested too deeply"),
    ],
)
def test_complaint(calculator: Calculator, text: str, complaint: str) -> None:
    """A wrong line is named and left; what comes after it is carried out."""
    said = calculator(f"{text}\n" if "no end" in text else f'{text}\n"goes on"\n')
    assert said.err.splitlines() == [f"heapwright-calculator: {complaint}"]
    assert ("goes on" in said.out) == ("no end" not in text)
    assert said.status == 1


def test_steps_are_limited(calculator: Calculator) -> None:
    said = calculator("while (1) {}\n2\n", ["--steps", "1000"])
    assert said.err == "heapwright-calculator: line 1: too many steps\n"
    assert said.out == ""
    # A long number costs as much as it is long.
    assert "too many steps" in calculator("x = 2^100000", ["--steps", "1000"]).err


def test_files_follow_each_other(calculator: Calculator, tmp_path: Path) -> None:
    (tmp_path / "one.bc").write_text("x = 3\n")
    (tmp_path / "two.bc").write_text("x^2")
    files = [str(tmp_path / name) for name in ("one.bc", "two.bc")]
    assert calculator("x\n", [*files, "-"]).out == "9\n3\n"
    missing = calculator("", [str(tmp_path / "none.bc")])
    assert missing.status == 1
    assert "cannot read" in missing.err


@pytest.mark.parametrize(
    "options", [["--what"], ["--memory"], ["--memory", "paper"], ["--steps", "-1"], ["--line", "x"]]
)
def test_wrong_options(calculator: Calculator, options: list[str]) -> None:
    said = calculator("", options)
    assert said.status == 2
    assert said.err.startswith("usage: ")


def test_output_lines_have_the_requested_length(calculator: Calculator) -> None:
    assert calculator("10^9", ["--line", "8"]).out == "100000\\\n0000\n"
    assert calculator("10^99", ["--line", "0"]).out == f"1{'0' * 99}\n"


def test_the_thousandth_prime(calculator: Calculator) -> None:
    assert calculator("", [str(PRIMES)]).out == "7919\n"
