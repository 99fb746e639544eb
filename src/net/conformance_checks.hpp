// The checks of the conformance suite; conformance.cpp says what each is about.
#pragma once

#include "net/conformance.hpp"

namespace tmpi::net::conformance {

// conformance_traffic.cpp
void keeps_order(const Subject& subject);
void carries_all_sizes(const Subject& subject);
void carries_all_headers(const Subject& subject);
void gathers(const Subject& subject);
void truncates(const Subject& subject);
void pushes_back(const Subject& subject);
void many_to_one(const Subject& subject);
void all_to_all(const Subject& subject);
void posts_from_inside(const Subject& subject);
void accounts(const Subject& subject);
void gets(const Subject& subject);

// conformance_reconnect.cpp; nothing for transports without a reconnection()
void reconnects(const Subject& subject);
void closes_while_reconnecting(const Subject& subject);

// conformance_life.cpp
void survives_races(const Subject& subject);
void connects_lazily(const Subject& subject);
void closes_while_busy(const Subject& subject);
void forgets_who_closes(const Subject& subject);
void wakes_sleepers(const Subject& subject);
void notices_death(const Subject& subject);

}  // namespace tmpi::net::conformance
