# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints a page of `bytes` bytes or a little more, with made-up words. The same seed gives the same page.
function number(below) {
    state = (state * 1103515245 + 12345) % 2147483648
    return int(state / 65536) % below
}
function word(    letters, text) {
    text = ""
    for (letters = 2 + number(9); letters > 0; --letters) text = text sprintf("%c", 97 + number(26))
    return text
}
BEGIN {
    state = seed
    size = 0
    print "<!DOCTYPE html>\n<html><head><title>" word() "</title></head><body>"
    while (size < bytes) {
        line = "<p>"
        for (words = 20 + number(60); words > 0; --words) line = line word() (number(12) ? " " : ". ")
        line = line "</p>"
        if (!number(8)) line = line "\n<h2>" word() " " word() "</h2>"
        if (!number(5)) line = line "\n<ul><li>" word() "</li><li><a href=\"#" word() "\">" word() "</a></li></ul>"
        print line
        size += length(line) + 1
    }
    print "</body></html>"
}
