// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// xalloc-parser: parses sentences with a link grammar. Its objects live roughly as on a stack. A
// similar program (197.parser of SPEC) has an allocator for that, with the interface of malloc and
// free. A new object follows the last one in use in one area. With it, and with malloc, each object
// is freed separately. With a region or a reap, the objects of a sentence are freed with the
// sentence.
#include "regions/arena_run.hpp"
#include "regions/arenas.hpp"
#include "regions/links/linker.hpp"
#include "support/program.hpp"

namespace {

using namespace heapwright::workloads;

/// One area, from the allocator under test.
class XallocArena {
public:
    static constexpr bool bulk = false;
    [[maybe_unused]] static constexpr bool single = true;

    void* malloc(std::size_t size) {
        void* const object = heap_.malloc(size);
        if (object == nullptr) [[unlikely]] {
            noMemory("xalloc", size);
        }
        return object;
    }
    void free(void* object) { heap_.free(object); }
    void clear() {}

private:
    heapwright::XallocHeap<32 * heapwright::MiB, CallsHeap> heap_;
};

const char* const customs[] = {"xalloc",       "general",  "region",        "reap",
                               "unfreed-reap", "emulated", "emulated-reap", nullptr};

Parameter parameters[] = {
    {"custom", 0, 0, std::size(customs) - 2, false, "", "where objects come from", customs},
    {"parses", 3000, 1, 1'000'000'000, true, "", "sentences that each thread parses"},
    {"sentences", 64, 1, 100'000, false, "", "different ones"},
    {"words", 14, 2, links::mostWords, false, "", "words of each"},
};
const std::uint64_t& custom = parameters[0].value;
const std::uint64_t& parses = parameters[1].value;
const std::uint64_t& sentences = parameters[2].value;
const std::uint64_t& words = parameters[3].value;

template <class Arena>
ArenaResult parse(const links::Sentences& texts, unsigned thread) {
    ArenaResult done{.sum = 0xcbf29ce484222325U};
    Arena arena;
    for (std::uint64_t at = 0; at < parses; ++at) {
        links::Linker<Arena> linker(arena, texts);
        const std::uint64_t ways = linker.link(texts[(at + thread) % texts.count()], done.sum);
        if (ways == 0) {
            notVerified("sentence %llu cannot be linked", static_cast<unsigned long long>(at));
        }
        done.sum = (done.sum ^ ways) * 0x100000001b3U;
        done.objects += linker.objects();
        arena.clear();
    }
    return done;
}

ArenaResult parseWith(const links::Sentences& texts, unsigned thread) {
    if (custom == 0) {
        return parse<XallocArena>(texts, thread);
    }
    return withArena(custom - 1, [&]<class Arena>(Arena*) { return parse<Arena>(texts, thread); });
}

void body(Run& run) {
    const links::Sentences texts(run.seed(), sentences, words);
    runInArenas(
        run, [&](unsigned thread) { return parseWith(texts, thread); },
        [&](unsigned thread) { return parse<GeneralArena>(texts, thread); },
        "the sentences are linked otherwise than on the bump pointer");
}

} // namespace

int main(int argc, char** argv) {
    Description description{"xalloc-parser",
                            "sentences are parsed with a link grammar, in stack-like memory",
                            "not published; the algorithm and the allocator of 197.parser",
                            1,
                            Contents::Program,
                            parameters,
                            std::size(parameters)};
    return runWorkload(description, argc, argv, body);
}
