/**
 * The C library, through koffi, which ships its binaries inside its npm packages: nothing is ever compiled.
 *
 * Loaded when first asked for, since a program that only reads captures needs none of it.
 */
import { createRequire } from 'node:module';
import { endianness } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import type koffi from 'koffi';
import { isOff } from './switches.js';
import { getSystemErrorName } from 'node:util';

/**
 * The calls, named and ordered as in C. Pointers are addresses as numbers: those, unlike objects, cost koffi no
 * allocation. Who passes one keeps the memory behind it alive.
 */
export interface LibC {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: number, length: number): number;
  connect(fd: number, address: number, length: number): number;
  getsockname(fd: number, address: number, length: number): number;
  setsockopt(fd: number, level: number, name: number, value: number, length: number): number;
  getsockopt(fd: number, level: number, name: number, value: number, length: number): number;
  recv(fd: number, buffer: number, length: number, flags: number): number;
  sendto(fd: number, buffer: number, length: number, flags: number, address: number, addressLength: number): number;
  recvmsg(fd: number, message: number, flags: number): number;
  recvmmsg(fd: number, messages: number, count: number, flags: number, timeout: number): number;
  sendmsg(fd: number, message: number, flags: number): number;
  sendmmsg(fd: number, messages: number, count: number, flags: number): number;
  ioctl(fd: number, request: number, argument: number): number;
  close(fd: number): number;
  dup3(fd: number, to: number, flags: number): number;
  getifaddrs(list: number): number;
  freeifaddrs(list: number): void;
  /** Both give the bytes copied, or -1. */
  processVmReadv(pid: number, local: number, locals: number, remote: number, remotes: number, flags: number): number;
  processVmWritev(pid: number, local: number, locals: number, remote: number, remotes: number, flags: number): number;
  memcpy(to: number, from: number, length: number): void;
  /** Does nothing where the C library has none (musl). */
  mallopt(parameter: number, value: number): number;
  strnlen(text: number, limit: number): number;
  eventfd(initial: number, flags: number): number;
  eventfdRead(fd: number, value: number): number;
  eventfdWrite(fd: number, value: number): number;
  ppoll(fds: number, count: number, timeout: number, signalMask: number): number;
  schedYield(): number;
  schedGetcpu(): number;
  schedGetaffinity(thread: number, length: number, processors: Uint8Array): number;
  schedSetaffinity(thread: number, length: number, processors: Uint8Array): number;
  sigmask(how: number, set: number, before: number): number;
  /** Gives -1 when it fails. */
  mmap(address: number, length: number, protection: number, flags: number, fd: number, offset: number): number;
  munmap(address: number, length: number): number;
  flock(fd: number, operation: number): number;
  fallocate(fd: number, mode: number, offset: number, length: number): number;
  fcntl(fd: number, command: number, argument: number): number;
  lseek(fd: number, offset: number, whence: number): number;
  pread(fd: number, buffer: number, length: number, offset: number): number;
  pwrite(fd: number, buffer: number, length: number, offset: number): number;
  memfdCreate(name: string, flags: number): number;
  socketpair(domain: number, type: number, protocol: number, fds: number): number;
  send(fd: number, buffer: number, length: number, flags: number): number;
  prctl(option: number, a: number, b: number, c: number, d: number): number;
  /** Any call by its number: for those that the C library has no function for. */
  syscall(number: number, a: number, b: number, c: number, d: number): number;
  /** `poll` on a thread of libuv's pool. */
  pollAsync(fds: number, count: number, timeoutMs: number, done: (error: Error | null, ready: number) => void): void;
}

/** A `uv_poll_t` of this thread's event loop. While it is started and referenced, as it is at first, it keeps the program running. */
export interface PollHandle {
  start(events: { readonly readable: boolean }, callback: () => void): void;
  stop(): void;
  ref(): void;
  unref(): void;
  /** To be called before the descriptor is closed. */
  close(): void;
}

/** What starts programs: bound when first asked for, since few do. */
export interface SpawnCalls {
  posixSpawnattrInit(attributes: number): number;
  posixSpawnattrSetflags(attributes: number, flags: number): number;
  posixSpawnattrSetsigmask(attributes: number, set: number): number;
  posixSpawnattrSetsigdefault(attributes: number, set: number): number;
  posixSpawnFileActionsInit(actions: number): number;
  posixSpawnFileActionsAddclose(actions: number, fd: number): number;
  posixSpawnFileActionsDestroy(actions: number): number;
  /** Gives an errno's number, or 0. Both lists end with null. */
  posixSpawnp(
    pid: number,
    file: string,
    actions: number,
    attributes: number,
    words: readonly (string | null)[],
    environment: readonly (string | null)[],
  ): number;
}

/** What only native code can do. */
export interface NativeHost {
  readonly libc: LibC;
  /** Those of them that few need. */
  readonly spawning: SpawnCalls;
  errno(): number;
  failure(call: string): SystemCallError;
  /** The address of memory that V8 has outside its heap. */
  addressOf(view: Uint8Array): number;
  viewOf(address: number, lengthBytes: number): ArrayBuffer;
  /** A function `(crc, address, length)` of a shared library, in any of its numbers' signs; undefined where there is no such library. */
  checksum(file: string, symbol: string): ((crc: number, address: number, length: number) => number) | undefined;
  /**
   * Starts to watch a descriptor that has no other handle; absent in workers and where the event loop is not libuv's. The callback is
   * called outside of all that Node calls: it must not throw.
   */
  readonly pollHandle:
    | ((fd: number, events: { readonly readable: boolean }, callback: () => void) => PollHandle)
    | undefined;
}

/** Set to `off`, it makes a program run as if koffi could not be loaded. */
const SWITCH = 'VERBENA_NATIVE';

/** Structures are laid out by hand, as the kernel of a 64-bit little-endian Linux has them. */
function machineProblem(): string | undefined {
  if (isOff(SWITCH)) return `${SWITCH}=off`;
  if (process.platform !== 'linux') return `system calls are made on Linux only, this is ${process.platform}`;
  if (endianness() !== 'LE' || ['arm', 'ia32', 'mips', 'mipsel', 'ppc'].includes(process.arch)) {
    return `a 64-bit little-endian processor is needed, this is ${process.arch}`;
  }
  return undefined;
}

function mallopt(lib: ReturnType<typeof koffi.load>): LibC['mallopt'] {
  try {
    return lib.func('int mallopt(int parameter, int value)');
  } catch {
    return () => 1;
  }
}

function bindLibC(lib: ReturnType<typeof koffi.load>): LibC {
  const poll = lib.func('int poll(void *fds, unsigned long count, int timeout)');
  return {
    socket: lib.func('int socket(int domain, int type, int protocol)'),
    bind: lib.func('int bind(int fd, void *address, uint32_t length)'),
    connect: lib.func('int connect(int fd, void *address, uint32_t length)'),
    getsockname: lib.func('int getsockname(int fd, void *address, void *length)'),
    setsockopt: lib.func('int setsockopt(int fd, int level, int name, void *value, uint32_t length)'),
    getsockopt: lib.func('int getsockopt(int fd, int level, int name, void *value, void *length)'),
    // Those that every packet needs: koffi takes 0.1 us longer over a result of 64 bits, and some 0.03 us over each pointer
    // that is called one. No datagram has 2^31 bytes.
    recv: lib.func('int recv(int fd, int64_t buffer, size_t length, int flags)'),
    sendto: lib.func(
      'int sendto(int fd, int64_t buffer, size_t length, int flags, int64_t address, uint32_t addressLength)',
    ),
    recvmsg: lib.func('int recvmsg(int fd, int64_t message, int flags)'),
    recvmmsg: lib.func('int recvmmsg(int fd, int64_t messages, uint32_t count, int flags, int64_t timeout)'),
    sendmsg: lib.func('int sendmsg(int fd, int64_t message, int flags)'),
    sendmmsg: lib.func('int sendmmsg(int fd, int64_t messages, uint32_t count, int flags)'),
    // Variadic in C; on every 64-bit Linux its pointer goes where a named one would.
    ioctl: lib.func('int ioctl(int fd, unsigned long request, void *argument)'),
    close: lib.func('int close(int fd)'),
    dup3: lib.func('int dup3(int fd, int to, int flags)'),
    getifaddrs: lib.func('int getifaddrs(void *list)'),
    freeifaddrs: lib.func('void freeifaddrs(void *list)'),
    // Results of 64 bits in C; no copy here has 2^31 bytes.
    processVmReadv: lib.func(
      'int process_vm_readv(int pid, int64_t local, unsigned long locals, int64_t remote, unsigned long remotes, unsigned long flags)',
    ),
    processVmWritev: lib.func(
      'int process_vm_writev(int pid, int64_t local, unsigned long locals, int64_t remote, unsigned long remotes, unsigned long flags)',
    ),
    // Gives back its first argument, which nobody needs.
    memcpy: lib.func('void memcpy(int64_t to, int64_t from, size_t length)'),
    mallopt: mallopt(lib),
    strnlen: lib.func('size_t strnlen(void *text, size_t limit)'),
    eventfd: lib.func('int eventfd(uint32_t initial, int flags)'),
    eventfdRead: lib.func('int eventfd_read(int fd, void *value)'),
    eventfdWrite: lib.func('int eventfd_write(int fd, uint64_t value)'),
    ppoll: lib.func('int ppoll(int64_t fds, unsigned long count, int64_t timeout, int64_t signalMask)'),
    schedYield: lib.func('int sched_yield()'),
    schedGetcpu: lib.func('int sched_getcpu()'),
    schedGetaffinity: lib.func('int sched_getaffinity(int thread, size_t length, void *processors)'),
    schedSetaffinity: lib.func('int sched_setaffinity(int thread, size_t length, void *processors)'),
    sigmask: lib.func('int pthread_sigmask(int how, int64_t set, int64_t before)'),
    // A pointer in C; as a number, failure is -1.
    mmap: lib.func('int64_t mmap(void *address, size_t length, int protection, int flags, int fd, int64_t offset)'),
    munmap: lib.func('int munmap(void *address, size_t length)'),
    flock: lib.func('int flock(int fd, int operation)'),
    // Variadic in C, as ioctl.
    fcntl: lib.func('int fcntl(int fd, int command, int64_t argument)'),
    fallocate: lib.func('int fallocate(int fd, int mode, int64_t offset, int64_t length)'),
    pread: lib.func('int pread(int fd, int64_t buffer, size_t length, int64_t offset)'),
    pwrite: lib.func('int pwrite(int fd, int64_t buffer, size_t length, int64_t offset)'),
    lseek: lib.func('int64_t lseek(int fd, int64_t offset, int whence)'),
    memfdCreate: lib.func('int memfd_create(const char *name, uint32_t flags)'),
    socketpair: lib.func('int socketpair(int domain, int type, int protocol, int64_t fds)'),
    send: lib.func('int send(int fd, int64_t buffer, size_t length, int flags)'),
    // Variadic in C, both of them, as ioctl.
    prctl: lib.func('int prctl(int option, int64_t a, int64_t b, int64_t c, int64_t d)'),
    syscall: lib.func('int syscall(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d)'),
    pollAsync: (fds, count, timeoutMs, done) => {
      poll.async(fds, count, timeoutMs, done);
    },
  };
}

/** koffi's own wording of `uv_poll`, which other runtimes than Node may lack, whatever koffi's declarations say. */
function hasPoll(native: { readonly node?: { readonly poll?: unknown } }): boolean {
  return typeof native.node?.poll === 'function' && process.versions['bun'] === undefined;
}

function bindSpawnCalls(lib: ReturnType<typeof koffi.load>): SpawnCalls {
  return {
    posixSpawnattrInit: lib.func('int posix_spawnattr_init(int64_t attributes)'),
    posixSpawnattrSetflags: lib.func('int posix_spawnattr_setflags(int64_t attributes, short flags)'),
    posixSpawnattrSetsigmask: lib.func('int posix_spawnattr_setsigmask(int64_t attributes, int64_t set)'),
    posixSpawnattrSetsigdefault: lib.func('int posix_spawnattr_setsigdefault(int64_t attributes, int64_t set)'),
    posixSpawnFileActionsInit: lib.func('int posix_spawn_file_actions_init(int64_t actions)'),
    posixSpawnFileActionsAddclose: lib.func('int posix_spawn_file_actions_addclose(int64_t actions, int fd)'),
    posixSpawnFileActionsDestroy: lib.func('int posix_spawn_file_actions_destroy(int64_t actions)'),
    posixSpawnp: lib.func(
      'int posix_spawnp(int64_t pid, const char *file, int64_t actions, int64_t attributes, const char **words, const char **environment)',
    ),
  };
}

function load(): NativeHost {
  // koffi itself is a CommonJS module underneath; `require` is what loads it without a promise.
  // The cast only names what the package's own declarations say of it.
  const native = createRequire(import.meta.url)('koffi') as typeof koffi;
  // The process's own symbols: Node is linked to the C library, be it glibc or musl.
  const lib = native.load(null);
  const libc = bindLibC(lib);
  let spawning: SpawnCalls | undefined;
  return {
    libc,
    get spawning() {
      return (spawning ??= bindSpawnCalls(lib));
    },
    errno: () => native.errno(),
    failure: (call) => new SystemCallError(call, native.errno()),
    addressOf: (view) => Number(native.address(view)),
    viewOf: (address, lengthBytes) => native.view(address, lengthBytes),
    checksum: (file, symbol) => {
      try {
        return native.load(file).func(`int ${symbol}(int crc, int64_t address, size_t length)`);
      } catch {
        return undefined;
      }
    },
    pollHandle: isMainThread && hasPoll(native) ? native.node.poll : undefined,
  };
}

let loaded: NativeHost | undefined;
let problem: string | undefined;

function loadOnce(): void {
  if (loaded !== undefined || problem !== undefined) return;
  problem = machineProblem();
  if (problem !== undefined) return;
  try {
    loaded = load();
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    problem = `koffi could not be loaded: ${why.replace(/\.$/, '')}`;
  }
}

/** The native side of the machine, or undefined when there is none; {@link nativeHostProblem} then says why. */
export function nativeHost(): NativeHost | undefined {
  loadOnce();
  return loaded;
}

/** Why {@link nativeHost} gives undefined, as half a sentence; undefined when it does not. */
export function nativeHostProblem(): string | undefined {
  loadOnce();
  return problem;
}

/**
 * The native side of the machine, for those who were told that there is one.
 *
 * @throws Error when there is none
 */
export function requireNativeHost(): NativeHost {
  const native = nativeHost();
  if (native === undefined) throw new Error(`no native calls on this machine: ${problem ?? 'unknown reason'}`);
  return native;
}

export class SystemCallError extends Error {
  override readonly name = 'SystemCallError';
  /** The errno's name, as in `error.code` of Node: `EADDRINUSE`. */
  readonly code: string;

  constructor(
    /** The call, as its manual page is named: `bind`. */
    readonly call: string,
    readonly errnoNumber: number,
  ) {
    const code = errnoName(errnoNumber);
    super(`${call} failed: ${code}`);
    this.code = code;
  }
}

/** The name of an errno number; a number that nobody has named gives `errno 4711`. */
export function errnoName(errnoNumber: number): string {
  // Node throws for 0 and for positive numbers, and answers "Unknown system error" to the rest.
  if (errnoNumber <= 0) return `errno ${errnoNumber}`;
  const name = getSystemErrorName(-errnoNumber);
  return /^E[A-Z0-9]+$/.test(name) ? name : `errno ${errnoNumber}`;
}
