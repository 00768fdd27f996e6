// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Names for parts of the theme that have none. A reader of screens says them.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
