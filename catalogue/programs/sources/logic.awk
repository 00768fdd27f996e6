# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints a table of inputs, outputs and product terms for espresso. The same seed gives the same table.
function number(below) {
    state = (state * 1103515245 + 12345) % 2147483648
    return int(state / 65536) % below
}
BEGIN {
    state = seed
    print ".i " inputs "\n.o " outputs "\n.p " terms
    for (n = 0; n < terms; ++n) {
        line = ""
        for (i = 0; i < inputs; ++i) line = line substr("01--", 1 + number(4), 1)
        line = line " "
        chosen = number(outputs)
        for (i = 0; i < outputs; ++i) line = line (i == chosen || number(6) == 0 ? "1" : "0")
        print line
    }
    print ".e"
}
