//go:build cgo && linux

package main

// A build with cgo has Pebble take its tables and blocks from glibc, which keeps an arena for each thread, and in them what was freed: some
// 120 MiB in a large crawl. One is enough. The limit is read when the second thread asks for memory, so it is set before Go begins. Large tables
// go back to the system when they are freed.

// #include <stdlib.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// static __attribute__((constructor)) void one_arena(void) {
//	mallopt(M_ARENA_MAX, 1);
//	mallopt(M_MMAP_THRESHOLD, 128 << 10);
// }
// #endif
import "C"
