#!/usr/bin/gawk -f
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# An awk program that lives on associative arrays: it makes up records, groups them, splits and
# joins fields, and deletes what it has reported. `-v rounds=N` says how often.
BEGIN {
    state = 2002
    if (!rounds) rounds = 6
    for (round = 1; round <= rounds; ++round) {
        for (line = 1; line <= 40000; ++line) {
            record = number(5000) ":" number(900) ":" number(70) ":item" number(20000)
            n = split(record, field, ":")
            group[field[1]] = group[field[1]] "," field[n]
            amount[field[1], field[2]] += field[3]
        }
        for (key in amount) {
            split(key, part, SUBSEP)
            best[part[1]] = amount[key] > best[part[1]] ? amount[key] : best[part[1]]
        }
        for (key in group) {
            longest = length(group[key]) > longest ? length(group[key]) : longest
            if (number(2)) delete group[key]
        }
        delete amount
    }
    for (key in best) sum += best[key]
    print longest, sum, length(group)
}

function number(below) {
    state = (state * 69069 + 1) % 4294967296
    return int(state / 65536) % below
}
