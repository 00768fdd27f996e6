# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The root of a function between two ends of different sign, by Chandrupatla's method.

Each step fits a parabola of x over f through the last three points where that is safe, and halves
the bracket elsewhere. The bracket always contains the root.

Source: Chandrupatla (1997), A new hybrid quadratic/bisection algorithm for finding the zero of a
nonlinear function without using derivatives.
"""

from collections.abc import Callable

_ROUNDING = 2.0**-52


def root(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Where `function` is 0, within `tolerance`. Raises ValueError if the ends have one sign."""
    near, far = low, high
    f_near, f_far = function(near), function(far)
    if f_near == 0 or f_far == 0:
        return near if f_near == 0 else far
    if (f_near > 0) == (f_far > 0):
        raise ValueError(f"the function has the same sign at {low} and at {high}")
    share = 0.5  # of the bracket, from `near` to `far`
    while True:
        point = near + share * (far - near)
        value = function(point)
        if (value > 0) == (f_near > 0):
            last, f_last = near, f_near
        else:
            last, f_last = far, f_far
            far, f_far = near, f_near
        near, f_near = point, value
        best, f_best = (near, f_near) if abs(f_near) < abs(f_far) else (far, f_far)
        least = (2 * _ROUNDING * abs(best) + tolerance / 2) / abs(far - near)
        if f_best == 0 or least > 0.5:
            return best
        share = 0.5
        across, along = (near - far) / (last - far), (f_near - f_far) / (f_last - f_far)
        if along**2 < across and (1 - along) ** 2 < 1 - across:
            share = f_near / (f_far - f_near) * f_last / (f_far - f_last)
            share += (
                (last - near) / (far - near) * f_near / (f_last - f_near) * f_far / (f_last - f_far)
            )
        share = min(max(share, least), 1 - least)
