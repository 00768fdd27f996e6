// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See settings.hpp.
#include "settings.hpp"

#include <heapwright/platform/environment.hpp>
#include <heapwright/platform/output.hpp>
#include <heapwright/platform/signal_names.hpp>
#include <heapwright/structure/settings/setting_text.hpp>

#include <cstring>
#include <string_view>

namespace heapwright::sampler {

namespace {

void say(std::string_view text) noexcept {
    platform::writeAll(2, text.data(), text.size());
}

void refuse(std::string_view name, const char* expected) noexcept {
    say("heapwright: ");
    say(name);
    say(" is ignored: ");
    say(expected);
    say("\n");
}

/// Reads a number if the variable is set.
void readNumber(const char* name, bool units, std::uint64_t least, std::uint64_t& value) noexcept {
    const std::string_view text = platform::variableIn(platform::environmentTexts(), name);
    if (text.empty()) {
        return;
    }
    const auto found = units ? byteCount(text) : wholeNumber(text, largestSetting);
    if (!found || *found < least) {
        refuse(name, units ? "expected bytes above 0, such as 512K" : "expected a whole number");
        return;
    }
    value = *found;
}

} // namespace

void readSettings(Settings& settings) noexcept {
    char** const texts = platform::environmentTexts();
    readNumber("HEAPWRIGHT_SAMPLE", true, 1, settings.mean);
    readNumber("HEAPWRIGHT_SAMPLE_THRESHOLD", true, 1, settings.threshold);
    readNumber("HEAPWRIGHT_SAMPLE_EVERY", false, 1, settings.every);
    readNumber("HEAPWRIGHT_SAMPLE_SEED", false, 0, settings.seed);
    settings.ending = platform::variableIn(texts, "HEAPWRIGHT_SAMPLE_ENDING") == "1";
    settings.empty = platform::variableIn(texts, "HEAPWRIGHT_SAMPLE_EMPTY") == "1";
    if (const auto name = platform::variableIn(texts, "HEAPWRIGHT_SAMPLE_SIGNAL"); !name.empty()) {
        settings.signal = platform::signalNamed(name);
        if (settings.signal == 0) {
            refuse("HEAPWRIGHT_SAMPLE_SIGNAL", "expected a signal, such as USR2");
        }
    }
    const std::string_view prefix = platform::variableIn(texts, "HEAPWRIGHT_SAMPLE_FILE");
    if (prefix.size() >= sizeof settings.prefix) {
        refuse("HEAPWRIGHT_SAMPLE_FILE", "expected at most 511 bytes");
    } else if (!prefix.empty() && !platform::runsSecurely()) {
        std::memcpy(settings.prefix, prefix.data(), prefix.size());
        settings.prefix[prefix.size()] = 0;
    }
}

} // namespace heapwright::sampler
