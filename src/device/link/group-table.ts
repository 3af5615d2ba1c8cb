import { type Gid, ipFromGid, isIpv4Gid } from '../ibta/index.js';
import { isMulticastGid } from '../wire/index.js';
import { LinkError, MAX_GROUPS } from './link.js';

/** The groups that a link is in, each with what it takes to be in it. */
export class GroupTable<Membership> {
  readonly #entries = new Map<string, { readonly membership: Membership; joins: number }>();

  /**
   * @param ipv6 the IP version of the link
   * @param enter called when a group is joined for the first time; may throw
   * @param exit called when it is left for the last time
   */
  constructor(
    private readonly ipv6: boolean,
    private readonly enter: (group: Gid) => Membership,
    private readonly exit: (membership: Membership) => void,
  ) {}

  get size(): number {
    return this.#entries.size;
  }

  /** @throws LinkError as `Link.joinGroup` does */
  join(group: Gid): void {
    const name = ipFromGid(group);
    const entry = this.#entries.get(name);
    if (entry !== undefined) {
      entry.joins += 1;
      return;
    }
    if (!isMulticastGid(group)) throw new LinkError('EINVAL', `${name} is not a multicast group.`);
    if (this.ipv6 === isIpv4Gid(group)) {
      const [own, other] = this.ipv6 ? ['IPv6', 'IPv4'] : ['IPv4', 'IPv6'];
      throw new LinkError('EINVAL', `${name} is a group of ${other}, but the NIC's address is one of ${own}.`);
    }
    if (this.#entries.size >= MAX_GROUPS) {
      throw new LinkError('ENOMEM', `the NIC is in ${MAX_GROUPS} groups already and cannot join ${name} as well.`);
    }
    this.#entries.set(name, { membership: this.enter(group.slice()), joins: 1 });
  }

  leave(group: Gid): void {
    const name = ipFromGid(group);
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    entry.joins -= 1;
    if (entry.joins > 0) return;
    this.#entries.delete(name);
    this.exit(entry.membership);
  }

  *memberships(): Generator<Membership> {
    for (const { membership } of this.#entries.values()) yield membership;
  }

  clear(): void {
    const memberships = [...this.memberships()];
    this.#entries.clear();
    for (const membership of memberships) this.exit(membership);
  }
}
