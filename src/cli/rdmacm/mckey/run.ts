import { setTimeout } from 'node:timers/promises';
import {
  type CmEvent,
  cmEventStr,
  CmEventType,
  createEventChannel,
  createId,
  type EventChannel,
  type PortSpace,
  type SocketAddress,
} from '../../../entry/index.js';
import { adviceOn, isFailure } from '../common/event-text.js';
import { cmDevices } from '../common/hosting.js';
import { TestFailure } from '../common/status.js';
import { attempt } from '../../kit/errors.js';
import { gidText } from '../../kit/addresses.js';
import type { HostingOptions } from '../../kit/options.js';
import { Member, type Membership } from './member.js';

const RESOLVE_MS = 2000;

export interface MckeySetup extends Membership {
  readonly hosting: HostingOptions;
  readonly source?: SocketAddress;
  readonly portSpace: PortSpace;
  /** Whether the address of the group is taken as it is, without asking how it is reached. */
  readonly unmapped: boolean;
  readonly connections: number;
  readonly pauseMs: number;
  /** Told of what happens, in the words of the C tool. */
  readonly say: (line: string) => void;
}

export interface Joined {
  readonly qpNum: number;
  readonly dgid: string;
  readonly mlid: number;
  readonly sl: number;
  readonly remoteQpn: number;
  readonly qkey: number;
}

export interface MckeyResult {
  readonly joined: readonly Joined[];
  readonly sent: number;
  readonly received: number;
  /** How many messages came from which sender, by the number it gives itself. */
  readonly senders: readonly { readonly qpNum: number; readonly messages: number }[];
}

/** Queue pairs that join a group, and send to it or receive from it. */
export class Mckey {
  readonly #setup: MckeySetup;
  readonly #channel: EventChannel;
  readonly #members: readonly Member[];
  readonly #joined: Joined[] = [];
  #isClosed = false;

  constructor(setup: MckeySetup) {
    this.#setup = setup;
    this.#channel = createEventChannel(cmDevices(setup.hosting));
    this.#members = Array.from(
      { length: setup.connections },
      () => new Member(createId(this.#channel, setup.portSpace), setup),
    );
  }

  async run(): Promise<MckeyResult> {
    const { sends, messages, connections, pauseMs, say } = this.#setup;
    const events = this.#channel[Symbol.asyncIterator]();
    say('mckey: joining');
    for (const member of this.#members) this.#begin(member);
    while (this.#joined.length < connections) {
      const next = await events.next();
      if (next.done === true) break;
      next.value.ack();
      this.#take(next.value);
    }
    const later = this.#watch(events);
    const senders = new Map<number, number>();
    await Promise.race([later, this.#transfer(senders, pauseMs)]);
    for (const member of this.#members) member.leave();
    const count = messages * connections;
    return {
      joined: this.#joined,
      sent: sends ? count : 0,
      received: sends ? 0 : count,
      senders: [...senders].map(([qpNum, of]) => ({ qpNum, messages: of })),
    };
  }

  /** Leaves the group, at any moment. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const member of this.#members) member.close();
    this.#channel.destroy();
  }

  #begin(member: Member): void {
    const { source, unmapped, group } = this.#setup;
    if (source !== undefined) attempt('mckey: addr bind failure', () => member.id.bindAddr(source));
    if (unmapped) {
      member.join();
      return;
    }
    const options = { timeoutMs: RESOLVE_MS, ...(source === undefined ? {} : { source }) };
    attempt('mckey: resolve addr failure', () => member.id.resolveAddr(group, options));
  }

  async #transfer(senders: Map<number, number>, pauseMs: number): Promise<void> {
    const { messages, sends, say } = this.#setup;
    await setTimeout(pauseMs);
    if (messages === 0) return;
    say(sends ? 'initiating data transfers' : 'receiving data transfers');
    for (const member of this.#members) await (sends ? member.send() : member.receive(senders));
    say('data transfers complete');
  }

  #take(event: CmEvent): void {
    const member = this.#members.find(({ id }) => id === event.id);
    if (member === undefined) return;
    if (event.event === CmEventType.ADDR_RESOLVED) member.join();
    else if (event.event === CmEventType.MULTICAST_JOIN) this.#arrive(member, event);
    else this.#refuse(event);
  }

  #arrive(member: Member, { param: { ud } }: CmEvent): void {
    if (ud === undefined) return;
    member.arrive(ud);
    const { grh, dlid, sl } = ud.ahAttr;
    const dgid = grh === undefined ? '' : gidText(grh.dgid);
    this.#setup.say(`mckey: joined dgid: ${dgid} mlid 0x${dlid.toString(16)} sl ${sl}`);
    this.#joined.push({ qpNum: member.id.qp?.qpNum ?? 0, dgid, mlid: dlid, sl, remoteQpn: ud.qpNum, qkey: ud.qkey });
  }

  #refuse(event: CmEvent): void {
    const isRefused = event.event === CmEventType.MULTICAST_ERROR || isFailure(event);
    if (!isRefused) return;
    const { status } = event;
    this.#setup.say(`mckey: event: ${cmEventStr(event.event)}, error: ${status}`);
    throw new TestFailure(status === 0 ? -1 : status, `The group was not joined: ${adviceOn(event)}`);
  }

  /** Tells of what happens to members later; ends when the device goes. */
  async #watch(events: AsyncIterator<CmEvent, void, undefined>): Promise<void> {
    for (;;) {
      const next = await events.next();
      if (next.done === true) return;
      const event = next.value;
      event.ack();
      const { event: type, status } = event;
      if (type === CmEventType.MULTICAST_ERROR || type === CmEventType.ADDR_CHANGE) {
        this.#setup.say(`mckey: event: ${cmEventStr(type)}, status: ${status}`);
      } else if (type === CmEventType.DEVICE_REMOVAL) this.#refuse(event);
    }
  }
}
