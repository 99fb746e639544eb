/* Answers as a Python would that is asked which it is: the first line of the file NAME.facts beside it names its version,
 * "3 11". Linked at fixed addresses. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
  char path[PATH_MAX + 8], prefix[PATH_MAX], version[32];
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
  if (length <= 0) return 1;
  path[length] = '\0';
  strcpy(prefix, path);
  *strrchr(prefix, '/') = '\0';
  strcat(path, ".facts");
  FILE* const facts = fopen(path, "r");
  if (facts == NULL) return 3;
  if (fgets(version, sizeof version, facts) == NULL) return 0;
  path[length] = '\0';
  printf("\n%s\n%s\n%s\n", path, prefix, version);
  return 0;
}
