-- SPDX-FileCopyrightText: The Heapwright authors
-- SPDX-License-Identifier: Apache-2.0
--
-- A shop that hires out films. It has 22 related tables, four views, four procedures and four triggers, filled by arithmetic.
-- @films films, with three copies of each, and @customers customers. A tilde, which is left out here, ends each.
create table country (id int primary key, name varchar(40))~
create table city (id int primary key, country int not null, name varchar(40), foreign key (country) references country (id))~
create table address (id int primary key, city int not null, street varchar(60), foreign key (city) references city (id))~
create table store (id int primary key, address int not null, foreign key (address) references address (id))~
create table staff (id int primary key, store int not null, name varchar(40), foreign key (store) references store (id))~
create table customer (id int primary key, address int not null, name varchar(40), mail varchar(60), points int not null
  default 0, key by_name (name), foreign key (address) references address (id))~
create table language (id int primary key, name varchar(20))~
create table genre (id int primary key, name varchar(20))~
create table studio (id int primary key, country int not null, name varchar(40), foreign key (country) references country (id))~
create table director (id int primary key, name varchar(40), key by_name (name))~
create table actor (id int primary key, name varchar(40), key by_name (name))~
create table price (id int primary key, cents int not null, days int not null)~
create table film (id int primary key, studio int not null, director int not null, price int not null, title varchar(60),
  year int not null, plot text, key by_title (title), key by_year (year), foreign key (studio) references studio (id),
  foreign key (director) references director (id), foreign key (price) references price (id))~
create table film_actor (film int not null, actor int not null, primary key (film, actor), key by_actor (actor))~
create table film_genre (film int not null, genre int not null, primary key (film, genre), key by_genre (genre))~
create table film_language (film int not null, language int not null, primary key (film, language))~
create table copy (id int primary key, film int not null, store int not null, hired int not null default 0,
  key by_film (film), foreign key (film) references film (id), foreign key (store) references store (id))~
create table rental (id int auto_increment primary key, copy int not null, customer int not null, staff int not null,
  began int not null, ended int, key by_customer (customer), key by_copy (copy))~
create table payment (id int auto_increment primary key, customer int not null, cents int not null, note varchar(60),
  key by_customer (customer))~
create table reservation (id int auto_increment primary key, customer int not null, film int not null,
  key by_customer (customer))~
create table fine (id int auto_increment primary key, customer int not null, cents int not null, key by_customer (customer))~
create table history (id int auto_increment primary key, what varchar(20), words varchar(100), key by_what (what))~
create view film_list as select f.id, f.title, f.year, s.name as studio, d.name as director, p.cents from film f
  join studio s on s.id = f.studio join director d on d.id = f.director join price p on p.id = f.price~
create view cast_list as select fa.film, group_concat(a.name order by a.name) as players from film_actor fa
  join actor a on a.id = fa.actor group by fa.film~
create view customer_list as select c.id, c.name, a.street, t.name as city, n.name as country, c.points from customer c
  join address a on a.id = c.address join city t on t.id = a.city join country n on n.id = t.country~
create view store_stock as select c.store, g.name as genre, count(*) as copies from copy c
  join film_genre fg on fg.film = c.film join genre g on g.id = fg.genre group by c.store, g.name~
create procedure hire(in what int, in who int) begin
  insert into rental (copy, customer, staff, began) values (what, who, 1 + who % 4, who * 31 % 365);
  select f.title, p.cents from copy c join film f on f.id = c.film join price p on p.id = f.price where c.id = what;
end~
create procedure bring_back(in who int) begin
  declare last int;
  select max(id) into last from rental where customer = who;
  update rental set ended = began + 3 where id = last;
end~
create procedure pay(in who int, in much int) begin
  insert into payment (customer, cents, note) values (who, much, concat('paid by ', who));
end~
create procedure films_of(in who int) begin
  select f.title, l.players from film_actor fa join film f on f.id = fa.film join cast_list l on l.film = f.id
    where fa.actor = who order by f.title limit 20;
end~
create trigger before_rental before insert on rental for each row update copy set hired = hired + 1 where id = new.copy~
create trigger after_rental after insert on rental for each row
  insert into history (what, words) values ('rental', concat(new.copy, ' to ', new.customer))~
create trigger after_return after update on rental for each row
  insert into history (what, words) values ('return', concat(new.copy, ' from ', new.customer))~
create trigger after_payment after insert on payment for each row
  insert into history (what, words) values ('payment', new.note)~
insert into country select seq, concat('country ', seq) from seq_1_to_50~
insert into city select seq, 1 + seq % 50, concat('city ', seq) from seq_1_to_300~
insert into address select seq, 1 + seq * 7 % 300, concat(seq * 31 % 200, ' street of ', seq) from seq_1_to_1000~
insert into store select seq, seq * 11 from seq_1_to_4~
insert into staff select seq, 1 + seq % 4, concat('clerk ', seq) from seq_1_to_16~
insert into customer (id, address, name, mail) select seq, 1 + seq * 13 % 1000, concat('customer ', seq * 7919 % 10007),
  concat('customer', seq, '@example.org') from seq_1_to_100000 where seq <= @customers~
insert into language select seq, concat('language ', seq) from seq_1_to_12~
insert into genre select seq, concat('genre ', seq) from seq_1_to_20~
insert into studio select seq, 1 + seq % 50, concat('studio ', seq) from seq_1_to_80~
insert into director select seq, concat('director ', seq * 104729 % 10007) from seq_1_to_200~
insert into actor select seq, concat('actor ', seq * 7919 % 10007) from seq_1_to_1000~
insert into price select seq, 100 + seq * 50, 1 + seq % 7 from seq_1_to_10~
insert into film select seq, 1 + seq % 80, 1 + seq * 17 % 200, 1 + seq % 10, concat('film ', seq * 104729 % 1299709),
  1950 + seq % 70, repeat('words of the plot ', 5 + seq % 40) from seq_1_to_1000000 where seq <= @films~
insert into film_actor select f.id, 1 + (f.id * 7 + n.seq * 41) % 1000 from film f join seq_1_to_8 n~
insert into film_genre select f.id, 1 + (f.id + n.seq * 7) % 20 from film f join seq_1_to_2 n~
insert into film_language select f.id, 1 + (f.id + n.seq * 5) % 12 from film f join seq_1_to_3 n~
insert into copy (id, film, store) select seq, 1 + seq % @films, 1 + seq % 4 from seq_1_to_3000000 where seq <= 3 * @films~
