/* libxml2: defaults of its parsers and the handler of errors are per thread, input callbacks per process. */
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlIO.h>

#include "steps.h"

static int errors, opened;
static void count_error(void* context, const char* format, ...) {
  (void)format;
  CHECK_EQ(*(int*)context, world_rank);
  errors++;
}

/* "mine:N" is a document with N elements, for ranks that have registered it. */
static char text[4000];
static int matches(const char* name) {
  return strncmp(name, "mine:", 5) == 0;
}
static void* open_text(const char* name) {
  opened++;
  strcpy(text, "<all>");
  for (int i = 0; i < atoi(name + 5); i++) strcat(text, "<one> </one>");
  strcat(text, "</all>");
  return text;
}
static int read_text(void* from, char* to, int size) {
  int length = (int)strlen((char*)from);
  if (length > size) length = size;
  memcpy(to, from, (size_t)length);
  memmove(from, (char*)from + length, strlen((char*)from + length) + 1);
  return length;
}
static int close_text(void* from) {
  (void)from;
  return 0;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  xmlInitParser();
  xmlSetGenericErrorFunc(&world_rank, count_error);
  xmlKeepBlanksDefault(world_rank % 2);
  if (world_rank % 3 == 0) CHECK(xmlRegisterInputCallbacks(matches, open_text, read_text, close_text) >= 0);
  char name[32];
  snprintf(name, sizeof name, "mine:%d", 3 + world_rank);
  for (int round = 1; round <= 5; round++) {
    next_step();
    xmlDocPtr document = xmlParseFile(name);
    CHECK((document != NULL) == (world_rank % 3 == 0));
    CHECK_EQ(opened, world_rank % 3 == 0 ? round : 0);
    if (document != NULL) {
      CHECK_EQ(xmlChildElementCount(xmlDocGetRootElement(document)), 3 + world_rank);
      xmlFreeDoc(document);
    }
    document = xmlParseDoc((const xmlChar*)"<a> <b/> <c/> </a>");
    int nodes = 0;
    for (xmlNodePtr node = xmlDocGetRootElement(document)->children; node != NULL; node = node->next) nodes++;
    CHECK_EQ(nodes, world_rank % 2 ? 5 : 2);
    xmlFreeDoc(document);
    int before = errors;
    next_step();
    CHECK(xmlParseDoc((const xmlChar*)"<a><b></a>") == NULL && errors > before);
  }
  next_step();
  if (world_rank % 2) xmlCleanupParser(); /* ends here, for this rank */
  next_step();
  xmlDocPtr document = xmlParseDoc((const xmlChar*)"<a><b/></a>");
  CHECK(document != NULL && xmlChildElementCount(xmlDocGetRootElement(document)) == 1);
  xmlFreeDoc(document);
  return end_with(opened);
}
