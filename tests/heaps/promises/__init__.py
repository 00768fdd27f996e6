# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every workload under every composed allocator, for as long as one likes."""
