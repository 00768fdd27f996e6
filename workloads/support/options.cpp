// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See options.hpp.
#include "options.hpp"

#include "text.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace heapwright::workloads {

namespace {

constexpr std::uint64_t mostThreads = 100'000;

/// The name of an option, and its value after an = or in the next word.
class Words {
public:
    Words(int argc, char** argv) : argc_(argc), argv_(argv) {}

    bool next() {
        if (++at_ >= argc_) {
            return false;
        }
        word_ = argv_[at_];
        equals_ = std::strchr(word_, '=');
        return true;
    }

    bool is(const char* option) const {
        const std::size_t length =
            equals_ != nullptr ? static_cast<std::size_t>(equals_ - word_) : std::strlen(word_);
        return std::strlen(option) == length && std::strncmp(word_, option, length) == 0;
    }

    bool isParameter(const char* name) const {
        return word_[0] == '-' && word_[1] == '-' && Words(*this, word_ + 2).is(name);
    }

    const char* value() {
        if (equals_ != nullptr) {
            return equals_ + 1;
        }
        if (at_ + 1 >= argc_) {
            usageError("this option needs a value", word_);
        }
        return argv_[++at_];
    }

    const char* word() const { return word_; }

private:
    Words(const Words& other, const char* word)
        : argc_(other.argc_), argv_(other.argv_), word_(word), equals_(other.equals_) {}

    int argc_;
    char** argv_;
    int at_ = 0;
    const char* word_ = "";
    const char* equals_ = nullptr;
};

std::uint64_t wholeNumber(Words& words, std::uint64_t least, std::uint64_t most) {
    const char* const option = words.word();
    const char* const text = words.value();
    char* end = nullptr;
    errno = 0;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (end == text || *end != '\0' || *text < '0' || *text > '9' || errno != 0 || value < least ||
        value > most) {
        char what[160];
        std::snprintf(what, sizeof what, "%.60s takes a whole number between %llu and %llu, not",
                      option, static_cast<unsigned long long>(least),
                      static_cast<unsigned long long>(most));
        usageError(what, text);
    }
    return value;
}

/// Writes the names with a word between any two.
void listChoices(const Parameter& parameter, Text& text) {
    for (std::size_t at = 0; parameter.choices[at] != nullptr; ++at) {
        text.add(at == 0 ? "" : parameter.choices[at + 1] == nullptr ? " or " : ", ");
        text.add(parameter.choices[at]);
    }
}

std::uint64_t choice(Words& words, const Parameter& parameter) {
    const char* const name = words.value();
    for (std::size_t at = 0; parameter.choices[at] != nullptr; ++at) {
        if (std::strcmp(parameter.choices[at], name) == 0) {
            return at;
        }
    }
    Text what;
    what.add("--").add(parameter.name).add(" takes ");
    listChoices(parameter, what);
    what.add(", not");
    usageError(what.text(), name);
}

double positiveNumber(Words& words) {
    const char* const option = words.word();
    const char* const text = words.value();
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0) || value > 1e9) {
        char what[160];
        std::snprintf(what, sizeof what, "%.60s takes a positive number, not", option);
        usageError(what, text);
    }
    return value;
}

void setObserver(Words& words, Observing& watching) {
    const char* const what = words.value();
    if (std::strcmp(what, "lines") == 0) {
        watching.lines = true;
    } else if (std::strcmp(what, "memory") == 0) {
        watching.memory = true;
    } else {
        usageError("--observe takes lines or memory, not", what);
    }
}

void helpOn(const Parameter& parameter, Text& text) {
    text.add(parameter.meaning);
    if (parameter.choices != nullptr) {
        text.add(": ");
        listChoices(parameter, text);
        text.add(" (").add(parameter.choices[parameter.value]);
    } else {
        text.add(" (").number(parameter.value).add(parameter.scaled ? " × scale" : "");
    }
    if (parameter.published[0] != '\0') {
        text.add("; published: ").add(parameter.published);
    }
    text.add(")");
}

void help(const Description& description) {
    Text text;
    char line[600];
    const auto add = [&](const char* option, const char* meaning) {
        std::snprintf(line, sizeof line, "  %-22s %s\n", option, meaning);
        text.add(line);
    };
    text.add("usage: heapwright-").add(description.name).add(" [OPTIONS]\n");
    text.add(description.summary).add("\n\nPublished: ").add(description.published);
    text.add("\n\nparameters:\n");
    for (std::size_t at = 0; at < description.parameterCount; ++at) {
        const Parameter& parameter = description.parameters[at];
        char option[64];
        std::snprintf(option, sizeof option, "--%s %s", parameter.name,
                      parameter.choices != nullptr ? "NAME" : "N");
        Text meaning;
        helpOn(parameter, meaning);
        add(option, meaning.text());
    }
    char threads[100];
    std::snprintf(threads, sizeof threads, "threads (%llu)",
                  static_cast<unsigned long long>(description.threads));
    text.add("\noptions:\n");
    add("--threads N", threads);
    add("--seed N", "where its random numbers begin (1)");
    add("--scale X", "multiplies what is marked so above, unless it is given (1)");
    add("--verify", "check contents, overlap and alignment of all memory that is given out");
    add("--observe lines", "find false sharing that the allocator brings about");
    add("--observe memory", "what is live and what is resident, over the operations");
    add("--bump", "use a bump pointer in place of the allocator: the limit");
    add("--interleave", "threads take turns at each call of the allocator, as with a CPU for each");
    add("--describe", "print this as JSON");
    text.add(
        "\nPrints one JSON line. Leaves with 1 if memory was not as it must be, 3 if memory or\n"
        "threads could not be had.\n");
    text.writeTo(STDOUT_FILENO);
}

void describe(const Description& description) {
    Text text;
    text.open('{');
    text.key("name").quoted(description.name);
    text.key("summary").quoted(description.summary);
    text.key("published").quoted(description.published);
    text.key("threads").number(description.threads);
    text.key("parameters").open('[');
    for (std::size_t at = 0; at < description.parameterCount; ++at) {
        const Parameter& parameter = description.parameters[at];
        text.next().open('{');
        text.key("name").quoted(parameter.name);
        text.key("value").number(parameter.value);
        text.key("least").number(parameter.least);
        text.key("most").number(parameter.most);
        text.key("scaled").add(parameter.scaled ? "true" : "false");
        text.key("published").quoted(parameter.published);
        text.key("meaning").quoted(parameter.meaning);
        if (parameter.choices != nullptr) {
            text.key("choices").open('[');
            for (std::size_t one = 0; parameter.choices[one] != nullptr; ++one) {
                text.next().quoted(parameter.choices[one]);
            }
            text.close(']');
        }
        text.close('}');
    }
    text.close(']').close('}').add("\n");
    text.writeTo(STDOUT_FILENO);
}

/// Returns whether the word was one of the workload's own parameters.
bool readParameter(Description& description, Words& words, bool* given) {
    for (std::size_t at = 0; at < description.parameterCount; ++at) {
        Parameter& parameter = description.parameters[at];
        if (words.isParameter(parameter.name)) {
            parameter.value = parameter.choices != nullptr
                                  ? choice(words, parameter)
                                  : wholeNumber(words, parameter.least, parameter.most);
            given[at] = true;
            return true;
        }
    }
    return false;
}

void applyScale(Description& description, double scale, const bool* given) {
    for (std::size_t at = 0; at < description.parameterCount; ++at) {
        Parameter& parameter = description.parameters[at];
        if (parameter.scaled && !given[at]) {
            const double scaled = std::round(static_cast<double>(parameter.value) * scale);
            const double least = static_cast<double>(parameter.least);
            const double most = static_cast<double>(parameter.most);
            parameter.value = scaled <= least  ? parameter.least
                              : scaled >= most ? parameter.most
                                               : static_cast<std::uint64_t>(scaled);
        }
    }
}

} // namespace

Options readOptions(Description& description, int argc, char** argv) {
    Options options{};
    options.threads = static_cast<unsigned>(description.threads);
    bool given[32] = {};
    for (Words words(argc, argv); words.next();) {
        if (words.is("--threads")) {
            options.threads = static_cast<unsigned>(wholeNumber(words, 1, mostThreads));
        } else if (words.is("--seed")) {
            options.seed = wholeNumber(words, 0, UINT64_MAX);
        } else if (words.is("--scale")) {
            options.scale = positiveNumber(words);
        } else if (words.is("--verify")) {
            options.watching.verify = true;
            options.watching.contents = description.contents == Contents::Observers;
        } else if (words.is("--observe")) {
            setObserver(words, options.watching);
        } else if (words.is("--bump")) {
            options.bump = true;
        } else if (words.is("--interleave")) {
            options.interleave = true;
        } else if (words.is("--help") || words.is("-h")) {
            help(description);
            options.leave = true;
            return options;
        } else if (words.is("--describe")) {
            describe(description);
            options.leave = true;
            return options;
        } else if (!readParameter(description, words, given)) {
            usageError("there is no such option", words.word());
        }
    }
    applyScale(description, options.scale, given);
    return options;
}

} // namespace heapwright::workloads
