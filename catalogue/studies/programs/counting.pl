#!/usr/bin/perl
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# A control. It counts, and requests hardly any memory after its start, so that allocators cannot
# matter to it. The argument is the number of millions.
use strict;
use warnings;

my $millions = shift // 6;
my $state    = 2002;
my $odd      = 0;
for my $step (1 .. $millions * 1_000_000) {
    $state = ($state * 69069 + 1) & 0xffffffff;
    $odd += ($state >> 16) & 1;
}
print "$odd\n";
