// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Messages. All are of bytes, so that elements of different types may meet, as MPI allows where
// their basic elements agree.
#include <cstring>
#include <deque>
#include <vector>

#include "buffers.hpp"
#include "pause.hpp"
#include "request.hpp"

// A message that has been matched: it is being received into memory aside.
struct MPI_ABI_Message {
  tutti_mpi::Ref<tutti_mpi::Comm> comm;
  std::unique_ptr<std::byte[]> data;
  tutti_request_t inside = nullptr;
  tutti_recv_info info{};
};

namespace tutti_mpi {
namespace {

void expect_tag(int tag) { expect(tag >= 0, MPI_ERR_TAG, "a tag is negative"); }
void expect_source(const Comm& comm, int source, int tag) {
  if (source != MPI_ANY_SOURCE && source != MPI_PROC_NULL) expect_rank(comm, source);
  if (tag != MPI_ANY_TAG) expect_tag(tag);
}
static_assert(MPI_ANY_SOURCE == TUTTI_ANY_SOURCE);
int library_tag(int tag) { return tag == MPI_ANY_TAG ? TUTTI_ANY_TAG : tag; }
Outcome of(const tutti_recv_info& info) {
  return {.source = info.source, .tag = info.tag, .bytes = info.count};
}
Outcome of_nobody() { return {.source = MPI_PROC_NULL}; }

// `copies`: what it sends is copied first, as the program's buffer is to be used otherwise.
class Send : public Operation {
 public:
  template <typename N>
  Send(Comm& comm, const void* data, N count, MPI_Datatype type, int dest, int tag,
       bool copies = false)
      : Operation(comm), data_(data, count, type), dest_(dest), tag_(tag), copies_(copies) {
    if (dest != MPI_PROC_NULL) expect_rank(comm, dest);
    expect_tag(tag);
  }
  tutti_status begin(tutti_request_t* request) override {
    if (dest_ == MPI_PROC_NULL) return TUTTI_OK;
    return TUTTI_MPI_CALL(send, load(), data_.bytes(), kBytes, dest_, tag_, comm_->use());
  }

 protected:
  friend class SendReceive;
  std::byte* load() { return copies_ ? data_.load_copy() : data_.load(); }

  Buffer data_;
  const int dest_;
  const int tag_;
  const bool copies_;
};

// Complete once its receive has been met.
class SynchronousSend final : public Send {
 public:
  using Send::Send;
  tutti_status begin(tutti_request_t* request) override {
    if (dest_ == MPI_PROC_NULL) return TUTTI_OK;
    tutti_request_t own = nullptr;
    tutti_status status = tutti_issend(data_.load(), data_.bytes(), kBytes, dest_, tag_,
                                       comm_->use(), request != nullptr ? request : &own);
    if (request == nullptr && status == TUTTI_OK) {
      status = tutti_request_wait(own);
      tutti_request_free(own);
    }
    return status;
  }
};

// The buffer that the program lends for messages that it no longer cares about. Only its size
// counts, as they are copied to memory of their own.
struct Lent {
  std::mutex mutex;
  void* address = nullptr;
  size_t size = 0;
  struct Copy {
    std::unique_ptr<std::byte[]> data;
    size_t bytes;
    tutti_request_t request;
  };
  std::deque<Copy> copies;
  size_t used = 0;
  tutti_status first_error = TUTTI_OK;

  void forget_sent(bool all) {
    std::erase_if(copies, [&](Copy& copy) {
      int done = 0;
      const tutti_status status =
          all ? tutti_request_wait(copy.request) : tutti_request_test(copy.request, &done);
      if (status == TUTTI_OK && !all && done == 0) return false;
      tutti_request_free(copy.request);
      used -= copy.bytes + MPI_BSEND_OVERHEAD;
      return true;
    });
  }
};
Lent lent;

class BufferedSend final : public Send {
 public:
  using Send::Send;
  tutti_status begin(tutti_request_t*) override {
    if (dest_ == MPI_PROC_NULL) return TUTTI_OK;
    const std::lock_guard lock(lent.mutex);
    lent.forget_sent(false);
    const size_t needed = data_.bytes() + MPI_BSEND_OVERHEAD;
    const bool automatic = lent.address == MPI_BUFFER_AUTOMATIC;
    expect(automatic || lent.used + needed <= lent.size, MPI_ERR_BUFFER,
           "the attached buffer has no room");
    Lent::Copy copy{new_bytes(data_.bytes()), data_.bytes(), nullptr};
    data_.copy_to(copy.data.get());
    const tutti_status status =
        tutti_isend(data_.bytes() == 0 ? nullptr : copy.data.get(), data_.bytes(), kBytes, dest_,
                    tag_, comm_->use(), &copy.request);
    if (status != TUTTI_OK) return status;
    lent.used += needed;
    lent.copies.push_back(std::move(copy));
    return TUTTI_OK;
  }
};

class Receive final : public Operation {
 public:
  template <typename N>
  Receive(Comm& comm, void* data, N count, MPI_Datatype type, int source, int tag)
      : Operation(comm), data_(data, count, type), source_(source), tag_(tag) {
    expect_source(comm, source, tag);
  }
  tutti_status begin(tutti_request_t* request) override {
    if (source_ == MPI_PROC_NULL) return TUTTI_OK;
    std::byte* const bytes = data_.stage();
    const int tag = library_tag(tag_);
    const tutti_comm_t comm = comm_->use();
    return request != nullptr
               ? tutti_irecv(bytes, data_.bytes(), kBytes, source_, tag, comm, request)
               : tutti_recv(bytes, data_.bytes(), kBytes, source_, tag, comm, &info_);
  }
  void end(tutti_request_t request, Outcome& outcome) override {
    outcome = of_nobody();
    if (source_ == MPI_PROC_NULL) return;
    if (request != nullptr) check(tutti_request_recv_info(request, &info_));
    data_.unload(info_.count);
    outcome = of(info_);
  }

 private:
  friend class SendReceive;
  Buffer data_;
  const int source_;
  const int tag_;
  tutti_recv_info info_{};
};

// Both at once. What comes may take the place of what goes.
class SendReceive final : public Operation {
 public:
  template <typename N>
  SendReceive(Comm& comm, const void* send, N send_count, MPI_Datatype send_type, int dest,
              int send_tag, void* recv, N recv_count, MPI_Datatype recv_type, int source,
              int recv_tag)
      : Operation(comm),
        send_(comm, send, send_count, send_type, dest, send_tag, send == recv),
        receive_(comm, recv, recv_count, recv_type, source, recv_tag) {}
  ~SendReceive() override { tutti_request_free(sent_); }

  tutti_status begin(tutti_request_t* request) override {
    const bool receives = receive_.source_ != MPI_PROC_NULL;
    if (request == nullptr && receives && send_.dest_ != MPI_PROC_NULL) {
      return tutti_sendrecv(send_.load(), send_.data_.bytes(), send_.dest_, send_.tag_,
                            receive_.data_.stage(), receive_.data_.bytes(), receive_.source_,
                            library_tag(receive_.tag_), kBytes, comm_->use(), &receive_.info_);
    }
    // The request is for the receive, if there is one.
    tutti_request_free(std::exchange(sent_, nullptr));
    const tutti_status status = send_.begin(request != nullptr && receives ? &sent_ : request);
    return status == TUTTI_OK ? receive_.begin(request) : status;
  }
  // The send may not be complete, and then is waited for, as its peer will take it.
  void end(tutti_request_t request, Outcome& outcome) override {
    if (sent_ != nullptr) check(tutti_request_wait(sent_));
    receive_.end(request, outcome);
  }

 private:
  Send send_;
  Receive receive_;
  tutti_request_t sent_ = nullptr;
};

// ---- probing

// Whether such a message has come. `waits`: whether the program waits for one, so that it is an
// error if nobody is left who could send it.
bool look_for(Comm& comm, int source, int tag, bool waits, tutti_recv_info* info) {
  int found = 0;
  const tutti_comm_t in = comm.use();
  const tutti_status status = tutti_iprobe(source, library_tag(tag), in, &found, info);
  if (status == TUTTI_ERR_PEER_FAILED && !waits && tutti_comm_state(in) == TUTTI_OK) return false;
  check(status);
  return found != 0;
}
// Begins to receive it.
MPI_Message match(Comm& comm, const tutti_recv_info& info) {
  auto message = std::make_unique<MPI_ABI_Message>();
  message->info = info;
  message->comm = Ref(comm);
  message->data = new_bytes(info.count);
  check(tutti_irecv(info.count == 0 ? nullptr : message->data.get(), info.count, kBytes,
                    info.source, info.tag, comm.use(), &message->inside));
  return message.release();
}

template <typename Found>
void until_found(const Comm& comm, Found&& found) {
  int timeout_ms = -1;
  check(tutti_comm_get_timeout(comm.inside, &timeout_ms));
  const auto begin = std::chrono::steady_clock::now();
  Pause pause;
  while (!found()) {
    pause.once();
    const auto since = std::chrono::steady_clock::now() - begin;
    expect(timeout_ms < 0 || since < std::chrono::milliseconds(timeout_ms), MPI_ERR_OTHER,
           "no such message has come before the timeout");
  }
}

// No `flag`: waits for one. `message`: begins to receive it.
void probe(MPI_Comm handle, int source, int tag, int* flag, MPI_Message* message,
           MPI_Status* status) {
  Comm& comm = find(handle);
  expect_source(comm, source, tag);
  if (flag != nullptr) *flag = 1;
  if (message != nullptr) *message = MPI_MESSAGE_NO_PROC;
  if (source == MPI_PROC_NULL) return write(of_nobody(), status);
  if (message != nullptr) *message = MPI_MESSAGE_NULL;
  tutti_recv_info info{};
  const auto found = [&] {
    const Turn turn(comm.mutex);
    if (!look_for(comm, source, tag, flag == nullptr, &info)) return false;
    if (message != nullptr) *message = match(comm, info);
    return true;
  };
  if (flag == nullptr) {
    until_found(comm, found);
  } else if (!found()) {
    *flag = 0;
    return;
  }
  write(of(info), status);
}

// Takes the message over.
class MatchedReceive final : public Operation {
 public:
  template <typename N>
  MatchedReceive(Comm& comm, std::unique_ptr<MPI_ABI_Message> message, void* data, N count,
                 MPI_Datatype type)
      : Operation(comm), message_(std::move(message)), data_(data, count, type) {}
  ~MatchedReceive() override {
    if (message_ != nullptr) tutti_request_free(message_->inside);
  }
  // The request stays with the message, so that this is asked whether it is done.
  tutti_status begin(tutti_request_t* request) override {
    if (message_ == nullptr || request != nullptr) return TUTTI_OK;
    return tutti_request_wait(message_->inside);
  }
  bool is_done() override {
    if (message_ == nullptr) return true;
    int done = 0;
    const tutti_status status = tutti_request_test(message_->inside, &done);
    return done != 0 || status != TUTTI_OK;
  }
  void end(tutti_request_t, Outcome& outcome) override {
    if (message_ == nullptr) {
      outcome = of_nobody();
      return;
    }
    check(tutti_request_wait(message_->inside));
    outcome = of(message_->info);
    outcome.bytes = std::min(outcome.bytes, data_.bytes());
    std::byte* const to = data_.stage();
    if (outcome.bytes != 0) std::memcpy(to, message_->data.get(), outcome.bytes);
    data_.unload(outcome.bytes);
    if (message_->info.count > data_.bytes()) {
      outcome.error = MPI_ERR_TRUNCATE;
      outcome.text = "a message of " + std::to_string(message_->info.count) +
                     " bytes came, the receive has " + std::to_string(data_.bytes());
    }
  }

 private:
  std::unique_ptr<MPI_ABI_Message> message_;
  Buffer data_;
};

template <typename N>
std::unique_ptr<MatchedReceive> receive_matched(MPI_Message* handle, void* data, N count,
                                                MPI_Datatype type) {
  expect(*handle == MPI_MESSAGE_NO_PROC || !is_predefined(*handle), MPI_ERR_REQUEST,
         "it is not a message");
  const bool of_nobody = *handle == MPI_MESSAGE_NO_PROC;
  std::unique_ptr<MPI_ABI_Message> message(of_nobody ? nullptr : *handle);
  *handle = MPI_MESSAGE_NULL;
  Comm& comm = of_nobody ? *world.self : *message->comm;
  return std::make_unique<MatchedReceive>(comm, std::move(message), data, count, type);
}

// ---- the buffer of the program

template <typename N>
void attach(void* buffer, N size) {
  expect(size >= 0, MPI_ERR_ARG, "size is negative");
  const std::lock_guard lock(lent.mutex);
  expect(lent.address == nullptr, MPI_ERR_BUFFER, "a buffer is attached already");
  lent.address = buffer;
  lent.size = static_cast<size_t>(size);
}
template <typename N>
void detach(void* address, N* size) {
  const std::lock_guard lock(lent.mutex);
  lent.forget_sent(true);
  *static_cast<void**>(address) = std::exchange(lent.address, nullptr);
  *size = static_cast<N>(std::exchange(lent.size, 0));
}

}  // namespace

void flush_buffered() {
  const std::lock_guard lock(lent.mutex);
  lent.forget_sent(true);
}

}  // namespace tutti_mpi

using namespace tutti_mpi;

#define FN(name) name
#define N int
#include "messages.inc"
#define FN(name) name##_c
#define N MPI_Count
#include "messages.inc"

TUTTI_MPI_DO(Buffer_flush, (void), flush_buffered())
TUTTI_MPI_ON(comm, Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status),
             probe(comm, source, tag, nullptr, nullptr, status))
TUTTI_MPI_ON(comm, Iprobe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status),
             probe(comm, source, tag, flag, nullptr, status))
TUTTI_MPI_ON(comm, Mprobe,
             (int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status),
             probe(comm, source, tag, nullptr, message, status))
TUTTI_MPI_ON(comm, Improbe,
             (int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
              MPI_Status* status),
             probe(comm, source, tag, flag, message, status))
