// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See events.hpp.
#include "events.hpp"

#include "text.hpp"

#include <dlfcn.h>

namespace heapwright::workloads {

Events::Events() : read_(reinterpret_cast<Read>(dlsym(RTLD_DEFAULT, "heapwright_events"))) {
    restart();
}

void Events::restart() {
    if (read_ != nullptr) {
        read_(&before_);
    }
}

void Events::stop() {
    if (read_ != nullptr) {
        read_(&after_);
    }
}

void Events::describe(Text& text) const {
    if (read_ == nullptr) {
        return;
    }
    const struct {
        const char* name;
        std::uint64_t heapwright_event_counts::*count;
    } counts[] = {
        {"lock_takes", &heapwright_event_counts::lock_takes},
        {"lock_waits", &heapwright_event_counts::lock_waits},
        {"atomic_operations", &heapwright_event_counts::atomic_operations},
        {"hand_overs", &heapwright_event_counts::hand_overs},
        {"written_lines", &heapwright_event_counts::written_lines},
        {"shared_lines", &heapwright_event_counts::shared_lines},
        {"writes_to_shared_lines", &heapwright_event_counts::writes_to_shared_lines},
        {"unknown", &heapwright_event_counts::unknown},
        {"lock_hand_overs", &heapwright_event_counts::lock_hand_overs},
    };
    text.key("events").open('{');
    for (const auto& each : counts) {
        text.key(each.name).number(after_.*each.count - before_.*each.count);
    }
    text.close('}');
}

} // namespace heapwright::workloads
