import { type CmArgument, type CmDevice, cmDeviceOf, type CmValue, type CmVerb } from '../../src/api/provider/index.js';
import { Connection } from '../../src/device/cm/connections/connection.js';
import type { CmEvent } from '../../src/device/cm/index.js';
import { Resolution } from '../../src/device/cm/resolution/resolution.js';
import { CmEventType, gidFromIp } from '../../src/device/ibta/index.js';
import { serviceId } from '../../src/device/wire/index.js';
import { type Context, PortSpace, type Qp, QpState, QpType } from '../../src/entry/index.js';
import { req } from '../../src/device/cm/test/support/messages.js';
import type { Choices } from '../fuzz/random.js';
import type { Forge } from './forge.js';
import { BACKLOG, PORT, SILENT, SLOW, UDP_PORT, VICTIM } from './addresses.js';

/** What every program here says of its connections. */
const PARAMETERS = {
  privateData: new Uint8Array(0),
  responderResources: 4,
  initiatorDepth: 4,
  flowControl: false,
  rnrRetryCount: 7,
};
const CALL = 'test';
const MOST_EVENTS = 1000;
/** Long enough for any exchange of messages here. */
const EXCHANGE_US = 1000;

/** Conversations of the victim's with friends: one there, one asked for, one agreed to, and one for the name of a datagram queue pair. */
export class Conversations {
  readonly established: Connection;
  readonly asking: Connection;
  readonly agreed: Connection;
  readonly resolving: Resolution;
  /** QPNs of the two ends of {@link established}. */
  readonly ownQpn: number;
  readonly friendQpn: number;
  /** What has happened since the last look. */
  readonly news: CmEvent[] = [];
  readonly #cm: CmDevice;
  readonly #friends: readonly (Connection | Resolution)[];
  readonly #states: readonly string[];
  /** Identifiers of requests that the program has not answered. */
  #waiting: number[] = [];

  constructor(
    victim: Context,
    private readonly manager: { raise(event: CmEvent): void; readonly identifiers: ReadonlyMap<number, unknown> },
    parts: { readonly friend: Context; readonly forge: Forge; readonly choices: Choices; settle: (us: number) => void },
  ) {
    const { friend, forge, choices, settle } = parts;
    this.#cm = cmDeviceOf(victim, CALL);
    const raise = manager.raise.bind(manager);
    manager.raise = (event) => {
      this.news.push(event);
      raise(event);
    };
    const friendCm = cmDeviceOf(friend, CALL);
    for (const [portSpace, port] of [
      [PortSpace.TCP, PORT],
      [PortSpace.UDP, UDP_PORT],
    ] as const) {
      const id = this.#do('cmCreateId', { portSpace });
      this.#do('cmBind', { id, port, reuseAddr: false });
      this.#do('cmListen', { id, backlog: BACKLOG });
    }

    const friendQp = queuePair(friend);
    this.friendQpn = friendQp.qpNum;
    friendCm.execute(CALL, 'cmConnect', {
      ...PARAMETERS,
      id: friendCm.execute(CALL, 'cmCreateId', { portSpace: PortSpace.TCP }),
      destination: gidFromIp(VICTIM),
      port: PORT,
      qp: managed(friendQp),
      retryCount: 7,
      trafficClass: 0,
    });
    settle(EXCHANGE_US);
    const ownQp = queuePair(victim);
    this.ownQpn = ownQp.qpNum;
    const established = this.#accept(ownQp);
    settle(EXCHANGE_US);

    const portSpaces = [PortSpace.TCP, PortSpace.UDP] as const;
    const [asking, resolving] = portSpaces.map((portSpace) => {
      const id = this.#do('cmCreateId', { portSpace });
      const qp = portSpace === PortSpace.TCP ? managed(queuePair(victim)) : undefined;
      const to = { destination: gidFromIp(SILENT), port: PORT, retryCount: 7, trafficClass: 0 };
      this.#do('cmConnect', { ...PARAMETERS, ...to, id, qp });
      return id;
    });

    const way = { from: { gid: gidFromIp(SLOW) }, to: { gid: gidFromIp(VICTIM) } };
    const names = { localCommId: choices.u32() >>> 0, localQpn: choices.u32() & 0xffffff };
    forge.say(SLOW, req(way, { ...names, serviceId: serviceId(PortSpace.TCP, PORT) }));
    settle(EXCHANGE_US);
    const agreed = this.#accept(queuePair(victim));
    this.takeNews();

    this.established = this.#conversation(established, Connection);
    this.asking = this.#conversation(asking, Connection);
    this.agreed = this.#conversation(agreed, Connection);
    this.resolving = this.#conversation(resolving, Resolution);
    this.#friends = [this.established, this.asking, this.agreed, this.resolving];
    this.#states = this.#friends.map(stateOf);
    this.#known = new Set([established, asking, agreed, resolving]);
  }
  readonly #known: ReadonlySet<number>;

  /** Whether an identifier is one that the victim and a friend share. */
  isFriends(id: number): boolean {
    return this.#known.has(id);
  }

  /** Whether the connection that was there is being ended. */
  get ends(): boolean {
    return this.established.state !== 'ESTABLISHED';
  }

  /** Whether a conversation has left the state in which only a friend may move it. */
  get moved(): boolean {
    return this.#friends.some((friend, i) => stateOf(friend) !== this.#states[i]);
  }

  /** What has happened since the last time; requests among it wait for the program. */
  takeNews(): CmEvent[] {
    const news = this.news.splice(0);
    if (news.length === 0) return news;
    this.#do('cmTakeEvents', MOST_EVENTS);
    for (const { type, id } of news) if (type === CmEventType.CONNECT_REQUEST) this.#waiting.push(id);
    return news;
  }

  /** The program looks at the requests of strangers at last, and refuses them all. */
  refuseStrangers(): void {
    for (const id of this.#waiting) if (this.manager.identifiers.has(id)) this.#do('cmDestroyId', id);
    this.#waiting = [];
  }

  #accept(qp: Qp): number {
    this.takeNews();
    const id = this.#waiting.pop();
    if (id === undefined) throw new Error('no request has come');
    this.#do('cmAccept', { ...PARAMETERS, id, qp: managed(qp) });
    return id;
  }

  #conversation<T>(id: number, type: new (...parts: never) => T): T {
    const found = this.manager.identifiers.get(id);
    const conversation = typeof found === 'object' && found !== null && 'conversation' in found && found.conversation;
    if (conversation instanceof type) return conversation;
    throw new Error(`identifier ${id} has no ${type.name}`);
  }

  #do<V extends CmVerb>(verb: V, argument: CmArgument<V>): CmValue<V> {
    return this.#cm.execute(CALL, verb, argument);
  }
}

/** A resolution has one state: it lasts. */
function stateOf(conversation: Connection | Resolution): string {
  return conversation instanceof Connection ? conversation.state : 'ASKED';
}

function managed({ qpNum, qpType }: Qp) {
  return { qpNum, qpType, srq: false, managed: true };
}

function queuePair(context: Context): Qp {
  const cq = context.createCq({ cqe: 16 });
  const qp = context.allocPd().createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
  return qp;
}
