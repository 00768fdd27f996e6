// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See accounts.hpp.
#include "trace/accounts.hpp"

#include "trace/reader.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace heapwright::trace {

namespace {

std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void readAccount(const Trace& trace, const Record& record, Accounts& found) {
    Account account;
    if (record.bytes.size() < sizeof account.fields) {
        return trace.addFault(record.offset, "a process's account is too short");
    }
    std::memcpy(&account.fields, record.bytes.data(), sizeof account.fields);
    const std::span<const std::byte> texts = record.bytes.subspan(sizeof account.fields);
    const std::size_t exe = std::min<std::size_t>(account.fields.exeLength, texts.size());
    const std::size_t provider =
        std::min<std::size_t>(account.fields.providerLength, texts.size() - exe);
    account.executable = text(texts.first(exe));
    account.provider = text(texts.subspan(exe, provider));
    found.processes.push_back(std::move(account));
}

} // namespace

Accounts readAccounts(const Trace& trace) {
    Accounts found;
    for (const Record& record : trace.system()) {
        if (record.type == record::processAccount) {
            readAccount(trace, record, found);
        } else if (record.type == record::accountTotals &&
                   record.bytes.size() >= sizeof found.totals) {
            std::memcpy(&found.totals, record.bytes.data(), sizeof found.totals);
            found.settings = text(record.bytes.subspan(sizeof found.totals));
            found.present = true;
        }
    }
    return found;
}

} // namespace heapwright::trace
