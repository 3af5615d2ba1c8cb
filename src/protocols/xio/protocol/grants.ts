import { type Access, type Body, DirectOperation, type DirectRequest, encodeMapped, XioStatus } from '../wire/index.js';
import type { Item } from './item.js';
import { hex } from './served-sessions.js';

export const MOST_GRANTS = 4096;
/** Places that were revoked, and that the peer has not let go of: beyond that it is not waited for. */
const MOST_LINGERING = 256;

/** How a link names memory that the peer uses when it likes. */
export interface GrantedPlace {
  readonly place: Uint8Array;
  /** From now on nothing that the peer does reaches the memory. */
  revoke(): void;
  /** The peer has nothing under way there. */
  release(): void;
}

/** A direct request's answer, until the peer has it. */
export interface GrantAnswer {
  /** Nothing of the memory is sent any more; where the answer was not sent, it is that. */
  spoil(status: XioStatus): void;
}

/** What grants are made with. L is a connection of the session, whatever it goes by. */
export interface GrantHost<L> {
  /** The link that the connection goes by now. */
  linkOf(lane: L): object | undefined;
  /** Lets the peer use memory by the link that the connection goes by; undefined where that cannot be. */
  expose(lane: L, bytes: Uint8Array, access: Access): GrantedPlace | undefined;
  /** Asks the peer to let go of it. @returns false when nothing can be asked any more; otherwise `done` is called once */
  revoke(lane: L, id: Uint8Array, done: () => void): boolean;
  /** What still comes for memory is to go elsewhere. */
  redirect(lane: L, landing: Body): void;
}

interface Mapping {
  readonly link: object;
  /** Undefined where the memory is used by messages. */
  readonly place: GrantedPlace | undefined;
}

interface Landing<L> {
  readonly lane: L;
  readonly link: object;
  readonly memory: Uint8Array;
}

/** Memory that the peer may use, until it is revoked. */
class Grant<L> {
  readonly mappings = new Map<L, Mapping>();
  /** Where bodies of the peer's are landing. */
  readonly landings = new Set<Landing<L>>();
  readonly answers = new Set<GrantAnswer>();

  constructor(
    readonly id: Uint8Array,
    readonly bytes: Uint8Array,
    readonly access: Access,
    /** As it was granted: memory of the program's can go. */
    readonly length = bytes.byteLength,
  ) {}
}

/** What this end has granted to the peer. Pure: it neither sends nor waits. */
export class Grants<L> {
  readonly #byId = new Map<string, Grant<L>>();
  readonly #lingering = new Set<GrantedPlace>();

  constructor(private readonly host: GrantHost<L>) {}

  get size(): number {
    return this.#byId.size;
  }

  /** Grants memory, under a name that nobody can guess. There must be fewer than {@link MOST_GRANTS}. */
  add(id: Uint8Array, bytes: Uint8Array, access: Access): void {
    this.#byId.set(hex(id), new Grant(id, bytes, access));
  }

  has(id: Uint8Array): boolean {
    return this.#byId.has(hex(id));
  }

  /** From now on the peer reaches it no more. Idempotent. */
  revoke(id: Uint8Array): void {
    const grant = this.#byId.get(hex(id));
    if (grant === undefined) return;
    this.#byId.delete(hex(id));
    // All of it first: what is asked of the peer may end the session.
    for (const { place } of grant.mappings.values()) place?.revoke();
    for (const answer of grant.answers) answer.spoil(XioStatus.XIO_E_USER_OBJ_NOT_FOUND);
    this.#redirect(grant);
    for (const [lane, mapping] of grant.mappings) this.#part(lane, id, mapping);
  }

  /** The session is over: nobody is waited for. */
  end(): void {
    for (const grant of this.#byId.values()) {
      for (const { place } of grant.mappings.values()) place?.release();
      this.#redirect(grant);
    }
    this.#byId.clear();
    for (const place of this.#lingering) place.release();
    this.#lingering.clear();
  }

  /**
   * Whether a request of the peer's can be done.
   *
   * @returns XIO_E_SUCCESS, or why it cannot
   */
  check({ operation, id, offset, length }: DirectRequest): XioStatus {
    const grant = this.#byId.get(hex(id));
    if (grant === undefined || grant.bytes.byteLength !== grant.length) return XioStatus.XIO_E_USER_OBJ_NOT_FOUND;
    if (operation === DirectOperation.MAP) return XioStatus.XIO_E_SUCCESS;
    const { read, write } = grant.access;
    if (operation === DirectOperation.READ && !read) return XioStatus.XIO_E_READ_FAILED;
    if (operation === DirectOperation.WRITE && !write) return XioStatus.XIO_E_WRITE_FAILED;
    return offset + length <= grant.length ? XioStatus.XIO_E_SUCCESS : XioStatus.XIO_E_REM_USER_BUF_OVERFLOW;
  }

  memory({ id, offset, length }: DirectRequest): Uint8Array {
    const grant = this.#byId.get(hex(id));
    return grant?.bytes.subarray(offset, offset + length) ?? new Uint8Array(0);
  }

  /** The header of the answer to MAP, as it is now: it is said for one link. Empty where the grant is gone. */
  map(lane: L, id: Uint8Array): Uint8Array {
    const grant = this.#byId.get(hex(id));
    const link = this.host.linkOf(lane);
    if (grant === undefined || link === undefined) return new Uint8Array(0);
    let mapping = grant.mappings.get(lane);
    if (mapping?.link !== link) {
      mapping?.place?.release();
      mapping = { link, place: this.host.expose(lane, grant.bytes, grant.access) };
      grant.mappings.set(lane, mapping);
    }
    return encodeMapped({ length: grant.length, access: grant.access, place: mapping.place?.place });
  }

  /** The body of a WRITE begins to come. @returns where it is to lie; undefined where it is not to be written */
  landing(lane: L, request: DirectRequest): Uint8Array | undefined {
    const grant = this.#byId.get(hex(request.id));
    const link = this.host.linkOf(lane);
    if (grant === undefined || link === undefined || this.check(request) !== XioStatus.XIO_E_SUCCESS) return undefined;
    // Those of links that are lost do not come any more.
    for (const landing of grant.landings)
      if (this.host.linkOf(landing.lane) !== landing.link) grant.landings.delete(landing);
    const memory = this.memory(request);
    grant.landings.add({ lane, link, memory });
    return memory;
  }

  /** It has come. @returns whether it lies where {@link landing} said, and the grant is still there */
  landed({ id }: DirectRequest, body: Body): boolean {
    const grant = this.#byId.get(hex(id));
    for (const landing of grant?.landings ?? [])
      if (landing.memory === body) return grant?.landings.delete(landing) === true;
    return false;
  }

  /** An answer sends memory from where it lies. @returns it is done with that */
  answering({ id }: DirectRequest, answer: GrantAnswer): () => void {
    const answers = this.#byId.get(hex(id))?.answers;
    answers?.add(answer);
    return () => answers?.delete(answer);
  }

  /** What still comes for its memory goes elsewhere. */
  #redirect({ landings }: Grant<L>): void {
    for (const { lane, link, memory } of landings)
      if (this.host.linkOf(lane) === link) this.host.redirect(lane, memory);
  }

  #part(lane: L, id: Uint8Array, { link, place }: Mapping): void {
    const isThere = this.host.linkOf(lane) === link;
    if (!isThere) {
      place?.release();
      return;
    }
    if (place !== undefined) this.#linger(place);
    const done = (): void => {
      if (place === undefined || !this.#lingering.delete(place)) return;
      place.release();
    };
    if (!this.host.revoke(lane, id, done)) done();
  }

  #linger(place: GrantedPlace): void {
    this.#lingering.add(place);
    const [oldest] = this.#lingering;
    if (this.#lingering.size <= MOST_LINGERING) return;
    this.#lingering.delete(oldest);
    oldest.release();
  }
}

export function spoilable(item: Item, takeBack: () => void): GrantAnswer {
  return {
    spoil: (status) => {
      takeBack();
      item.spoil(status);
    },
  };
}
