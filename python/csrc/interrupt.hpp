// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C. Python runs the handlers of signals in its main thread, and only between its own
// instructions; a thread that waits inside the library runs none. So waits look for signals, about
// every 50 ms, and a handler that raises ends them. The exception waits here, because nobody can
// take it while the library is on its way back.
#pragma once

namespace tutti_torch {

// Waits of this thread inside the library look for signals from now on.
void look_for_signals();
// Runs the handlers of pending signals; whether one of them has raised, now or before. For waits of
// our own; the caller does not have the interpreter lock.
bool interrupted();
// Whether this thread handles a KeyboardInterrupt, as in a `finally` through which it passes.
bool unwinds_by_interrupt();
// Throws what a handler has raised in this thread, if one has.
void raise_interrupt();

}  // namespace tutti_torch
