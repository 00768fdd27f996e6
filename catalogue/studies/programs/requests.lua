-- SPDX-FileCopyrightText: The Heapwright authors
-- SPDX-License-Identifier: Apache-2.0
--
-- One request of a server that has a Lua state for each request. It reads a document of nested pairs of
-- name and value, rewrites it, and formats a page of it. The argument is the number of entries. With a
-- second argument, print, it prints a sum over the page.
local entries = tonumber(arg[1]) or 200
local state = 2002

local function number(below)
    state = (state * 1103515245 + 12345) % 2147483648
    return (state // 65536) % below
end

local function written(depth, count)
    local parts = {}
    for i = 1, count do
        if depth > 0 and number(3) == 0 then
            parts[#parts + 1] = "k" .. i .. "={" .. written(depth - 1, 4) .. "}"
        else
            parts[#parts + 1] = "k" .. i .. "=" .. number(100000)
        end
    end
    return table.concat(parts, ";")
end

local function read(text, at)
    local node = {}
    while true do
        local name, after = text:match("^(%w+)=()", at)
        if name == nil then
            return node, at
        end
        if text:sub(after, after) == "{" then
            node[name], at = read(text, after + 1)
            at = at + 1
        else
            local value, rest = text:match("^(%d+)()", after)
            node[name], at = tonumber(value), rest
        end
        if text:sub(at, at) == ";" then
            at = at + 1
        end
    end
end

local function page(node, lines, indent)
    local names = {}
    for name in pairs(node) do
        names[#names + 1] = name
    end
    table.sort(names)
    for _, name in ipairs(names) do
        local value = node[name]
        if type(value) == "table" then
            lines[#lines + 1] = indent .. "<" .. name .. ">"
            page(value, lines, indent .. "  ")
            lines[#lines + 1] = indent .. "</" .. name .. ">"
        else
            lines[#lines + 1] = string.format("%s<%s>%d</%s>", indent, name, value, name)
        end
    end
    return lines
end

local tree = read(written(4, entries), 1)
local text = table.concat(page(tree, {}, ""), "\n")
local sum = #text
for word in text:gmatch("%d+") do
    sum = (sum * 31 + tonumber(word)) % 2147483647
end
if arg[2] == "print" then
    print(sum)
end
