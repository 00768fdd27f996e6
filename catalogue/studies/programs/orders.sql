-- SPDX-FileCopyrightText: The Heapwright authors
-- SPDX-License-Identifier: Apache-2.0
--
-- A shop's orders in SQLite. Tables are filled, joined, grouped and searched by text. Rows are put into
-- documents and read from them, and deleted in part. :orders is the number of orders.
create table customer(id integer primary key, name text, city text);
create table item(id integer primary key, name text, price real);
create table sale(id integer primary key, customer int, item int, amount int, note text);
create index sale_customer on sale(customer, item);
create index sale_note on sale(note);
create table seen(what text primary key, times int);

begin;
with recursive number(n) as (select 1 union all select n + 1 from number where n < :orders / 10 + 10)
insert into customer select n, printf('customer %d of %x', n, n * 2654435761 % 4294967296),
  substr('AachenBergenCorkDijonEssen', 1 + n % 5 * 6, 6) from number;
with recursive number(n) as (select 1 union all select n + 1 from number where n < :orders / 20 + 10)
insert into item select n, upper(hex(n * 40503 % 65536)) || '-' || n, n % 97 + 0.5 from number;
with recursive number(n) as (select 1 union all select n + 1 from number where n < :orders)
insert into sale select n, 1 + n * 7919 % (:orders / 10 + 10), 1 + n * 104729 % (:orders / 20 + 10),
  1 + n % 9, printf('order %d, %s', n, substr('as a gift;by post;;tomorrow', 1 + n % 20, 8)) from number;
commit;

select city, count(*), round(sum(amount * price), 2) from sale join customer on customer.id = customer
  join item on item.id = item group by city order by 3 desc;
select name, (select count(*) from sale where item = item.id and note like '%post%') as posted
  from item order by posted desc, name limit 5;
select length(json_group_array(json_object('id', id, 'note', note, 'tags', json_array(amount, customer))))
  from sale;
select sum(json_extract(document, '$.a[1]')) from
  (select json_object('a', json_array(id, amount, note), 'b', note) as document from sale);
select length(group_concat(line, '; ')) from (select replace(note, 'order', upper(trim(name))) as line
  from sale join customer on customer.id = customer order by note, line);

create trigger noticed after delete on sale begin
  insert into seen values(old.note, 1) on conflict(what) do update set times = times + 1;
end;
delete from sale where id % 3 = 0;
update sale set note = note || ' (again)' where amount > 6;
select count(*), max(what) from seen;
with recursive chain(id, depth) as (select 1, 0 union select (id * 31 + depth) % 1009, depth + 1 from chain
  where depth < 400) select count(distinct id) from chain;
vacuum;
select count(*), sum(length(note)) from sale;
