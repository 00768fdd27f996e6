# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints a drawing of `shapes` shapes, 1920 by 1080. The same seed gives the same drawing.
function number(below) {
    state = (state * 1103515245 + 12345) % 2147483648
    return int(state / 65536) % below
}
BEGIN {
    state = seed
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1920\" height=\"1080\">"
    print "<defs><linearGradient id=\"g\"><stop offset=\"0\" stop-color=\"#fa0\"/><stop offset=\"1\" stop-color=\"#05f\"/></linearGradient></defs>"
    for (n = 1; n <= shapes; ++n) {
        style = sprintf("fill:%s;fill-opacity:0.%d;stroke:#%06x", number(6) ? sprintf("#%06x", number(16777216)) : "url(#g)", 1 + number(9), number(16777216))
        x = number(1900); y = number(1060)
        path = "M" x " " y
        for (k = 3 + number(30); k > 0; --k) path = path sprintf(" q%d %d %d %d", number(90) - 45, number(90) - 45, number(90) - 45, number(90) - 45)
        printf "<g transform=\"rotate(%d %d %d)\"><path id=\"p%d\" style=\"%s\" d=\"%s z\"/></g>\n", number(360), x, y, n, style, path
    }
    print "</svg>"
}
