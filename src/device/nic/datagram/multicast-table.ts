import { formatGid, type Gid, gidsEqual, QpCreateFlags, QpType } from '../../ibta/index.js';
import { dethOffset, dethSourceQp, isMulticastGid, type PacketMeta } from '../../wire/index.js';
import { CommandError } from '../command-error.js';
import type { QueuePair } from '../queue-pairs/queue-pair.js';

/** How the table tells the link which groups it wants to hear. Both may throw CommandError. */
interface Membership {
  join(gid: Gid): void;
  leave(gid: Gid): void;
}

interface Limits {
  readonly maxMcastGrp: number;
  readonly maxMcastQpAttach: number;
}

class Group {
  readonly members: QueuePair[] = [];

  constructor(readonly gid: Gid) {}
}

/** Which UD QPs hear which multicast groups (protocol/services.md 3.5, `man ibv_attach_mcast`). */
export class MulticastTable {
  /** Groups by a hash of their GID, so that looking one up for a packet makes no string. */
  readonly #groups = new Map<number, Group[]>();
  /** To how many groups each QP is attached. */
  readonly #attachments = new Map<QueuePair, number>();
  readonly #words = new Int32Array(4);
  readonly #key = new Uint8Array(this.#words.buffer);
  #size = 0;

  constructor(
    private readonly limits: Limits,
    private readonly membership: Membership,
    /** The port's own addresses: what comes from one of them was sent here. */
    private readonly port: { readonly gids: readonly (Gid | undefined)[] },
  ) {}

  /**
   * Lets a QP hear a group; doing so again changes nothing.
   *
   * @throws CommandError EINVAL for a QP that is not of type UD, or a GID that names no group; ENOMEM when there are too
   *   many groups, or QPs in this one; and whatever the link says when the first one joins
   */
  attach(qp: QueuePair, gid: Gid): void {
    this.#check(qp, gid);
    const { maxMcastGrp, maxMcastQpAttach } = this.limits;
    let group = this.#find(gid);
    if (group?.members.includes(qp) === true) return;
    if (group === undefined) {
      if (this.#size >= maxMcastGrp) throw new CommandError('ENOMEM', `no more than ${maxMcastGrp} multicast groups`);
      this.membership.join(gid);
      group = new Group(Uint8Array.from(gid));
      const hash = this.#hashOf(gid);
      const bucket = this.#groups.get(hash);
      if (bucket === undefined) this.#groups.set(hash, [group]);
      else bucket.push(group);
      this.#size += 1;
    } else if (group.members.length >= maxMcastQpAttach) {
      throw new CommandError('ENOMEM', `no more than ${maxMcastQpAttach} queue pairs in a multicast group`);
    }
    group.members.push(qp);
    this.#attachments.set(qp, (this.#attachments.get(qp) ?? 0) + 1);
  }

  /** @throws CommandError EINVAL when the QP is not attached to the group */
  detach(qp: QueuePair, gid: Gid): void {
    this.#check(qp, gid);
    const group = this.#find(gid);
    const at = group === undefined ? -1 : group.members.indexOf(qp);
    if (group === undefined || at < 0)
      throw new CommandError('EINVAL', `QP 0x${qp.qpn.toString(16)} is not attached to ${formatGid(gid)}`);
    if (group.members.length === 1) {
      this.membership.leave(group.gid);
      this.#remove(group);
    }
    group.members.splice(at, 1);
    const left = (this.#attachments.get(qp) ?? 1) - 1;
    if (left === 0) this.#attachments.delete(qp);
    else this.#attachments.set(qp, left);
  }

  detachAll(qp: QueuePair): void {
    if (!this.isAttached(qp)) return;
    for (const bucket of [...this.#groups.values()])
      for (const { gid, members } of [...bucket]) if (members.includes(qp)) this.detach(qp, gid);
  }

  get size(): number {
    return this.#size;
  }

  /** Whether the QP hears some group, and so cannot be destroyed (EBUSY). */
  isAttached(qp: QueuePair): boolean {
    return this.#attachments.has(qp);
  }

  /**
   * The QPs that are to get a packet sent to a group, or undefined when none hears it. To be used before anything is
   * attached or detached.
   */
  membersOf(destinationWords: Int32Array): readonly QueuePair[] | undefined {
    const bucket = this.#groups.get(hash(destinationWords));
    if (bucket === undefined) return undefined;
    this.#words.set(destinationWords);
    for (const group of bucket) if (gidsEqual(group.gid, this.#key)) return group.members;
    return undefined;
  }

  /** Whether the packet is the QP's own, and the QP was made not to hear itself (`QpCreateFlags.BLOCK_SELF_MCAST_LB`). */
  isBlocked(qp: QueuePair, bytes: Uint8Array, offset: number, meta: PacketMeta): boolean {
    if ((qp.createFlags & QpCreateFlags.BLOCK_SELF_MCAST_LB) === 0) return false;
    if (dethSourceQp(bytes, offset + dethOffset[bytes[offset]]) !== qp.qpn) return false;
    for (const gid of this.port.gids) if (gid !== undefined && gidsEqual(gid, meta.source)) return true;
    return false;
  }

  #check(qp: QueuePair, gid: Gid): void {
    if (qp.type !== QpType.UD)
      throw new CommandError('EINVAL', 'only queue pairs of type UD can be attached to multicast groups');
    if (gid.length !== 16 || !isMulticastGid(gid))
      throw new CommandError(
        'EINVAL',
        `a multicast group is 224.0.0.0/4 mapped into IPv6, or ff00::/8, not ${gid.length === 16 ? formatGid(gid) : `${gid.length} bytes`}`,
      );
  }

  #find(gid: Gid): Group | undefined {
    return this.#groups.get(this.#hashOf(gid))?.find((group) => gidsEqual(group.gid, gid));
  }

  #remove(group: Group): void {
    const key = this.#hashOf(group.gid);
    const left = (this.#groups.get(key) ?? []).filter((other) => other !== group);
    if (left.length === 0) this.#groups.delete(key);
    else this.#groups.set(key, left);
    this.#size -= 1;
  }

  #hashOf(gid: Gid): number {
    this.#key.set(gid);
    return hash(this.#words);
  }
}

function hash(words: Int32Array): number {
  return words[0] ^ Math.imul(words[1], 0x9e3779b1) ^ Math.imul(words[2], 0x85ebca6b) ^ words[3];
}
