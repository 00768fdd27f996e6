// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Whose operators new and delete the program uses. One that replaces some of them gets by the
// others, which it leaves to us, to its own; objects would then be freed in our sight that were
// made out of it. So where one that matters is not ours, none is noted, and the malloc below it is.
#pragma once

namespace heapwright::recorder {

/// Called once, when the program's libraries are there.
void findWhoseOperators() noexcept;

/// What was found.
extern constinit bool operatorsAreTheirs;

} // namespace heapwright::recorder
