/* The message queue interface between debuggers and MPI libraries ("MPIR message queue dumping interface", version 1.0): names, types, values
 * and order of members are the interface's, for debuggers are compiled against them. The debugger loads the library, hands it tables of functions,
 * and asks; the library reads the process through these functions alone. What the library keeps of an image or a process
 * hangs on the debugger's handle for it (put_..._info). */
#ifndef TMPI_MSGQ_MQS_H
#define TMPI_MSGQ_MQS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MQS_INTERFACE_COMPATIBILITY = 2, MQS_INVALID_PROCESS = -1 };

typedef unsigned long mqs_taddr_t;
typedef long mqs_tword_t;

/* The debugger's own, and the library's own. */
typedef struct mqs_image_ mqs_image;
typedef struct mqs_process_ mqs_process;
typedef struct mqs_type_ mqs_type;
typedef struct _mqs_image_info mqs_image_info;
typedef struct _mqs_process_info mqs_process_info;

enum { mqs_ok = 0, mqs_no_information, mqs_end_of_list, mqs_first_user_code = 100 };

typedef enum { mqs_lang_c = 'c', mqs_lang_cplus = 'C', mqs_lang_f77 = 'f', mqs_lang_f90 = 'F' } mqs_lang_code;
typedef enum { mqs_pending_sends, mqs_pending_receives, mqs_unexpected_messages } mqs_op_class;
enum mqs_status { mqs_st_pending, mqs_st_matched, mqs_st_complete };

typedef struct {
  int short_size, int_size, long_size, long_long_size, pointer_size;
} mqs_target_type_sizes;

typedef struct {
  mqs_taddr_t unique_id;
  mqs_tword_t local_rank;
  mqs_tword_t size;
  char name[64];
} mqs_communicator;

typedef struct {
  int status;                     /* enum mqs_status */
  mqs_tword_t desired_local_rank; /* the other rank in the communicator; -1: any */
  mqs_tword_t desired_global_rank;
  int tag_wild;
  mqs_tword_t desired_tag;
  mqs_tword_t desired_length; /* bytes of the buffer */
  int system_buffer;
  mqs_taddr_t buffer;
  /* Of sends, and of what is matched or complete: */
  mqs_tword_t actual_local_rank;
  mqs_tword_t actual_global_rank;
  mqs_tword_t actual_tag;
  mqs_tword_t actual_length;
  char extra_text[5][64]; /* shown as it is */
} mqs_pending_operation;

typedef struct mqs_basic_callbacks {
  void* (*mqs_malloc_fp)(size_t);
  void (*mqs_free_fp)(void*);
  void (*mqs_dprints_fp)(const char*);
  char* (*mqs_errorstring_fp)(int);
  void (*mqs_put_image_info_fp)(mqs_image*, mqs_image_info*);
  mqs_image_info* (*mqs_get_image_info_fp)(mqs_image*);
  void (*mqs_put_process_info_fp)(mqs_process*, mqs_process_info*);
  mqs_process_info* (*mqs_get_process_info_fp)(mqs_process*);
} mqs_basic_callbacks;

typedef struct mqs_image_callbacks {
  void (*mqs_get_type_sizes_fp)(mqs_process*, mqs_target_type_sizes*);
  int (*mqs_find_function_fp)(mqs_image*, char*, mqs_lang_code, mqs_taddr_t*);
  int (*mqs_find_symbol_fp)(mqs_image*, char*, mqs_taddr_t*);
  mqs_type* (*mqs_find_type_fp)(mqs_image*, char*, mqs_lang_code);
  int (*mqs_field_offset_fp)(mqs_type*, char*);
  int (*mqs_sizeof_fp)(mqs_type*);
} mqs_image_callbacks;

typedef struct mqs_process_callbacks {
  int (*mqs_get_global_rank_fp)(mqs_process*);
  mqs_image* (*mqs_get_image_fp)(mqs_process*);
  int (*mqs_fetch_data_fp)(mqs_process*, mqs_taddr_t, int, void*);
  void (*mqs_target_to_host_fp)(mqs_process*, const void*, void*, int);
} mqs_process_callbacks;

#pragma GCC visibility push(default)

/* First: what the library uses of the debugger, and whether they understand each other. */
void mqs_setup_basic_callbacks(const mqs_basic_callbacks*);
const char* mqs_version_string(void);
int mqs_version_compatibility(void);
int mqs_dll_taddr_width(void);
const char* mqs_dll_error_string(int);

/* Per image: is it one of an MPI program whose queues the library understands? The text says why not. */
int mqs_setup_image(mqs_image*, const mqs_image_callbacks*);
int mqs_image_has_queues(mqs_image*, const char**);
void mqs_destroy_image_info(mqs_image_info*);

int mqs_setup_process(mqs_process*, const mqs_process_callbacks*);
int mqs_process_has_queues(mqs_process*, char**);
void mqs_destroy_process_info(mqs_process_info*);

/* Each time the process has stopped: its communicators, the current one, and what is under way on that. */
int mqs_update_communicator_list(mqs_process*);
int mqs_setup_communicator_iterator(mqs_process*);
int mqs_get_communicator(mqs_process*, mqs_communicator*);
int mqs_get_comm_group(mqs_process*, int*); /* world ranks of its `size` members */
int mqs_next_communicator(mqs_process*);
int mqs_setup_operation_iterator(mqs_process*, int); /* an mqs_op_class */
int mqs_next_operation(mqs_process*, mqs_pending_operation*);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
