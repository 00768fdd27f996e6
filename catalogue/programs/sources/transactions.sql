-- SPDX-FileCopyrightText: The Heapwright authors
-- SPDX-License-Identifier: Apache-2.0
--
-- The five tables of transactions.lua, filled by arithmetic: @objects objects with @records records each.
create table zone (id int primary key, title varchar(40), key by_title (title));
create table section (id int primary key, zone int not null, title varchar(40), key by_zone (zone),
  foreign key (zone) references zone (id));
create table object (id int primary key, section int not null, name varchar(40), made int, key by_section (section),
  key by_name (name), foreign key (section) references section (id));
create table state (id int primary key, title varchar(40));
create table history (object int not null, number int not null, state int not null, made int not null, note varchar(100),
  primary key (object, number), key by_made (made), key by_state (state),
  foreign key (object) references object (id), foreign key (state) references state (id));
insert into zone select seq, concat('zone ', seq) from seq_1_to_20;
insert into section select seq, 1 + seq % 20, concat('section ', seq) from seq_1_to_500;
insert into state select seq, concat('state ', seq * 7919 % 10007) from seq_1_to_50;
insert into object select seq, 1 + seq * 7919 % 500, concat('object ', seq * 104729 % 1299709), seq * 31 % 86400
  from seq_1_to_10000000 where seq <= @objects;
insert into history select o.id, n.seq, 1 + (o.id * 17 + n.seq * 29) % 50, (o.id * 613 + n.seq * 7919) % 1000000,
  repeat('note ', 1 + (o.id + n.seq) % 12) from object o join seq_1_to_100 n where n.seq <= @records;
