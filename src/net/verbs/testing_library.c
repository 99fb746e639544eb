/* A library with memory of its own (not of its file), which a test maps and unmaps. */
__attribute__((visibility("default"), aligned(4096))) char tmpi_test_space[1 << 20];
