// The source of the targets that precompile the C++ library's headers (TmpiGrouped.cmake).
int main() { return 0; }
