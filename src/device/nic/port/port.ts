import { type Gid, type Mtu, mtuBytes, PortState } from '../../ibta/index.js';
import type { Path } from '../../wire/index.js';
import { CommandError } from '../command-error.js';

/** The partition that every RoCE port belongs to (protocol/packets.md 1.1). */
export const DEFAULT_PKEY = 0xffff;
const PKEY_MASK = 0x7fff;
const FULL_MEMBER = 0x8000;

/** What an administrator changes; what is absent stays. */
export interface PortChange {
  /** Whether the cable is plugged in. */
  readonly linkUp?: boolean | undefined;
  /** The GID table; entry 0 is the link's own address, `undefined` an empty entry. */
  readonly gids?: readonly (Gid | undefined)[] | undefined;
  /** The P_Key table. */
  readonly pkeys?: readonly number[] | undefined;
  /** The device fails: DEVICE_FATAL. */
  readonly fatal?: boolean | undefined;
}

export interface PortStatus {
  readonly state: PortState;
  readonly gids: readonly (Gid | undefined)[];
  readonly pkeys: readonly number[];
  /** Packets with a P_Key that no QP of theirs is in. */
  readonly badPkeyCntr: number;
  /** Datagrams with another Q_Key than their QP's. */
  readonly qkeyViolCntr: number;
}

/**
 * Whether two P_Keys match: the same partition, and not two limited members (protocol/packets.md 1.1). A key
 * whose low 15 bits are 0 is none (IBTA 10.9.1.1).
 */
export function pkeysMatch(a: number, b: number): boolean {
  return (a & PKEY_MASK) !== 0 && ((a ^ b) & PKEY_MASK) === 0 && ((a | b) & FULL_MEMBER) !== 0;
}

/** The port: its tables and whether packets pass. */
export class Port {
  up = true;
  gids: readonly (Gid | undefined)[];
  pkeys: readonly number[];
  /** Ways that packets go, by what names them. */
  readonly paths = new Map<string, Path>();

  constructor(
    gids: readonly Gid[],
    readonly mtu: Mtu,
    pkeys: readonly number[] | undefined,
    private readonly tableLimits: { readonly maxGids: number; readonly maxPkeys: number },
  ) {
    this.gids = gids;
    this.pkeys = pkeys ?? [DEFAULT_PKEY];
  }

  /** Bytes of the largest payload that fits into one packet. */
  get mtuBytes(): number {
    return mtuBytes(this.mtu);
  }

  get state(): PortState {
    return this.up ? PortState.ACTIVE : PortState.DOWN;
  }

  /** The P_Key at `index`, or 0, which matches none, where the table has none. */
  pkey(index: number): number {
    return index < this.pkeys.length ? this.pkeys[index] : 0;
  }

  /** Checks a change whole, before anything of it is done. */
  check({ gids, pkeys }: PortChange): void {
    const { maxGids, maxPkeys } = this.tableLimits;
    if (gids !== undefined && gids.length > maxGids)
      throw new CommandError('EINVAL', `the GID table has ${maxGids} entries, not ${gids.length}`);
    if (pkeys === undefined) return;
    if (pkeys.length === 0 || pkeys.length > maxPkeys)
      throw new CommandError('EINVAL', `the P_Key table has 1 to ${maxPkeys} entries, not ${pkeys.length}`);
    if (pkeys.some((pkey) => !Number.isInteger(pkey) || (pkey & PKEY_MASK) === 0 || pkey < 0 || pkey > 0xffff))
      throw new CommandError('EINVAL', 'a P_Key is a number of 16 bits, of which the lower 15 are not all 0');
  }
}
