# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m heapwright`: the same as the command `heapwright`."""

from heapwright.cli.main import main

if __name__ == "__main__":
    main()
