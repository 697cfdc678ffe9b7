#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace kempe::detail {

/// One thread at a time uses a simulator; others wait for their turn, in the order in which they
/// came. A callback that calls back into the simulator gets an error instead of waiting for itself.
class Occupancy {
 public:
  enum class Use {
    Peek,  ///< reads the state; allowed in callbacks
    Read,  ///< evaluates, but does not change the motion
    Change
  };

  /// Holds the simulator from construction to destruction. Throws std::logic_error in a callback,
  /// and for a change during a run of another thread.
  class Hold {
   public:
    Hold(Occupancy& occupancy, Use use);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Occupancy* held_ = nullptr;  // null: a callback peeks
  };

  /// Throws std::logic_error if the calling thread holds it, which is so in callbacks.
  void requireNotHeldHere() const;
  /// Until endRun(), only this thread may change the simulator. Call while it is held. An observer
  /// may run the simulator inside its run, so that every beginRun() needs its endRun().
  void beginRun();
  void endRun();

 private:
  [[nodiscard]] bool isHeldHere() const { return owner_.load() == std::this_thread::get_id(); }
  void wait();
  void leave();

  std::mutex mutex_;
  std::condition_variable turn_;
  unsigned long long next_ = 0, serving_ = 0;  // tickets
  std::atomic<std::thread::id> owner_{};
  std::thread::id runner_{};
  int runs_ = 0;  // begun by the runner and not ended
};

}  // namespace kempe::detail
