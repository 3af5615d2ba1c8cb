import { CmEventType, type Gid, gidsEqual, isOneOf, QpType, RDMA_UDP_QKEY } from '../../../device/ibta/index.js';
import { familyOf, isGroup } from '../../../device/wire/index.js';
import { type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../verbs/index.js';
import { completePeer, gidOf, type SocketAddress } from '../addresses/address.js';
import { addressOf } from '../events/received.js';
import { type JoinMcAttr, McJoinFlag } from '../identifiers/parameters.js';
import type { Identity } from '../identifiers/identity.js';
import type { CmIdResources } from '../identifiers/cm-id-resources.js';

const JOIN = 'rdma_join_multicast';
const LEAVE = 'rdma_leave_multicast';
/** The number that datagrams to a group bear (protocol/services.md 3.5). */
const MULTICAST_QPN = 0xffffff;
const NOTHING = new Uint8Array(0);

const FIELDS: FieldsOf<JoinMcAttr> = { addr: true, joinFlags: true };

interface Membership {
  readonly gid: Gid;
  readonly joinFlags: McJoinFlag;
  attached: boolean;
  /** Events of it that were taken and not acknowledged. */
  unacknowledged: number;
  readonly context: unknown;
}

export class Memberships {
  #all: Membership[] = [];

  constructor(
    private readonly identity: Identity,
    private readonly resources: CmIdResources,
  ) {}

  join(attr: JoinMcAttr, context: unknown): void {
    const device = this.identity.requireContext('joinMulticast');
    refuse(JOIN, fieldsProblem('attr', attr, FIELDS));
    const { joinFlags } = attr;
    if (!isOneOf(McJoinFlag, joinFlags))
      throw new VerbsError(JOIN, invalid(`joinFlags is ${show(joinFlags)}`, 'It is one of McJoinFlag'));
    const { host } = completePeer(JOIN, 'group', attr.addr);
    if (!isGroup(host))
      throw new VerbsError(JOIN, invalid(`${host} is not a multicast group`, 'Groups are 224.0.0.0/4 and ff00::/8'));
    if (familyOf(host) !== familyOf(device.address))
      throw new VerbsError(
        JOIN,
        invalid(`${host} and the device at ${device.address} are of different versions of IP`),
      );
    if (this.identity.qpType !== QpType.UD)
      throw new VerbsError(JOIN, invalid('the identifier is for connections', 'Groups are for the port space UDP'));
    this.#enter({ gid: gidOf(host), joinFlags, attached: false, unacknowledged: 0, context });
    this.identity.complete(JOIN);
  }

  leave(group: SocketAddress): void {
    this.identity.require('leaveMulticast');
    const gid = gidOf(completePeer(LEAVE, 'group', group).host);
    const membership = this.#all.findLast((member) => gidsEqual(member.gid, gid));
    if (membership === undefined) {
      const message = 'the identifier has not joined the group';
      throw new VerbsError(LEAVE, { errno: 'EADDRNOTAVAIL', message, advice: '' });
    }
    if (membership.unacknowledged > 0) {
      const advice = 'Call ack() of the events of the group; the C call would wait here';
      throw new VerbsError(LEAVE, { errno: 'EBUSY', message: 'an event of the group is not acknowledged', advice });
    }
    this.#all = this.#all.filter((member) => member !== membership);
    this.#detach(membership);
    this.identity.queue.discard((report) => report.also === membership);
  }

  attachAll(): void {
    this.#all = this.#all.filter((membership) => membership.attached || this.#attach(membership));
  }

  /** Its queue pair is about to end, which no group may have then. */
  detachAll(): void {
    for (const membership of this.#all) this.#detach(membership);
  }

  #enter(membership: Membership): void {
    const { identity } = this;
    const { gid, context } = membership;
    if (!this.#attach(membership)) return;
    identity.settle(JOIN);
    this.#all.push(membership);
    const ahAttr = addressOf(gid, identity.options.trafficClass);
    const ud = { privateData: NOTHING, ahAttr, qpNum: MULTICAST_QPN, qkey: RDMA_UDP_QKEY };
    identity.raise({ event: CmEventType.MULTICAST_JOIN, param: { ud }, multicastContext: context }, membership);
  }

  /** Has the queue pair, if there is one, get what is sent to the group. @returns false when that cannot be */
  #attach(membership: Membership): boolean {
    const { qp } = this.resources;
    if (qp === undefined || membership.joinFlags === McJoinFlag.SENDONLY_FULLMEMBER) return true;
    try {
      qp.attachMcast(membership.gid);
      membership.attached = true;
      return true;
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      const { context: multicastContext } = membership;
      const status = -error.errnoNumber;
      this.identity.raise({ event: CmEventType.MULTICAST_ERROR, status, error, multicastContext });
      return false;
    }
  }

  /** The queue pair leaves with the last of those who joined for it. */
  #detach(membership: Membership): void {
    if (!membership.attached) return;
    membership.attached = false;
    const stays = this.#all.some((other) => other.attached && gidsEqual(other.gid, membership.gid));
    if (stays) return;
    try {
      this.resources.qp?.detachMcast(membership.gid);
    } catch (error) {
      // The queue pair has ended with its device, or the program has detached it by itself: it is in no group any more.
      if (!(error instanceof VerbsError)) throw error;
    }
  }
}
