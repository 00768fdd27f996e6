# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints a history for git fast-import with `commits` commits. Each commit changes lines of some of 60
# files. The same seed gives the same history.
function number(below) {
    state = (state * 1103515245 + 12345) % 2147483648
    return int(state / 65536) % below
}
function line(    words, text) {
    text = ""
    for (words = 3 + number(9); words > 0; --words) text = text " w" number(5000)
    return text "\n"
}
function data(text) { printf "data %d\n%s\n", length(text), text }
BEGIN {
    state = seed
    for (n = 1; n <= commits; ++n) {
        printf "commit refs/heads/main\ncommitter A Writer <writer@example.org> %d +0000\n", 1000000000 + 60 * n
        data("Change " n ":" line())
        for (times = 1 + number(4); times > 0 || (n == 1 && times > -60); --times) {
            f = n == 1 && times <= 0 ? -times : number(60)
            if (!(f in lines)) for (lines[f] = 0; lines[f] < 40; ++lines[f]) text[f, lines[f]] = line()
            text[f, number(lines[f])] = line()
            if (!number(3)) text[f, lines[f]++] = line()
            whole = ""
            for (k = 0; k < lines[f]; ++k) whole = whole text[f, k]
            print "M 100644 inline file" f
            data(whole)
        }
    }
}
