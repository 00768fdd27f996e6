# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The questions of a study: findings, acceptance, sensitivity, substitution, published tables.

`engine` judges all rules.
"""
