/* The smallest program: for figures. */
int value = 1;
int main(void) {
  return value - 1;
}
