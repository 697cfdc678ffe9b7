#pragma once

#include <new>
#include <span>
#include <type_traits>

#include "tables/memory.hpp"
#include "tables/tables.hpp"

namespace kempe::detail {

/// Where an array of the tables is in a block.
template <typename T>
struct TableRange {
  std::size_t offset = 0;  ///< bytes from the beginning of the block
  int count = 0;
};

/// The beginning of a block: where its arrays are, and what the tables have one of.
template <typename R>
struct TableHeader {
  TableArrays<R, TableRange> ranges{};
  TableConstants<R> constants{};
};

/// The tables of a block whose bytes begin at `base`, on this machine or on a device.
template <typename R>
TablesView<R> viewAt(const TableHeader<R>& header, const std::byte* base) {
  TableArrays<R, TableSpan> spans;
  forEachMember(header.ranges, spans,
                [&]<typename T>(const TableRange<T>& range, TableSpan<T>& to) {
                  to = {reinterpret_cast<const T*>(base + range.offset), range.count};
                });
  return {spans, header.constants};
}

/// The finished tables of a model in R: one block of memory that holds no address, so that copying
/// its bytes copies the tables.
template <typename R>
class TableBlock {
 public:
  TableBlock() = default;
  explicit TableBlock(const ModelTables<double>& tables) {
    TableHeader<R> header;
    convertMembers<TableConstants<double>>(tables, header.constants);
    const TableArrays<double, TableVector>& arrays = tables;
    const auto layOut = [&](std::byte* memory) {
      Carver carver(memory);
      carver.take<TableHeader<R>>(1);
      forEachMember(arrays, header.ranges, [&]<typename T>(const auto& from, TableRange<T>& range) {
        static_assert(std::is_trivially_copyable_v<T>);
        range = {carver.used(), static_cast<int>(from.size())};
        T* to = carver.take<T>(range.count);
        for (int i = 0; memory != nullptr && i < range.count; ++i) {
          convertMembers(from[static_cast<std::size_t>(i)], *new (to + i) T);
        }
      });
      return carver.used();
    };
    size_ = layOut(nullptr);
    memory_ = AlignedMemory(size_);
    layOut(memory_.data());
    new (memory_.data()) TableHeader<R>(header);
    view_ = viewAt(this->header(), memory_.data());
  }
  TableBlock(const TableBlock& other) : memory_(other.memory_), size_(other.size_) {
    view_ = size_ == 0 ? TablesView<R>{} : viewAt(header(), memory_.data());
  }
  TableBlock(TableBlock&&) noexcept = default;  // the memory stays where it is
  TableBlock& operator=(const TableBlock& other) { return *this = TableBlock(other); }
  TableBlock& operator=(TableBlock&&) noexcept = default;
  ~TableBlock() = default;

  const TablesView<R>& view() const { return view_; }
  /// For a copy of it elsewhere: viewAt(header(), first byte of the copy).
  std::span<const std::byte> bytes() const { return {memory_.data(), size_}; }
  const TableHeader<R>& header() const {
    return *std::launder(reinterpret_cast<const TableHeader<R>*>(memory_.data()));
  }

 private:
  AlignedMemory memory_{0};
  std::size_t size_ = 0;
  TablesView<R> view_;
};

/// The finished tables of a model in both scalar types.
struct FinishedTables {
  TableBlock<double> inDouble;
  TableBlock<float> inFloat;

  FinishedTables() = default;
  explicit FinishedTables(const ModelTables<double>& tables) : inDouble(tables), inFloat(tables) {}

  template <typename T>
  const TablesView<T>& view() const {
    if constexpr (std::is_same_v<T, double>) {
      return inDouble.view();
    } else {
      return inFloat.view();
    }
  }
};

}  // namespace kempe::detail
