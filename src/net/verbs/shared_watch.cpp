#include "net/verbs/shared_watch.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace tmpi::net::verbs {
namespace {

// Addresses, as ranges that neither overlap nor touch.
class Ranges {
 public:
  void add(std::uintptr_t begin, std::uintptr_t end) {
    for (auto each = first_reaching(begin); each != ends_.end() && each->first <= end;
         each = ends_.erase(each)) {
      begin = std::min(begin, each->first);
      end = std::max(end, each->second);
    }
    ends_[begin] = end;
  }

  void remove(std::uintptr_t begin, std::uintptr_t end) {
    for (auto each = first_reaching(begin); each != ends_.end() && each->first < end;) {
      const auto [from, to] = *each;
      each = ends_.erase(each);
      if (from < begin) ends_[from] = std::min(to, begin);
      if (to > end) ends_[std::max(from, end)] = to;
    }
  }

  bool overlaps(std::uintptr_t begin, std::uintptr_t end) const {
    const auto each = ends_.lower_bound(begin);
    return (each != ends_.end() && each->first < end) ||
           (each != ends_.begin() && std::prev(each)->second > begin);
  }

  // Those parts of [begin, end) that are in none of these.
  template <class Use>
  void without(std::uintptr_t begin, std::uintptr_t end, Use use) const {
    for (auto each = first_reaching(begin); each != ends_.end() && each->first < end; ++each) {
      if (begin < each->first) use(begin, each->first);
      begin = std::max(begin, each->second);
    }
    if (begin < end) use(begin, end);
  }

 private:
  using Map = std::map<std::uintptr_t, std::uintptr_t>;
  // The first that ends at `begin` or behind it.
  static auto first_reaching(auto& ends, std::uintptr_t begin) {
    auto each = ends.lower_bound(begin);
    return each != ends.begin() && std::prev(each)->second >= begin ? std::prev(each) : each;
  }
  Map::iterator first_reaching(std::uintptr_t begin) { return first_reaching(ends_, begin); }
  Map::const_iterator first_reaching(std::uintptr_t begin) const { return first_reaching(ends_, begin); }

  Map ends_;  // by their beginnings
};

struct User {
  Ranges watched;
  std::deque<UnmapWatch::Range>
      gone;  // that it has not been told yet: no more than it watches, however long it does not ask

  void lose(const UnmapWatch::Range& range) {
    if (!watched.overlaps(range.begin, range.end)) return;
    watched.remove(range.begin, range.end);
    gone.push_back(range);
  }
};

struct Shared {
  std::unique_ptr<UnmapWatch> watch;
  std::vector<User> users;

  // What nobody watches of the range is watched no longer.
  void unwatch(std::uintptr_t begin, std::uintptr_t end, std::size_t user = 0) {
    if (user == users.size()) return watch->unwatch(begin, end);
    users[user].watched.without(begin, end,
                                [&](std::uintptr_t from, std::uintptr_t to) { unwatch(from, to, user + 1); });
  }
};

class View final : public UnmapWatch {
 public:
  View(std::shared_ptr<Shared> shared, std::size_t number) : shared_(std::move(shared)), number_(number) {}

  bool watch(std::uintptr_t begin, std::uintptr_t end) noexcept override {
    if (!shared_->watch->watch(begin, end)) return false;
    mine().watched.add(begin, end);
    return true;
  }
  bool is_shared(std::uintptr_t begin, std::uintptr_t end) noexcept override {
    return shared_->watch->is_shared(begin, end);
  }
  void unwatch(std::uintptr_t begin, std::uintptr_t end) noexcept override {
    mine().watched.remove(begin, end);
    shared_->unwatch(begin, end);
  }
  bool next(Range& gone) noexcept override {
    Range range;
    while (shared_->watch->next(range))
      for (User& user : shared_->users) user.lose(range);
    if (mine().gone.empty()) return false;
    gone = mine().gone.front();
    mine().gone.pop_front();
    return true;
  }
  std::uint64_t asked() const noexcept override { return shared_->watch->asked(); }

 private:
  User& mine() noexcept { return shared_->users[number_]; }

  const std::shared_ptr<Shared> shared_;
  const std::size_t number_;
};

}  // namespace

std::vector<std::unique_ptr<UnmapWatch>> share_watch(std::unique_ptr<UnmapWatch> watch, int count) {
  std::vector<std::unique_ptr<UnmapWatch>> views(static_cast<std::size_t>(count));
  if (watch == nullptr) return views;
  const auto shared = std::make_shared<Shared>();
  shared->watch = std::move(watch);
  shared->users.resize(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) views[i] = std::make_unique<View>(shared, i);
  return views;
}

}  // namespace tmpi::net::verbs
