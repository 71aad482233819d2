// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// rank TRAFFIC FAULT WHO [ARGUMENT]: one rank of a job that score.py makes hang or slow. All ranks
// repeat the calls of TRAFFIC. The ranks in WHO ("1" or "0,2") also have the fault, once all have
// said that they are ready. Started by a launcher's variables; it stays until it is killed.
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr size_t kMostFloats = 1 << 18;
constexpr int kRoundsBefore = 5;

int rank_here = 0;
int ranks = 1;
bool chosen = false;
int argument = 0;
tutti_comm_t world = nullptr;
tutti_comm_t group = nullptr;
tutti_op user_op = 0;
std::function<void()> in_operator = [] {};
std::vector<float> data(kMostFloats);
std::vector<float> other_data(kMostFloats);

void stay() {
  for (;;) pause();
}

// Whoever learns of an error tells it, and stays, so that its job can be looked at.
void check(tutti_status status) {
  if (status == TUTTI_OK) return;
  std::printf("told %s\n", tutti_last_error());
  std::fflush(stdout);
  stay();
}

void compute(double ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(ms);
  while (std::chrono::steady_clock::now() < end) {
    for (volatile int n = 0; n < 1000;) n = n + 1;
  }
}
// A fixed amount of work: it takes longer where the core is not this rank's alone.
void work(int units) {
  for (int i = 0; i < units; ++i) {
    for (volatile int n = 0; n < 100'000;) n = n + 1;
  }
}
void compute_for_ever() {
  for (;;) compute(1000);
}
void sleep_for_ever() {
  for (;;) sleep(1000);
}

void sum(tutti_comm_t comm, size_t count = 2) {
  check(tutti_allreduce(data.data(), other_data.data(), count, TUTTI_FLOAT32, TUTTI_SUM, comm));
}

tutti_comm_t part_of(int color, const char* name) {
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.name = name;
  tutti_comm_t part = nullptr;
  check(tutti_comm_split(world, color, rank_here, &config, &part));
  return part;
}

// ---- traffic: one round of it ------------------------------------------------------------------

void small_calls() {
  sum(world);
  usleep(1000);
}
void large_calls() { sum(world, kMostFloats); }
void mixed_calls() {
  sum(world);
  check(tutti_broadcast(data.data(), 64, TUTTI_FLOAT32, 0, world));
  check(tutti_barrier(world));
  check(tutti_allgather(data.data(), other_data.data(), 16, TUTTI_FLOAT32, world));
  check(tutti_alltoall(data.data(), other_data.data(), 16, TUTTI_FLOAT32, world));
  usleep(1000);
}
void ring_calls() {
  const int next = (rank_here + 1) % ranks;
  const int last = (rank_here + ranks - 1) % ranks;
  check(tutti_sendrecv(data.data(), 1024, next, 3, other_data.data(), 1024, last, 3, TUTTI_FLOAT32,
                       world, nullptr));
  usleep(1000);
}
// Every second rank is of the same group.
void group_calls() {
  if (group == nullptr) group = part_of(rank_here % 2, "part");
  sum(group);
  usleep(1000);
}
void started_calls() {
  tutti_request_t request = nullptr;
  check(tutti_iallreduce(data.data(), other_data.data(), 64, TUTTI_FLOAT32, TUTTI_SUM, world,
                         &request));
  check(tutti_request_wait(request));
  check(tutti_request_free(request));
  usleep(1000);
}
// A short call behind one that takes long.
void jam_calls() {
  static std::vector<float> many(1 << 24);
  tutti_request_t requests[2] = {};
  check(tutti_iallreduce(many.data(), many.data(), many.size(), TUTTI_FLOAT32, TUTTI_SUM, world,
                         &requests[0]));
  check(tutti_iallreduce(data.data(), other_data.data(), 2, TUTTI_FLOAT32, TUTTI_SUM, world,
                         &requests[1]));
  for (tutti_request_t const request : {requests[1], requests[0]}) {
    check(tutti_request_wait(request));
    check(tutti_request_free(request));
  }
}
// A pipeline: each waits for the one before it, and all for the last.
void chain_calls() {
  if (rank_here > 0) {
    check(tutti_recv(data.data(), 16, TUTTI_FLOAT32, rank_here - 1, 1, world, nullptr));
  }
  if (rank_here < ranks - 1) {
    check(tutti_send(data.data(), 16, TUTTI_FLOAT32, rank_here + 1, 1, world));
  }
  sum(world);
  usleep(1000);
}
void work_calls() {
  work(10);
  sum(world);
}
void operator_calls() {
  check(tutti_allreduce(data.data(), other_data.data(), 2, TUTTI_FLOAT32, user_op, world));
  usleep(1000);
}
// Two communicators, a thread each.
void thread_calls() {
  static bool begun = false;
  if (!begun) {
    tutti_comm_t const others = part_of(0, "others");
    begun = true;
    std::thread([others] {
      for (;;) {
        sum(others);
        usleep(1000);
      }
    }).detach();
  }
  small_calls();
}

const std::map<std::string, void (*)()> kTraffic = {
    {"small", small_calls},    {"large", large_calls}, {"mixed", mixed_calls},
    {"ring", ring_calls},      {"group", group_calls}, {"started", started_calls},
    {"chain", chain_calls},    {"work", work_calls},   {"operator", operator_calls},
    {"threads", thread_calls}, {"jam", jam_calls}};

// ---- faults: what the chosen ranks do instead of going on ---------------------------------------

std::string scratch(const char* what) {
  const char* const folder = std::getenv("SCORED_FOLDER");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + what + std::to_string(getpid());
}

std::mutex one_mutex;
std::mutex other_mutex;

void lock_of_another_thread() {
  std::thread([] {
    one_mutex.lock();
    sleep_for_ever();
  }).detach();
  usleep(50'000);
  one_mutex.lock();
}
void deadlock() {
  std::thread([] {
    other_mutex.lock();
    usleep(50'000);
    one_mutex.lock();
  }).detach();
  one_mutex.lock();
  usleep(100'000);
  other_mutex.lock();
}
void condition() {
  std::condition_variable never;
  std::unique_lock lock(one_mutex);
  never.wait(lock, [] { return false; });
}
void semaphore() {
  sem_t never;
  sem_init(&never, 0, 0);
  sem_wait(&never);
}
void join() {
  std::thread sleeper([] { sleep_for_ever(); });
  sleeper.join();
}
void file_lock() {
  const std::string path = scratch("lock");
  const pid_t holder = fork();
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (holder == 0) {
    flock(file, LOCK_EX);
    stay();
  }
  usleep(100'000);
  flock(file, LOCK_EX);
}
void opens_fifo() {
  const std::string path = scratch("fifo");
  mkfifo(path.c_str(), 0600);
  (void)!open(path.c_str(), O_RDONLY | O_CLOEXEC);
}
void reads_pipe() {
  int ends[2];
  char byte = 0;
  if (pipe(ends) == 0) (void)!read(ends[0], &byte, 1);
}
void writes_pipe() {
  int ends[2];
  if (pipe(ends) != 0) return;
  const std::vector<char> bytes(1 << 20);
  (void)!write(ends[1], bytes.data(), bytes.size());
}
void reads_socket() {
  int ends[2];
  char byte = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) (void)!read(ends[0], &byte, 1);
}
void polls_socket() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  pollfd news{ends[0], POLLIN, 0};
  poll(&news, 1, -1);
}
void child_process() {
  const pid_t child = fork();
  if (child == 0) sleep_for_ever();
  waitpid(child, nullptr, 0);
}
void shell_command() { (void)!system("sleep 1000"); }
void child_of_vfork() {
  const pid_t child = vfork();
  if (child == 0) {
    sleep(1000);
    _exit(0);
  }
}
void handle(int) { argument == 0 ? sleep_for_ever() : compute_for_ever(); }

// It is interrupted in a call that it has entered: the others come later.
void handler() {
  if (!chosen) {
    usleep(300'000);
    return;
  }
  std::signal(SIGALRM, handle);
  const itimerval soon{{0, 0}, {0, 150'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}

void other_root() { check(tutti_broadcast(data.data(), 64, TUTTI_FLOAT32, chosen ? 1 : 0, world)); }
void other_count() { sum(world, chosen ? 3 : 2); }
void other_type() {
  check(tutti_allreduce(data.data(), other_data.data(), 2, chosen ? TUTTI_INT32 : TUTTI_FLOAT32,
                        TUTTI_SUM, world));
}
void other_operation() {
  check(tutti_allreduce(data.data(), other_data.data(), 2, TUTTI_FLOAT32,
                        chosen ? TUTTI_MAX : TUTTI_SUM, world));
}
void other_call() {
  if (!chosen) return sum(world);
  check(tutti_broadcast(data.data(), 2, TUTTI_FLOAT32, 0, world));
}
void skips_call() {
  if (!chosen) check(tutti_barrier(world));
}

// The chosen make the same calls on two communicators in the other order.
void other_order() {
  tutti_comm_t const one = part_of(0, "one");
  tutti_comm_t const two = part_of(0, "two");
  sum(chosen ? one : two);
  sum(chosen ? two : one);
}
void all_receive() {
  check(tutti_recv(data.data(), 1, TUTTI_FLOAT32, (rank_here + 1) % ranks, 7, world, nullptr));
}
// Too long to be taken in before a receive asks for them.
void all_send() {
  check(tutti_send(data.data(), kMostFloats, TUTTI_FLOAT32, (rank_here + 1) % ranks, 7, world));
  check(tutti_recv(data.data(), kMostFloats, TUTTI_FLOAT32, (rank_here + ranks - 1) % ranks, 7,
                   world, nullptr));
}
void sends_to_itself() {
  if (chosen) check(tutti_recv(data.data(), 1, TUTTI_FLOAT32, rank_here, 7, world, nullptr));
}
// The chosen sends with a tag that its neighbour does not ask for, and goes on.
void other_tag() {
  const int from = argument;
  if (rank_here == from + 1) {
    check(tutti_recv(data.data(), 1, TUTTI_FLOAT32, from, 7, world, nullptr));
  }
  if (rank_here == from) check(tutti_send(data.data(), 1, TUTTI_FLOAT32, from + 1, 8, world));
}
// The neighbour of the chosen waits for a message; the chosen makes the next collective.
void no_message() {
  if (rank_here == argument + 1) {
    check(tutti_recv(data.data(), 1, TUTTI_FLOAT32, argument, 7, world, nullptr));
  }
}

// The chosen takes itself for one of no group, and makes the others' next call but one.
void skips_group() {
  tutti_comm_t const part = part_of(rank_here / 2, "part");
  if (chosen) return check(tutti_barrier(world));
  sum(part);
}
// Each of two threads has a communicator, and a lock that the other one wants, too.
void calls_in_threads_under_a_lock() {
  tutti_comm_t const one = part_of(0, "one");
  tutti_comm_t const two = part_of(0, "two");
  static std::mutex calls;
  std::thread other([one] {
    if (!chosen) usleep(100'000);
    const std::lock_guard lock(calls);
    sum(one);
  });
  if (chosen) usleep(100'000);
  {
    const std::lock_guard lock(calls);
    sum(two);
  }
  other.join();
}

void polls_pipe() {
  int ends[2];
  if (pipe(ends) != 0) return;
  pollfd one{.fd = ends[0], .events = POLLIN, .revents = 0};
  (void)poll(&one, 1, -1);
}
void waits_for_event() {
  const int set = epoll_create1(EPOLL_CLOEXEC);
  const int event = eventfd(0, EFD_CLOEXEC);
  epoll_event wanted{.events = EPOLLIN, .data = {}};
  (void)epoll_ctl(set, EPOLL_CTL_ADD, event, &wanted);
  (void)epoll_wait(set, &wanted, 1, -1);
}
void leaves_a_thread_behind() {
  std::thread(sleep_for_ever).detach();
  syscall(SYS_exit, 0);
}
void takes_memory() {
  for (;;) {
    const std::vector<char>* const more = new std::vector<char>(1 << 20, 'x');
    (void)more;
    usleep(1000);
  }
}

void destroys() {
  check(tutti_comm_destroy(world));
  stay();
}
// Its receive never ends.
void destroys_while_started() {
  tutti_request_t request = nullptr;
  check(tutti_irecv(data.data(), 1, TUTTI_FLOAT32, (rank_here + 1) % ranks, 7, world, &request));
  check(tutti_comm_destroy(world));
}

void before_split(void (*fault)()) {
  if (chosen) fault();
  (void)part_of(0, "part");
}

void slow_computes() { compute(argument); }
void slow_in_turn() {
  static std::minstd_rand random(static_cast<unsigned>(rank_here) + 1);
  usleep(static_cast<useconds_t>(random() % static_cast<unsigned>(argument)) * 1000);
}
void slow_sleeps() { usleep(static_cast<useconds_t>(argument) * 1000); }
// Its data comes slowly: a disk is too different from machine to machine.
void slow_reads() {
  static int ends[2] = {-1, -1};
  if (ends[0] < 0) {
    if (pipe(ends) != 0) return;
    if (fork() == 0) {
      for (;;) {
        usleep(static_cast<useconds_t>(argument) * 1000);
        if (write(ends[1], "x", 1) != 1) _exit(0);
      }
    }
  }
  char byte = 0;
  (void)!read(ends[0], &byte, 1);
}
void slow_lock() {
  static bool begun = false;
  if (!begun) {
    begun = true;
    std::thread([] {
      for (;;) {
        {
          const std::lock_guard lock(one_mutex);
          usleep(static_cast<useconds_t>(argument) * 1000);
        }
        usleep(200);
      }
    }).detach();
  }
  const std::lock_guard lock(one_mutex);
}

// It uses more of a file that it maps than its control group has memory for.
void slow_memory() {
  constexpr size_t kBytes = 128 << 20;
  constexpr size_t kPage = 4096;
  static const volatile char* mapped = nullptr;
  if (mapped == nullptr) {
    const int file = open(scratch("map").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const std::vector<char> part(1 << 20, 'x');
    for (size_t at = 0; at < kBytes; at += part.size()) {
      if (write(file, part.data(), part.size()) < 0) stay();
    }
    usleep(500'000);  // until it is in its control group
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    void* const memory = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) stay();
    madvise(memory, kBytes, MADV_RANDOM);
    mapped = static_cast<const char*>(memory);
  }
  static std::minstd_rand random;
  for (int i = 0; i < argument; ++i) (void)mapped[random() % (kBytes / kPage) * kPage];
}

struct Fault {
  enum class Who { kChosen, kAll };
  std::function<void()> run;
  Who who = Who::kChosen;
  bool again = false;  // in each round
};

const std::map<std::string, Fault>& faults() {
  static const std::map<std::string, Fault> all = {
      {"none", {[] {}}},
      {"exit", {[] { _exit(0); }}},
      {"segv", {[] { raise(SIGSEGV); }}},
      {"abort", {[] { std::abort(); }}},
      {"exec", {[] { execlp("sleep", "sleep", "1000", nullptr); }}},
      {"raise-stop", {[] { raise(SIGSTOP); }}},
      {"compute", {compute_for_ever}},
      {"sleep", {sleep_for_ever}},
      {"pause", {stay}},
      {"lock", {lock_of_another_thread}},
      {"deadlock", {deadlock}},
      {"condition", {condition}},
      {"semaphore", {semaphore}},
      {"join", {join}},
      {"file-lock", {file_lock}},
      {"fifo", {opens_fifo}},
      {"read-pipe", {reads_pipe}},
      {"write-pipe", {writes_pipe}},
      {"read-socket", {reads_socket}},
      {"poll-socket", {polls_socket}},
      {"child", {child_process}},
      {"shell", {shell_command}},
      {"vfork", {child_of_vfork}},
      {"handler", {handler, Fault::Who::kAll}},
      {"other-root", {other_root, Fault::Who::kAll}},
      {"other-count", {other_count, Fault::Who::kAll}},
      {"other-type", {other_type, Fault::Who::kAll}},
      {"other-operation", {other_operation, Fault::Who::kAll}},
      {"other-call", {other_call, Fault::Who::kAll}},
      {"skips-call", {skips_call, Fault::Who::kAll}},
      {"other-order", {other_order, Fault::Who::kAll}},
      {"all-receive", {all_receive, Fault::Who::kAll}},
      {"all-send", {all_send, Fault::Who::kAll}},
      {"self-message", {sends_to_itself}},
      {"other-tag", {other_tag, Fault::Who::kAll}},
      {"no-message", {no_message, Fault::Who::kAll}},
      {"skips-group", {skips_group, Fault::Who::kAll}},
      {"calls-in-threads", {calls_in_threads_under_a_lock, Fault::Who::kAll}},
      {"poll-pipe", {polls_pipe}},
      {"event", {waits_for_event}},
      {"thread-behind", {leaves_a_thread_behind}},
      {"take-memory", {takes_memory}},
      {"destroy", {destroys}},
      {"destroy-started", {destroys_while_started}},
      {"split-stop", {[] { before_split([] { raise(SIGSTOP); }); }, Fault::Who::kAll}},
      {"split-sleep", {[] { before_split(sleep_for_ever); }, Fault::Who::kAll}},
      {"split-compute", {[] { before_split(compute_for_ever); }, Fault::Who::kAll}},
      {"split-lock", {[] { before_split(lock_of_another_thread); }, Fault::Who::kAll}},
      {"operator-sleep", {[] { in_operator = sleep_for_ever; }}},
      {"operator-compute", {[] { in_operator = compute_for_ever; }}},
      {"operator-lock", {[] { in_operator = lock_of_another_thread; }}},
      {"operator-fifo", {[] { in_operator = opens_fifo; }}},
      {"slow-compute", {slow_computes, Fault::Who::kChosen, true}},
      {"slow-sleep", {slow_sleeps, Fault::Who::kChosen, true}},
      {"slow-in-turn", {slow_in_turn, Fault::Who::kAll, true}},
      {"slow-file", {slow_reads, Fault::Who::kChosen, true}},
      {"slow-memory", {slow_memory, Fault::Who::kChosen, true}},
      {"slow-lock", {slow_lock, Fault::Who::kChosen, true}}};
  return all;
}

// Several at once: "1:sleep,2:compute" has one for each rank.
void take_fault(const std::string& name, const std::string& who, Fault& mine) {
  std::istringstream parts(who);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t colon = part.find(':');
    if (std::atoi(part.c_str()) != rank_here) continue;
    chosen = true;
    mine = faults().at(colon == std::string::npos ? name : part.substr(colon + 1));
  }
  if (!chosen && faults().at(name).who == Fault::Who::kAll) mine = faults().at(name);
}

void reduce_by_user(const void* in, void* out, size_t count, tutti_type, void*) {
  in_operator();
  for (size_t i = 0; i < count; ++i) {
    static_cast<float*>(out)[i] += static_cast<const float*>(in)[i];
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || !kTraffic.contains(argv[1]) || !faults().contains(argv[2])) return 2;
  argument = argc > 4 ? std::atoi(argv[4]) : 0;
  tutti_comm_config config = TUTTI_COMM_CONFIG_INIT;
  config.name = "world";
  check(tutti_comm_create_from_env(&config, &world));
  check(tutti_comm_rank(world, &rank_here));
  check(tutti_comm_size(world, &ranks));
  check(tutti_op_create_user(reduce_by_user, nullptr, &user_op));
  void (*const round)() = kTraffic.at(argv[1]);
  for (int i = 0; i < kRoundsBefore; ++i) round();
  Fault fault = faults().at("none");
  take_fault(argv[2], argv[3], fault);
  std::printf("ready\n");
  std::fflush(stdout);
  fault.run();
  for (;;) {
    round();
    if (fault.again) fault.run();
  }
}
