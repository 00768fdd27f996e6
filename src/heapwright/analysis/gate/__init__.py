# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Did anything change from one document to another? docs/reference/gate.md states the rules."""
