#include "observe/site_table.hpp"

namespace tmpi::observe {

Site& SiteTable::add(std::uint64_t address, std::uint16_t function) {
  if (arrays_.empty() || used_ * 4 >= mask_ * 3) grow();
  ++used_;
  std::uint32_t place = hash(address, function);
  while (places_[place & mask_].address != 0) ++place;
  Site& site = places_[place & mask_];
  site.function = function;
  site.address = address;
  return site;
}

void SiteTable::grow() {
  const std::uint32_t capacity = arrays_.empty() ? kFirstCapacity : 2 * (mask_ + 1);
  auto places = std::make_unique<Site[]>(capacity);
  for_each([&](const Site& site) {
    std::uint32_t place = hash(site.address, site.function);
    while (places[place & (capacity - 1)].address != 0) ++place;
    places[place & (capacity - 1)] = site;
  });
  places_ = places.get();
  mask_ = capacity - 1;
  arrays_.push_back(std::move(places));
}

}  // namespace tmpi::observe
