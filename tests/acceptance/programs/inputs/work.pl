#!/usr/bin/perl
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Hashes that grow and shrink, strings that grow, regular expressions, sorting and closures. Forked
# children send their results through a pipe.
use strict;
use warnings;

my $state = 42;

sub number {
    my ($below) = @_;
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return int($state / 65536) % $below;
}

sub words {
    my ($count) = @_;
    return map { join '', map { chr(97 + number(26)) } 1 .. 2 + number(9) } 1 .. $count;
}

sub checksum {
    my ($text) = @_;
    return unpack '%32C*', $text;
}

my %seen;
$seen{$_}++ for words(60_000);
delete @seen{ grep { /[aeiou]{3}/ || length == 2 } keys %seen };
my @sorted = sort { $seen{$b} <=> $seen{$a} || $a cmp $b } keys %seen;
printf "%d words, first %s, last %s\n", scalar @sorted, @sorted[ 0, -1 ];

my $text = '';
$text .= "$_=$seen{$_};" for @sorted;
my $copies = 0;
$copies++ while $text =~ /(\w)(\w)\w*=\d+;\2\w*\1/g;
(my $turned = $text) =~ s/(\w+)=(\d+);/$2:\U$1\E\n/g;
printf "%d bytes, %d matches, %d\n", length $turned, $copies, checksum($turned);

my @tree = map { my $n = $_; { name => $n, run => sub { $n . shift }, parts => [ split //, $n ] } } @sorted[ 0 .. 4999 ];
printf "%d\n", checksum(join ',', map { $_->{run}->(scalar @{ $_->{parts} }) } @tree);

for my $child (1 .. 4) {
    pipe my $in, my $out or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        close $in;
        my %own = map { $_ => $child } words(20_000 * $child);
        delete @seen{ keys %own };
        print {$out} join ' ', scalar(keys %own), scalar(keys %seen), checksum(join '', sort keys %own);
        close $out;
        exit 0;
    }
    close $out;
    print "child $child: ", scalar(<$in>), "\n";
    waitpid $pid, 0;
    die "child $child: status $?" if $?;
}
print "done\n";
