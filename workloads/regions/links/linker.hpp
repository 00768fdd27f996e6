// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the ways to link a sentence, and extracts one of them. Links do not cross, and each word
// has all links of one of its uses. Results for parts of the sentence are remembered.
// Source: the algorithm of Sleator and Temperley's link grammar (1993), whose parser has an
// allocator of its own.
//
// Objects are allocated and freed roughly as on a stack. They are the possible uses of the words,
// lists of those that match at one place, remembered results, and found links. All but the first
// two kinds are freed in the opposite order of their allocation.
#pragma once

#include "../arenas.hpp"
#include "sentences.hpp"

#include <heapwright/core/random.hpp>

#include <cstring>

namespace heapwright::workloads::links {

struct Connector {
    Connector* next; ///< the next nearer
    std::uint8_t label;
};

struct Disjunct {
    Disjunct* next;
    Connector* left;
    Connector* right;
};

template <class Arena>
class Linker {
public:
    Linker(Arena& arena, const Sentences& sentences) : arena_(arena), sentences_(sentences) {}

    /// The number of ways, modulo 2^64. One of them is added to `digest`.
    std::uint64_t link(const Sentence& sentence, std::uint64_t& digest) {
        length_ = sentence.length;
        makeTable();
        for (unsigned at = 0; at < length_; ++at) {
            words_[at] = usesOf(sentences_.entry(sentence.words[at]));
        }
        while (prune()) {
        }
        std::uint64_t ways = 0;
        for (Disjunct* use = words_[0]; use != nullptr; use = use->next) {
            ways += use->left == nullptr ? count(0, length_, use->right, nullptr) : 0;
        }
        if (ways != 0) {
            extract();
            digest = links(digest);
        }
        for (unsigned at = length_; at-- != 0;) {
            freeUses(words_[at]);
        }
        freeTable();
        return ways;
    }

    /// The number of objects made.
    [[nodiscard]] std::uint64_t objects() const { return objects_; }

private:
    struct Match {
        Match* next;
        Disjunct* use;
    };
    struct Known {
        Known* next;
        std::uint64_t key;
        const Connector* left;
        const Connector* right;
        std::uint64_t ways;
    };
    struct Link {
        Link* next;
        std::uint32_t left;
        std::uint32_t right;
        std::uint8_t label;
    };

    static constexpr std::size_t tableSize = 1024;

    template <class T, class... Arguments>
    T* made(Arguments&&... arguments) {
        ++objects_;
        return make<T>(arena_, std::forward<Arguments>(arguments)...);
    }

    Connector* connectors(const std::uint8_t* labels, unsigned count) {
        Connector* first = nullptr;
        while (count != 0) {
            first = made<Connector>(first, labels[--count]);
        }
        return first;
    }

    Disjunct* usesOf(const Entry& entry) {
        Disjunct* first = nullptr;
        for (std::uint32_t at = entry.count; at-- != 0;) {
            const Use& use = entry.uses[at];
            Connector* const left = connectors(use.left, use.lefts);
            first = made<Disjunct>(first, left, connectors(use.right, use.rights));
        }
        return first;
    }

    void freeConnectors(Connector* first) {
        while (first != nullptr) {
            Connector* const next = first->next;
            arena_.free(first);
            first = next;
        }
    }

    void freeUse(Disjunct* use) {
        freeConnectors(use->right);
        freeConnectors(use->left);
        arena_.free(use);
    }

    void freeUses(Disjunct* first) {
        while (first != nullptr) {
            Disjunct* const next = first->next;
            freeUse(first);
            first = next;
        }
    }

    /// Removes uses with a link that no word on that side can have. Returns whether there were any.
    bool prune() {
        bool pruned = false;
        // Labels of links to the right by words before, and vice versa.
        std::uint64_t offered[2] = {};
        std::uint64_t behind[mostWords + 1] = {};
        for (unsigned at = length_; at-- != 0;) {
            behind[at] = behind[at + 1];
            for (const Disjunct* use = words_[at]; use != nullptr; use = use->next) {
                behind[at] |= labelsOf(use->left);
            }
        }
        for (unsigned at = 0; at < length_; ++at) {
            for (Disjunct** link = &words_[at]; *link != nullptr;) {
                Disjunct* const use = *link;
                if ((labelsOf(use->left) & ~offered[0]) != 0 ||
                    (labelsOf(use->right) & ~behind[at + 1]) != 0) {
                    *link = use->next;
                    freeUse(use);
                    pruned = true;
                } else {
                    offered[1] |= labelsOf(use->right);
                    link = &use->next;
                }
            }
            offered[0] = offered[1];
        }
        return pruned;
    }

    static std::uint64_t labelsOf(const Connector* first) {
        std::uint64_t labels = 0;
        for (; first != nullptr; first = first->next) {
            labels |= std::uint64_t{1} << first->label;
        }
        return labels;
    }

    static bool match(const Connector* left, const Connector* right) {
        return left != nullptr && right != nullptr && left->label == right->label;
    }

    Match* matches(unsigned word, const Connector* left, const Connector* right) {
        Match* first = nullptr;
        for (Disjunct* use = words_[word]; use != nullptr; use = use->next) {
            if (match(left, use->left) || match(use->right, right)) {
                first = made<Match>(first, use);
            }
        }
        return first;
    }

    void freeMatches(Match* first) {
        while (first != nullptr) {
            Match* const next = first->next;
            arena_.free(first);
            first = next;
        }
    }

    Known*& slot(std::uint64_t key, const Connector* left, const Connector* right) {
        const std::uint64_t hash =
            Random::mixed(key ^ (addressOf(left) << 20U) ^ Random::mixed(addressOf(right)));
        Known** each = &table_[hash % tableSize];
        while (*each != nullptr &&
               ((*each)->key != key || (*each)->left != left || (*each)->right != right)) {
            each = &(*each)->next;
        }
        return *each;
    }

    /// The number of ways to link all words between two, using their remaining links.
    std::uint64_t count(unsigned from, unsigned to, const Connector* left, const Connector* right) {
        if (to == from + 1) {
            return left == nullptr && right == nullptr ? 1 : 0;
        }
        if (left == nullptr && right == nullptr) {
            return 0;
        }
        const std::uint64_t key = from * std::uint64_t{mostWords + 1} + to;
        if (const Known* const known = slot(key, left, right)) {
            return known->ways;
        }
        std::uint64_t ways = 0;
        for (unsigned word = from + 1; word < to; ++word) {
            Match* const first = matches(word, left, right);
            for (const Match* each = first; each != nullptr; each = each->next) {
                ways += through(from, to, word, *each->use, left, right);
            }
            freeMatches(first);
        }
        Known*& place = slot(key, left, right);
        place = made<Known>(nullptr, key, left, right, ways);
        return ways;
    }

    std::uint64_t through(unsigned from, unsigned to, unsigned word, const Disjunct& use,
                          const Connector* left, const Connector* right) {
        const std::uint64_t before =
            match(left, use.left) ? count(from, word, left->next, use.left->next) : 0;
        const std::uint64_t after =
            match(use.right, right) ? count(word, to, use.right->next, right->next) : 0;
        std::uint64_t ways = before * after;
        if (before != 0) {
            ways += before * count(word, to, use.right, right);
        }
        if (left == nullptr && after != 0) {
            ways += after * count(from, word, nullptr, use.left);
        }
        return ways;
    }

    /// The links of one of the ways, the last one found first.
    void extract() {
        for (Disjunct* use = words_[0]; use != nullptr; use = use->next) {
            if (use->left == nullptr && count(0, length_, use->right, nullptr) != 0) {
                follow(0, length_, use->right, nullptr);
                return;
            }
        }
    }

    void add(unsigned from, unsigned to, const Connector* connector) {
        links_ = made<Link>(links_, from, to, connector->label);
    }

    /// Pre: there is a way.
    void follow(unsigned from, unsigned to, const Connector* left, const Connector* right) {
        for (unsigned word = from + 1; word < to; ++word) {
            for (const Disjunct* use = words_[word]; use != nullptr; use = use->next) {
                const bool before =
                    match(left, use->left) && count(from, word, left->next, use->left->next) != 0;
                const bool after =
                    match(use->right, right) && count(word, to, use->right->next, right->next) != 0;
                if (before) {
                    const bool alone = count(word, to, use->right, right) != 0;
                    if (after || alone) {
                        add(from, word, left);
                        follow(from, word, left->next, use->left->next);
                        return alone ? follow(word, to, use->right, right)
                                     : followRight(word, to, use, right);
                    }
                }
                if (left == nullptr && after && count(from, word, nullptr, use->left) != 0) {
                    follow(from, word, nullptr, use->left);
                    return followRight(word, to, use, right);
                }
            }
        }
    }

    void followRight(unsigned word, unsigned to, const Disjunct* use, const Connector* right) {
        add(word, to, right);
        follow(word, to, use->right->next, right->next);
    }

    /// Adds the links to a digest and frees them.
    std::uint64_t links(std::uint64_t digest) {
        while (links_ != nullptr) {
            Link* const next = links_->next;
            digest = (digest ^ (links_->left << 16U | links_->right << 8U | links_->label)) *
                     0x100000001b3U;
            arena_.free(links_);
            links_ = next;
        }
        return digest;
    }

    void makeTable() {
        ++objects_;
        table_ = static_cast<Known**>(arena_.malloc(tableSize * sizeof(Known*)));
        std::memset(table_, 0, tableSize * sizeof(Known*));
    }

    void freeTable() {
        if constexpr (!Arena::bulk) {
            for (std::size_t at = 0; at < tableSize; ++at) {
                for (Known* each = table_[at]; each != nullptr;) {
                    Known* const next = each->next;
                    arena_.free(each);
                    each = next;
                }
            }
        }
        arena_.free(table_);
    }

    Arena& arena_;
    const Sentences& sentences_;
    unsigned length_ = 0;
    Disjunct* words_[mostWords] = {};
    Known** table_ = nullptr;
    Link* links_ = nullptr;
    std::uint64_t objects_ = 0;
};

} // namespace heapwright::workloads::links
