#include "net/ofi/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "net/secret.hpp"
#include "net/tcp/endpoint.hpp"

namespace tmpi::net::ofi {
namespace {

constexpr std::size_t kCompletions = 8192;
constexpr std::size_t kMostName = 256;
constexpr int kKeyTries = 16;

// Whose descriptors of completion queues are of no use, in libfabric 1.17: net's is readable when nothing has come, and
// shm crashes when its queue is waited for.
bool wakes(const std::string& provider) {
  return provider != "net" && provider != "shm";
}

// Keys of exposed memory are not to be guessed.
std::uint64_t draw_key(std::size_t bytes) noexcept {
  std::uint64_t key = 0;
  if (!draw_random(std::as_writable_bytes(std::span(&key, 1)))) return 0;
  return bytes >= sizeof key ? key : key & ((std::uint64_t{1} << 8 * bytes) - 1);
}

}  // namespace

Failure Fabric::cannot(const char* what, int error) const {
  return Failure{fmt::format("--net ofi: libfabric {} cannot {} with provider {}: {}", api_.version_text(),
                             what, provider(), api_.strerror(std::abs(error)))};
}

Result<std::unique_ptr<Fabric>> Fabric::open(const Api& api, const Settings& settings, bool same_machine) {
  Result<Info> info = choose_info(api, settings, same_machine);
  if (!info) return info.failure();
  std::unique_ptr<Fabric> fabric(new Fabric(api, *std::move(info)));
  if (const Result<void> opened = fabric->open_all(); !opened) return opened.failure();
  return fabric;
}

Result<void> Fabric::open_all() {
  fid_fabric* fabric = nullptr;
  if (const int error = api_.fabric(info_->fabric_attr, &fabric, nullptr))
    return cannot("open the network", error);
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  if (const int error = fi_domain(fabric, info_.get(), &domain, nullptr))
    return cannot("open the adapter", error);
  domain_.reset(domain);
  if (info_->domain_attr->mr_key_size > sizeof(std::uint64_t))
    return Failure{fmt::format(
        "--net ofi: the keys of provider {} are larger than 64 bits, which tmpi does not know; use "
        "--net tcp",
        provider())};

  fi_cq_attr queue{};
  queue.size = kCompletions;
  queue.format = FI_CQ_FORMAT_MSG;
  queue.wait_obj = wakes(provider()) ? FI_WAIT_FD : FI_WAIT_NONE;
  fid_cq* completions = nullptr;
  int error = fi_cq_open(domain, &queue, &completions, nullptr);
  if (error != 0 && queue.wait_obj != FI_WAIT_NONE) {
    queue.wait_obj = FI_WAIT_NONE;
    error = fi_cq_open(domain, &queue, &completions, nullptr);
  }
  if (error != 0) return cannot("make a completion queue", error);
  completions_.reset(completions);
  if (queue.wait_obj == FI_WAIT_FD && fi_control(&completions->fid, FI_GETWAIT, &wait_fd_) != 0)
    wait_fd_ = -1;

  fi_av_attr table{};
  table.type = FI_AV_TABLE;
  fid_av* addresses = nullptr;
  if (const int failed = fi_av_open(domain, &table, &addresses, nullptr))
    return cannot("make an address table", failed);
  addresses_.reset(addresses);

  fid_ep* endpoint = nullptr;
  if (const int failed = fi_endpoint(domain, info_.get(), &endpoint, nullptr))
    return cannot("make an endpoint", failed);
  endpoint_.reset(endpoint);
  if (const int failed = fi_ep_bind(endpoint, &addresses->fid, 0))
    return cannot("set up an endpoint", failed);
  if (const int failed = fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV))
    return cannot("set up an endpoint", failed);
  if (const int failed = fi_enable(endpoint)) return cannot("enable an endpoint", failed);

  name_.resize(kMostName);
  std::size_t bytes = name_.size();
  if (const int failed = fi_getname(&endpoint->fid, name_.data(), &bytes))
    return cannot("say the address of an endpoint", failed);
  name_.resize(bytes);
  return {};
}

std::string Fabric::describe() const {
  std::string where = info_->domain_attr->name != nullptr ? info_->domain_attr->name : "";
  if (info_->addr_format == FI_SOCKADDR_IN || info_->addr_format == FI_SOCKADDR_IN6)
    where += " " + tcp::endpoint_of(reinterpret_cast<const sockaddr*>(name_.data())).text();
  return fmt::format("libfabric {}, provider {} on {}", api_.version_text(), provider(), where);
}

bool Fabric::may_wait() noexcept {
  if (wait_fd_ < 0) return true;
  fid* const waited = &completions_->fid;
  fid* list[] = {waited};
  return fi_trywait(fabric_.get(), list, 1) == FI_SUCCESS;
}

fi_addr_t Fabric::insert(const std::vector<std::byte>& name) noexcept {
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  return fi_av_insert(addresses_.get(), name.data(), 1, &address, 0, nullptr) == 1 ? address
                                                                                   : FI_ADDR_NOTAVAIL;
}

Registered Fabric::register_memory(const void* buffer, std::size_t bytes, std::uint64_t access,
                                   int& error) noexcept {
  const bool own_keys = (info_->domain_attr->mr_mode & FI_MR_PROV_KEY) == 0;
  fid_mr* registered = nullptr;
  for (int tries = 0; tries < kKeyTries; ++tries) {
    const std::uint64_t key = own_keys ? draw_key(info_->domain_attr->mr_key_size) : 0;
    error = -fi_mr_reg(domain_.get(), buffer, bytes, access, 0, key, 0, &registered, nullptr);
    if (error != FI_ENOKEY) break;  // else the key is somebody's
  }
  if (error != 0) return nullptr;
  Registered owned(registered);
  if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    error = -fi_mr_bind(registered, &endpoint_->fid, 0);
    if (error == 0) error = -fi_mr_enable(registered);
    if (error != 0) return nullptr;
  }
  return owned;
}

}  // namespace tmpi::net::ofi
