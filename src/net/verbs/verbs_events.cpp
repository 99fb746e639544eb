// What the adapter says of itself, and what becomes of connections then.
#include <fmt/format.h>

#include "net/verbs/verbs.hpp"

namespace tmpi::net::verbs {

bool Verbs::port_is_active() const noexcept {
  ibv_port_attr attributes{};
  return device_->api.query_port(device_->context, device_->port, attributes) != 0 ||
         attributes.state == IBV_PORT_ACTIVE;
}

std::string Verbs::port_trouble() const {
  return fmt::format("{} has gone down: a cable is pulled, or the switch is off", device_->where());
}

std::string Verbs::loss_of(const Link& link, const std::string& why) {
  return fmt::format("this node's {}; the connection to node {} is lost", why, link.peer());
}

void Verbs::take_events() noexcept {
  ibv_async_event event;
  while (device_->api.get_async_event(device_->context, &event) == 0) {
    const bool ours = event.element.port_num == device_->port;
    switch (event.event_type) {
      case IBV_EVENT_PORT_ERR:
        if (ours && port_down_ == 0) port_down_ = nanoseconds_now();
        break;
      case IBV_EVENT_PORT_ACTIVE:
        if (ours) port_down_ = 0;
        break;
      case IBV_EVENT_DEVICE_FATAL:
        fail_all(fmt::format("{} has failed and must be reset (the system's log, dmesg, says why)",
                             device_->where()));
        break;
      case IBV_EVENT_CQ_ERR:
      case IBV_EVENT_SRQ_ERR:
        fail_all(
            fmt::format("a queue of {} has failed (the system's log, dmesg, may say why)", device_->where()));
        break;
      // Often there is a completion, which says more and has been seen before; not where nothing was under way.
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
        if (Link* const link = hub_.by_pair.find(event.element.qp->qp_num)) link->fail_without_reason();
        break;
      default:
        break;
    }
    device_->api.ack_async_event(&event);
  }
}

void Verbs::fail_all(const std::string& why) noexcept {
  for (const auto& link : links_)
    if (link && (link->up() || link->connecting())) link->fail(loss_of(*link, why));
}

}  // namespace tmpi::net::verbs
