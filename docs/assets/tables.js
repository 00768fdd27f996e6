// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A table of sentences that is wider than the page becomes a list of cards, one for each row. The head of
// the column stands before each cell. A table of figures stays a table, and scrolls.
const LONG_CELL = 24; // characters of the mean cell, from which on a table has sentences

function meanLength(table) {
    const cells = [...table.querySelectorAll("tbody td")];
    const sum = cells.reduce((total, cell) => total + cell.textContent.trim().length, 0);
    return cells.length ? sum / cells.length : 0;
}

function arrange(table) {
    delete table.dataset.cards;
    const width = Math.max(table.scrollWidth, table.getBoundingClientRect().width);
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    if (heads.length < 4 || meanLength(table) < LONG_CELL || width <= table.closest("article").clientWidth) {
        return;
    }
    for (const row of table.querySelectorAll("tbody tr")) {
        [...row.cells].forEach((cell, column) => (cell.dataset.head = heads[column]));
    }
    table.dataset.cards = "";
}

function arrangeAll() {
    document.querySelectorAll(".md-typeset table:not([class])").forEach(arrange);
}

window.addEventListener("load", arrangeAll);
window.addEventListener("resize", arrangeAll);
