# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether published findings hold in the runs of a study, and published tables beside ours."""
