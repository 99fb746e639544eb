// libtmpi_msgq.so: what debuggers call (mqs.h). A process of the interface is a node process.
#include <cstring>
#include <new>
#include <string>

#include "msgq/communicators.hpp"
#include "msgq/facts.hpp"
#include "msgq/memory.hpp"
#include "msgq/queues.hpp"

namespace {

using namespace tmpi::msgq;

const mqs_basic_callbacks* g_debugger = nullptr;

enum Problem {
  kNoMemory = mqs_first_user_code,
  kNotTmpi,
  kOtherVersion,
  kNotReadable,
  kNoSetup,
};

// What hangs on the debugger's handles.
struct Image {
  const mqs_image_callbacks* callbacks;
};

struct Process {
  Process(mqs_process* process, const mqs_process_callbacks& callbacks)
      : handle(process), memory(process, callbacks.mqs_fetch_data_fp), queues(memory, facts) {
    image = callbacks.mqs_get_image_fp(process);
  }

  int read_facts();
  int update();

  mqs_process* handle;
  mqs_image* image;
  Memory memory;
  Facts facts;
  Queues queues;
  std::vector<View> views;
  std::size_t view = 0;
  std::vector<mqs_pending_operation> operations;
  std::size_t operation = 0;
};

Image* image_of(mqs_image* image) {
  return g_debugger == nullptr ? nullptr : reinterpret_cast<Image*>(g_debugger->mqs_get_image_info_fp(image));
}
Process* process_of(mqs_process* process) {
  return g_debugger == nullptr ? nullptr
                               : reinterpret_cast<Process*>(g_debugger->mqs_get_process_info_fp(process));
}

int find(mqs_image* image, const char* symbol, Address& address) {
  const Image* known = image_of(image);
  if (known == nullptr) return kNoSetup;
  std::string name = symbol;  // debuggers are not promised to leave it as it is
  return known->callbacks->mqs_find_symbol_fp(image, name.data(), &address) == mqs_ok ? int{mqs_ok}
                                                                                      : int{kNotTmpi};
}

int Process::read_facts() {
  if (!facts.empty()) return mqs_ok;
  for (const char* array : Facts::kArrays) {
    Address address = 0;
    if (const int problem = find(image, array, address)) return problem;
    facts.add(memory, address);
  }
  return memory.ok() ? int{mqs_ok} : int{kNotReadable};
}

int Process::update() {
  views.clear();
  operations.clear();
  memory.forget();
  Address job = 0;
  if (const int problem = read_facts()) return problem;
  if (const int problem = find(image, Facts::kJob, job)) return problem;
  job = memory.word(memory.word(job));
  if (job == 0) return memory.ok() ? int{mqs_no_information} : int{kNotReadable};
  const std::vector<Address> ranks = ranks_of(memory, facts, job);
  views = communicators_of(memory, facts, ranks);
  queues.update(ranks);
  if (!facts.complete()) return kOtherVersion;
  if (!memory.ok()) return kNotReadable;
  return views.empty() ? int{mqs_no_information} : int{mqs_ok};
}

// No exception crosses the interface.
template <class Action>
int guarded(Action&& action) noexcept {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return kNoMemory;
  }
}

template <class Action>
int with(mqs_process* handle, Action&& action) noexcept {
  return guarded([&]() -> int {
    Process* const process = process_of(handle);
    return process == nullptr ? int{kNoSetup} : action(*process);
  });
}

const View* current(const Process& process) {
  return process.view < process.views.size() ? &process.views[process.view] : nullptr;
}

}  // namespace

extern "C" {

void mqs_setup_basic_callbacks(const mqs_basic_callbacks* callbacks) {
  g_debugger = callbacks;
}

const char* mqs_version_string() {
  return "message queues of tmpi " TMPI_VERSION;
}

int mqs_version_compatibility() {
  return MQS_INTERFACE_COMPATIBILITY;
}

int mqs_dll_taddr_width() {
  return sizeof(mqs_taddr_t);
}

const char* mqs_dll_error_string(int error) {
  switch (error) {
    case mqs_ok:
      return "no error";
    case mqs_no_information:
      return "no rank of this node process has called MPI_Init yet";
    case mqs_end_of_list:
      return "there are no more";
    case kNoMemory:
      return "the debugger has no memory left for the message queues";
    case kNotTmpi:
      return "this is no node process of tmpi (tmpi-node): it lacks the symbols that describe its queues";
    case kOtherVersion:
      return "the node process is of another version of tmpi than this libtmpi_msgq.so: load the one of its "
             "installation";
    case kNotReadable:
      return "memory of the node process cannot be read, or changes while it is read";
    case kNoSetup:
      return "the debugger has not set up this image or process";
    default:
      return "an error that this library does not know";
  }
}

int mqs_setup_image(mqs_image* image, const mqs_image_callbacks* callbacks) {
  if (g_debugger == nullptr) return kNoSetup;
  auto* info = new (std::nothrow) Image{callbacks};
  if (info == nullptr) return kNoMemory;
  g_debugger->mqs_put_image_info_fp(image, reinterpret_cast<mqs_image_info*>(info));
  return mqs_ok;
}

int mqs_image_has_queues(mqs_image* image, const char** why) {
  *why = nullptr;
  return guarded([&] {
    Address address = 0;
    for (const char* array : Facts::kArrays) {
      if (const int problem = find(image, array, address)) {
        *why = mqs_dll_error_string(problem);
        return problem;
      }
    }
    return int{mqs_ok};
  });
}

void mqs_destroy_image_info(mqs_image_info* info) {
  delete reinterpret_cast<Image*>(info);
}

int mqs_setup_process(mqs_process* process, const mqs_process_callbacks* callbacks) {
  if (g_debugger == nullptr) return kNoSetup;
  return guarded([&] {
    auto* info = new Process(process, *callbacks);
    g_debugger->mqs_put_process_info_fp(process, reinterpret_cast<mqs_process_info*>(info));
    return int{mqs_ok};
  });
}

int mqs_process_has_queues(mqs_process* handle, char** why) {
  *why = nullptr;
  const int problem = with(handle, [](Process& process) {
    process.memory.forget();
    return process.read_facts();
  });
  if (problem != mqs_ok) *why = const_cast<char*>(mqs_dll_error_string(problem));
  return problem;
}

void mqs_destroy_process_info(mqs_process_info* info) {
  delete reinterpret_cast<Process*>(info);
}

int mqs_update_communicator_list(mqs_process* handle) {
  return with(handle, [](Process& process) { return process.update(); });
}

int mqs_setup_communicator_iterator(mqs_process* handle) {
  return with(handle, [](Process& process) {
    process.view = 0;
    process.operations.clear();
    return process.views.empty() ? int{mqs_end_of_list} : int{mqs_ok};
  });
}

int mqs_get_communicator(mqs_process* handle, mqs_communicator* communicator) {
  return with(handle, [&](Process& process) {
    const View* const view = current(process);
    if (view == nullptr) return int{mqs_end_of_list};
    *communicator = {};
    communicator->unique_id = view->context;
    communicator->local_rank = view->rank_in_comm;
    communicator->size = view->size;
    view->name.copy(communicator->name, sizeof communicator->name - 1);
    return int{mqs_ok};
  });
}

int mqs_get_comm_group(mqs_process* handle, int* world_ranks) {
  return with(handle, [&](Process& process) {
    const View* const view = current(process);
    if (view == nullptr) return int{mqs_end_of_list};
    const GroupView group(process.memory, process.facts, view->group);
    for (int rank = 0; rank < view->size; ++rank) world_ranks[rank] = group.world_rank(rank);
    return process.memory.ok() ? int{mqs_ok} : int{kNotReadable};
  });
}

int mqs_next_communicator(mqs_process* handle) {
  return with(handle, [](Process& process) {
    process.operations.clear();
    if (current(process) != nullptr) ++process.view;
    return current(process) == nullptr ? int{mqs_end_of_list} : int{mqs_ok};
  });
}

int mqs_setup_operation_iterator(mqs_process* handle, int which) {
  return with(handle, [&](Process& process) {
    const View* const view = current(process);
    if (view == nullptr || which < mqs_pending_sends || which > mqs_unexpected_messages)
      return int{mqs_no_information};
    process.operations = process.queues.of(*view, static_cast<mqs_op_class>(which));
    process.operation = 0;
    return process.memory.ok() ? int{mqs_ok} : int{kNotReadable};
  });
}

int mqs_next_operation(mqs_process* handle, mqs_pending_operation* operation) {
  return with(handle, [&](Process& process) {
    if (process.operation >= process.operations.size()) return int{mqs_end_of_list};
    *operation = process.operations[process.operation++];
    return int{mqs_ok};
  });
}

}  // extern "C"
