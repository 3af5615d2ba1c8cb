import type { Adapter } from '../../../../device/adapter/adapter.js';
import { Connection } from '../../../../device/cm/connections/connection.js';
import type { KnownConnection } from '../../../../device/cm/connections/connection-rules.js';
import { CmAttribute, type CmMessage, decodeCmMessage } from '../../../../device/wire/index.js';
import type { Context } from '../../../../entry/index.js';
import { adapterOf } from '../../../../../test/support/holdings.js';
import { attributeName } from './faults.js';

/** What a connection manager holds. All of it is zero when nothing is left of anything. */
export interface Holdings {
  readonly identifiers: number;
  readonly connections: number;
  readonly timers: number;
}

/** Bytes of the GUID that a rejection for a timeout bears. */
const GUID_BYTES = 8;

/** A look inside the adapter of a simulated device, which counts its messages from now on. */
export class Inside {
  readonly #adapter: Adapter;
  #messages = 0;

  constructor(context: Context) {
    this.#adapter = adapterOf(context);
    this.#countMessages();
  }

  get counters(): Record<string, number> {
    return this.#adapter.cm.counters.snapshot();
  }

  /** The timers are those of queue pairs as well. */
  get holdings(): Holdings {
    const { nic, cm } = this.#adapter;
    const { identifiers, directory } = cm;
    return { identifiers: identifiers.size, connections: directory.size, timers: nic.timers.size };
  }

  /** All that its connection manager has and has said, and its queue pairs. */
  get picture(): string {
    const { nic, cm } = this.#adapter;
    const identifiers = [...cm.identifiers.values()].map(({ id, port = 0, listener, conversation }) => {
      const state = conversation instanceof Connection ? conversation.state : conversation?.constructor.name;
      return `${id}:${port}:${listener === undefined ? '' : 'listens'}:${state ?? ''}`;
    });
    const qps = [...nic.objects.qps.values()].map(({ qpn, state }) => `${qpn}:${state}`);
    const cqs = nic.objects.cqs.size;
    return [...identifiers, cm.directory.size, nic.timers.size, ...qps, cqs, this.#messages].join(' ');
  }

  /** Has `met` called with every message that comes, and the state of the connection that it comes to. */
  watch(met: (meeting: string) => void): void {
    const { nic, cm } = this.#adapter;
    const services = nic.generalServices;
    const { receiver } = services;
    services.receiver = (datagram) => {
      const message = decodeCmMessage(datagram.mad);
      if (message !== undefined) {
        const found = connectionOf(cm, message, datagram.source);
        if (found !== undefined) met(`${attributeName(message.attribute)} in ${found.state}`);
      }
      receiver?.(datagram);
    };
  }

  #countMessages(): void {
    const { counters } = this.#adapter.cm;
    const add = counters.add.bind(counters);
    counters.add = (family, attribute) => {
      this.#messages += 1;
      add(family, attribute);
    };
  }
}

/** The connection that a message is about, as the peer names it or as we do. */
function connectionOf(
  { directory }: Adapter['cm'],
  message: CmMessage,
  source: Uint8Array,
): KnownConnection | undefined {
  if (message.attribute === CmAttribute.REQ)
    return directory.findRemote(message.localCommId, message.localCaGuid, source);
  const found = 'remoteCommId' in message ? directory.find(message.remoteCommId) : undefined;
  if (found instanceof Connection) return found;
  // A peer that gives up may not have learnt our name, and gives its own.
  return message.attribute === CmAttribute.REJ && message.rejectedInfoLength >= GUID_BYTES
    ? directory.findRemote(message.localCommId, Buffer.from(message.additionalInfo).readBigUInt64BE(), source)
    : undefined;
}
