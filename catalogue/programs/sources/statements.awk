# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints SQL for `rows` rows. Tables are filled, joined, changed, indexed, searched and vacuumed. The
# same seed gives the same text. Each query has an order of its own, so its answer is always the same.
function number(below) {
    state = (state * 1103515245 + 12345) % 2147483648
    return int(state / 65536) % below
}
function word(    letters, text) {
    text = ""
    for (letters = 3 + number(14); letters > 0; --letters) text = text sprintf("%c", 97 + number(26))
    return text
}
BEGIN {
    state = seed
    print "create table person(id integer primary key, name text, town text, born integer);"
    print "create table letter(id integer primary key, sender integer, reader integer, words text);"
    print "begin;"
    for (n = 1; n <= rows; ++n) {
        printf "insert into person values(%d, \047%s\047, \047town%d\047, %d);\n", n, word(), number(200), 1900 + number(100)
        printf "insert into letter values(%d, %d, %d, \047%s %s %s\047);\n", n, 1 + number(n), 1 + number(n), word(), word(), word()
    }
    print "commit;\ncreate index by_town on person(town, born);\ncreate index by_sender on letter(sender);"
    print "select town, count(*), group_concat(name) from (select * from person order by id) where born < 1910 group by town order by town;"
    print "select p.town, count(*), sum(length(l.words)) from letter l join person p on p.id = l.sender group by p.town order by 2 desc, 1 limit 20;"
    print "update person set name = upper(name) || town where born % 3 = 0;"
    print "delete from letter where reader % 5 = 0;"
    print "select a.name, b.name from person a join person b on a.town = b.town and a.born = b.born and a.id < b.id order by 1, 2 limit 50;"
    print "select words, replace(words, \047a\047, \047aa\047) from letter where words like \047%abc%\047 or words like \047%xy%\047 order by id;"
    print "with recursive back(id, depth) as (select " rows ", 0 union select l.sender, depth + 1 from back b join letter l on l.id = b.id where depth < 50) select count(*), sum(id) from back;"
    print "vacuum;\npragma integrity_check;"
}
