# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The flame graph carries its boxes, escapes names, and offers only measures that there are."""

import json
import re

from heapwright.artefacts.profile.calls import Call, Calls, CodeObject, Function
from heapwright.report.flame.component import Course, flame_graph

CALLS = Calls(
    objects=(CodeObject(path="/usr/bin/program"),),
    nodes=(
        Call(0, 0, 0, 100, 1000, 0, 0),
        Call(0, 0, 0x10, 100, 1000, 0, 0),
        Call(1, 0, 0x20, 70, 700, 0, 0),
    ),
    functions=(Function(name="main"), Function(name="operator()</script><b>")),
    frames=((), (0,), (1,)),
)


def test_the_boxes_are_all_there() -> None:
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', flame_graph(CALLS))
    (shown,) = json.loads(data)["trees"]
    assert shown["names"] == ["all", "main", "operator()</script><b>"]
    assert shown["parent"] == [0, 0, 1]
    assert [shown["names"][name] for name in shown["name"]] == shown["names"]
    assert shown["sums"][:2] == [[1000, 1000, 700], [100, 100, 70]]


def test_names_are_escaped() -> None:
    text = flame_graph(CALLS)
    assert text.count("</script>") == 1
    assert "operator()&lt;/script&gt;&lt;b&gt;" in text


def test_measures_without_any_figure_are_not_offered() -> None:
    assert re.findall(r"<option[^>]*>(.*?)</option>", flame_graph(CALLS)) == ["bytes", "calls"]


def test_without_calls_there_is_nothing() -> None:
    assert flame_graph(CALLS.model_copy(update={"nodes": CALLS.nodes[:1]})) == ""
    assert flame_graph(CALLS.model_copy(update={"nodes": ()})) == ""


def test_library_functions_are_there_on_request() -> None:
    library = Function(name="allocate", file="/usr/include/c++/12/bits/new_allocator.h")
    calls = CALLS.model_copy(update={"functions": (CALLS.functions[0], library)})
    text = flame_graph(calls)
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', text)
    own, whole = json.loads(data)["trees"]
    assert own["names"] == ["all", "main"]
    assert whole["names"] == ["all", "main", "allocate"]
    assert '<input type="checkbox">' in text
    assert '<input type="checkbox">' not in flame_graph(CALLS)


def test_the_live_bytes_of_sites_over_time_are_there() -> None:
    course = Course((0.5, 1.0, 1.5), (2, 1), ((70, 0, 7), (0, 30, 3)))
    text = flame_graph(CALLS, course)
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', text)
    shown = json.loads(data)
    assert shown["times"] == [0.5, 1.0, 1.5]
    assert shown["live"] == [[70, 0, 7], [0, 30, 3]]
    (tree,) = shown["trees"]
    assert [tree["names"][tree["name"][box]] for box in tree["sites"]] == [
        "operator()</script><b>",
        "main",
    ]
    assert "live at a moment, bytes</option>" in text
    assert text.count('type="range"') == 2


def test_a_single_moment_is_not_offered() -> None:
    text = flame_graph(CALLS, Course((0.5,), (1,), ((70,),)))
    assert "at a moment" not in text
    assert 'type="range"' not in text


def test_a_site_of_the_libraries_alone_is_in_their_box() -> None:
    header = "/usr/include/c++/12/bits/new_allocator.h"
    calls = Calls(
        objects=CALLS.objects,
        nodes=(
            Call(0, 0, 0, 100, 1000, 0, 0),
            Call(0, 0, 16, 50, 500, 0, 0),
            Call(0, 0, 32, 50, 500, 0, 0),
            Call(2, 0, 48, 50, 500, 0, 0),
        ),
        functions=(CALLS.functions[0], *(Function(name=f"f{at}", file=header) for at in range(2))),
        frames=((), (0,), (1,), (2,)),
    )
    text = flame_graph(calls, Course((0.5, 1.0), (3,), ((70, 7),)))
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', text)
    own, whole = json.loads(data)["trees"]
    assert own["names"][own["name"][own["sites"][0]]] == "standard libraries alone"
    assert whole["names"][whole["name"][whole["sites"][0]]] == "f1"
