-- SPDX-FileCopyrightText: The Heapwright authors
-- SPDX-License-Identifier: Apache-2.0
--
-- A Lua program that uses many small tables. It builds search trees of closures and strings, walks
-- them, drops them, and lets the collector free them. The argument is the number of rounds.
local rounds = tonumber(arg[1]) or 12
local state = 2002

local function number(below)
    state = (state * 1103515245 + 12345) % 2147483648
    return (state // 65536) % below
end

local function insert(node, key)
    if node == nil then
        local seen = 1
        return {
            key = key,
            name = "key " .. key,
            count = function(more)
                seen = seen + more
                return seen
            end,
        }
    end
    if key < node.key then
        node.left = insert(node.left, key)
    elseif key > node.key then
        node.right = insert(node.right, key)
    else
        node.count(1)
    end
    return node
end

local function total(node)
    if node == nil then
        return 0
    end
    return total(node.left) + total(node.right) + node.count(0) + #node.name
end

local kept, sum = {}, 0
for round = 1, rounds do
    local root
    for _ = 1, 20000 do
        root = insert(root, number(30000))
    end
    sum = sum + total(root)
    kept[round % 3 + 1] = root
    local parts = {}
    for i = 1, 8000 do
        parts[#parts + 1] = string.format("%d/%d", i, number(1000))
    end
    sum = sum + #table.concat(parts, ",")
end
print(sum)
