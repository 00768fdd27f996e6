# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the stages exchange on disk, one package for each artefact.

Artefacts import `base` and each other. A module `document` holds a document that a verb writes.
"""
