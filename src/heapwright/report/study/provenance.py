# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The source of the figures: machines, allocators, design; and how to reproduce them."""

import shlex
from collections.abc import Sequence
from html import escape

from heapwright.artefacts.run.provenance import Environment
from heapwright.report.pages.parts import opened, table
from heapwright.report.profile.words import memory
from heapwright.report.study.view import StudyView


def environment(view: StudyView) -> str:
    """Each host, then the allocators with version and hash."""
    if not view.hosts:
        return "<p>The results do not say on which machine they were measured.</p>"
    hosts = list(view.hosts.values())
    headings = ("", *(host.host for host in hosts))
    facts = [_facts(host) for host in hosts]
    rows = [
        [escape(name), *(escape(fact[name] or "not told") for fact in facts)] for name in facts[0]
    ]
    return table(headings, rows, "machines", "The machines") + _allocators(hosts)


def _facts(host: Environment) -> dict[str, str]:
    return {
        "processor": f"{host.cpu} ({host.cpus} usable)",
        "memory": memory(host.memory_bytes),
        "system": f"{host.distribution}, {host.kernel}",
        "C library": host.libc,
        "governor": host.governor,
        "clock": host.clock,
        "heapwright": f"{host.heapwright}, Python {host.python}",
        "began": host.date,
        "own settings": ", ".join(f"{name}={value}" for name, value in host.settings.items())
        or "none",
    }


def _allocators(hosts: Sequence[Environment]) -> str:
    rows = [
        [
            escape(each.name),
            escape(each.kind.value),
            escape(each.version or "-"),
            f"<code>{escape(each.path or 'the C library')}</code>",
            f"<code>{escape(each.sha256[:16] or '-')}</code>",
            escape(host.host),
        ]
        for host in hosts
        for each in host.allocators
    ]
    if not rows:
        return ""
    headings = ("allocator", "kind", "version", "library", "SHA-256 begins", "host")
    return "<h3>Allocators</h3>" + table(headings, rows, "libraries")


def design(view: StudyView) -> str:
    """The varied factors, the parts left out with reasons, and the order of the runs."""
    plan = view.design
    rows = [
        [escape(each.name), escape(", ".join(each.levels)), escape(each.unit or "-")]
        for each in plan.factors
    ]
    lines = [
        f"<li>The level <b>{escape(each.level)}</b> of {escape(each.factor)} is left out: "
        f"{escape(each.because)}.</li>"
        for each in plan.dropped
    ]
    lines += [
        f"<li>{each.count:,} combinations are left out, for want of "
        f"<code>{escape(each.require)}</code>{_because(each.because)}.</li>"
        for each in plan.excluded
        if each.count
    ]
    told = f"<ul>{''.join(lines)}</ul>" if lines else ""
    return f"<p>{escape(_order(view))}</p>" + table(("factor", "levels", "unit"), rows, "") + told


def _because(text: str) -> str:
    return f": {escape(text)}" if text else ""


def _order(view: StudyView) -> str:
    plan = view.design
    share = "" if plan.share >= 1 else f", {plan.share:.0%} of the full factorial"
    warm = f", {plan.discard} more before them discarded as warm-up" if plan.discard else ""
    return (
        f"{len(plan.treatments):,} treatments{share}, {plan.blocks} blocks{warm}. Each block runs "
        f"every treatment once, in random order (seed {plan.seed})."
    )


def reproduce(view: StudyView) -> str:
    """The commands that make these results again, and this page from them."""
    plan = view.design
    scale = f" --scale {shlex.quote(plan.scale)}" if plan.scale else ""
    named = list(view.folders) or ["results"]
    folders = " ".join(map(shlex.quote, named))
    file = shlex.quote(f"{named[0].rstrip('/')}/study.toml")
    lines = (
        f"heapwright study run {file}{scale} --seed {plan.seed} -o again",
        f"heapwright analyse {folders} -o analysis.json",
        f"heapwright report {folders} -o page.html --figures figures",
    )
    version = view.analysis.heapwright_version
    return (
        f"<p>With heapwright {escape(version)}: the study as it was run is below, and lies as "
        f"<code>study.toml</code> in the results (SHA-256 <code>{escape(plan.sha256)}</code>). "
        "The seed gives the same order of runs.</p>"
        f"<pre>{escape(chr(10).join(lines))}</pre>"
        + opened("The study file", f"<pre>{escape(view.study_text)}</pre>")
    )
