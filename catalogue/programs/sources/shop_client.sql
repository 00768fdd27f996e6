-- SPDX-FileCopyrightText: The Heapwright authors
-- SPDX-License-Identifier: Apache-2.0
--
-- The 36 operations of each client of the shop. 24 of them only read. The number of the connection determines their
-- customers and films, so that no client waits for a lock of another one.
select * from film_list where id = 1 + connection_id() * 7 % 300~
select * from cast_list where film = 1 + connection_id() * 11 % 300~
select * from customer_list where id = 1 + connection_id() % 200~
select title, year from film where title like concat('film ', 1 + connection_id() % 9, '%') order by title limit 50~
select g.name, count(*) from film_genre fg join genre g on g.id = fg.genre group by g.name order by 2 desc~
call hire(1 + connection_id() * 3 % 600, 1 + connection_id() % 200)~
select * from rental where customer = 1 + connection_id() % 200~
call pay(1 + connection_id() % 200, 250)~
select sum(cents) from payment where customer = 1 + connection_id() % 200~
call films_of(1 + connection_id() * 5 % 1000)~
update customer set points = points + 1 where id = 1 + connection_id() % 200~
insert into reservation (customer, film) values (1 + connection_id() % 200, 1 + connection_id() * 13 % 300)~
select f.title from reservation r join film f on f.id = r.film where r.customer = 1 + connection_id() % 200~
select * from store_stock where store = 1 + connection_id() % 4~
select d.name, count(*) from film f join director d on d.id = f.director group by d.name order by 2 desc, 1 limit 10~
select year, count(*), avg(length(plot)) from film group by year order by year~
call bring_back(1 + connection_id() % 200)~
insert into fine (customer, cents) values (1 + connection_id() % 200, 100)~
select sum(cents) from fine where customer = 1 + connection_id() % 200~
select plot from film where id between 1 + connection_id() % 250 and 11 + connection_id() % 250~
update customer set mail = concat('new', id, '@example.org') where id = 1 + connection_id() % 200~
select c.name, t.name from customer c join address a on a.id = c.address join city t on t.id = a.city order by c.name limit 40~
select l.name, count(*) from film_language fl join language l on l.id = fl.language group by l.name~
call hire(2 + connection_id() * 3 % 600, 1 + connection_id() % 200)~
select upper(title), md5(plot), reverse(title) from film where id <= 40~
call films_of(1 + connection_id() * 17 % 1000)~
select a.name, count(*) from film_actor fa join actor a on a.id = fa.actor group by a.name order by 2 desc, 1 limit 20~
call pay(1 + connection_id() % 200, 300)~
select * from customer_list where city = concat('city ', 1 + connection_id() % 300)~
select s.name, count(*) from film f join studio s on s.id = f.studio group by s.name having count(*) > 1~
update reservation set film = 1 + connection_id() * 19 % 300 where id = 1 + connection_id() % 50 and customer < 0~
select title from film where id in (select film from copy where hired > 0) order by title limit 30~
insert into history (what, words) values ('visit', concat('by ', connection_id()))~
select group_concat(title order by title separator ', ') from film where director = 1 + connection_id() % 200~
call bring_back(1 + connection_id() % 200)~
select count(*) from film f left join film_actor fa on fa.film = f.id where fa.actor is null~
