#include "support/allocations.hpp"

#include <cstddef>
#include <cstdlib>

namespace {
thread_local long allocationCount = 0;
}

#ifdef KEMPE_SANITIZED

// The sanitizer owns malloc, and tells of every call.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*,
                                                                  std::size_t),
                                                         void (*)(const volatile void*));

namespace {
const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { ++allocationCount; }, [](const volatile void*) {});
}

#else

// Every allocation of the program comes through here; glibc's own functions do the work.
// NOLINTBEGIN: these names and signatures are the C library's
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  ++allocationCount;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++allocationCount;
  return __libc_calloc(count, size);
}
void* realloc(void* pointer, std::size_t size) {
  ++allocationCount;
  return __libc_realloc(pointer, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocationCount;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** pointer, std::size_t alignment, std::size_t size) {
  ++allocationCount;
  *pointer = __libc_memalign(alignment, size);
  return *pointer == nullptr ? 12 : 0;  // ENOMEM
}
}
// NOLINTEND

#endif

namespace kempe::test {

long allocationsOfThisThread() {
  return allocationCount;
}

}  // namespace kempe::test
