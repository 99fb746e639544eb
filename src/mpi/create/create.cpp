#include "mpi/create/create.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "mpi/comm/hints.hpp"
#include "mpi/create/from_group.hpp"
#include "mpi/create/making.hpp"
#include "mpi/rank/attributes.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {
namespace {

// All members come with their orders; `fulfil(orders, contexts)` gives each its parts.
template <class Record, class Fulfil>
Comm* agree_and_make(Comm& parent, Record& order, ContextDemand demand, Fulfil&& fulfil) {
  agree(parent, order, demand, fulfil);
  return make_child(parent, std::move(order));
}

// Member indices of one color, in the order of the new communicator.
struct Color {
  const int* first;
  const int* last;
};

// One side's members that have a color, sorted by color, key and rank.
std::vector<int> sorted_indices(Order** orders, int first, int count) {
  std::vector<int> indices;
  indices.reserve(static_cast<std::size_t>(count));
  for (int index = first; index < first + count; ++index) {
    if (orders[index]->color != MPI_UNDEFINED) indices.push_back(index);
  }
  std::sort(indices.begin(), indices.end(), [&](int a, int b) {
    const Order &x = *orders[a], &y = *orders[b];
    if (x.color != y.color) return x.color < y.color;
    return x.key != y.key ? x.key < y.key : a < b;
  });
  return indices;
}

// The indices of the color that begins at `first`.
Color color_at(Order** orders, const int* first, const std::vector<int>& indices) {
  const int color = orders[*first]->color;
  return {first, std::find_if(first, indices.data() + indices.size(),
                              [&](int index) { return orders[index]->color != color; })};
}

// The members with these indices; `offset` is the index of the group's rank 0.
std::shared_ptr<const Group> members_of(const Group& side, int offset, Color color) {
  std::vector<int> members;
  members.reserve(static_cast<std::size_t>(color.last - color.first));
  for (const int* index = color.first; index != color.last; ++index)
    members.push_back(side.world_rank(*index - offset));
  return Group::list(std::move(members));
}

void give(Order** orders, Color color, const Parts& parts) {
  for (const int* index = color.first; index != color.last; ++index)
    static_cast<Parts&>(*orders[*index]) = parts;
}

void fulfil_split(const Group& group, Order** orders, const Shape& shape, ContextSource& contexts) {
  const std::vector<int> indices = sorted_indices(orders, 0, group.size());
  const int* end = indices.data() + indices.size();
  for (const int* first = indices.data(); first != end;) {
    const Color color = color_at(orders, first, indices);
    Parts parts = make_intra(members_of(group, 0, color), contexts);
    if (shape) parts.topology = shape(*first, *parts.shared->group);
    give(orders, color, parts);
    first = color.last;
  }
}

// Goes through the colors of both sides in step.
void fulfil_split_sides(const Group& left, const Group& right, Order** orders, ContextSource& contexts) {
  const std::vector<int> lefts = sorted_indices(orders, 0, left.size());
  const std::vector<int> rights = sorted_indices(orders, left.size(), right.size());
  const int *a = lefts.data(), *b = rights.data();
  while (a != lefts.data() + lefts.size() && b != rights.data() + rights.size()) {
    const Color one = color_at(orders, a, lefts), other = color_at(orders, b, rights);
    const int left_color = orders[*a]->color, right_color = orders[*b]->color;
    if (left_color == right_color) {
      const auto parts =
          make_sides(sides_with(members_of(left, 0, one), members_of(right, left.size(), other), contexts));
      give(orders, one, parts[0]);
      give(orders, other, parts[1]);
    }
    if (left_color <= right_color) a = one.last;
    if (right_color <= left_color) b = other.last;
  }
}

// One communicator for each group; made for the group's first member, taken by the others from there.
void fulfil_groups(const Group& all, Order** orders, ContextSource& contexts) {
  for (int rank = 0; rank < all.size(); ++rank) {
    Order& order = *orders[rank];
    if (order.group == nullptr || order.group->rank_of(all.world_rank(rank)) == MPI_UNDEFINED) continue;
    const int first = all.rank_of(order.group->world_rank(0));
    Order& model = *orders[first];
    if (model.shared == nullptr && model.group != nullptr)
      model.shared = make_intra(model.group, contexts).shared;
    order.shared = model.shared;
  }
}

// The group that the first member of a side names, and that all of the side do.
void fulfil_group_sides(const Group& left, const Group& right, Order** orders, ContextSource& contexts) {
  const auto one = orders[0]->group, other = orders[left.size()]->group;
  if (one == nullptr || other == nullptr) return;
  const auto parts = make_sides(sides_with(one, other, contexts));
  for (int i = 0; i < one->size(); ++i)
    static_cast<Parts&>(*orders[left.rank_of(one->world_rank(i))]) = parts[0];
  for (int i = 0; i < other->size(); ++i)
    static_cast<Parts&>(*orders[left.size() + right.rank_of(other->world_rank(i))]) = parts[1];
}

// The first level at which two members that have levels differ decides; there may be none.
void choose_level(Order** orders, int members) {
  std::vector<Order*> choosing;
  for (int index = 0; index < members; ++index) {
    if (!orders[index]->levels.empty()) choosing.push_back(orders[index]);
  }
  std::size_t levels = choosing.empty() ? 0 : choosing[0]->levels.size();
  for (const Order* order : choosing) levels = std::min(levels, order->levels.size());  // machines may differ
  for (std::size_t level = 0; level < levels; ++level) {
    const int first = choosing[0]->levels[level];
    const bool alike = std::all_of(choosing.begin(), choosing.end(),
                                   [&](const Order* order) { return order->levels[level] == first; });
    if (alike) continue;
    for (Order* order : choosing) {
      order->color = order->levels[level];
      order->level = static_cast<int>(level);
    }
    return;
  }
}

void fulfil_split(const Comm& parent, Order** orders, const Shape& shape, ContextSource& contexts) {
  const auto [left, right] = sides_of(parent);
  right == nullptr ? fulfil_split(*left, orders, shape, contexts)
                   : fulfil_split_sides(*left, *right, orders, contexts);
}

// There may be as many new communicators as members.
ContextDemand split_demand(const Comm& parent) {
  return {.for_each = parent.inter() ? Sides::kContexts : 1};
}

}  // namespace

Err copy_cached(Comm& parent, const Info* hints, Comm& copy) {
  if (hints != nullptr) {
    set_hints(copy, *hints);
  } else {
    copy.hints = parent.hints;
  }
  if (Err error = copy_attributes(parent, copy)) {
    const std::string why = take_explanation();
    (void)delete_attributes(copy);
    explain(why);
    return error;
  }
  return kOk;
}

Err duplicate(Comm& parent, const Info* hints, Comm*& created) {
  TMPI_TRY(duplicate(parent, created));
  if (Err error = copy_cached(parent, hints, *created)) {
    release(*created);
    created = nullptr;
    return error;
  }
  return kOk;
}

Err duplicate(Comm& parent, Comm*& created) {
  Parts mine;
  mine.topology = parent.topology;
  created = agree_and_make(parent, mine, dup_demand(parent), [&](Parts** parts, ContextSource& contexts) {
    fulfil_dup(parent, parts, contexts);
  });
  return kOk;
}

Err split(Comm& parent, int color, int key, Comm*& created, const Shape& shape) {
  Order mine{{}, color, key, nullptr, {}, -1};
  created = agree_and_make(parent, mine, split_demand(parent), [&](Order** orders, ContextSource& contexts) {
    fulfil_split(parent, orders, shape, contexts);
  });
  return kOk;
}

Err split_by_level(Comm& parent, int color, const std::vector<int>& levels, int key, Comm*& created,
                   int& level) {
  Order mine{{}, levels.empty() ? color : MPI_UNDEFINED, key, nullptr, levels, -1};
  created = agree_and_make(parent, mine, split_demand(parent), [&](Order** orders, ContextSource& contexts) {
    choose_level(orders, parent.members());
    fulfil_split(parent, orders, nullptr, contexts);
  });
  level = mine.level;
  return kOk;
}

Err create(Comm& parent, std::shared_ptr<const Group> group, Comm*& created) {
  Order mine;
  if (group->size() > 0) mine.group = std::move(group);
  created = agree_and_make(parent, mine, split_demand(parent), [&](Order** orders, ContextSource& contexts) {
    const auto [left, right] = sides_of(parent);
    right == nullptr ? fulfil_groups(*left, orders, contexts)
                     : fulfil_group_sides(*left, *right, orders, contexts);
  });
  return kOk;
}

namespace {

// The members of a group alone come together, at a keyed barrier.
Comm* make_for_group(const BarrierKey& key, Errhandler* errhandler) {
  Parts mine;
  agree(key, mine, {.in_all = 1}, [&](Parts** parts, ContextSource& contexts) {
    const Parts made = make_intra(key.group, contexts);
    for (int rank = 0; rank < key.group->size(); ++rank) parts[rank]->shared = made.shared;
  });
  return make_comm(current_rank(), std::move(mine), errhandler);
}

}  // namespace

Err create_from_members(Comm& parent, const std::shared_ptr<const Group>& group, int tag, Comm*& created) {
  created = make_for_group({.purpose = BarrierKey::Purpose::kGroup,
                            .context = parent.context,
                            .tag = std::to_string(tag),
                            .group = group},
                           parent.errhandler);
  created->session = parent.session;
  return kOk;
}

Err create_from_group(const GroupPtr& group, const std::string& tag, Errhandler* errhandler, Comm*& created) {
  created = make_for_group(
      {.purpose = BarrierKey::Purpose::kFromGroup, .context = 0, .tag = tag, .group = group}, errhandler);
  return kOk;
}

Err disconnect(Comm& comm) {
  Parts nothing;
  agree(comm, nothing, {}, [](Parts**, ContextSource&) {});
  comm.shared->let_go();
  return kOk;
}

}  // namespace tmpi::mpi
