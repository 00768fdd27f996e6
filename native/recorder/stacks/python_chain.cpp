// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See python_chain.hpp. A C function covers the part of the stack from its own stack pointer to
// that of its caller. The C function that executes frames of Python covers their `place`.
#include "python_chain.hpp"

namespace heapwright::recorder::stacks {

bool PythonChain::append(std::uint64_t address) noexcept {
    if (length_ == most) {
        return false;
    }
    merged_[length_++] = address;
    return true;
}

bool PythonChain::merge(const Chain& chain, std::size_t frames) noexcept {
    length_ = 0;
    std::size_t next = 0; // of `frames_`
    const std::size_t calls = chain.length();
    for (std::size_t i = 0; i < calls; ++i) {
        const Chain::Place here = chain.at(i);
        const std::uint64_t end = i + 1 < calls ? chain.at(i + 1).stack : here.stack;
        bool replaced = false;
        for (; next < frames && frames_[next].place < end; ++next) {
            const std::uint64_t address = frames_[next].address;
            if (address != 0) {
                replaced = replaced || frames_[next].place >= here.stack;
                if (!append(address)) {
                    return false;
                }
            }
        }
        if (!replaced && !append(here.address)) {
            return false;
        }
    }
    for (; next < frames; ++next) { // the C stack was not understood up to there
        if (frames_[next].address != 0 && !append(frames_[next].address)) {
            return false;
        }
    }
    return frames < most && !chain.isCut();
}

StackId PythonChain::take(Chain& chain, StackId plain, Python& python, NodeTable& nodes) noexcept {
    const std::size_t frames = python.frames(memory_, frames_.data(), most);
    if (frames == 0) {
        return plain;
    }
    if (!merge(chain, frames)) {
        std::uint32_t node = chain.node(0, trace::cutAddress, nodes);
        for (std::size_t i = std::min(length_, Chain::kept); i > 0; --i) {
            node = chain.node(node, merged_[i - 1], nodes);
        }
        return node;
    }
    std::size_t same = 0;
    const std::size_t alike = std::min(count_, length_);
    while (same < alike && last_[same].address == merged_[length_ - 1 - same]) {
        ++same;
    }
    std::uint32_t node = same != 0 ? last_[same - 1].node : 0;
    for (; same < length_; ++same) {
        const std::uint64_t address = merged_[length_ - 1 - same];
        node = chain.node(node, address, nodes);
        last_[same] = {address, node};
    }
    count_ = length_;
    return node;
}

} // namespace heapwright::recorder::stacks
