/* See sections.h. */
#include "fortran/sections.h"

#include <stdlib.h>
#include <string.h>

/* To be passed on as it is: an array that is not allocated has no shape, and MPI says so. */
static int is_plain(const Descriptor* d) {
  return d->base_addr == NULL || contiguous(d);
}

static MPI_Count elements(const Descriptor* d) {
  MPI_Count n = 1;
  for (int i = 0; i < d->rank; i++) n *= d->dim[i].extent;
  return n;
}

static Section ordinary(const Descriptor* d, MPI_Count count, MPI_Datatype datatype) {
  return (Section){.address = d->base_addr,
                   .count = count,
                   .datatype = tmpi_number((void*)datatype),
                   .made = MPI_DATATYPE_NULL};
}

static Section refused(const Descriptor* d) {
  Section section = ordinary(d, 0, MPI_DATATYPE_NULL);
  section.error = 1;
  return section;
}

/* Replaces `*type` by `count` of it, `stride` bytes apart. */
OWN_CALLS static int repeat(MPI_Datatype* type, MPI_Count count, MPI_Count stride) {
  MPI_Datatype outer;
  const int error = PMPI_Type_create_hvector_c(count, 1, stride, *type, &outer);
  PMPI_Type_free(type);
  if (error == MPI_SUCCESS) *type = outer;
  return error;
}

/* The first `count` elements of the section of the lowest `rank` dimensions. `element` stays the caller's. */
OWN_CALLS static int first_elements(const Descriptor* d, int rank, MPI_Count count, MPI_Datatype element,
                                    MPI_Datatype* out) {
  MPI_Count inner = 1;
  for (int i = 0; i + 1 < rank; i++) inner *= d->dim[i].extent;
  const MPI_Count stride = d->dim[rank - 1].stride, whole = count / inner, rest = count % inner;
  int error;
  if (rank == 1) return PMPI_Type_create_hvector_c(count, 1, stride, element, out);
  if (rest == 0 || whole > 0) {
    error = first_elements(d, rank - 1, inner, element, out);
    if (error == MPI_SUCCESS) error = repeat(out, whole, stride);
    if (error != MPI_SUCCESS || rest == 0) return error;
  }
  MPI_Datatype last;
  error = first_elements(d, rank - 1, rest, element, &last);
  if (error != MPI_SUCCESS) return error;
  const MPI_Count ones[2] = {1, 1}, places[2] = {0, whole * stride};
  if (whole == 0) {
    *out = last;
    return MPI_SUCCESS;
  }
  const MPI_Datatype parts[2] = {*out, last};
  error = PMPI_Type_create_struct_c(2, ones, places, parts, out);
  PMPI_Type_free((MPI_Datatype*)&parts[0]);
  PMPI_Type_free(&last);
  return error;
}

/* Whether data of `type` are without gaps, and their size. */
OWN_CALLS static int is_dense(MPI_Datatype type, MPI_Count* size) {
  MPI_Count lb, extent;
  if (PMPI_Type_size_c(type, size) != MPI_SUCCESS ||
      PMPI_Type_get_true_extent_c(type, &lb, &extent) != MPI_SUCCESS)
    return 0;
  if (lb != 0 || extent != *size) return 0;
  return PMPI_Type_get_extent_c(type, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == *size;
}

/* One element of the section in units of `datatype`: MPI_SUCCESS, and *out to be freed. */
OWN_CALLS static int element_type(const Descriptor* d, MPI_Datatype datatype, MPI_Count size,
                                  MPI_Datatype* out) {
  const MPI_Count length = (MPI_Count)d->elem_len;
  if (size > 0 && length % size == 0) return PMPI_Type_contiguous_c(length / size, datatype, out);
  return MPI_ERR_TYPE;
}

/* Shapes that come again, as those of a halo do, keep their datatype: making one costs as much as many messages. What has a place keeps it
 * for the rank's life, so that another thread may use it. */
#define KEPT_SHAPES 64
#define KEPT_RANK 4
typedef struct {
  MPI_Count count;
  size_t elem_len;
  MPI_Datatype datatype; /* predefined */
  int rank;
  ptrdiff_t extents[KEPT_RANK], strides[KEPT_RANK];
} Shape;
static struct {
  Shape shape;
  MPI_Datatype made; /* written last */
  char taken;
} kept_shapes[KEPT_SHAPES];

static Shape shape_of(const Descriptor* d, MPI_Count count, MPI_Datatype datatype) {
  Shape shape;
  memset(&shape, 0, sizeof shape); /* it is compared as a whole */
  shape.count = count;
  shape.elem_len = d->elem_len;
  shape.datatype = datatype;
  shape.rank = d->rank;
  for (int i = 0; i < d->rank; i++) {
    shape.extents[i] = d->dim[i].extent;
    shape.strides[i] = d->dim[i].stride;
  }
  return shape;
}

static unsigned place_of(const Shape* shape) {
  uint64_t hash = (uint64_t)shape->count * 31 + shape->elem_len + (uintptr_t)shape->datatype;
  for (int i = 0; i < shape->rank; i++)
    hash = (hash ^ (uint64_t)shape->extents[i] ^ (uint64_t)shape->strides[i] << 20) * 0x9e3779b97f4a7c15u;
  return (unsigned)(hash >> 58) % KEPT_SHAPES;
}

/* A committed datatype of the section's shape, MPI_DATATYPE_NULL if there can be none. */
OWN_CALLS static MPI_Datatype make_section_type(const Descriptor* d, MPI_Count count, MPI_Datatype datatype) {
  MPI_Count size = 0;
  if (!is_dense(datatype, &size)) return MPI_DATATYPE_NULL;
  const MPI_Count length = (MPI_Count)d->elem_len, bytes = count * size;
  if (bytes % length != 0 || bytes / length > elements(d)) return MPI_DATATYPE_NULL;
  MPI_Datatype element, made;
  if (element_type(d, datatype, size, &element) != MPI_SUCCESS) return MPI_DATATYPE_NULL;
  const int error = first_elements(d, d->rank, bytes / length, element, &made);
  PMPI_Type_free(&element);
  return error == MPI_SUCCESS && PMPI_Type_commit(&made) == MPI_SUCCESS ? made : MPI_DATATYPE_NULL;
}

Section tmpi_section_type(const Descriptor* d, MPI_Count count, MPI_Datatype datatype) {
  if (is_plain(d) || datatype == MPI_DATATYPE_NULL || count <= 0)
    return ordinary(d, count, datatype); /* MPI says what is wrong */
  if ((uintptr_t)datatype >= PREDEFINED || d->rank > KEPT_RANK) {
    const MPI_Datatype made = make_section_type(d, count, datatype);
    if (made == MPI_DATATYPE_NULL) return refused(d);
    Section section = ordinary(d, 1, made);
    section.made = made;
    return section;
  }
  const Shape shape = shape_of(d, count, datatype);
  const unsigned place = place_of(&shape);
  MPI_Datatype made = __atomic_load_n(&kept_shapes[place].made, __ATOMIC_ACQUIRE);
  if (made != NULL && memcmp(&kept_shapes[place].shape, &shape, sizeof shape) == 0)
    return ordinary(d, 1, made);
  made = make_section_type(d, count, datatype);
  if (made == MPI_DATATYPE_NULL) return refused(d);
  Section section = ordinary(d, 1, made);
  if (__atomic_test_and_set(&kept_shapes[place].taken, __ATOMIC_RELAXED)) {
    section.made = made;
  } else {
    kept_shapes[place].shape = shape;
    __atomic_store_n(&kept_shapes[place].made, made, __ATOMIC_RELEASE);
  }
  return section;
}

OWN_CALLS Section tmpi_section_blocks(const Descriptor* d, MPI_Datatype datatype) {
  MPI_Count size = 0;
  if (is_plain(d)) return ordinary(d, 0, datatype);
  if (!is_dense(datatype, &size) || size != (MPI_Count)d->elem_len) return refused(d);
  /* Dimensions of one element say nothing of where the next one lies. */
  ptrdiff_t distance = 0, next = 0;
  for (int i = 0; i < d->rank; i++) {
    if (d->dim[i].extent == 1) continue;
    if (distance == 0) distance = next = d->dim[i].stride;
    if (d->dim[i].stride != next) return refused(d);
    next *= d->dim[i].extent;
  }
  MPI_Datatype made;
  if (PMPI_Type_create_resized_c(datatype, 0, distance, &made) != MPI_SUCCESS) return refused(d);
  if (PMPI_Type_commit(&made) != MPI_SUCCESS) return refused(d);
  Section section = ordinary(d, 0, made);
  section.made = made;
  return section;
}

/* Copies the elements of the section into a buffer without gaps. */
static void copy_out(const Descriptor* d, int rank, const char* element, char** dense) {
  if (rank == 0) {
    memcpy(*dense, element, d->elem_len);
    *dense += d->elem_len;
    return;
  }
  for (ptrdiff_t i = 0; i < d->dim[rank - 1].extent; i++)
    copy_out(d, rank - 1, element + i * d->dim[rank - 1].stride, dense);
}

/* Copies back what the call has changed, `size` bytes before the same bytes as they were: all else belongs to the program, or to
 * another operation, and may have been written meanwhile. */
static void copy_back(const Descriptor* d, int rank, char* element, const char** dense, size_t size) {
  if (rank > 0) {
    for (ptrdiff_t i = 0; i < d->dim[rank - 1].extent; i++)
      copy_back(d, rank - 1, element + i * d->dim[rank - 1].stride, dense, size);
    return;
  }
  const char *now = *dense, *before = now + size;
  *dense += d->elem_len;
  if (memcmp(now, before, d->elem_len) == 0) return;
  for (size_t i = 0; i < d->elem_len; i++)
    if (now[i] != before[i]) element[i] = now[i];
}

Section tmpi_section_copy(const Descriptor* d, int written) {
  Section section = ordinary(d, 0, MPI_DATATYPE_NULL);
  if (is_plain(d)) return section;
  const size_t size = (size_t)elements(d) * d->elem_len;
  section.copy = section.address =
      tmpi_fortran_allocate("the copy of an array section", written ? 2 * size : size);
  char* dense = (char*)section.copy;
  copy_out(d, d->rank, (const char*)d->base_addr, &dense);
  if (written) memcpy(dense, section.copy, size);
  return section;
}

/* Whether `count` of `datatype` lie within the first `bytes`. */
OWN_CALLS static int has_room(MPI_Count bytes, MPI_Count count, MPI_Datatype datatype) {
  MPI_Count lb, extent, true_lb, true_extent, last, end;
  if (PMPI_Type_get_extent_c(datatype, &lb, &extent) != MPI_SUCCESS ||
      PMPI_Type_get_true_extent_c(datatype, &true_lb, &true_extent) != MPI_SUCCESS)
    return 1; /* MPI says what is wrong */
  if (true_extent == 0) return 1;
  if (__builtin_mul_overflow(count - 1, extent, &last)) return 0;
  if (__builtin_add_overflow(last > 0 ? last : 0, true_lb + true_extent, &end)) return 0;
  return true_lb >= (last < 0 ? -last : 0) && end <= bytes;
}

Section tmpi_section_copy_of(const Descriptor* d, MPI_Count count, MPI_Datatype datatype, int written) {
  const MPI_Count bytes = elements(d) * (MPI_Count)d->elem_len;
  if (!is_plain(d) && datatype != MPI_DATATYPE_NULL && count > 0 && !has_room(bytes, count, datatype))
    return refused(d);
  return tmpi_section_copy(d, written);
}

Section tmpi_section_blocks_or_copy(const Descriptor* d, MPI_Datatype datatype, int written) {
  Section section = tmpi_section_blocks(d, datatype);
  if (!section.error) return section;
  section = tmpi_section_copy(d, written);
  section.datatype = tmpi_number((void*)datatype);
  return section;
}

Section tmpi_section_refused(const Descriptor* d) {
  return is_plain(d) ? ordinary(d, 0, MPI_DATATYPE_NULL) : refused(d);
}

Section tmpi_section_unused(const Descriptor* d, MPI_Fint datatype) {
  return (Section){.address = d->base_addr, .datatype = datatype, .made = MPI_DATATYPE_NULL};
}

OWN_CALLS int tmpi_at_root(MPI_Comm comm, MPI_Fint root) {
  int inter = 0, rank = MPI_PROC_NULL;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0; /* MPI says what is wrong */
  if (inter) return root == MPI_ROOT;
  PMPI_Comm_rank(comm, &rank);
  return rank == root;
}

OWN_CALLS int tmpi_at_leaf(MPI_Comm comm, MPI_Fint root) {
  int inter = 0;
  return PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && (!inter || root >= 0);
}

OWN_CALLS static int section_code(void) {
  static int code; /* of this rank, as all of this library */
  if (code == 0) {
    int made;
    PMPI_Add_error_code(MPI_ERR_BUFFER, &made);
    PMPI_Add_error_string(
        made,
        "an array section whose elements are not next to each other cannot be this buffer: the datatype has "
        "gaps of its "
        "own or another size than the elements, there are fewer elements than the count says, or the call "
        "splits or "
        "reduces it after it has returned. Pass a contiguous array, or a datatype and the first element");
    code = made;
  }
  return code;
}

#define SECTION_ERROR(name, Kind, Handle)        \
  OWN_CALLS int name(Handle handle) {            \
    const int code = section_code();             \
    PMPI_##Kind##_call_errhandler(handle, code); \
    return code;                                 \
  }
SECTION_ERROR(tmpi_section_error, Comm, MPI_Comm)
SECTION_ERROR(tmpi_section_error_win, Win, MPI_Win)
SECTION_ERROR(tmpi_section_error_file, File, MPI_File)

static void write_back(const Section* section, const Descriptor* d) {
  const char* dense = (const char*)section->copy;
  copy_back(d, d->rank, (char*)d->base_addr, &dense, (size_t)elements(d) * d->elem_len);
}

OWN_CALLS void tmpi_section_end(Section* section, const Descriptor* d, int written) {
  if (section->made != MPI_DATATYPE_NULL) PMPI_Type_free(&section->made);
  if (section->copy == NULL) return;
  if (written && !section->error) write_back(section, d);
  free(section->copy);
}

/* What waits for a request: rarely more than a few. */
typedef struct Waiting {
  struct Waiting* next;
  MPI_Fint request;
  int written; /* and not yet copied back */
  uint64_t number;
  Section section;
  Descriptor descriptor; /* and its dimensions */
} Waiting;
int tmpi_sections_waiting;
uint64_t tmpi_sections_begun;
static Waiting* waiting;
static char waiting_lock; /* threads of the rank */

static void lock_waiting(void) {
  while (__atomic_test_and_set(&waiting_lock, __ATOMIC_ACQUIRE)) continue;
}
static void unlock_waiting(void) {
  __atomic_clear(&waiting_lock, __ATOMIC_RELEASE);
}

void tmpi_section_later(int outcome, MPI_Fint request, Section* section, const Descriptor* d, int written) {
  if (section->copy == NULL || outcome != MPI_SUCCESS) {
    tmpi_section_end(section, d, written && outcome == MPI_SUCCESS);
    return;
  }
  const size_t bytes = sizeof d->dim[0] * (size_t)d->rank;
  Waiting* const w = (Waiting*)tmpi_fortran_allocate("the copy of an array section", sizeof *w + bytes);
  w->request = request;
  w->written = written;
  w->section = *section;
  memcpy(&w->descriptor, d, sizeof *d + bytes);
  lock_waiting();
  w->number = tmpi_sections_begun + 1;
  __atomic_store_n(&tmpi_sections_begun, w->number, __ATOMIC_RELAXED);
  w->next = waiting;
  waiting = w;
  unlock_waiting();
  __atomic_add_fetch(&tmpi_sections_waiting, 1, __ATOMIC_RELAXED);
}

int tmpi_section_waits(MPI_Fint request) {
  lock_waiting();
  const Waiting* w = waiting;
  while (w != NULL && w->request != request) w = w->next;
  unlock_waiting();
  return w != NULL;
}

OWN_CALLS int tmpi_section_freed(void) {
  static int code;
  if (code == 0) {
    int made;
    PMPI_Add_error_code(MPI_ERR_REQUEST, &made);
    PMPI_Add_error_string(made,
                          "MPI_Request_free of a nonblocking operation on an array section whose elements "
                          "are not next to each other: the elements were copied, and only a call that "
                          "completes the request copies them back. Wait for it");
    code = made;
  }
  PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
  return code;
}

void tmpi_sections_complete(MPI_Fint request, uint64_t before, int released) {
  Waiting* complete = NULL;
  lock_waiting();
  for (Waiting** at = &waiting; *at != NULL;) {
    Waiting* const w = *at;
    if (w->request != request || w->number > before) {
      at = &w->next;
      continue;
    }
    if (!released) {
      if (w->written) write_back(&w->section, &w->descriptor);
      w->written = 0;
      at = &w->next;
      continue;
    }
    *at = w->next;
    w->next = complete;
    complete = w;
  }
  unlock_waiting();
  while (complete != NULL) {
    Waiting* const w = complete;
    complete = w->next;
    tmpi_section_end(&w->section, &w->descriptor, w->written);
    free(w);
    __atomic_sub_fetch(&tmpi_sections_waiting, 1, __ATOMIC_RELAXED);
  }
}
