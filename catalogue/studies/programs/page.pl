#!/usr/bin/perl
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints a page for a browser: headings, nested lists, tables, links, forms and entities, the same
# every time. The argument is the number of its sections.
use strict;
use warnings;

my $sections = shift // 10;
my $state    = 2002;

sub number {
    my ($below) = @_;
    $state = ($state * 1103515245 + 12345) & 0x7fffffff;
    return ( $state >> 16 ) % $below;
}

sub word { return join '', map { chr( 97 + number(26) ) } 1 .. 2 + number(8) }

sub words { return join ' ', map { word() } 1 .. shift }

sub link_to { my $to = word(); return qq{<a href="$to.html" title="} . words(2) . qq{">} . words(2) . '</a>' }

sub paragraph {
    my @parts = map {
        ( words( 4 + number(8) ), link_to(), '<em>' . words(2) . '</em>', '&eacute;&#8212;&amp;' )[ number(4) ]
    } 1 .. 12;
    return '<p class="' . word() . '">' . join( ' ', @parts ) . "</p>\n";
}

sub list {
    my ($depth) = @_;
    my @items = map {
        '<li>' . words( 3 + number(4) ) . ( $depth && !number(3) ? list( $depth - 1 ) : '' ) . "</li>\n"
    } 1 .. 4;
    return "<ul>\n" . join( '', @items ) . "</ul>\n";
}

sub table {
    my $columns = 2 + number(4);
    my @rows    = map {
        '<tr>' . join( '', map { '<td>' . words( 1 + number(3) ) . '</td>' } 1 .. $columns ) . "</tr>\n"
    } 1 .. 3 + number(8);
    return "<table border=\"1\">\n" . join( '', @rows ) . "</table>\n";
}

sub form {
    my @options = map { '<option value="' . word() . '">' . word() . '</option>' } 1 .. 6;
    return '<form action="' . word() . '"><input type="text" name="' . word() . '" value="' . words(2)
      . '"><select name="' . word() . '">' . join( '', @options ) . "</select></form>\n";
}

print qq{<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>A page</title></head><body>\n};
for my $section ( 1 .. $sections ) {
    print "<h2 id=\"s$section\">", words(4), "</h2>\n";
    print paragraph(), list(3), table(), paragraph(), form();
}
print "</body></html>\n";
