import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gid } from '../../../device/ibta/index.js';
import type { PolledLink } from '../../../device/link/index.js';
import { type LinkKind, openNativeLink } from '../index.js';
import { PollSet } from '../../system/index.js';
import { loopback } from '../../../../test/support/loopback.js';
import { commit, Inbox, packet, pathBetween, type Received } from './udp-helpers.js';

/** Links with a directory of their own for inboxes, closed together. */
export class LocalWorld implements Disposable {
  readonly parent = mkdtempSync(join(tmpdir(), 'verbena-local-'));
  readonly warnings: string[] = [];
  readonly links: PolledLink[] = [];

  /** Opens address `n` of this process. */
  open(n: number, kind: LinkKind = 'auto', directory = this.parent, recorded = false): PolledLink {
    const warn = (text: string): number => this.warnings.push(text);
    const link = openNativeLink({ address: loopback(n), kind, directory, recorded, warn });
    this.links.push(link);
    return link;
  }

  get directory(): string {
    return join(this.parent, `verbena-${process.geteuid?.() ?? -1}`);
  }

  get files(): string[] {
    return readdirSync(this.directory);
  }

  [Symbol.dispose](): void {
    for (const link of this.links) link.close();
    rmSync(this.parent, { recursive: true });
  }
}

/** Sends packets of these lengths at once. */
export function send(from: PolledLink, to: { readonly gid: Gid }, lengths: readonly number[]): void {
  const path = pathBetween(from, to);
  lengths.forEach((length, n) => commit(from, path, packet(length, n)));
  from.flush();
}

/** All that is there, after as many looks as it takes to look at the socket as well. */
export function received(link: PolledLink): Received[] {
  const inbox = new Inbox();
  for (let looks = 0; looks < 100; looks += 1) link.receive(inbox, 64);
  return inbox.packets;
}

/** Bytes without those of the ICRC, which nobody fills in. */
export function contents(packets: readonly Received[]): Uint8Array[] {
  return packets.map(({ bytes }) => bytes.subarray(0, -4));
}

export function expected(lengths: readonly number[]): Uint8Array[] {
  return lengths.map((length, n) => packet(length, n).subarray(0, -4));
}

export function localPackets(link: PolledLink): number {
  return link.statistics()['local_received_packets'] ?? 0;
}

/** Whether one of the link's descriptors is readable, or becomes so. */
export function isReadable(link: PolledLink): boolean {
  return new PollSet(link.pollFds).wait(0) > 0;
}

/** Checks that packets from one to the other arrive whole, and that so many of them come by memory. */
export function assertWay(from: PolledLink, to: PolledLink, byMemory: boolean): void {
  const before = localPackets(to);
  const lengths = [20, 64, 1040];
  send(from, to, lengths);
  const packets = received(to);
  assert.deepEqual(contents(packets), expected(lengths));
  assert.equal(localPackets(to) - before, byMemory ? lengths.length : 0);
}
