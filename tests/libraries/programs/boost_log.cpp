// Boost.Log: one core with its sinks, filter and attributes.
#include <boost/log/attributes/constant.hpp>
#include <boost/log/core.hpp>
#include <boost/log/expressions.hpp>
#include <boost/log/sinks/sync_frontend.hpp>
#include <boost/log/sinks/text_ostream_backend.hpp>
#include <boost/log/trivial.hpp>
#include <boost/make_shared.hpp>
#include <boost/shared_ptr.hpp>
#include <sstream>
#include <string>

#include "steps.h"

namespace log_ = boost::log;
namespace expr = boost::log::expressions;

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const std::string rank = std::to_string(world_rank);
  using Sink = log_::sinks::synchronous_sink<log_::sinks::text_ostream_backend>;
  auto text = boost::make_shared<std::ostringstream>();
  auto sink = boost::make_shared<Sink>();
  sink->locked_backend()->add_stream(text);
  sink->set_formatter(expr::stream << expr::attr<std::string>("Rank") << ": " << expr::smessage);
  log_::core::get()->add_sink(sink);
  log_::core::get()->add_global_attribute("Rank", log_::attributes::constant<std::string>(rank));
  log_::core::get()->set_filter(log_::trivial::severity >=
                                (world_rank % 2 ? log_::trivial::warning : log_::trivial::info));
  std::string want;
  for (int round = 0; round < 20; round++) {
    next_step();
    const std::string line = "round " + std::to_string(round);
    BOOST_LOG_TRIVIAL(debug) << line;
    BOOST_LOG_TRIVIAL(info) << line;
    BOOST_LOG_TRIVIAL(error) << line;
    for (int i = world_rank % 2; i < 2; i++) want += rank + ": " + line + "\n";
  }
  next_step();
  sink->flush();
  CHECK_STRING(text->str().c_str(), want.c_str());
  log_::core::get()->remove_all_sinks();
  return end_with(static_cast<double>(text->str().size()));
}
