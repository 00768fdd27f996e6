// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps a million records and adds up their values. change.patch makes each record larger.
#include <cstdint>
#include <iostream>
#include <vector>

struct Record {
    std::uint64_t id;
    std::uint64_t value;
};

int main() {
    std::vector<Record> records;
    records.reserve(1'000'000);
    for (std::uint64_t id = 0; id < 1'000'000; ++id) {
        records.push_back({.id = id, .value = id % 1000});
    }
    std::uint64_t sum = 0;
    for (const Record& record : records) {
        sum += record.value;
    }
    std::cout << records.size() << " records, " << sum << '\n';
}
