#include "kempe/version.hpp"

namespace kempe {

const char* version() {
  return KEMPE_VERSION;
}

}  // namespace kempe
