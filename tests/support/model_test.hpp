// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A cache of one of the models of the kernel's allocators, over counted pages. The test chooses one
// of up to four processors for it.
#pragma once

#include <support/kernel_pages.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace heapwright::testing {

template <class Model>
class ModelTest : public ::testing::Test {
protected:
    void SetUp() override { have(4); }
    void TearDown() override {
        Model::shrink(cache, pages);
        have(4);
    }

    static void have(std::size_t processors) {
        FourProcessors::bePresent(processors);
        FourProcessors::beOn(0);
    }

    void* take() { return Model::take(cache, pages); }
    std::vector<void*> takeMany(std::size_t count) {
        std::vector<void*> objects;
        for (std::size_t object = 0; object < count; ++object) {
            objects.push_back(take());
        }
        return objects;
    }
    std::vector<void*> takeSlabs(std::size_t count) { return takeMany(count * cache.slab.objects); }
    void put(void* object) { Model::put(cache, PageSection::blockAt(object), object, pages); }

    CountedPages pages;
    typename Model::Cache cache;
};

} // namespace heapwright::testing
