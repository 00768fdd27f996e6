// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Two neighbours: a layer directly over another heap. The list of pairs is written by
// generate_pairs.py from the headers. This file probes each pair while compiling, without an error
// if the constraints of the layer do not allow it.
#pragma once

#include <support/any_heap.hpp>

#include <string_view>
#include <vector>

namespace heapwright::testing {

struct Pair {
    std::string_view over;  ///< the layer, with dots where the other heap stands
    std::string_view under; ///< the other heap
    const HeapVerbs* verbs; ///< of the two
    bool clears;            ///< the other heap can be cleared
};

namespace detail {

/// `Under` over the first of the sources on which it can stand.
template <template <class> class Under, class... Sources>
struct OverFirst;

template <template <class> class Under, class Source, class... Others>
struct OverFirst<Under, Source, Others...> : OverFirst<Under, Others...> {};

template <template <class> class Under, class Source, class... Others>
    requires requires { typename Under<Source>; }
struct OverFirst<Under, Source, Others...> {
    using Type = Under<Source>;
};

} // namespace detail

/// The heap `Under`; does not compile if it can stand on none of the sources.
template <template <class> class Under, class... Sources>
using OverFirst = typename detail::OverFirst<Under, Sources...>::Type;

/// Adds `Over<Under>` to the pairs if there is such a type and it is one to ask for memory.
template <template <class> class Over, class Under>
void addPair(std::vector<Pair>& pairs, std::string_view over, std::string_view under) {
    if constexpr (requires { typename Over<Under>; }) {
        if constexpr (requires(Over<Under> heap) { heap.malloc(1); }) {
            pairs.push_back({over, under, &heapVerbs<Over<Under>>, ClearableHeap<Under>});
        }
    }
}

/// All pairs that the constraints allow, in the order of the catalogue.
std::vector<Pair> allPairs();

} // namespace heapwright::testing
