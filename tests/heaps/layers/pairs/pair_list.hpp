// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The pairs as a reviewer reads them. Each layer has one entry with the heaps that it may stand on.
// For each remark of a history, the entry has the heaps over which the history made it. An entry
// names the shorter side: the heaps, or all but the others. So the list says the same as one line
// for a pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <istream>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace heapwright::testing {

class PairList {
public:
    /// What the list says about a layer, by layer.
    using Entries = std::map<std::string, std::string>;

    /// Returns false if the list has the pair already.
    bool add(const std::string& over, const std::string& under,
             const std::vector<std::string>& remarks) {
        Layer& layer = layers_[over];
        const bool added = layer.heaps.insert(under).second;
        for (const std::string& remark : remarks) {
            layer.remarks[remark].insert(under);
        }
        all_.insert(under);
        size_ += added ? 1U : 0U;
        return added;
    }

    [[nodiscard]] std::size_t size() const { return size_; }

    [[nodiscard]] Entries entries() const {
        Entries entries;
        entries["pairs"] = std::to_string(size_) + " of " + std::to_string(layers_.size()) +
                           " layers over " + std::to_string(all_.size()) + " heaps";
        for (const auto& [name, layer] : layers_) {
            std::string text = part(layer.heaps, all_);
            for (const auto& [remark, heaps] : layer.remarks) {
                text += "; " + remark + ": " + part(heaps, layer.heaps);
            }
            entries[name] = text;
        }
        return entries;
    }

    /// An entry begins at the margin; what is too long for a line goes on two spaces further in.
    static void write(std::ostream& out, const Entries& entries) {
        for (const auto& [name, text] : entries) {
            std::string line = name + ":";
            for (std::size_t at = 0; at < text.size();) {
                const std::size_t end = std::min(text.find(' ', at), text.size());
                const std::string word = text.substr(at, end - at);
                if (line.size() + 1 + word.size() > 100) {
                    out << line << '\n';
                    line = " ";
                }
                line += " " + word;
                at = end + 1;
            }
            out << line << '\n';
        }
    }

    static Entries read(std::istream& in) {
        Entries entries;
        std::string* entry = nullptr;
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with("  ") && entry != nullptr) {
                *entry += line.substr(entry->empty() ? 2 : 1);
            } else {
                // No name has a colon with a space behind it.
                const std::size_t end = (line + ' ').find(": ");
                entry = &entries[line.substr(0, end)];
                *entry = line.substr(std::min(end + 2, line.size()));
            }
        }
        return entries;
    }

private:
    using Heaps = std::set<std::string>;
    struct Layer {
        Heaps heaps;
        std::map<std::string, Heaps> remarks;
    };

    static std::string joined(const Heaps& heaps) {
        std::string text;
        for (const std::string& heap : heaps) {
            text += (text.empty() ? "" : ", ") + heap;
        }
        return text;
    }

    /// Some of the heaps, said as briefly as it can be.
    static std::string part(const Heaps& heaps, const Heaps& all) {
        Heaps others = all;
        for (const std::string& heap : heaps) {
            others.erase(heap);
        }
        if (others.empty()) {
            return "all";
        }
        return others.size() < heaps.size() ? "all but " + joined(others) : joined(heaps);
    }

    std::map<std::string, Layer> layers_;
    Heaps all_;
    std::size_t size_ = 0;
};

} // namespace heapwright::testing
