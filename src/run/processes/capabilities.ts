import { readFileSync } from 'node:fs';

/** Bits of capabilities(7). */
export const Capability = { NET_RAW: 13 } as const;

/** Whether a thread of a program has a capability, in its user namespace. */
export function hasCapability(tid: number, capability: number): boolean {
  try {
    const effective = /^CapEff:\s*([\da-f]+)/m.exec(readFileSync(`/proc/${tid}/status`, 'latin1'))?.[1];
    return ((BigInt(`0x${effective ?? '0'}`) >> BigInt(capability)) & 1n) === 1n;
  } catch {
    return false;
  }
}
