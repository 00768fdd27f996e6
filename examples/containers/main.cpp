// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Standard containers on a heap, without virtual calls: the heap is part of their type. One kind
// refers to a heap object, the other names one for the whole program and has no size.
#include <heapwright/adaptor/std_allocator.hpp>
#include <heapwright/heap.hpp>

#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using namespace heapwright;

// Size classes over chunks: what is freed waits in its class.
using Source = SizeHeap<ChunkHeap<256 * KiB, 8, MmapHeap>>;
using Classes = StrictSegHeap<PowerOfTwo<20>, FreelistHeap<NullHeap>, Source>;

// One for the program, behind a lock, by its name.
using Shared = UniqueHeap<struct TheProgram, LockedHeap<FutexLock, Classes>>;

template <class T>
using SharedAllocator = StdAllocator<T, Shared>;
using Text = std::basic_string<char, std::char_traits<char>, SharedAllocator<char>>;
template <class K, class V>
using HashMap =
    std::unordered_map<K, V, std::hash<K>, std::equal_to<>, SharedAllocator<std::pair<const K, V>>>;

int main() {
    // A heap of one's own, for as long as the containers live.
    Classes heap;
    std::vector<int, StdAllocator<int, Classes>> numbers(heap);
    std::map<int, int, std::less<>, StdAllocator<std::pair<const int, int>, Classes>> squares(heap);
    for (int i = 0; i < 1000; ++i) {
        numbers.push_back(i);
        squares[i] = i * i;
    }
    std::cout << "squares: " << squares.size() << ", the last " << squares.rbegin()->second << '\n';

    // The program's, from several threads.
    std::vector<std::thread> threads;
    std::vector<std::size_t> found(4);
    for (std::size_t id = 0; id < found.size(); ++id) {
        threads.emplace_back([&found, id] {
            HashMap<int, Text> texts;
            for (int i = 0; i < 5000; ++i) {
                texts.emplace(i, Text(static_cast<std::size_t>(i % 60), 'x'));
            }
            found[id] = texts.at(4999).size();
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::cout << "found by each thread: " << found[0] << ' ' << found[3] << '\n';

    std::list<int, SharedAllocator<int>> one = {1, 2, 3};
    std::list<int, SharedAllocator<int>> other;
    other.splice(other.end(), one); // of one heap, so nodes may change hands
    std::cout << "spliced: " << other.size() << ", bytes for the allocator: "
              << sizeof(std::vector<int, SharedAllocator<int>>) - sizeof(std::vector<int>) << '\n';
}
