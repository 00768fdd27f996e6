# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# nix-build packaging/nix
{ pkgs ? import <nixpkgs> { } }:

pkgs.callPackage ./package.nix { }
