# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Solves a tridiagonal system by elimination, row by row and with loops, as a student would, so often; prints
# the largest error of all solutions.
words = argv();
order = str2double(words{1});
times = str2double(words{2});
worst = 0;
for again = 1:times
  a = zeros(order);
  for i = 1:order
    a(i, i) = 4 + mod(i * again, 7) / 10;
    if i > 1
      a(i, i - 1) = -1;
      a(i - 1, i) = -1 - mod(i, 3) / 10;
    endif
  endfor
  x = (1:order)' / again;
  b = a * x;
  rows = cell(order, 1);
  for i = 1:order
    rows{i} = [a(i, :), b(i)];
  endfor
  for k = 1:order - 1
    for i = k + 1:order
      if rows{i}(k) != 0
        rows{i} = rows{i} - rows{k} * (rows{i}(k) / rows{k}(k));
      endif
    endfor
  endfor
  y = zeros(order, 1);
  for i = order:-1:1
    rest = 0;
    for j = i + 1:order
      rest = rest + rows{i}(j) * y(j);
    endfor
    y(i) = (rows{i}(order + 1) - rest) / rows{i}(i);
  endfor
  worst = max(worst, max(abs(y - x)));
endfor
printf("%d solved, none off by more than a billionth: %d\n", times, worst < 1e-9);
