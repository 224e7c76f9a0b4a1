// Loops compiled for several vector widths, the widest that the processor has chosen when the program loads.
#pragma once

// The sanitizers' runtime is not ready when the choice is made, so their build has the portable path alone.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)
#define RANKWRIGHT_VECTOR_PATHS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RANKWRIGHT_VECTOR_PATHS
#endif
