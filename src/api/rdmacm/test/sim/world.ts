import type { Pd } from '../../../../entry/index.js';
import type { Client } from './client.js';
import type { CallToAll } from './groups.js';
import type { Host } from './host.js';
import type { Heard, Member } from './member.js';
import type { Registry } from './registry.js';
import type { Server } from './server.js';

/** What the actors of a run share: the time, and who is who. */
export interface World {
  readonly registry: Registry;
  readonly nowUs: number;
  /** No message is lost or late. */
  readonly calm: boolean;
  after(afterUs: number, action: () => void): void;
  trace(line: () => string): void;
  /** A protection domain of another host. */
  foreignPd(host: Host): Pd;
  groupAddress(group: number): string;
  /** Somebody says something to a group; somebody hears something. */
  noteCall(call: CallToAll): void;
  checkHearing(member: Member, heard: Heard): void;
  addressOf(target: number | 'nowhere'): string;
  /** Every server that a client's request has come to. */
  serversOf(client: Client): readonly Server[];
}
