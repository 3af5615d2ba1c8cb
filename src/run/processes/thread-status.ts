import { readFileSync } from 'node:fs';

function field(status: string, name: string, radix: string): bigint {
  const digits = new RegExp(`^${name}:\\s*([0-9a-f]+)`, 'm').exec(status)?.[1];
  return digits === undefined ? 0n : BigInt(`${radix}${digits}`);
}

function statusOf(tid: number): string {
  try {
    return readFileSync(`/proc/${tid}/status`, 'latin1');
  } catch {
    return '';
  }
}

/** Whether another process traces a thread, as debuggers do. */
export function isTraced(tid: number): boolean {
  return field(statusOf(tid), 'TracerPid', '') !== 0n;
}

/**
 * Whether a signal waits for a thread that is blocked in a call. Of the signals of a process only those of its first thread
 * count: the kernel prefers it, and chooses another where it blocks the signal.
 */
export function hasPendingSignal(tid: number): boolean {
  const status = statusOf(tid);
  const isFirst = field(status, 'Tgid', '') === BigInt(tid);
  const pending = field(status, 'SigPnd', '0x') | (isFirst ? field(status, 'ShdPnd', '0x') : 0n);
  return (pending & ~field(status, 'SigBlk', '0x')) !== 0n;
}
