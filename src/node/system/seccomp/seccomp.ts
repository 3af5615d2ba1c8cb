import { NativeBlock } from '../memory/memory.js';
import { requireNativeHost } from '../native.js';

const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_GET_ACTION_AVAIL = 2;
const SECCOMP_FILTER_FLAG_NEW_LISTENER = 8;
/** Linux 5.19: once the listener has received a call, only a fatal signal interrupts it. */
const SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV = 32;
const EINVAL = 22;
const INSTRUCTION_BYTES = 8;

/** Number of the call `seccomp`, and what the kernel calls the processor, by Node's name of it. */
const MACHINES: Readonly<Record<string, { readonly seccomp: number; readonly audit: number } | undefined>> = {
  x64: { seccomp: 317, audit: 0xc000003e },
  arm64: { seccomp: 277, audit: 0xc00000b7 },
};

/** What a filter says of a system call. */
export const Verdict = {
  ALLOW: 0x7fff0000,
  /** The call waits until who has the listener has answered it. */
  NOTIFY: 0x7fc00000,
  /** Plus an errno: the call fails with that. */
  ERRNO: 0x00050000,
} as const;

/** Offsets in what a filter looks at (`struct seccomp_data`). */
export const SeccompData = {
  NUMBER: 0,
  ARCH: 4,
  /** Low word of the first argument; eight bytes each. */
  ARGUMENTS: 16,
} as const;

/** The kernel's name of this processor's calls, or undefined where none is known here. */
export function auditArch(): number | undefined {
  return MACHINES[process.arch]?.audit;
}

/** Whether this kernel can have calls answered by another process. */
export function hasUserNotification(): boolean {
  const call = MACHINES[process.arch]?.seccomp;
  if (call === undefined) return false;
  const action = new NativeBlock(8);
  action.words[0] = Verdict.NOTIFY;
  return requireNativeHost().libc.syscall(call, SECCOMP_GET_ACTION_AVAIL, 0, action.address, 0) === 0;
}

/**
 * Puts a filter on this thread, and on all that it starts from then on, for good. Set-user-ID programs among those get none
 * of their rights.
 *
 * @returns the listener's descriptor
 * @throws SystemCallError EBUSY where a filter with a listener is in force already, EINVAL on a kernel that has none
 */
export function installFilter(program: Uint8Array): number {
  const native = requireNativeHost();
  const call = MACHINES[process.arch]?.seccomp ?? -1;
  const code = new NativeBlock(program.length);
  code.bytes.set(program);
  const descriptor = new NativeBlock(16);
  descriptor.words[0] = program.length / INSTRUCTION_BYTES;
  descriptor.putPointer(8, code.address);
  if (native.libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) throw native.failure('prctl');
  const install = (flags: number): number =>
    native.libc.syscall(call, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | flags, descriptor.address, 0);
  let listener = install(SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
  if (listener < 0 && native.errno() === EINVAL) listener = install(0);
  if (listener < 0) throw native.failure('seccomp');
  return listener;
}
