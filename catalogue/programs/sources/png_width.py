# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Exits with 0 if a file is a PNG picture of the requested width."""

import struct
import sys
from pathlib import Path

picture = Path(sys.argv[1]).read_bytes()
if not picture.startswith(b"\x89PNG\r\n\x1a\n") or b"IEND" not in picture[-12:]:
    sys.exit("this is no whole PNG picture")
width = struct.unpack(">I", picture[16:20])[0]
sys.exit(0 if width == int(sys.argv[2]) else f"it is {width} pixels wide")
