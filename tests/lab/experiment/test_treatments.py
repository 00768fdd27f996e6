# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What `-a` and `--set` mean, and what is said about what they cannot mean."""

from pathlib import Path

import pytest

from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.treatments import (
    Request,
    Setting,
    explain_inherited,
    make_treatments,
    merge_tunables,
    parse_requests,
    parse_setting,
)

KNOWN = ["kingsley", "kingsley-coalescing", "lea", "glibc", "glibc-no-tcache", "jemalloc"]
GLIBC = Allocator(name="glibc", kind=Kind.SYSTEM)
NO_TCACHE = Allocator(
    name="glibc-no-tcache",
    kind=Kind.SYSTEM,
    environment={"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"},
)
JEMALLOC = Allocator(name="jemalloc", kind=Kind.PEER, path="/lib/libjemalloc.so.2")


def error_of(*texts: str) -> HeapwrightError:
    with pytest.raises(HeapwrightError) as caught:
        parse_requests(texts, KNOWN)
    return caught.value


def test_names_are_split_at_commas_and_kept_in_order() -> None:
    assert parse_requests(["lea, glibc", "jemalloc"], KNOWN) == [
        Request("lea"),
        Request("glibc"),
        Request("jemalloc"),
    ]


def test_the_same_name_twice_counts_once() -> None:
    assert parse_requests(["lea,lea"], KNOWN) == [Request("lea")]


def test_a_library_is_called_by_its_file_name() -> None:
    assert parse_requests(["./build/libhoard.so,libx.so.2"], KNOWN) == [
        Request("libhoard.so", "./build/libhoard.so"),
        Request("libx.so.2", "libx.so.2"),
    ]


def test_a_library_may_be_given_a_name_even_a_registered_one() -> None:
    assert parse_requests(["mine=./x.so,jemalloc=/opt/j.so"], KNOWN) == [
        Request("mine", "./x.so"),
        Request("jemalloc", "/opt/j.so"),
    ]


def test_libraries_with_like_names_stay_apart() -> None:
    requests = parse_requests(["old/lib/m.so,new/lib/m.so,m.so,other/n.so"], KNOWN)
    assert [request.name for request in requests] == [
        "old/lib/m.so",
        "new/lib/m.so",
        "m.so",
        "n.so",
    ]


def test_a_path_with_a_comma_is_not_split(tmp_path: Path) -> None:
    library = tmp_path / "a,b.so"
    library.write_text("")
    assert parse_requests([str(library)], KNOWN) == [Request("a,b.so", str(library))]


def test_a_list_may_be_longer_than_a_files_name() -> None:
    requests = parse_requests([",".join(f"m{number}=x.so" for number in range(1000))], KNOWN)
    assert len(requests) == 1000


def test_an_unknown_allocator_suggests_the_nearest_names() -> None:
    error = error_of("jemaloc")
    assert "unknown allocator 'jemaloc'" in error.message
    assert "did you mean jemalloc?" in error.hint
    assert "glibc-no-tcache" in error_of("tcache").hint
    assert "Lea".lower() in error_of("LEA").hint
    assert "did you mean" not in error_of("zzzz").hint


def test_nothing_named_is_an_error() -> None:
    assert "no allocator is named" in error_of(" , ").message


def test_one_name_for_two_libraries_is_an_error() -> None:
    error = error_of("x=a.so,x=b.so")
    assert "two allocators are called 'x': a.so and b.so" in error.message


@pytest.mark.parametrize("text", ["=a.so", "x=", "a/b=c.so", "a:b=c.so"])
def test_a_name_that_cannot_be_one_is_refused(text: str) -> None:
    assert "cannot read" in error_of(text).message


def test_the_value_of_a_setting_is_not_split() -> None:
    setting = parse_setting("jemalloc:MALLOC_CONF=narenas:1,tcache:false")
    assert setting == Setting("jemalloc", "MALLOC_CONF", "narenas:1,tcache:false")
    assert setting.level == "MALLOC_CONF=narenas:1,tcache:false"
    assert parse_setting("glibc:GLIBC_TUNABLES=a=1:b=2").value == "a=1:b=2"
    assert parse_setting("x/y.so:A=").value == ""


@pytest.mark.parametrize("text", ["jemalloc", "jemalloc:MALLOC_CONF", ":A=1", "a:1B=2", "A=1"])
def test_a_setting_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(HeapwrightError, match="cannot read the setting"):
        parse_setting(text)


def test_a_setting_cannot_speak_to_the_loader() -> None:
    with pytest.raises(HeapwrightError, match="controls the loader"):
        parse_setting("glibc:LD_PRELOAD=/x.so")


def test_each_setting_adds_a_level_and_the_plain_one_stays() -> None:
    settings = [Setting("jemalloc", "MALLOC_CONF", value) for value in ("narenas:1", "narenas:2")]
    treatments = make_treatments([JEMALLOC, GLIBC], settings, inherited={}, baseline="glibc")
    assert [treatment.key for treatment in treatments] == [
        ("glibc", ""),
        ("jemalloc", ""),
        ("jemalloc", "MALLOC_CONF=narenas:1"),
        ("jemalloc", "MALLOC_CONF=narenas:2"),
    ]
    assert [dict(treatment.environment) for treatment in treatments][2:] == [
        {"MALLOC_CONF": "narenas:1"},
        {"MALLOC_CONF": "narenas:2"},
    ]
    assert treatments[0].preload is None
    assert treatments[1].preload == Path("/lib/libjemalloc.so.2")


def test_one_allocator_with_one_setting_is_a_comparison() -> None:
    setting = Setting("glibc", "MALLOC_ARENA_MAX", "1")
    assert len(make_treatments([GLIBC], [setting], inherited={}, baseline="glibc")) == 2


def test_tunables_of_the_user_the_allocator_and_the_setting_are_merged() -> None:
    setting = Setting("glibc-no-tcache", "GLIBC_TUNABLES", "glibc.malloc.arena_max=1")
    inherited = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=9:glibc.cpu.x=y"}
    treatments = make_treatments(
        [NO_TCACHE, GLIBC], [setting], inherited=inherited, baseline="glibc"
    )
    plain, bare, tuned = (dict(treatment.environment) for treatment in treatments)
    assert plain == {}
    assert bare["GLIBC_TUNABLES"] == "glibc.malloc.tcache_count=0:glibc.cpu.x=y"
    assert tuned["GLIBC_TUNABLES"] == (
        "glibc.malloc.tcache_count=0:glibc.cpu.x=y:glibc.malloc.arena_max=1"
    )


def test_merging_nothing_gives_nothing() -> None:
    assert merge_tunables("", "") == ""
    assert merge_tunables("a=1:b=2", "b=3") == "a=1:b=3"


@pytest.mark.parametrize(
    ("allocators", "settings", "baseline", "what"),
    [
        ([GLIBC, JEMALLOC], [Setting("jemaloc", "A", "1")], "glibc", "not among those compared"),
        ([GLIBC, JEMALLOC], [], "lea", "the baseline 'lea' is not among"),
        ([GLIBC], [], "glibc", "nothing to compare it with"),
        ([GLIBC], [Setting("glibc", "A", "1")] * 2, "glibc", "given twice"),
    ],
)
def test_a_request_without_a_comparison_is_refused(
    allocators: list[Allocator], settings: list[Setting], baseline: str, what: str
) -> None:
    with pytest.raises(HeapwrightError, match=what):
        make_treatments(allocators, settings, inherited={}, baseline=baseline)


def test_settings_of_the_users_own_are_mentioned() -> None:
    assert explain_inherited({}) == []
    notes = explain_inherited(
        {"LD_PRELOAD": "/a.so", "GLIBC_TUNABLES": "x=1", "MALLOC_ARENA_MAX": "1"}
    )
    assert len(notes) == 3
    assert "/a.so" in notes[0]
    assert "x=1" in notes[1]
    assert "MALLOC_ARENA_MAX=1" in notes[2]
