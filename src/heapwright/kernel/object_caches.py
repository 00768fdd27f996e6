# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the events do not say of a cache: its alignment, and what its objects are like.

An event has the size of an object and, except under SLOB, the stride of the objects in a slab.
The alignment follows from the two. SLOB has no stride: there it follows from the flag
SLAB_HWCACHE_ALIGN. The flags are those of the calls of KMEM_CACHE and kmem_cache_create in Linux
6.1, which a cache is known by its name for.
"""

import re
from dataclasses import dataclass

WORD = 8
LINE = 64
PAGE = 4096
GENERAL = re.compile(r"kmalloc-(\d+)(k?)")
KEEPING = re.compile(
    r"((ext4_|mqueue_|proc_|shmem_|sock_)?inode|bdev|sighand)_cache|anon_vma"
    r"|radix_tree_node|jbd2_journal_head|bio-\d+"
)
"""A constructor, or SLAB_TYPESAFE_BY_RCU: nothing is written into what is free."""
RECLAIMABLE = re.compile(
    r"((ext4_|proc_|sock_)?inode|bdev)_cache|dentry|radix_tree_node|buffer_head|mbcache"
    r"|ext4_(extent_status|pending_reservation|groupinfo_\w+|prealloc_space|allocation_context"
    r"|free_data|io_end|fc_dentry_update)|jbd2_(revoke_record_s|transaction_s|journal_head"
    r"|journal_handle)|kmalloc-rcl-\w+"
)
"""SLAB_RECLAIM_ACCOUNT."""
ON_LINES = re.compile(
    r"filp|names_cache|eventpoll_epi|mnt_cache|aio_kiocb|kioctx|userfaultfd_ctx_cache|pid"
    r"|jbd2_(revoke_record_s|transaction_s)|uid_cache|cred_jar|mm_struct|sighand_cache|files_cache"
    r"|signal_cache|fs_cache|bio-\d+|biovec-\w+|bdev_cache|(sock|mqueue)_inode_cache|skbuff_\w+"
    r"|UNIX(-STREAM)?|task_struct"
)
"""SLAB_HWCACHE_ALIGN."""
LINK_BEHIND = ("slub", "slqb")
"""Allocators that link free objects, behind the object if nothing may be written into it."""


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache as a kernel trace declares it."""

    name: str
    size: int
    align: int
    keeping: bool
    reclaimable: bool

    @property
    def flags(self) -> str:
        """As a kernel trace has them."""
        return ("c" if self.keeping else "-") + ("r" if self.reclaimable else "-")


def general_size(name: str) -> int | None:
    """The bytes of a general cache of this name; None for others."""
    match = GENERAL.fullmatch(name)
    return None if match is None else int(match[1]) * (1024 if match[2] else 1)


def reclaimable_general(size: int) -> tuple[str, int]:
    """The general cache of reclaimable requests."""
    if 64 < size <= 96 or 128 < size <= 192:
        whole = 96 if size <= 96 else 192
    else:
        whole = 1 << (max(size, WORD) - 1).bit_length()
    return f"kmalloc-rcl-{whole // 1024}k" if whole >= 1024 else f"kmalloc-rcl-{whole}", whole


def described(name: str, size: int, stride: int, allocator: str) -> Cache:
    """A cache by its name and by what the events say of it.

    SLOB's own cache of caches says no size but its stride.
    """
    size = size or stride
    keeping = KEEPING.fullmatch(name) is not None
    return Cache(
        name=name,
        size=size,
        align=_alignment(name, size, stride, allocator, keeping=keeping),
        keeping=keeping,
        reclaimable=RECLAIMABLE.fullmatch(name) is not None,
    )


def _alignment(name: str, size: int, stride: int, allocator: str, *, keeping: bool) -> int:
    """The least that explains the stride; what no alignment explains is aligned to a word."""
    if allocator == "slob":
        return _of_lines(size) if ON_LINES.fullmatch(name) else WORD
    used = _up(size, WORD) + (WORD if keeping and allocator in LINK_BEHIND else 0)
    align = WORD
    while align <= PAGE and _up(used, align) != stride:
        align *= 2
    return align if align <= PAGE else WORD


def _of_lines(size: int) -> int:
    """As calculate_alignment of mm/slab_common.c has it: small objects share a line."""
    align = LINE
    while size <= align // 2 and align > WORD:
        align //= 2
    return align


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit
