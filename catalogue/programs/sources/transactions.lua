-- SPDX-FileCopyrightText: The Heapwright authors
-- SPDX-License-Identifier: Apache-2.0
--
-- A load for sysbench, modelled on the description of dbSTRESS in the publication: five related tables with
-- indexes. Half of the transactions only read: an object with its section and zone, or its history with the
-- meaning of its states. The others write: they delete a record of the history, insert it again, and update
-- another one. At its end each thread prints the number and the time of each kind of operation: `kind NAME
-- COUNT MICROSECONDS`.
local ffi = require("ffi")
ffi.cdef([[
typedef struct { long seconds, nanoseconds; } heapwright_time;
int clock_gettime(int clock, heapwright_time *time);
]])

sysbench.cmdline.options = {
   objects = {"Number of objects", 1000},
   records = {"Records of the history of each object", 10},
}

local kinds = {"select", "insert", "update", "delete"}
local count, spent = {}, {}
local time = ffi.new("heapwright_time")
local connection

local function now()
   ffi.C.clock_gettime(1, time)
   return tonumber(time.seconds) * 1e6 + tonumber(time.nanoseconds) / 1e3
end

local function timed(kind, statement)
   local began = now()
   local result = connection:query(statement)
   spent[kind] = spent[kind] + now() - began
   count[kind] = count[kind] + 1
   return result
end

function thread_init()
   connection = sysbench.sql.driver():connect()
   for _, kind in ipairs(kinds) do
      count[kind], spent[kind] = 0, 0
   end
end

local function read(object)
   timed("select", ("select o.name, s.title, z.title, o.made from object o join section s on s.id = o.section " ..
      "join zone z on z.id = s.zone where o.id = %d"):format(object))
   timed("select", ("select h.number, h.made, h.note, t.title from history h join state t on t.id = h.state " ..
      "where h.object = %d order by h.made desc, h.number"):format(object))
end

local function write(object, records)
   local number = sysbench.rand.uniform(1, records)
   local other = number % records + 1
   local made = sysbench.rand.uniform(1, 1000000)
   connection:query("begin")
   timed("delete", ("delete from history where object = %d and number = %d"):format(object, number))
   timed("insert", ("insert into history values (%d, %d, %d, %d, '%s')"):format(
      object, number, 1 + made % 50, made, ("note "):rep(1 + made % 12) .. made))
   timed("update", ("update history set made = %d, note = concat('again ', left(note, 60)) " ..
      "where object = %d and number = %d"):format(made, object, other))
   connection:query("commit")
end

function event(thread)
   local object = sysbench.rand.uniform(1, sysbench.opt.objects)
   if sysbench.rand.uniform(0, 1) == 0 then
      read(object)
   else
      write(object, sysbench.opt.records)
   end
end

function thread_done()
   for _, kind in ipairs(kinds) do
      print(("kind %s %d %.1f"):format(kind, count[kind], spent[kind]))
   end
   connection:disconnect()
end
