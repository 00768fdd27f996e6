// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See sentences.hpp.
#include "sentences.hpp"

#include "support/memory.hpp"

#include <heapwright/core/random.hpp>

#include <cstring>

namespace heapwright::workloads::links {

namespace {

constexpr std::uint8_t vocabulary = 48;
constexpr std::uint8_t labels = 5;

/// The links between the words of a sentence and their labels: a tree whose links do not cross.
class Drawing {
public:
    Drawing(unsigned length, Random& random) : length_(length), random_(random) { hang(0, length); }

    /// The use of the word at a place.
    [[nodiscard]] Use use(unsigned place) const {
        Use use{};
        for (unsigned far = 0; far < place; ++far) {
            if (label_[far][place] != 0 && use.lefts < mostConnectors) {
                use.left[use.lefts++] = label_[far][place];
            }
        }
        for (unsigned far = length_; far-- > place + 1;) {
            if (label_[place][far] != 0 && use.rights < mostConnectors) {
                use.right[use.rights++] = label_[place][far];
            }
        }
        return use;
    }

private:
    /// Draws a tree over a range of words. Returns the place of its root.
    unsigned hang(unsigned begin, unsigned end) {
        const auto top = static_cast<unsigned>(random_.between(begin, end - 1));
        hangFrom(top, begin, top);
        hangFrom(top, top + 1, end);
        return top;
    }

    /// Draws trees over a range beside a word, and links the word to the root of each.
    void hangFrom(unsigned top, unsigned from, unsigned end) {
        while (from < end) {
            const bool last = linked_[top] >= 3; // no word has too many links
            const auto size =
                last ? end - from : static_cast<unsigned>(random_.between(1, end - from));
            const unsigned other = hang(from, from + size);
            link(top < other ? top : other, top < other ? other : top);
            from += size;
        }
    }

    void link(unsigned left, unsigned right) {
        label_[left][right] = static_cast<std::uint8_t>(random_.between(1, labels));
        ++linked_[left];
        ++linked_[right];
    }

    unsigned length_;
    Random& random_;
    std::uint8_t label_[mostWords][mostWords] = {};
    unsigned linked_[mostWords] = {};
};

/// A word with this use: one that already has it, or one with room for one more use.
std::uint8_t wordFor(const Use& use, Entry* lexicon, Random& random) {
    const auto first = static_cast<std::uint8_t>(random.below(vocabulary));
    for (unsigned step = 0; step < vocabulary; ++step) {
        const auto word = static_cast<std::uint8_t>((first + step) % vocabulary);
        const Entry& entry = lexicon[word];
        for (std::uint32_t at = 0; at < entry.count; ++at) {
            if (std::memcmp(&entry.uses[at], &use, sizeof use) == 0) {
                return word;
            }
        }
    }
    for (unsigned step = 0; step < vocabulary; ++step) {
        const auto word = static_cast<std::uint8_t>((first + step) % vocabulary);
        if (lexicon[word].count < mostUses) {
            lexicon[word].uses[lexicon[word].count++] = use;
            return word;
        }
    }
    return vocabulary; // none
}

} // namespace

Sentences::Sentences(std::uint64_t seed, std::uint64_t count, std::uint64_t length)
    : count_(count), sentences_(mapArray<Sentence>(count)), lexicon_(mapArray<Entry>(vocabulary)) {
    Random random(seed);
    for (std::uint64_t at = 0; at < count;) {
        const Drawing drawing(static_cast<unsigned>(length), random);
        Sentence& sentence = sentences_[at];
        sentence.length = static_cast<std::uint32_t>(length);
        bool fits = true;
        for (unsigned place = 0; place < length; ++place) {
            sentence.words[place] = wordFor(drawing.use(place), lexicon_, random);
            fits = fits && sentence.words[place] != vocabulary;
        }
        at += fits || at == 0 ? 1 : 0;
        if (!fits) { // the lexicon is full, so an existing use is chosen
            sentences_[at] = sentences_[random.below(at)];
            ++at;
        }
    }
}

} // namespace heapwright::workloads::links
