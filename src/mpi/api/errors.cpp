// Error classes, codes and strings. MPI report, 9.4 and 9.5.
#include <cstring>

#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/base/error_classes.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/user_errors.hpp"

namespace tmpi::mpi {
namespace {

// Added codes of the calling rank, null if it has none.
const UserErrors* added_codes() noexcept {
  const Rank* rank = calling_rank();
  return rank != nullptr ? rank->user_errors.get() : nullptr;
}

// Of the latest error that was returned to the program: what has happened, as far as there is room.
void add_explanation(std::string& text, const std::string& explanation) {
  constexpr std::size_t kRoom = MPI_MAX_ERROR_STRING - 1;
  if (explanation.empty() || text.size() + 2 >= kRoom) return;
  text += ": ";
  text.append(explanation, 0, kRoom - text.size());
}

Err unknown_code(int code) {
  return fail(MPI_ERR_ARG, "{} is no error code: neither the standard's nor added by the program", code);
}

Err not_added(int code) {
  return fail(MPI_ERR_ARG, "{} is not an error code that MPI_Add_error_class or MPI_Add_error_code returned",
              code);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Error_class(int errorcode, int* errorclass) {
  return anywhere("MPI_Error_class", [&]() -> Err {
    TMPI_TRY(check_pointer(errorclass, "errorclass"));
    const UserErrors* added = added_codes();
    if (error_class(errorcode) != nullptr) {
      *errorclass = errorcode;
    } else if (added != nullptr && added->knows(errorcode)) {
      *errorclass = added->class_of(errorcode);
    } else {
      return unknown_code(errorcode);
    }
    return kOk;
  });
}
TMPI_PROFILED(MPI_Error_class);

int PMPI_Error_string(int errorcode, char* string, int* resultlen) {
  return anywhere("MPI_Error_string", [&]() -> Err {
    TMPI_TRY(check_pointer(string, "string"));
    TMPI_TRY(check_pointer(resultlen, "resultlen"));
    const UserErrors* added = added_codes();
    std::string text;
    if (const ErrorClass* known = error_class(errorcode)) {
      text = fmt::format("{}: {}", known->name, known->text);
      if (const Rank* rank = calling_rank(); rank != nullptr && rank->returned_error == errorcode)
        add_explanation(text, rank->explanation);
    } else if (added != nullptr && added->knows(errorcode)) {
      text = added->text(errorcode);  // the program's own, to the letter
    } else {
      return unknown_code(errorcode);
    }
    std::memcpy(string, text.c_str(), text.size() + 1);
    *resultlen = static_cast<int>(text.size());
    return kOk;
  });
}
TMPI_PROFILED(MPI_Error_string);

int PMPI_Add_error_class(int* errorclass) {
  return on_rank("MPI_Add_error_class", [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(errorclass, "errorclass"));
    *errorclass = user_errors(rank).add_class();
    return kOk;
  });
}
TMPI_PROFILED(MPI_Add_error_class);

int PMPI_Add_error_code(int errorclass, int* errorcode) {
  return on_rank("MPI_Add_error_code", [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(errorcode, "errorcode"));
    UserErrors& added = user_errors(rank);
    if (error_class(errorclass) == nullptr &&
        (!added.knows(errorclass) || added.class_of(errorclass) != errorclass)) {
      return fail(MPI_ERR_ARG, "{} is no error class", errorclass);
    }
    *errorcode = added.add_code(errorclass);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Add_error_code);

int PMPI_Add_error_string(int errorcode, const char* string) {
  return on_rank("MPI_Add_error_string", [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(string, "string"));
    std::string text(string, strnlen(string, MPI_MAX_ERROR_STRING - 1));
    return user_errors(rank).set_text(errorcode, std::move(text)) ? kOk : not_added(errorcode);
  });
}
TMPI_PROFILED(MPI_Add_error_string);

int PMPI_Remove_error_class(int errorclass) {
  return on_rank("MPI_Remove_error_class", [&](Rank& rank) -> Err {
    if (user_errors(rank).remove(errorclass, true)) return kOk;
    return fail(MPI_ERR_ARG,
                "{} is not an added error class, or codes of it or its string have not been removed",
                errorclass);
  });
}
TMPI_PROFILED(MPI_Remove_error_class);

int PMPI_Remove_error_code(int errorcode) {
  return on_rank("MPI_Remove_error_code", [&](Rank& rank) -> Err {
    if (user_errors(rank).remove(errorcode, false)) return kOk;
    return fail(MPI_ERR_ARG, "{} is not an added error code, or its string has not been removed", errorcode);
  });
}
TMPI_PROFILED(MPI_Remove_error_code);

int PMPI_Remove_error_string(int errorcode) {
  return on_rank("MPI_Remove_error_string", [&](Rank& rank) -> Err {
    if (user_errors(rank).remove_text(errorcode)) return kOk;
    return fail(MPI_ERR_ARG, "{} is not an added error class or code, or it has no string", errorcode);
  });
}
TMPI_PROFILED(MPI_Remove_error_string);
