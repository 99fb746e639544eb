/* Refers to what nobody defines. */
extern int first_missing(void), second_missing(int), missing_variable;
extern int weak_missing(void) __attribute__((weak));
int main(void) {
  return weak_missing ? 1 : first_missing() + second_missing(missing_variable);
}
