// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A program for its precompiled headers only, which the programs of tests use.
int main() { return 0; }
