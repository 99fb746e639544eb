/* tmpi-info: what the MPI library tells tools (MPI_T): its control variables with their values, performance variables,
 * events, by categories. An ordinary MPI program; knows nothing of tmpi.
 *
 *   tmpi-info [--controls] [--variables] [--events] [--markdown]     everything, or what is named
 *   tmpirun OPTIONS tmpi-info --controls                             what these options come to
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kText = 2048 };

static int markdown;

static void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "tmpi-info: %s failed with code %d\n", call, code);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check((call), #call)

static const char* class_name(int class) {
  static const struct {
    int class;
    const char* name;
  } names[] = {
      {MPI_T_PVAR_CLASS_STATE, "state"},
      {MPI_T_PVAR_CLASS_LEVEL, "level"},
      {MPI_T_PVAR_CLASS_SIZE, "size"},
      {MPI_T_PVAR_CLASS_PERCENTAGE, "percentage"},
      {MPI_T_PVAR_CLASS_HIGHWATERMARK, "highest"},
      {MPI_T_PVAR_CLASS_LOWWATERMARK, "lowest"},
      {MPI_T_PVAR_CLASS_COUNTER, "counter"},
      {MPI_T_PVAR_CLASS_AGGREGATE, "sum"},
      {MPI_T_PVAR_CLASS_TIMER, "timer"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].class == class) return names[i].name;
  return "generic";
}

static const char* scope_name(int scope) {
  switch (scope) {
    case MPI_T_SCOPE_CONSTANT:
      return "constant";
    case MPI_T_SCOPE_READONLY:
      return "read only";
    case MPI_T_SCOPE_LOCAL:
      return "local";
    case MPI_T_SCOPE_GROUP:
    case MPI_T_SCOPE_GROUP_EQ:
      return "group";
    default:
      return "all";
  }
}

static const char* type_name(MPI_Datatype type) {
  static char name[MPI_MAX_OBJECT_NAME];
  int length;
  CHECK(MPI_Type_get_name(type, name, &length));
  return name;
}

/* A word of a table; the last one of a row ends it. */
static void cell(const char* text, int width) {
  if (markdown) {
    printf("| %s ", text);
  } else {
    printf("%-*s ", width, text);
  }
}

static void end_row(const char* description) {
  if (markdown) {
    printf("| %s |\n", description);
  } else {
    printf("\n    %s\n", description);
  }
}

static void heading(const char* title, const char* columns) {
  if (!markdown) {
    printf("\n%s\n\n", title);
    return;
  }
  int count = 0;
  for (const char* each = columns; *each; each++) count += *each == '|';
  printf("%s\n|", columns);
  for (int i = 1; i < count; i++) printf(" --- |");
  printf("\n");
}

/* A value of a handle with `count` elements. */
static void print_value(MPI_T_cvar_handle handle, MPI_Datatype type, MPI_T_enum names, int count, char* out) {
  int size;
  CHECK(MPI_Type_size(type, &size));
  char* const buffer = calloc((size_t)count + 1, (size_t)size);
  CHECK(MPI_T_cvar_read(handle, buffer));
  if (type == MPI_CHAR) {
    snprintf(out, kText, "%s", buffer);
  } else if (names != MPI_T_ENUM_NULL) {
    int value = *(int*)buffer, number;
    CHECK(MPI_T_enum_get_info(names, &number, NULL, NULL));
    for (int i = 0; i < number; i++) {
      int each, length = kText;
      CHECK(MPI_T_enum_get_item(names, i, &each, out, &length));
      if (each == value) break;
    }
  } else if (type == MPI_INT) {
    snprintf(out, kText, "%d", *(int*)buffer);
  } else if (type == MPI_DOUBLE) {
    snprintf(out, kText, "%g", *(double*)buffer);
  } else {
    snprintf(out, kText, "%llu", *(unsigned long long*)buffer);
  }
  free(buffer);
}

static void list_controls(void) {
  int number;
  CHECK(MPI_T_cvar_get_num(&number));
  heading("Control variables", "| name | value | can be set by | meaning |");
  for (int i = 0; i < number; i++) {
    char name[kText], description[kText], value[kText] = "";
    int name_length = kText, description_length = kText, verbosity, bind, scope, count;
    MPI_Datatype type;
    MPI_T_enum names;
    MPI_T_cvar_handle handle;
    CHECK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &names, description,
                              &description_length, &bind, &scope));
    MPI_Comm world = MPI_COMM_WORLD;
    if (bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM) {
      CHECK(MPI_T_cvar_handle_alloc(i, &world, &handle, &count));
      print_value(handle, type, names, count, value);
      CHECK(MPI_T_cvar_handle_free(&handle));
    }
    cell(name, 32);
    cell(value, 16);
    cell(scope_name(scope), 10);
    end_row(description);
  }
}

static void list_variables(void) {
  int number;
  CHECK(MPI_T_pvar_get_num(&number));
  heading("Performance variables", "| name | class | type | of | meaning |");
  for (int i = 0; i < number; i++) {
    char name[kText], description[kText];
    int name_length = kText, description_length = kText, verbosity, class, bind, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum names;
    CHECK(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &names, description,
                              &description_length, &bind, &readonly, &continuous, &atomic));
    cell(name, 32);
    cell(class_name(class), 8);
    cell(type_name(type), 24);
    cell(bind == MPI_T_BIND_MPI_COMM ? "communicator" : "process", 13);
    end_row(description);
  }
}

static void list_events(void) {
  int number;
  CHECK(MPI_T_event_get_num(&number));
  heading("Events", "| name | elements | meaning |");
  for (int i = 0; i < number; i++) {
    char name[kText], description[kText], elements[kText] = "";
    int name_length = kText, description_length = kText, verbosity, count = 0, bind;
    MPI_T_enum names;
    CHECK(MPI_T_event_get_info(i, name, &name_length, &verbosity, NULL, NULL, &count, &names, NULL,
                               description, &description_length, &bind));
    for (int element = 0, used = 0; element < count && used < kText; element++) {
      char text[64];
      int value, length = sizeof text;
      CHECK(MPI_T_enum_get_item(names, element, &value, text, &length));
      used += snprintf(elements + used, (size_t)(kText - used), "%s%s", element ? ", " : "", text);
    }
    cell(name, 32);
    cell(elements, 30);
    end_row(description);
  }
}

static void list_categories(void) {
  int number;
  CHECK(MPI_T_category_get_num(&number));
  heading("Categories", "| name | controls | variables | events | meaning |");
  for (int i = 0; i < number; i++) {
    char name[kText], description[kText], text[32];
    int name_length = kText, description_length = kText, counts[3], categories;
    CHECK(MPI_T_category_get_info(i, name, &name_length, description, &description_length, &counts[0],
                                  &counts[1], &categories));
    CHECK(MPI_T_category_get_num_events(i, &counts[2]));
    cell(name, 32);
    for (int kind = 0; kind < 3; kind++) {
      snprintf(text, sizeof text, "%d", counts[kind]);
      cell(text, 5);
    }
    end_row(description);
  }
}

static const char kHelp[] =
    "usage: tmpi-info [--categories] [--controls] [--variables] [--events] [--markdown]\n"
    "Lists what tools can ask the library (MPI_T), or of it what is named. Under tmpirun the values are "
    "those of that job.\n"
    "  --categories   kinds of variables and events\n"
    "  --controls     control variables: the options of tmpirun, and limits\n"
    "  --variables    performance variables\n"
    "  --events       events\n"
    "  --markdown     as tables in Markdown\n";

int main(int argc, char** argv) {
  static const struct {
    const char* option;
    void (*list)(void);
  } lists[] = {{"--categories", list_categories},
               {"--controls", list_controls},
               {"--variables", list_variables},
               {"--events", list_events}};
  enum { kLists = sizeof lists / sizeof *lists };
  int provided, rank, any = 0, chosen[kLists] = {0};
  if (argc == 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0))
    return fputs(kHelp, stdout) < 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc; i++) {
    int known = strcmp(argv[i], "--markdown") == 0;
    markdown |= known;
    for (int list = 0; list < kLists; list++) {
      if (strcmp(argv[i], lists[list].option) == 0) any = known = chosen[list] = 1;
    }
    if (known) continue;
    if (rank == 0) fputs(kHelp, stderr);
    MPI_Finalize();
    return 2;
  }
  CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  for (int list = 0; list < kLists; list++) {
    if (rank == 0 && (chosen[list] || !any)) lists[list].list();
  }
  CHECK(MPI_T_finalize());
  MPI_Finalize();
  return 0;
}
