# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Recording: a command runs under the preloaded recorder and leaves a trace."""
