#include "net/conformance.hpp"

#include <doctest/doctest.h>

#include "net/conformance_checks.hpp"

namespace tmpi::net::conformance {
namespace {

struct Check {
  const char* name;
  void (*run)(const Subject&);
};

constexpr Check kChecks[] = {
    {"messages of a peer arrive in order, small and large ones mixed", keeps_order},
    {"payloads of all sizes", carries_all_sizes},
    {"headers of all sizes", carries_all_headers},
    {"payloads are gathered from pieces", gathers},
    {"what does not fit into the landing is dropped, and only that", truncates},
    {"a receiver that does not poll makes its senders run out of resources, and loses nothing", pushes_back},
    {"many nodes send to one", many_to_one},
    {"all nodes send to all", all_to_all},
    {"both ends connect at the same time", survives_races},
    {"nodes that have nothing to say to each other do not need each other", connects_lazily},
    {"close() sends what has been posted", closes_while_busy},
    {"a peer that closes is not lost", forgets_who_closes},
    {"the sink and completions may post", posts_from_inside},
    {"whoever sleeps on arm() is woken", wakes_sleepers},
    {"idle() and traffic()", accounts},
    {"get() reads exposed memory", gets},
    {"connections follow each other while messages go on, and keep their order", reconnects},
    {"close() in the middle of a change of connections", closes_while_reconnecting},
    {"the death of a peer is noticed once, and disturbs nobody else", notices_death},
};

}  // namespace

void check_conformance(const Subject& subject) {
  for (const Check& check : kChecks) {
    if (check.run == notices_death && !subject.processes) continue;
    SUBCASE(check.name) {
      check.run(subject);
    }
  }
}

}  // namespace tmpi::net::conformance
