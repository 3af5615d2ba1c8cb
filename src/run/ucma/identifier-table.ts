import { invalid, VerbsError } from '../../api/verbs/index.js';
import type { CmId, FullAddress, SocketAddress } from '../../api/rdmacm/index.js';
import { Identifier, Membership } from './identifier.js';

/** Identifiers and memberships that there may be at a time. */
const MOST = 65_536;

/** The identifiers of all open files, and the groups that they are in, by the numbers that programs name them by. */
export class IdentifierTable {
  readonly #identifiers = new Map<number, Identifier>();
  readonly #memberships = new Map<number, Membership>();
  readonly #byFile = new Map<object, Set<Identifier>>();
  #next = 0;

  add(cmId: CmId, file: object, uid: bigint | undefined): Identifier {
    const identifier = new Identifier(this.#fresh(), cmId, file, uid);
    cmId.context = identifier;
    this.#identifiers.set(identifier.number, identifier);
    this.#ofFile(file).add(identifier);
    return identifier;
  }

  /** @throws VerbsError ENOENT where there is none, or none that the program was told of; EINVAL when it is another file's */
  get(call: string, number: number, file: object): Identifier {
    return this.#find(call, this.#identifiers.get(number), number, file);
  }

  remove(identifier: Identifier): void {
    this.#identifiers.delete(identifier.number);
    this.#leaveFile(identifier);
    for (const { number } of identifier.memberships) this.#memberships.delete(number);
  }

  /** The identifier reports to another file from now on. */
  move(identifier: Identifier, to: object): void {
    this.#leaveFile(identifier);
    identifier.file = to;
    this.#ofFile(to).add(identifier);
  }

  of(file: object): Identifier[] {
    return [...(this.#byFile.get(file) ?? [])];
  }

  listening(): FullAddress[] {
    const found: FullAddress[] = [];
    for (const { isListening, cmId } of this.#identifiers.values())
      if (isListening && cmId.localAddr !== undefined) found.push(cmId.localAddr);
    return found;
  }

  addMembership(identifier: Identifier, uid: bigint, group: SocketAddress): Membership {
    const membership = new Membership(this.#fresh(), identifier, uid, group);
    this.#memberships.set(membership.number, membership);
    identifier.memberships.add(membership);
    return membership;
  }

  /** @throws VerbsError as {@link get} */
  getMembership(call: string, number: number, file: object): Membership {
    const membership = this.#memberships.get(number);
    this.#find(call, membership?.identifier, number, file);
    return membership ?? this.#nobody(call, number);
  }

  removeMembership(membership: Membership): void {
    this.#memberships.delete(membership.number);
    membership.identifier.memberships.delete(membership);
  }

  #ofFile(file: object): Set<Identifier> {
    let identifiers = this.#byFile.get(file);
    if (identifiers === undefined) this.#byFile.set(file, (identifiers = new Set()));
    return identifiers;
  }

  #leaveFile(identifier: Identifier): void {
    const identifiers = this.#byFile.get(identifier.file);
    identifiers?.delete(identifier);
    if (identifiers?.size === 0) this.#byFile.delete(identifier.file);
  }

  #fresh(): number {
    if (this.#identifiers.size + this.#memberships.size >= MOST)
      throw new VerbsError('rdma_create_id', {
        errno: 'ENOMEM',
        message: `there are ${MOST} identifiers and memberships`,
        advice: '',
      });
    do this.#next = (this.#next + 1) & 0x7fffffff;
    while (this.#identifiers.has(this.#next) || this.#memberships.has(this.#next));
    return this.#next;
  }

  #find(call: string, identifier: Identifier | undefined, number: number, file: object): Identifier {
    // As in Linux, whose `ucma_get_event` makes the context of a request findable.
    if (identifier?.isTold !== true) return this.#nobody(call, number);
    if (identifier.file !== file)
      throw new VerbsError(call, invalid(`identifier ${number} reports to another event channel`));
    return identifier;
  }

  #nobody(call: string, number: number): never {
    throw new VerbsError(call, { errno: 'ENOENT', message: `there is no identifier ${number}`, advice: '' });
  }
}
