/* The tools interface (MPI_T): events, their descriptions and sources, callbacks and when they come, what is dropped. MPI
 * report, section 15.3.8. */
#include "tool_helpers.h"

static int in_collective; /* this rank is in the middle of one */
static int sent_events, received_events, dropped_events, freed_events;
static MPI_Count last_stamp;

struct message { /* as MPI_T_event_get_info describes it */
  uint64_t context;
  MPI_Count bytes;
  int peer, tag;
};

static void on_message(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void* user_data) {
  struct message message;
  MPI_Count stamp, bytes;
  int source = -1, tag = -1;
  CHECK(registration != NULL &&
        (safety == MPI_T_CB_REQUIRE_NONE || safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED));
  CHECK(!in_collective || safety != MPI_T_CB_REQUIRE_NONE);
  CHECK_OK(MPI_T_event_copy(instance, &message));
  CHECK_OK(MPI_T_event_read(instance, 1, &bytes));
  CHECK_OK(MPI_T_event_read(instance, 3, &tag));
  CHECK_EQ(MPI_T_event_read(instance, 4, &tag), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(bytes, message.bytes);
  CHECK_OK(MPI_T_event_get_timestamp(instance, &stamp));
  CHECK_OK(MPI_T_event_get_source(instance, &source));
  CHECK_EQ(source, 0);
  CHECK(stamp >= last_stamp);
  last_stamp = stamp;
  if (tag != kTag) return;
  ++*(int*)user_data;
  CHECK_EQ(message.peer, user_data == &sent_events ? (world_rank + 1) % world_size
                                                   : (world_rank + world_size - 1) % world_size);
}

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                       MPI_T_cb_safety safety, void* user_data) {
  CHECK(registration != NULL && user_data == &received_events && source == 0 &&
        safety == MPI_T_CB_REQUIRE_NONE);
  dropped_events += (int)count;
}

static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void* user_data) {
  CHECK(registration != NULL && safety == MPI_T_CB_REQUIRE_NONE);
  ++*(int*)user_data;
}

/* Sees to it that what has happened is delivered. */
static void let_events_come(void) {
  int number;
  CHECK_OK(MPI_T_event_get_num(&number));
}

static void event_descriptions(void) {
  int number, sources;
  CHECK_OK(MPI_T_event_get_num(&number));
  for (int i = 0; i < number; i++) {
    char name[kText], desc[kText];
    int name_len = kText, desc_len = kText, verbosity, elements = 2, bind, items, index;
    MPI_Datatype types[2];
    MPI_Aint displacements[2];
    MPI_T_enum names;
    MPI_Info info;
    CHECK_OK(MPI_T_event_get_info(i, name, &name_len, &verbosity, types, displacements, &elements, &names,
                                  &info, desc, &desc_len, &bind));
    CHECK(elements >= 2 && displacements[0] == 0 && displacements[1] > 0);
    CHECK_OK(MPI_T_enum_get_info(names, &items, NULL, NULL));
    CHECK_EQ(items, elements);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_T_event_get_index(name, &index));
    CHECK_EQ(index, i);
  }
  CHECK_OK(MPI_T_source_get_num(&sources));
  CHECK_EQ(sources, 1);
  char name[kText];
  int length = kText;
  MPI_T_source_order order;
  MPI_Count rate, most, first, second;
  CHECK_OK(MPI_T_source_get_info(0, name, &length, NULL, NULL, &order, &rate, &most, NULL));
  CHECK(order == MPI_T_SOURCE_ORDERED && rate > 1000000 && most > rate);
  CHECK_OK(MPI_T_source_get_timestamp(0, &first));
  CHECK_OK(MPI_T_source_get_timestamp(0, &second));
  CHECK(second >= first && first > 0);
  CHECK_EQ(MPI_T_source_get_timestamp(1, &first), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_event_get_index("there is none of this name", &length), MPI_T_ERR_INVALID_NAME);
}

static void events(void) {
  MPI_Info info;
  int keys;
  MPI_T_event_registration sent = registration_of("tmpi_message_sent");
  MPI_T_event_registration received = registration_of("tmpi_message_received");
  CHECK_OK(
      MPI_T_event_register_callback(sent, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &sent_events, on_message));
  CHECK_OK(MPI_T_event_register_callback(received, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL,
                                         &received_events, on_message));
  CHECK_OK(MPI_T_event_handle_get_info(sent, &info));
  CHECK_OK(MPI_Info_get_nkeys(info, &keys));
  CHECK_EQ(keys, 0);
  CHECK_OK(MPI_T_event_handle_set_info(sent, info));
  CHECK_OK(MPI_T_event_callback_set_info(sent, MPI_T_CB_REQUIRE_NONE, info));
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_T_event_callback_get_info(sent, MPI_T_CB_REQUIRE_NONE, &info));
  CHECK_OK(MPI_Info_free(&info));
  MPI_Barrier(MPI_COMM_WORLD);
  ring(MPI_COMM_WORLD, 10, 12);
  in_collective = 1;
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &keys, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  in_collective = 0;
  ring(MPI_COMM_WORLD, 3, 70000);
  let_events_come();
  CHECK_EQ(sent_events, 13);
  CHECK_EQ(received_events, 13);
  /* Without a callback nothing is told. */
  CHECK_OK(MPI_T_event_register_callback(sent, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL));
  CHECK_OK(MPI_T_event_handle_free(received, &freed_events, on_free));
  CHECK_EQ(freed_events, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  ring(MPI_COMM_WORLD, 2, 12);
  let_events_come();
  CHECK_EQ(sent_events, 13);
  CHECK_EQ(received_events, 13);
  CHECK_EQ(MPI_T_event_set_dropped_handler(received, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_event_register_callback(sent, (MPI_T_cb_safety)5, MPI_INFO_NULL, NULL, on_message),
           MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_event_copy((MPI_T_event_instance)0, &keys), MPI_T_ERR_INVALID_HANDLE);
  CHECK_OK(MPI_T_event_handle_free(sent, NULL, NULL));
}

/* A callback that may do anything is called when its rank is not in the middle of something: until then events wait, and
 * what finds no room is dropped. */
static void dropped(void) {
  enum { kMany = 1500 };
  if (world_size == 1) return;
  const int room = (int)number_of("tmpi_limit_events");
  CHECK(room < kMany);
  MPI_T_event_registration received = registration_of("tmpi_message_received");
  received_events = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_T_event_register_callback(received, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &received_events,
                                         on_message));
  CHECK_OK(MPI_T_event_set_dropped_handler(received, on_dropped));
  for (int i = 0, number = 0; i < kMany; i++) {
    if (world_rank == 0) CHECK_OK(MPI_Send(&i, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD));
    if (world_rank == 1) CHECK_OK(MPI_Recv(&number, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  if (world_rank == 1) {
    CHECK_EQ(received_events, 0);
    CHECK_EQ(dropped_events, 0);
    let_events_come();
    CHECK_EQ(received_events, room);
    CHECK_EQ(dropped_events, kMany - room);
  }
  CHECK_OK(MPI_T_event_handle_free(received, NULL, NULL));
}

static int resumed_events;
static void on_resumed(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void* user_data) {
  double times[2] = {-1, -1};
  CHECK(registration != NULL && safety <= MPI_T_CB_REQUIRE_MPI_RESTRICTED && user_data == NULL);
  CHECK_OK(MPI_T_event_copy(instance, times));
  CHECK(times[0] >= 0 && times[1] >= 0 && times[1] <= times[0] * 1.001 + 1e-6);
  resumed_events++;
}

/* Who has to wait is told of it when it goes on, and a sleep is as long as ever. */
static void resumed(void) {
  MPI_T_event_registration registration = registration_of("tmpi_rank_resumed");
  CHECK_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL,
                                         NULL, on_resumed));
  const int last = world_size - 1;
  int again = world_size > 1;
  while (again) { /* once, unless the machine lets the receiver stand still */
    if (world_rank == last) {
      again = resumed_events == 0;
      CHECK_OK(MPI_Send(&again, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD));
      if (again) CHECK_OK(MPI_Recv(&again, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      let_events_come();
    } else if (world_rank == 0) {
      CHECK_OK(MPI_Recv(&again, 1, MPI_INT, last, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      const double before = MPI_Wtime();
      usleep(5000);
      CHECK(MPI_Wtime() - before >= 0.0049);
      if (again) CHECK_OK(MPI_Send(&again, 1, MPI_INT, last, kTag, MPI_COMM_WORLD));
    } else {
      again = 0;
    }
  }
  CHECK_OK(MPI_T_event_handle_free(registration, NULL, NULL));
}

int main(int argc, char** argv) {
  int provided = -1;
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  check_begin(&argc, &argv);
  event_descriptions();
  events();
  dropped();
  resumed();
  CHECK_OK(MPI_T_finalize());
  return check_end();
}
