// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// Errors: codes, classes and texts, and the handlers that hear of them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "communicator.hpp"

struct MPI_ABI_Errhandler final : tutti_mpi::Counted {
  ~MPI_ABI_Errhandler() override {
    if (destructor != nullptr) destructor(context);
  }
  MPI_Comm_errhandler_function* function = nullptr;
  MPIX_Comm_errhandler_function_x* function_x = nullptr;
  MPIX_Destructor_function* destructor = nullptr;
  void* context = nullptr;
};

namespace tutti_mpi {
namespace {

struct NamedClass {
  int code;
  const char* name;
  const char* text;
};
constexpr NamedClass kClasses[] = {
    {MPI_SUCCESS, "MPI_SUCCESS", "no error"},
#define TUTTI_MPI_CLASS(name, text) {MPI_ERR_##name, "MPI_ERR_" #name, text},
#include "errors.inc"
#undef TUTTI_MPI_CLASS
};
const NamedClass* named(int code) {
  for (const NamedClass& one : kClasses) {
    if (one.code == code) return &one;
  }
  return nullptr;
}

// The program's own codes, with their class and text. A class is a code of its own.
struct Added {
  int error_class;
  std::string text{};
};
std::mutex added_mutex;
std::map<int, Added> added;  // under it
int last_added = MPI_ERR_LASTCODE;

int add(int error_class) {
  const std::lock_guard lock(added_mutex);
  const int code = ++last_added;
  added[code] = {error_class != 0 ? error_class : code};
  return code;
}
void remove(int code, bool is_class) {
  const std::lock_guard lock(added_mutex);
  const auto found = added.find(code);
  expect(found != added.end() && (found->second.error_class == code) == is_class, MPI_ERR_ARG,
         "the error was not added by this program");
  expect(found->second.text.empty(), MPI_ERR_OTHER, "the error has a text");
  for (const auto& [other, what] : added) {
    expect(other == code || what.error_class != code, MPI_ERR_OTHER, "the class has codes");
  }
  added.erase(found);
  last_added = added.empty() ? MPI_ERR_LASTCODE : added.rbegin()->first;
}

void set_text(int code, const char* text) {
  const std::lock_guard lock(added_mutex);
  const auto found = added.find(code);
  expect(found != added.end(), MPI_ERR_ARG, "the error was not added by this program");
  found->second.text = text;
}

// The last error of this thread, for MPI_Error_string.
thread_local int last_code = MPI_SUCCESS;
thread_local std::string last_text;

}  // namespace
int last_used_code() { return last_added; }
namespace {

bool is_known(MPI_Errhandler errhandler) {
  return !is_predefined(errhandler) || errhandler == MPI_ERRORS_ARE_FATAL ||
         errhandler == MPI_ERRORS_ABORT || errhandler == MPI_ERRORS_RETURN;
}

// The handler of `comm`, which becomes the world where it is none.
MPI_Errhandler handler_of(MPI_Comm& comm) {
  if (!in_use) return default_errhandler();
  if (is_predefined(comm) && comm != MPI_COMM_SELF) comm = MPI_COMM_WORLD;
  if (comm == MPI_COMM_WORLD) return world.world->errhandler;
  if (comm == MPI_COMM_SELF) return world.self->errhandler;
  return comm->errhandler;
}

int handle(const char* function, MPI_Comm comm, int code, const std::string& text) {
  const MPI_Errhandler errhandler = handler_of(comm);
  if (errhandler == MPI_ERRORS_RETURN) return code;
  if (is_predefined(errhandler)) die(function, text, code);
  if (errhandler->function != nullptr) errhandler->function(&comm, &code);
  if (errhandler->function_x != nullptr) errhandler->function_x(comm, code, errhandler->context);
  return code;
}

}  // namespace

void fail(int code, std::string text) { throw Failure{code, std::move(text)}; }

int class_of(tutti_status status) {
  switch (status) {
    case TUTTI_OK: return MPI_SUCCESS;
    case TUTTI_ERR_INVALID_ARGUMENT: return MPI_ERR_ARG;
    case TUTTI_ERR_UNSUPPORTED: return MPI_ERR_UNSUPPORTED_OPERATION;
    case TUTTI_ERR_OUT_OF_MEMORY: return MPI_ERR_NO_MEM;
    case TUTTI_ERR_TRUNCATED: return MPI_ERR_TRUNCATE;
    case TUTTI_ERR_PEER_FAILED:
    case TUTTI_ERR_ABORTED: return MPI_ERR_PROC_ABORTED;
    case TUTTI_ERR_INTERNAL: return MPI_ERR_INTERN;
    default: return MPI_ERR_OTHER;
  }
}

MPI_Errhandler& default_errhandler() {
  static MPI_Errhandler errhandler = MPI_ERRORS_ARE_FATAL;
  return errhandler;
}
void hold_errhandler(MPI_Errhandler errhandler) {
  if (!is_predefined(errhandler)) errhandler->keep();
}
void drop_errhandler(MPI_Errhandler errhandler) {
  if (!is_predefined(errhandler)) errhandler->drop();
}

void give_text(const std::string& text, size_t room, char* to, int* length) {
  const size_t copied = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), copied);
  to[copied] = '\0';
  *length = static_cast<int>(copied);
}

void say(const std::string& text) noexcept {
  std::fprintf(stderr, "tutti-mpi: %s\n", text.c_str());
}

void die(const char* function, const std::string& text, int code) noexcept {
  const NamedClass* const known = named(code);
  std::string line = in_use ? "rank " + std::to_string(world.world->rank) + ": " : std::string();
  line += function;
  line += ": ";
  line += text;
  if (known != nullptr) line += std::string(" (") + known->name + ")";
  say(line);
  if (in_use) tutti_comm_abort(world.world->inside, line.c_str());
  std::fflush(nullptr);
  std::_Exit(code == 0 || code > 255 ? 1 : code);
}

int report(const char* function, MPI_Comm comm, int code, const std::string& text) noexcept {
  last_code = code;
  last_text = std::string(function) + ": " + text;
  return handle(function, comm, code, text);
}

}  // namespace tutti_mpi

using namespace tutti_mpi;

TUTTI_MPI(Error_class, (int code, int* error_class)) {
  const std::lock_guard lock(added_mutex);
  const auto found = added.find(code);
  if (found == added.end() && (code < 0 || code > MPI_ERR_LASTCODE)) return MPI_ERR_ARG;
  *error_class = found != added.end() ? found->second.error_class : code;
  return MPI_SUCCESS;
}

TUTTI_MPI(Error_string, (int code, char* string, int* length)) {
  std::string text;
  {
    const std::lock_guard lock(added_mutex);
    const auto found = added.find(code);
    if (found != added.end()) {
      text = found->second.text;
    } else if (const NamedClass* const known = named(code)) {
      text = std::string(known->name) + ": " + known->text;
      if (code != MPI_SUCCESS && code == last_code) text += ": " + last_text;
    } else if (code >= 0 && code <= MPI_ERR_LASTCODE) {
      text = "error " + std::to_string(code);
    } else {
      return MPI_ERR_ARG;
    }
  }
  give_text(text, MPI_MAX_ERROR_STRING, string, length);
  return MPI_SUCCESS;
}

TUTTI_MPI_DO(Add_error_class, (int* error_class), *error_class = add(0))
TUTTI_MPI_DO(Add_error_code, (int error_class, int* code), *code = add(error_class))
TUTTI_MPI_DO(Add_error_string, (int code, const char* string), set_text(code, string))
TUTTI_MPI_DO(Remove_error_class, (int error_class), remove(error_class, true))
TUTTI_MPI_DO(Remove_error_code, (int code), remove(code, false))
TUTTI_MPI_DO(Remove_error_string, (int code), set_text(code, ""))

TUTTI_MPI_DO(Comm_create_errhandler,
             (MPI_Comm_errhandler_function * function, MPI_Errhandler* errhandler), {
               *errhandler = new MPI_ABI_Errhandler;
               (*errhandler)->function = function;
             })
TUTTI_MPIX_DO(Comm_create_errhandler_x,
              (MPIX_Comm_errhandler_function_x * function, MPIX_Destructor_function* destructor,
               void* context, MPI_Errhandler* errhandler),
              {
                *errhandler = new MPI_ABI_Errhandler;
                (*errhandler)->function_x = function;
                (*errhandler)->destructor = destructor;
                (*errhandler)->context = context;
              })

TUTTI_MPI_DO(Errhandler_free, (MPI_Errhandler * errhandler), {
  expect(is_known(*errhandler), MPI_ERR_ERRHANDLER, "it is not an error handler");
  drop_errhandler(*errhandler);
  *errhandler = MPI_ERRHANDLER_NULL;
})
TUTTI_MPI(Comm_set_errhandler, (MPI_Comm handle, MPI_Errhandler errhandler)) {
  if (!in_use && is_known(errhandler)) {  // allowed before MPI_Init
    default_errhandler() = errhandler;
    return MPI_SUCCESS;
  }
  return enter(TUTTI_MPI_NAME, handle, [&] {
    Comm& comm = find(handle);
    expect(is_known(errhandler), MPI_ERR_ERRHANDLER, "it is not an error handler");
    hold_errhandler(errhandler);
    drop_errhandler(std::exchange(comm.errhandler, errhandler));
  });
}
TUTTI_MPI_ON(handle, Comm_get_errhandler, (MPI_Comm handle, MPI_Errhandler* errhandler), {
  *errhandler = find(handle).errhandler;
  hold_errhandler(*errhandler);
})
TUTTI_MPI_ON(comm, Comm_call_errhandler, (MPI_Comm comm, int code), {
  find(comm);
  (void)tutti_mpi::handle("MPI_Comm_call_errhandler", comm, code, "called by the program");
})
