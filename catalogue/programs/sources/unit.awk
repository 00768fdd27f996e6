# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints a unit of C++ with `classes` classes that use each other, templates and containers. The same
# seed gives the same unit.
function number(below) {
    state = (state * 1103515245 + 12345) % 2147483648
    return int(state / 65536) % below
}
BEGIN {
    state = seed
    print "#include <algorithm>\n#include <map>\n#include <memory>\n#include <string>\n#include <vector>"
    print "template <int N, typename T> struct row_node {"
    print "    std::map<std::string, std::vector<T>> cells; row_node<N - 1, T> rest;"
    print "    T sum() const { T s{}; for (auto const &c : cells) for (auto const &v : c.second) s += v; return s + rest.sum(); }"
    print "};\ntemplate <typename T> struct row_node<0, T> { T sum() const { return T{}; } };"
    split("int long double unsigned float", kind, " ")
    for (n = 1; n <= classes; ++n) {
        t = kind[1 + number(5)]
        print "struct thing" n " {"
        print "    std::unique_ptr<row_node<" 1 + number(6) ", " t ">> rows; std::vector<" t "> value" number(1000) "_;"
        print "    std::map<" t ", std::string> names;"
        print "    std::string find(" t " key) const {"
        print "        auto place = names.lower_bound(key);"
        print "        if (place == names.end()) return \"none" number(100000) "\";"
        print "        std::vector<std::string> all; for (auto const &n : names) all.push_back(n.second + place->second);"
        print "        std::sort(all.begin(), all.end(), [](auto const &a, auto const &b) { return a.size() * " 1 + number(9) " < b.size(); });"
        print "        return all.empty() ? std::string(" number(40) ", \047x\047) : all.front();"
        print "    }"
        print "    " t " all() const { return rows ? rows->sum() : " t "(" number(1000) "); }\n};"
        other = n > 1 ? 1 + number(n - 1) : 1
        print "std::string use" n "(thing" n " const &a, thing" other " const &b) { return a.find(" t "(a.all())) + b.find({}); }"
    }
}
