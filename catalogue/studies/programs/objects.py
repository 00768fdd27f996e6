# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A Python program that lives on small objects: it reads documents, rewrites them, drops them.

The argument is the number of rounds. PYTHONMALLOC=malloc has CPython take from malloc what its own
allocator would give. Nothing but built-in types is used, and hashes of strings decide nothing that
is printed.
"""

import sys


class Node:
    """A node of a document."""

    __slots__ = ("attributes", "children", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.attributes: dict[str, str] = {}
        self.children: list[Node] = []


class Numbers:
    """The same numbers in every run."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, limit: int) -> int:
        self.state = (self.state * 1103515245 + 12345) % 2147483648
        return (self.state >> 16) % limit


def written(numbers: Numbers, nodes: int) -> str:
    """A document as text: a line a node, with its depth, name, attributes and text."""
    lines = ["0;root;;the beginning"]
    depth = 0
    for at in range(nodes):
        depth = min(depth + 1, max(1, depth + 1 - numbers.below(3)))
        attributes = ",".join(f"a{each}={numbers.below(1000)}" for each in range(numbers.below(4)))
        lines.append(f"{depth};node{at % 97};{attributes};words {at} and {numbers.below(10**6)}")
    return "\n".join(lines)


def read(text: str) -> Node:
    """The tree of a document."""
    path: list[Node] = []
    for line in text.split("\n"):
        depth, name, attributes, words = line.split(";")
        node = Node(name, words)
        for each in filter(None, attributes.split(",")):
            key, _, value = each.partition("=")
            node.attributes[key] = value
        del path[int(depth) :]
        if path:
            path[-1].children.append(node)
        path.append(node)
    return path[0]


def turned(node: Node) -> Node:
    """A copy, children the other way round."""
    made = Node(node.name.upper(), " ".join(reversed(node.text.split(" "))))
    made.attributes = {value: key for key, value in node.attributes.items()}
    made.children = [turned(each) for each in reversed(node.children)]
    return made


def total(node: Node) -> int:
    """Something that depends on all of it."""
    own = len(node.name) + len(node.text) + sum(int(key) for key in node.attributes)
    return own + sum(total(each) for each in node.children)


def main(rounds: int) -> int:
    """Keeps the last three trees."""
    numbers = Numbers(2002)
    sys.setrecursionlimit(20000)
    kept: list[Node] = []
    found = 0
    for _ in range(rounds):
        tree = turned(read(written(numbers, 3000)))
        found += total(tree)
        kept = [*kept[-2:], tree]
    return found


if __name__ == "__main__":
    sys.stdout.write(f"{main(int(sys.argv[1]))}\n")
