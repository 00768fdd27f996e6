# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Many small statements in SQLite, in memory, through apsw, which brings an SQLite of its own.

    statements.py default|none ROUNDS

With `none` connections have no lookaside. This is the array of small slots of its own from which a
connection serves the memory to read and run a statement. Distributions build SQLite without it
(SQLITE_OMIT_LOOKASIDE), apsw's has it. Statements are not kept by apsw, so that each is parsed.
Fails where this SQLite has no lookaside; prints a sum over the rows that were found.
"""

import sys

import apsw

USED = apsw.SQLITE_DBSTATUS_LOOKASIDE_HIT


def below(state: int, limit: int) -> int:
    """The next of the numbers that are the same in every run."""
    return (state >> 16) % limit


def main(way: str, rounds: int) -> int:
    """Runs the statements."""
    if "OMIT_LOOKASIDE" in apsw.compile_options:
        raise SystemExit("statements.py: this SQLite was built without lookaside")
    if way == "none":
        apsw.shutdown()
        apsw.config(apsw.SQLITE_CONFIG_LOOKASIDE, 0, 0)
        apsw.initialize()
    found, state = 0, 2002
    db = apsw.Connection(":memory:", statementcachesize=0)
    db.execute("create table item(number integer primary key, name text, price real, kind int)")
    db.execute("create table sale(item int, customer int, amount int)")
    db.execute("create index sales on sale(customer, item)")
    for number in range(rounds):
        state = (state * 1103515245 + 12345) % 2147483648
        one, other = below(state, 500), below(state, 77)
        db.execute(f"insert into item values({number}, 'item {number}', {other}.5, {other % 7})")
        db.execute(f"insert into sale values({one}, {other}, {one % 9 + 1})")
        for row in db.execute(
            "select name, price * amount as worth, upper(substr(name, 1, 4)) || '-' || customer "
            f"from sale join item on item.number = sale.item where customer = {other} and "
            f"(kind in (1, 2, 3) or price between {one % 9} and {one % 50 + 10}) "
            "order by worth desc, name limit 2"
        ):
            found += len(row[0]) + int(row[1]) + len(row[2])
        db.execute(f"update item set price = price + 1 where number = {one} and kind <> 3")
    hits = db.status(USED)[1]
    if bool(hits) == (way == "none"):
        raise SystemExit(f"statements.py: lookaside served {hits} requests")
    return found


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("default", "none"):
        raise SystemExit("usage: statements.py default|none ROUNDS")
    sys.stdout.write(f"{main(sys.argv[1], int(sys.argv[2]))}\n")
