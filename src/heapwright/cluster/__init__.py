# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Beyond one machine: hosts that Dask distributed connects, each doing one thing at a time.

What is done there is text in, text out, so that this stage knows nothing of studies. Dask comes
with the extra `heapwright[cluster]`; it is imported only when a study names hosts.
"""
