# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Scripts for perl, whose objects come from malloc: kept in a hash, or dropped.
use strict;
use warnings;

my $scenario = shift @ARGV // '';
my (%kept, $made);
for my $i (1 .. 300) {
    for my $j (1 .. 20) {
        my $value = 'x' x 500;
        if ($scenario eq 'keep') { $kept{"$i-$j"} = $value . $j }
        else                     { $made = { value => $value, number => $j } }
    }
    select(undef, undef, undef, 0.005);
}
