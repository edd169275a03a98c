// Starting children, and finding those that children left behind.
#pragma once

#include <array>
#include <sys/types.h>

#include "backends/process.h"

namespace assay {

// Starts a process in a group of its own, with these three as its standard streams. It dies with
// us. Kind "environment" if the program cannot be executed.
Result<pid_t> spawn(const ProcessCommand& command, const std::array<int, 3>& streams);

// Takes a process that a child has made of itself for a child like others, in a group of its own;
// false if it is none of ours.
bool adopt_child(pid_t id);

void forget_child(pid_t id);  // it has ended

// Kills what dead children had started in groups of its own: such processes become our children,
// and are none that we know. What is in the group of a child that lives is that child's.
void kill_orphans();

}  // namespace assay
