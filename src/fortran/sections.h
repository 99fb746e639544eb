/* Buffers of mpi_f08: type(*), dimension(..), which come as C descriptors (Fortran 2018, 18.5), and sections of arrays among them whose
 * elements are not next to each other. */
#ifndef TMPI_FORTRAN_SECTIONS_H
#define TMPI_FORTRAN_SECTIONS_H

#include "fortran/convert.h"

/* The descriptor as gfortran, flang and others lay it out; written down here so that no compiler's header is needed. */
typedef struct {
  void* base_addr;
  size_t elem_len; /* bytes of an element */
  int version;
  int8_t rank;
  int8_t attribute_or_type[3]; /* in an order of the compiler's own; not looked at */
  struct {
    ptrdiff_t lower_bound, extent; /* extent -1: unknown, the last dimension of an assumed-size array */
    ptrdiff_t stride;              /* bytes between elements */
  } dim[];
} Descriptor;

/* Whether the elements lie one behind the other. */
static inline int contiguous(const Descriptor* d) {
  ptrdiff_t next = (ptrdiff_t)d->elem_len;
  for (int i = 0; i < d->rank; i++) {
    if (d->dim[i].stride != next && d->dim[i].extent != 1) {
      /* What has no elements has no gaps. */
      if (d->elem_len == 0) return 1;
      for (int j = 0; j < d->rank; j++)
        if (d->dim[j].extent == 0) return 1;
      return 0;
    }
    next *= d->dim[i].extent;
  }
  return 1;
}

/* What a call gets instead of a section. */
typedef struct {
  void* address;
  MPI_Count count;
  MPI_Fint datatype; /* for the call; made here if `made` says so */
  MPI_Datatype made;
  void* copy; /* what `address` is, if the elements were copied */
  int error;  /* the section cannot travel: tmpi_section_error() */
} Section;

/* `count` elements of `datatype`, taken from the elements of the section in their order: as one element of a datatype made for the purpose,
 * so that nothing is copied. A datatype with gaps of its own is refused. */
Section tmpi_section_type(const Descriptor* d, MPI_Count count, MPI_Datatype datatype);

/* The datatype whose n-th element is the section's: for functions that split a buffer. Only where all elements are equally far apart. */
Section tmpi_section_blocks(const Descriptor* d, MPI_Datatype datatype);

/* The same, or a copy of the elements where they are not equally far apart. */
Section tmpi_section_blocks_or_copy(const Descriptor* d, MPI_Datatype datatype, int written);

/* A copy of the elements, for functions that are through with it when they return or whose request tells when they are; if `written`,
 * with what tells later which of them the function has changed. */
Section tmpi_section_copy(const Descriptor* d, int written);
/* Refused if there are fewer than `count` of `datatype`. */
Section tmpi_section_copy_of(const Descriptor* d, MPI_Count count, MPI_Datatype datatype, int written);

/* For functions that work on a buffer again and again (persistent ones) and for which there is no datatype. */
Section tmpi_section_refused(const Descriptor* d);

/* For a buffer that this rank's call does not use. */
Section tmpi_section_unused(const Descriptor* d, MPI_Fint datatype);

/* Whether the rank is the root of a collective operation; whether it is one of the others, or root and one of them at once. */
int tmpi_at_root(MPI_Comm comm, MPI_Fint root);
int tmpi_at_leaf(MPI_Comm comm, MPI_Fint root);

/* Raises on the object of the call that a section cannot travel; returns the error code. */
int tmpi_section_error(MPI_Comm comm);
int tmpi_section_error_win(MPI_Win win);
int tmpi_section_error_file(MPI_File file);

/* Gives back what was made or copied; first copies back what was changed, if `written`. */
void tmpi_section_end(Section* section, const Descriptor* d, int written);

/* The same when `request` is complete, which handles.h notices; at once if the call has failed. The request has to be completed by
 * a call of Fortran. */
void tmpi_section_later(int outcome, MPI_Fint request, Section* section, const Descriptor* d, int written);

#endif
