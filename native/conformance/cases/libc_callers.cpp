// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of the C library that allocate for their caller, or free what the caller allocated.
#include "conformance/suite.hpp"

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <dirent.h>
#include <iconv.h>
#include <regex.h>
#include <unistd.h>

using namespace conformance;

namespace {

void texts() {
    for (int i = 0; i < 200; ++i) {
        char* copy = ::strdup("some text");
        char* part = ::strndup(copy, 4);
        require(std::strcmp(part, "some") == 0, "strndup");
        char* printed = nullptr;
        require(::asprintf(&printed, "%*d|%s", i * 10, i, copy) > 0, "asprintf");
        require(std::strlen(printed) >= static_cast<std::size_t>(i) * 10, "asprintf is short");
        wchar_t* wide = ::wcsdup(L"wide");
        char* folder = ::getcwd(nullptr, 0);
        char* path = ::realpath("/", nullptr);
        require(folder != nullptr && path != nullptr && std::strcmp(path, "/") == 0, "realpath");
        for (void* object :
             {static_cast<void*>(copy), static_cast<void*>(part), static_cast<void*>(printed),
              static_cast<void*>(wide), static_cast<void*>(folder), static_cast<void*>(path)}) {
            std::free(object);
        }
    }
}

void lines() {
    std::FILE* file = std::tmpfile();
    if (file == nullptr) {
        skip("no temporary file");
    }
    for (int i = 0; i < 300; ++i) {
        std::fprintf(file, "%0*d\n", i * 20 + 1, i);
    }
    std::rewind(file);
    std::size_t room = 10;
    char* line = static_cast<char*>(std::malloc(room));
    for (int i = 0; i < 300; ++i) {
        require(::getline(&line, &room, file) == i * 20 + 2, "a line has another length");
        require(std::atoi(line) == i, "a line is another");
    }
    std::free(line);
    std::fclose(file);
}

void streams() {
    for (int round = 0; round < 20; ++round) {
        char* text = nullptr;
        std::size_t length = 0;
        std::FILE* stream = ::open_memstream(&text, &length);
        for (int i = 0; i < 2000; ++i) {
            std::fprintf(stream, "%d,", i);
        }
        std::fclose(stream);
        require(length > 8000 && std::strlen(text) == length, "the text is not whole");
        std::FILE* reader = ::fmemopen(text, length, "r");
        int value = -1;
        for (int i = 0; i < 2000; ++i) {
            require(std::fscanf(reader, "%d,", &value) == 1 && value == i, "another value");
        }
        std::fclose(reader);
        std::free(text);
    }
}

void folders() {
    for (int round = 0; round < 20; ++round) {
        dirent** entries = nullptr;
        const int count = ::scandir("/", &entries, nullptr, ::alphasort);
        require(count > 2, "scandir");
        for (int i = 0; i < count; ++i) {
            std::free(entries[i]);
        }
        std::free(entries);
    }
}

int compareInts(const void* left, const void* right) {
    const int a = *static_cast<const int*>(left);
    const int b = *static_cast<const int*>(right);
    return a < b ? -1 : a > b ? 1 : 0;
}

void others() {
    for (int round = 0; round < 20; ++round) {
        regex_t regex;
        require(::regcomp(&regex, "^(a|b)*[0-9]{2,30}$", REG_EXTENDED) == 0, "regcomp");
        require(::regexec(&regex, "abba123", 0, nullptr, 0) == 0, "regexec");
        ::regfree(&regex);
        const iconv_t converter = ::iconv_open("UTF-8", "ISO-8859-1");
        if (converter != reinterpret_cast<iconv_t>(-1)) {
            ::iconv_close(converter);
        }
        std::setlocale(LC_ALL, round % 2 == 0 ? "C" : "C.UTF-8");
        ::setenv("HEAPWRIGHT_CONFORMANCE", round % 2 == 0 ? "a" : "a longer value", 1);
        static int numbers[20'000];
        Random random(static_cast<std::uint64_t>(round) + 1);
        for (int& number : numbers) {
            number = static_cast<int>(random.below(1'000'000));
        }
        std::qsort(numbers, 20'000, sizeof(int), compareInts);
        require(numbers[0] <= numbers[10'000], "not sorted");
    }
    require(std::strcmp(std::getenv("HEAPWRIGHT_CONFORMANCE"), "a longer value") == 0,
            "another value");
}

const Case cases[] = {
    {"libc-texts", Demand::standard, "strdup, asprintf, getcwd, realpath: freed by us", texts},
    {"libc-others", Demand::standard,
     "regcomp, iconv, setlocale, environment, qsort and threads' data allocate inside", others},
    {"libc-getline", Demand::standard, "getline resizes a buffer of the program", lines},
    {"libc-streams", Demand::standard, "streams into memory and out of it", streams},
    {"libc-scandir", Demand::standard, "scandir's list is freed by us", folders},
};

} // namespace
