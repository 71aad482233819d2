// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// The program's buffers as the library takes them: bytes one after the other. Elements without gaps
// are used where they lie, others pass through memory aside.
#pragma once

#include <memory>
#include <vector>

#include "communicator.hpp"
#include "datatype.hpp"

namespace tutti_mpi {

// The type as which data travels.
inline constexpr tutti_type kBytes = TUTTI_UINT8;
inline bool in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }
inline size_t ranks_of(const Comm& comm) { return static_cast<size_t>(comm.size); }

inline std::unique_ptr<std::byte[]> new_bytes(size_t bytes) {
  return std::unique_ptr<std::byte[]>(new std::byte[bytes]);
}
// `count` elements of a type.
class Buffer {
 public:
  Buffer() = default;
  template <typename N>
  Buffer(const void* address, N count, MPI_Datatype type) : Buffer(address, count, find(type)) {}
  template <typename N>
  Buffer(const void* address, N count, Type& type)
      : address_(static_cast<std::byte*>(const_cast<void*>(address))),
        type_(type),
        bytes_(type.size * count_of(count)) {
    expect(address != nullptr || bytes_ == 0 || type.number == 0, MPI_ERR_BUFFER,
           "a buffer is NULL");
  }

  [[nodiscard]] size_t bytes() const { return bytes_; }
  // The memory that holds the bytes without gaps, or will.
  std::byte* stage() {
    if (bytes_ == 0) return nullptr;
    if (type_->dense) return address_ + type_->true_lb;
    if (aside_ == nullptr) aside_ = new_bytes(bytes_);
    return aside_.get();
  }
  // stage(), filled with the bytes that the program has in the buffer.
  std::byte* load() { return bytes_ == 0 || type_->dense ? stage() : load_copy(); }
  // A filled copy, even of a buffer that has no gaps.
  std::byte* load_copy() {
    if (bytes_ == 0) return nullptr;
    if (aside_ == nullptr) aside_ = new_bytes(bytes_);
    copy_to(aside_.get());
    return aside_.get();
  }
  // Takes so many bytes that have come to where stage() said.
  void unload(size_t bytes) {
    if (bytes != 0 && !type_->dense) unpack(*type_, address_, bytes, aside_.get());
  }
  void unload() { unload(bytes_); }
  // Bytes from elsewhere.
  void fill(const std::byte* packed) {
    if (bytes_ != 0) unpack(*type_, address_, bytes_, packed);
  }
  void copy_to(std::byte* packed) const {
    if (bytes_ != 0) pack(*type_, address_, bytes_, packed);
  }

 private:
  std::byte* address_ = nullptr;
  Ref<Type> type_;
  size_t bytes_ = 0;
  std::unique_ptr<std::byte[]> aside_;
};

// A buffer for each rank, at places of its own, perhaps of types of its own.
class Buffers {
 public:
  template <typename N>
  void add(const void* base, MPI_Aint offset, N count, Type& type) {
    const auto* const address = static_cast<const std::byte*>(base) + offset;
    dense_ = dense_ && type.dense;
    const size_t bytes = type.size * count_of(count);
    blocks_.push_back({const_cast<std::byte*>(address), Ref<Type>(type)});
    counts_.push_back(bytes);
    total_ += bytes;
  }
  // Blocks of one type at displacements in its extent.
  template <typename N, typename D>
  void add_all(const void* base, const N* counts, const D* displs, MPI_Datatype handle,
               size_t ranks) {
    Type& type = find(handle);
    expect(counts != nullptr && displs != nullptr, MPI_ERR_ARG, "counts or displacements are NULL");
    for (size_t i = 0; i < ranks; ++i) {
      add(base, static_cast<MPI_Aint>(displs[i]) * type.extent, counts[i], type);
    }
  }
  // A type each, at displacements in bytes.
  template <typename N, typename D>
  void add_all(const void* base, const N* counts, const D* displs, const MPI_Datatype* types,
               size_t ranks) {
    expect(counts != nullptr && displs != nullptr && types != nullptr, MPI_ERR_ARG,
           "counts, displacements or types are NULL");
    for (size_t i = 0; i < ranks; ++i) {
      add(base, static_cast<MPI_Aint>(displs[i]), counts[i], find(types[i]));
    }
  }

  [[nodiscard]] const size_t* counts() const { return counts_.data(); }
  // Offsets in bytes from where stage() says.
  [[nodiscard]] const size_t* displs() const { return displs_.data(); }
  std::byte* stage() {
    displs_.resize(counts_.size());
    std::byte* base = nullptr;
    if (dense_) {
      for (size_t i = 0; i < counts_.size(); ++i) {
        std::byte* const begin = blocks_[i].address + blocks_[i].type->true_lb;
        if (counts_[i] > 0 && (base == nullptr || begin < base)) base = begin;
      }
      for (size_t i = 0; i < counts_.size(); ++i) {
        std::byte* const begin = blocks_[i].address + blocks_[i].type->true_lb;
        displs_[i] = counts_[i] > 0 ? static_cast<size_t>(begin - base) : 0;
      }
      return base;
    }
    if (aside_ == nullptr) aside_ = new_bytes(total_);
    size_t at = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      displs_[i] = at;
      at += counts_[i];
    }
    return aside_.get();
  }
  std::byte* load() {
    std::byte* const base = stage();
    for (size_t i = 0; i < counts_.size() && !dense_; ++i) {
      pack(*blocks_[i].type, blocks_[i].address, counts_[i], base + displs_[i]);
    }
    return base;
  }
  void unload() {
    for (size_t i = 0; i < counts_.size() && !dense_; ++i) {
      unpack(*blocks_[i].type, blocks_[i].address, counts_[i], aside_.get() + displs_[i]);
    }
  }

 private:
  struct Block {
    std::byte* address;
    Ref<Type> type;
  };
  std::vector<Block> blocks_;
  std::vector<size_t> counts_;  // in bytes
  std::vector<size_t> displs_;
  size_t total_ = 0;
  bool dense_ = true;
  std::unique_ptr<std::byte[]> aside_;
};

// A block for each rank: of one size one after the other, or each at a place of its own.
class Blocks {
 public:
  // No rank: what else is given has no meaning.
  template <typename N>
  Blocks(const void* base, size_t ranks, N count, MPI_Datatype type) : ranks_(ranks) {
    if (ranks > 0) whole_ = Buffer(base, count_of(count) * ranks, type);
  }
  template <typename N, typename D, typename Types>
  Blocks(const void* base, size_t ranks, const N* counts, const D* displs, Types types)
      : even_(false) {
    if (ranks > 0) each_.add_all(base, counts, displs, types, ranks);
  }

  [[nodiscard]] bool even() const { return even_; }
  std::byte* stage() { return even_ ? whole_.stage() : each_.stage(); }
  std::byte* load() { return even_ ? whole_.load() : each_.load(); }
  void unload() { even_ ? whole_.unload() : each_.unload(); }
  // In bytes.
  [[nodiscard]] size_t count(int rank) const {
    return even_ ? whole_.bytes() / ranks_ : each_.counts()[rank];
  }
  [[nodiscard]] size_t displ(int rank) const {
    return even_ ? static_cast<size_t>(rank) * count(rank) : each_.displs()[rank];
  }
  // The blocks' layout, for those that differ in size.
  [[nodiscard]] const size_t* counts() const { return each_.counts(); }
  [[nodiscard]] const size_t* displs() const { return each_.displs(); }

 private:
  const bool even_ = true;
  const size_t ranks_ = 0;
  Buffer whole_;
  Buffers each_;
};

}  // namespace tutti_mpi
