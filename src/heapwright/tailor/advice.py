# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Advice inside the program: pure functions from the deaths of sites to regions and pools.

Sites whose regions end at the same time are grouped. The function of a group is the innermost that
calls all sites. If that function allocates at all sites itself, its caller is taken, because a
function that returns an object cannot own its region. A trace has no stacks of frees, so a further
caller may have to own the region.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from heapwright.artefacts.profile.document import Site
from heapwright.artefacts.tailoring.advice import Pool, Region
from heapwright.tailor.deaths import Deaths, Lives, slack_of

PLACE = re.compile(r" \([^()]*:\d+\)$")
"""The file and the line behind a function."""
MOSTLY = 0.5
"""Of the bytes of a site in regions: it is one of the sites of a region from here on."""
SMALL = 0.01
"""Of all bytes or calls: advice about less is left out."""
INSIDE = 0.9
"""Of the bytes of a further site: they die before or with the region."""
TOGETHER = 0.8
"""Of the ends of a site's regions that must be near those of another one."""
WIDER = 1.05
"""A caller is taken instead of its callee if the region then has this multiple of the bytes."""
REUSED = 0.8
"""Of the allocations of a pool: they follow a free of the same site."""


def regions(lives: Lives, sites: Mapping[int, Site], calls: int) -> tuple[Region, ...]:
    """The groups, most bytes first; `calls` are all calls of malloc and free."""
    total = sum(each.bytes for each in lives.sites.values())
    left = {stack: each for stack, each in lives.sites.items() if stack in sites}
    found = []
    while seeds := [each for each in left.values() if each.region_bytes > MOSTLY * each.bytes]:
        first = max(seeds, key=lambda each: (each.region_bytes, -each.stack))
        near = [
            each
            for each in left.values()
            if each is first
            or (each in seeds and together(first, each))
            or lives.inside(each.stack, first.ends) >= INSIDE * each.bytes
        ]
        function, members = _group(first, near, sites)
        for each in members:
            del left[each.stack]
        region = _region(function, members, first, sites, calls)
        if region.bytes >= SMALL * total or region.call_share >= SMALL:
            found.append(region)
    return tuple(sorted(found, key=lambda each: (-each.bytes, each.function)))


def _chain(site: Site) -> tuple[str, ...]:
    """The functions of the program that call a site, without their lines, the innermost first."""
    calls = [PLACE.sub("", each) for each in site.own_calls or (site.place,)]
    return tuple(dict.fromkeys(calls))


def _group(
    first: Deaths, near: Sequence[Deaths], sites: Mapping[int, Site]
) -> tuple[str, list[Deaths]]:
    """The function from which the region of a site is best made, and the sites of the region."""
    chains = {each.stack: _chain(sites[each.stack]) for each in near}
    own = chains[first.stack]
    best, members = own[0], [each for each in near if own[0] in chains[each.stack]]
    if len(own) > 1 and all(chains[each.stack][0] == best for each in members):
        best = own[1]
        members = [each for each in near if best in chains[each.stack]]
    for function in own[own.index(best) :]:
        below = [each for each in near if function in chains[each.stack]]
        if _bytes(below) >= WIDER * _bytes(members):
            best, members = function, below
    return best, members


def _bytes(members: Iterable[Deaths]) -> int:
    return sum(each.bytes for each in members)


def together(one: Deaths, other: Deaths) -> bool:
    """Whether most regions of the site with fewer regions end near one of the other site."""
    few, many = sorted((one.ends, other.ends), key=len)
    slack, ends = slack_of(many), sorted(end for _, end in many)
    near = sum(_is_near(end, ends, slack) for _, end in few)
    return bool(few) and near >= TOGETHER * len(few)


def _is_near(end: int, ends: Sequence[int], slack: int) -> bool:
    at = bisect_left(ends, end)
    return any(abs(each - end) <= slack for each in ends[max(0, at - 1) : at + 1])


def _region(
    function: str,
    members: Sequence[Deaths],
    first: Deaths,
    sites: Mapping[int, Site],
    calls: int,
) -> Region:
    places: Counter[str] = Counter()
    for each in members:
        places[_chain(sites[each.stack])[0]] += each.bytes
    objects = sum(each.allocations for each in members)
    bytes_ = _bytes(members)
    chain = _chain(sites[first.stack])
    names = tuple(place for place, _ in places.most_common())
    return Region(
        function=function,
        callers=chain[chain.index(function) + 1 :],
        sites=names,
        stacks=tuple(sorted(each.stack for each in members)),
        objects=objects,
        bytes=bytes_,
        early_bytes=bytes_ - sum(each.region_bytes for each in members),
        regions=first.regions,
        call_share=max(0, objects - first.regions) / max(1, calls),
        sketch=sketch(function, names),
    )


def pools(
    lives: Lives, sites: Mapping[int, Site], calls: int, taken: Iterable[Region]
) -> Iterator[Pool]:
    """Hot sites of one size that reuse what they freed, outside of the regions."""
    inside = {stack for region in taken for stack in region.stacks}
    hot = sorted(lives.sites.values(), key=lambda each: (-each.allocations, each.stack))
    for each in hot:
        one_size = each.least == each.largest > 0
        often = each.allocations >= SMALL * calls and each.reused >= REUSED * each.allocations
        if one_size and often and each.stack in sites and each.stack not in inside:
            yield Pool(
                function=_chain(sites[each.stack])[0],
                size=each.least,
                objects=each.allocations,
                reused=each.reused,
            )


def sketch(function: str, sites: Sequence[str]) -> str:
    """A patch in outline, with the C++ interface for a function of C++, else with that of C."""
    where = ", ".join(dict.fromkeys(map(bare, sites[:3])))
    where += " and others" if len(sites) > 3 else ""
    if "(" in function or "::" in function:
        return (
            "#include <heapwright/allocators/arenas.hpp>\n"
            f"heapwright::Region region; // in {bare(function)}\n"
            f"void* object = region.allocate(size); // in {where}\n"
            "// no frees: the end of the scope frees all objects"
        )
    return (
        "#include <heapwright/c/region.h>\n"
        f"region = heapwright_region_create(NULL); /* in {bare(function)} */\n"
        f"object = heapwright_region_alloc(region, size); /* in {where} */\n"
        "heapwright_region_destroy(region); /* instead of the frees */"
    )


def bare(name: str) -> str:
    """A function without the arguments of its templates and calls, and without its result type."""
    depth, kept = 0, []
    text = name.replace("(anonymous namespace)", "{anonymous}").replace("operator()", "operator")
    for letter in text:
        depth += letter in "<("
        if not depth:
            kept.append(letter)
        depth -= letter in ">)" and depth > 0
    whole = "".join(kept).split(" const")[0].split(" [")[0].strip()
    return whole.rpartition(" ")[2] or name
