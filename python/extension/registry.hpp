// SPDX-License-Identifier: Apache-2.0
// The objects of a type that live.
#pragma once

#include <mutex>
#include <set>

namespace feedrate::python {

/// An object that is removed in its destructor lives while it is visited. Wait for it without the
/// GIL: a visit may take long.
template <class T>
class Registry {
 public:
  void add(T& object) {
    const std::lock_guard lock(mutex_);
    objects_.insert(&object);
  }
  void remove(T& object) {
    const std::lock_guard lock(mutex_);
    objects_.erase(&object);
  }
  template <class F>
  void visit(F visitor) {
    const std::lock_guard lock(mutex_);
    for (T* const object : objects_) visitor(*object);
  }

 private:
  std::mutex mutex_;
  std::set<T*> objects_;
};

}  // namespace feedrate::python
