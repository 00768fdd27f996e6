# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a study asks of its runs: findings, acceptance, sensitivity, substitution, published tables.

`engine` judges all rules.
"""
