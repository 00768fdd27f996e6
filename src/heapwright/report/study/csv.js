// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Saves the rows that a figure is drawn from. A figure of several charts has all their rows.
function rowsOf(spec) {
  const tables = Object.values(spec.datasets || {});
  const names = new Map(Object.entries(spec.usermeta?.columns || {}));
  const rows = tables.sort((one, other) => other.length - one.length)[0] || [];
  return rows.map((row) => new Map(Object.entries(row).map(([field, value]) => [names.get(field) ?? field, value])));
}

function quoted(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvOf(rows) {
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const lines = rows.map((row) => columns.map((column) => quoted(row.get(column))).join(","));
  return [columns.map(quoted).join(","), ...lines, ""].join("\n");
}

function rowsOfFigure(name) {
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const its = Object.keys(specs).filter((key) => key === name || key.startsWith(`${name}/`));
  return its.flatMap((key) => rowsOf(specs[key]));
}

for (const button of document.querySelectorAll("[data-csv]")) {
  button.setAttribute("aria-label", `Save the figures of ${button.dataset.csv} as CSV`);
  button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csvOf(rowsOfFigure(button.dataset.csv))], { type: "text/csv" }));
    link.download = `${button.dataset.csv.replace(/[^\w+]+/g, "-")}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
}
