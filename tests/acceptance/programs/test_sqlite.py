# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""sqlite3: page cache, b-trees and sorters; the answers are worked out again in Python."""

import json
from collections import defaultdict

from .under import Under, needed

ROWS = 100_000
GROUPS = 101
FACTOR, SHIFT, MODULUS = 1103515245, 12345, 1 << 31

BUILD = f"""
PRAGMA cache_size = 500;
CREATE TABLE item (id INTEGER PRIMARY KEY, number INTEGER, class INTEGER, label TEXT);
WITH RECURSIVE made (id, number) AS (
    SELECT 1, {SHIFT}
    UNION ALL SELECT id + 1, (number * {FACTOR} + {SHIFT}) % {MODULUS} FROM made WHERE id < {ROWS})
INSERT INTO item SELECT id, number, number % {GROUPS}, printf('%x', number) FROM made;
CREATE INDEX by_number ON item (number);
CREATE INDEX by_class ON item (class, label);
DELETE FROM item WHERE number % 7 = 0;
UPDATE item SET label = label || '-' || label || '-' || label WHERE class < 20;
"""

# (SQL, the same in Python over {id: (number, class, label)})
QUESTIONS = {
    "groups": "SELECT class, count(*), sum(number), min(label), max(label)"
    " FROM item GROUP BY class",
    "joined": "SELECT count(*) FROM item a JOIN item b ON b.id = a.id + 1 AND b.number > a.number",
    "order": "SELECT id FROM item ORDER BY label, id",
    "texts": "SELECT length(group_concat(label, ',')) FROM item",
    "check": "PRAGMA integrity_check",
}


def expected() -> dict[str, list[list[object]]]:
    """What SQL has to answer, by other means."""
    items: dict[int, tuple[int, int, str]] = {}
    number = SHIFT
    for key in range(1, ROWS + 1):
        if number % 7:
            kind, label = number % GROUPS, f"{number:x}"
            items[key] = number, kind, "-".join([label] * 3) if kind < 20 else label
        number = (number * FACTOR + SHIFT) % MODULUS
    groups: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, kind, label in items.values():
        groups[kind].append((number, label))
    labels = [label for _, _, label in items.values()]
    return {
        "groups": [
            [kind, len(g), sum(n for n, _ in g), min(t for _, t in g), max(t for _, t in g)]
            for kind, g in sorted(groups.items())
        ],
        "joined": [[sum(k + 1 in items and items[k + 1][0] > items[k][0] for k in items)]],
        "order": [[k] for k in sorted(items, key=lambda k: (items[k][2], k))],
        "texts": [[len(",".join(labels))]],
        "check": [["ok"]],
    }


def test_sqlite_gives_the_right_answers(under: Under) -> None:
    sqlite = needed("sqlite3", "sqlite3")
    database = under.home / "items.db"
    under.run([sqlite, "-bail", database, BUILD])
    wanted = expected()
    for name, question in QUESTIONS.items():
        rows = json.loads(under.run([sqlite, "-bail", "-json", database, question]).output)
        assert [list(row.values()) for row in rows] == wanted[name], question
