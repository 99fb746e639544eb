// The rank's environment.
#pragma once

namespace tmpi::shim {

/// `environment` becomes the rank's `environ`, uncopied until the program changes it.
void start_environment(char** environment) noexcept;

}  // namespace tmpi::shim
