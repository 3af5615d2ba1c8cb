import { NativeBlock } from '../memory/memory.js';
import { requireNativeHost, SystemCallError } from '../native.js';

/** `posix_spawnattr_t` has 336 bytes in glibc and in musl. */
const ATTRIBUTES_BYTES = 512;
/** `posix_spawn_file_actions_t` has 80 bytes in both. */
const ACTIONS_BYTES = 128;
const SIGNAL_SET_BYTES = 128;
const POSIX_SPAWN_SETSIGDEF = 4;
const POSIX_SPAWN_SETSIGMASK = 8;
const STANDARD_STREAMS = [0, 1, 2];
const F_SETFD = 2;
const F_GETFL = 3;
const F_SETFL = 4;
const O_NONBLOCK = 0o4000;

/** Loads what {@link spawnProgram} needs. @throws Error when there are no native calls */
export function prepareToSpawn(): void {
  requireNativeHost().spawning.posixSpawnattrInit(new NativeBlock(ATTRIBUTES_BYTES).address);
}

/**
 * Starts a program, found as a shell finds it, with our standard streams and no signal ignored or blocked. Unlike Node's `spawn` it
 * leaves no thread that has to stay: whoever waits for children of this process learns of its end.
 *
 * @param words its arguments, with the name that it is to know itself by as the first
 * @param withheld a descriptor of ours that it never has, not even between its start and the moment that it runs the program. Those that
 * are closed on `exec` it has until then, and keeps open should we be killed meanwhile
 * @returns the number of its process
 * @throws SystemCallError ENOENT where there is no such program, EACCES where it may not be run, and others of `execve`
 */
export function spawnProgram(
  file: string,
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  withheld?: number,
): number {
  const { spawning } = requireNativeHost();
  for (const fd of STANDARD_STREAMS) leaveToPrograms(fd);
  const attributes = new NativeBlock(ATTRIBUTES_BYTES);
  const signals = new NativeBlock(SIGNAL_SET_BYTES);
  const pid = new NativeBlock(8);
  spawning.posixSpawnattrInit(attributes.address);
  spawning.posixSpawnattrSetflags(attributes.address, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  spawning.posixSpawnattrSetsigmask(attributes.address, signals.address);
  signals.words.fill(-1);
  spawning.posixSpawnattrSetsigdefault(attributes.address, signals.address);
  const actions = new NativeBlock(ACTIONS_BYTES);
  spawning.posixSpawnFileActionsInit(actions.address);
  if (withheld !== undefined) spawning.posixSpawnFileActionsAddclose(actions.address, withheld);
  const variables = Object.entries(environment).map(([name, value = '']) => `${name}=${value}`);
  const lists = [
    [...words, null],
    [...variables, null],
  ] as const;
  const errno = spawning.posixSpawnp(pid.address, file, actions.address, attributes.address, ...lists);
  spawning.posixSpawnFileActionsDestroy(actions.address);
  if (errno !== 0) throw new SystemCallError('posix_spawn', errno);
  return pid.words[0];
}

/** Node may have made a stream non-blocking for itself: that holds for all who have it. */
function leaveToPrograms(fd: number): void {
  const { libc } = requireNativeHost();
  const flags = libc.fcntl(fd, F_GETFL, 0);
  if (flags < 0) return;
  libc.fcntl(fd, F_SETFD, 0);
  if ((flags & O_NONBLOCK) !== 0) libc.fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}
