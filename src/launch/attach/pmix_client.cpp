#include "launch/attach/pmix_client.hpp"

#include <fmt/core.h>
#include <pmix.h>

#include <cstdlib>

namespace tmpi::launch {
namespace {

pmix_proc_t process(const std::string& space, pmix_rank_t rank) {
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, space.c_str(), rank);
  return proc;
}

// A number about the job that servers always provide; `otherwise` if this one does not.
int number(const std::string& space, const char* key, int otherwise) {
  const pmix_proc_t whole_job = process(space, PMIX_RANK_WILDCARD);
  pmix_value_t* value = nullptr;
  if (PMIx_Get(&whole_job, key, nullptr, 0, &value) != PMIX_SUCCESS || value == nullptr) return otherwise;
  const int result = value->type == PMIX_UINT32 ? static_cast<int>(value->data.uint32) : otherwise;
  PMIX_VALUE_RELEASE(value);
  return result;
}

Failure failure(const char* what, pmix_status_t status) {
  return Failure{fmt::format("the PMIx server does not {}: {}", what, PMIx_Error_string(status))};
}

}  // namespace

bool PmixClient::has_server() {
  return getenv("PMIX_NAMESPACE") != nullptr && getenv("PMIX_RANK") != nullptr;
}

Result<PmixClient> PmixClient::connect() {
  pmix_proc_t self;
  PMIX_PROC_CONSTRUCT(&self);
  if (const pmix_status_t status = PMIx_Init(&self, nullptr, 0); status != PMIX_SUCCESS) {
    return Failure{fmt::format(
        "cannot connect to the PMIx server that the environment names (PMIX_NAMESPACE={}): {}. Has the job "
        "that set PMIX_* ended, or is the launcher's version of PMIx incompatible with {}?",
        getenv("PMIX_NAMESPACE") != nullptr ? getenv("PMIX_NAMESPACE") : "", PMIx_Error_string(status),
        PMIx_Get_version())};
  }
  PmixClient client;
  client.space_ = self.nspace;
  client.rank_ = static_cast<int>(self.rank);
  client.size_ = number(client.space_, PMIX_JOB_SIZE, 0);
  client.local_size_ = number(client.space_, PMIX_LOCAL_SIZE, 1);
  if (client.size_ <= client.rank_)
    return Failure{"the PMIx server does not say how many processes the job has (pmix.job.size)"};
  return client;
}

Result<void> PmixClient::put(const char* key, const std::string& text) const {
  pmix_value_t value;
  PMIX_VALUE_LOAD(&value, text.c_str(), PMIX_STRING);
  pmix_status_t status = PMIx_Put(PMIX_GLOBAL, key, &value);
  PMIX_VALUE_DESTRUCT(&value);
  if (status == PMIX_SUCCESS) status = PMIx_Commit();
  if (status != PMIX_SUCCESS) return failure("store what processes tell each other", status);
  return {};
}

Result<void> PmixClient::fence() const {
  pmix_info_t collect;
  const bool yes = true;
  PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  const pmix_status_t status = PMIx_Fence(nullptr, 0, &collect, 1);
  PMIX_INFO_DESTRUCT(&collect);
  if (status != PMIX_SUCCESS) return failure("bring the job's processes together (PMIx_Fence)", status);
  return {};
}

Result<std::string> PmixClient::get(int rank, const char* key) const {
  const pmix_proc_t from = process(space_, static_cast<pmix_rank_t>(rank));
  pmix_value_t* value = nullptr;
  const pmix_status_t status = PMIx_Get(&from, key, nullptr, 0, &value);
  if (status != PMIX_SUCCESS || value == nullptr)
    return failure("tell what another process has stored", status);
  std::string text = value->type == PMIX_STRING ? value->data.string : "";
  PMIX_VALUE_RELEASE(value);
  return text;
}

void PmixClient::abort(int code, const std::string& why) const {
  PMIx_Abort(code, why.c_str(), nullptr, 0);
}

void PmixClient::finish() const {
  PMIx_Finalize(nullptr, 0);
}

}  // namespace tmpi::launch
