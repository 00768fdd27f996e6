#!/usr/bin/perl
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# A Perl program that uses many small strings. It counts made-up words in hashes of arrays and rewrites
# them by pattern. It sorts them, drops half of them and begins again. The argument is the number of rounds.
use strict;
use warnings;

my $rounds = shift // 4;
my $state  = 2002;

sub number {
    my ($below) = @_;
    $state = ($state * 1103515245 + 12345) & 0x7fffffff;
    return ($state >> 16) % $below;
}

my %index;
my $sum = 0;
for my $round (1 .. $rounds) {
    for my $line (1 .. 12_000) {
        my @words = map { join '', map { chr(97 + number(20)) } 1 .. 2 + number(5) } 1 .. 6;
        push @{ $index{$_} }, "$round:$line" for @words;
        my $text = join ' ', @words;
        $text =~ s/([aeiou])(\w)/\u$2$1/g;
        $sum += length $text;
    }
    my @common = sort { @{ $index{$b} } <=> @{ $index{$a} } || $a cmp $b } keys %index;
    $sum += @{ $index{ $common[0] } };
    delete @index{ grep { number(2) } @common };
}
print "$sum ", scalar(keys %index), "\n";
