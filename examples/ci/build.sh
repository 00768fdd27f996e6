#!/bin/sh
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")"
${CXX:-g++} -std=c++20 -O2 -o records records.cpp
