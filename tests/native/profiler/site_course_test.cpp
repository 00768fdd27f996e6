// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "profiler/site_course.hpp"

namespace heapwright::profiler {
namespace {

std::string timesOf(const SiteCourse& course) {
    Json json;
    course.writeTimes(json);
    return json.text();
}

std::string of(const SiteCourse& course, std::uint32_t site) {
    Json json;
    course.write(json, site);
    return json.text();
}

TEST(SiteCourse, HasTheLiveBytesAtEvenIntervals) {
    SiteCourse course(220'000'000); // a step of a millisecond
    std::vector<Site> sites(2);
    for (std::uint64_t at = 1; at <= 3; ++at) {
        course.advance(at * 1'000'100, sites);
        sites[1].live += 10;
    }
    course.finish(3'500'000, sites);
    EXPECT_EQ(timesOf(course), "[0.001000001,0.002000002,0.003000003,0.0035]");
    EXPECT_EQ(of(course, 1), "[0,10,20,30]");
    EXPECT_EQ(sites[1].mostLive, 30U);
    EXPECT_EQ(of(course, 0), "[]") << "a site that never has live bytes has no course";
}

TEST(SiteCourse, OfALongerRunThanExpectedEverySecondMomentIsKept) {
    SiteCourse course(220'000); // a step of 1001 ns
    std::vector<Site> sites(1);
    for (std::uint64_t at = 1; at <= 1000; ++at) {
        course.advance(at * 1001, sites);
        sites[0].live = at;
    }
    course.finish(1000 * 1001, sites);
    const std::string text = of(course, 0);
    const auto moments = std::count(text.begin(), text.end(), ',') + 1;
    EXPECT_GE(moments, 120);
    EXPECT_LE(moments, 241);
    EXPECT_TRUE(text.starts_with("[7,15,23,")) << text;
}

TEST(SiteCourse, OfManySitesThereAreFewerMoments) {
    SiteCourse course(220'000);
    std::vector<Site> sites(5000);
    for (Site& site : sites)
        site.live = 1;
    course.finish(220 * 1001, sites);
    const std::string text = of(course, 4999);
    const auto moments = std::count(text.begin(), text.end(), ',') + 1;
    EXPECT_GE(moments, 48);
    EXPECT_LE(moments, 97);
}

TEST(SiteCourse, OfATraceWithoutStacksHasNoMoments) {
    SiteCourse course;
    std::vector<Site> sites(1);
    sites[0].live = 5;
    course.advance(1'000'000'000, sites);
    course.finish(2'000'000'000, sites);
    EXPECT_EQ(timesOf(course), "[]");
    EXPECT_EQ(of(course, 0), "[]");
}

} // namespace
} // namespace heapwright::profiler
