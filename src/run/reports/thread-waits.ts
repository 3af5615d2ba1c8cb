import { readdirSync, readFileSync } from 'node:fs';
import { blockedCall } from '../../node/system/index.js';
import type { Machine } from '../launcher/system-calls.js';
import { descriptorName } from '../processes/processes.js';
import { readProgram } from '../processes/program-memory.js';

/** What a thread of a program does just now, as far as the kernel shows it. */
export type ThreadWait =
  | { readonly kind: 'running' }
  /** It reads, writes or polls files: what the kernel calls them. */
  | { readonly kind: 'files'; readonly polls: boolean; readonly names: readonly string[] }
  /** It waits for another thread, at an address. */
  | { readonly kind: 'futex'; readonly address: bigint }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'other' };

const POLLFD_BYTES = 8;
/** Files that are looked at of one call of `poll`. */
const MOST_FILES = 256;

/** Calls by the numbers that machines have for them; -1 where there is none. */
const CALLS = {
  x64: { read: 0, write: 1, poll: 7, ppoll: 271, epoll_wait: 232, epoll_pwait: 281, futex: 202 },
  arm64: { read: 63, write: 64, poll: -1, ppoll: 73, epoll_wait: -1, epoll_pwait: 22, futex: 98 },
} as const;

/** The threads of a process. */
export function threadsOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** The state of a process as `ps` shows it: `T` is stopped; undefined where it is gone. */
export function stateOf(pid: number): string | undefined {
  try {
    return /^State:\s*(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  } catch {
    return undefined;
  }
}

function polled(pid: number, tid: number, address: number, count: number): string[] {
  const bytes = readProgram(tid, address, Math.min(count, MOST_FILES) * POLLFD_BYTES);
  if (bytes === undefined) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const names: string[] = [];
  for (let at = 0; at + POLLFD_BYTES <= bytes.length; at += POLLFD_BYTES) {
    const name = descriptorName(pid, view.getInt32(at, true));
    if (name !== undefined) names.push(name);
  }
  return names;
}

function watched(pid: number, epollFd: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/fdinfo/${epollFd}`, 'latin1');
    return [...text.matchAll(/^tfd:\s*(\d+)/gm)].flatMap(([, fd]) => descriptorName(pid, Number(fd)) ?? []);
  } catch {
    return [];
  }
}

/** What a thread waits for. */
export function waitOf(pid: number, tid: number, machine: Machine): ThreadWait {
  if (stateOf(tid) === 'T') return { kind: 'stopped' };
  const call = blockedCall(tid);
  if (call === 'running') return { kind: 'running' };
  if (call === undefined) return { kind: 'other' };
  const numbers = CALLS[machine];
  const [first, second] = call.args;
  switch (call.number) {
    case numbers.read:
    case numbers.write: {
      const name = descriptorName(pid, first);
      return { kind: 'files', polls: false, names: name === undefined ? [] : [name] };
    }
    case numbers.poll:
    case numbers.ppoll:
      return { kind: 'files', polls: true, names: polled(pid, tid, first, second) };
    case numbers.epoll_wait:
    case numbers.epoll_pwait:
      return { kind: 'files', polls: true, names: watched(pid, first) };
    case numbers.futex:
      return { kind: 'futex', address: BigInt(first) };
    default:
      return { kind: 'other' };
  }
}
