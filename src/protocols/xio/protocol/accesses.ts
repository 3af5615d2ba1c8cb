import {
  type Access,
  type Body,
  decodeMapped,
  DirectOperation,
  encodeDirectRequest,
  Flag,
  lengthOf,
  type MoveOutcome,
  part,
  XioStatus,
} from '../wire/index.js';
import { MOST_GRANTS } from './grants.js';
import type { ItemFields } from './item.js';
import { hex } from './served-sessions.js';

/** As often may the peer's adapter refuse what its program has granted: then it grants nothing. */
const MOST_REFUSALS = 2;
/** By messages so much is asked for at a time. */
const MOST_CHUNK_BYTES = 1 << 20;

/** What is told of a request of the session's own. */
export interface Asker {
  onAnswer(status: XioStatus, header: Uint8Array, body: Body): void;
  onFailed(status: XioStatus, mayHaveRun: boolean): void;
}

/** Such a request, until it is answered. */
export interface Asked {
  /** Nobody waits for it any more. */
  giveUp(): void;
  readonly mayHaveRun: boolean;
}

/** A direct access on a link, until it is done. */
export interface Moving {
  takeBack(): void;
}

export interface Moved {
  readonly isRead: boolean;
  readonly place: Uint8Array;
  readonly offset: number;
  readonly memory: Body;
}

/** What accesses are made with. L is a connection of the session, whatever it goes by. */
export interface AccessHost<L> {
  /** The link that the connection goes by now, if there is one. */
  linkOf(lane: L): object | undefined;
  /** Whether memory of the peer's can be reached directly by it. */
  isDirect(lane: L): boolean;
  /** Counts the servers that the connection has begun with. */
  lifeOf(lane: L): number;
  /** The longest bodies of a request of this end's, and of an answer to it. */
  mostBytes(lane: L): { readonly request: number; readonly response: number };
  ask(lane: L, fields: ItemFields & { readonly into?: Body | undefined }, asker: Asker): Asked;
  /** @param onMoved is called once, and not before this returns. @returns undefined when the link cannot */
  move(lane: L, move: Moved, onMoved: (outcome: MoveOutcome) => void): Moving | undefined;
}

/** What a program wants to read or write, and is told of it: once, unless it gives up. */
export interface AccessRequest {
  readonly isRead: boolean;
  readonly id: Uint8Array;
  readonly offset: number;
  readonly memory: Body;
  onDone(): void;
  /** @param mayHaveRun whether anything may have been written */
  onFailed(status: XioStatus, mayHaveRun: boolean): void;
}

/** How a connection's link names a grant, as long as there is that link. */
interface Mapping<L> {
  readonly link: object;
  readonly length: number;
  readonly access: Access;
  readonly place: Uint8Array | undefined;
  readonly users: Set<Running<L>>;
  /** The peer has revoked it, and is told when none is. */
  onIdle: (() => void) | undefined;
}

/** An access, until it is done. */
interface Running<L> {
  readonly request: AccessRequest;
  readonly lane: L;
  readonly life: number;
  /** Of its memory, which the program may transfer. */
  readonly bytes: number;
  refusals: number;
  mayHaveRun: boolean;
  isOver: boolean;
  /** By messages: how much is done. */
  doneBytes: number;
  moving: Moving | undefined;
  asked: Asked | undefined;
}

/** What one connection knows of the peer's grants. */
interface Known<L> {
  readonly mappings: Map<string, Mapping<L>>;
  readonly waiting: Map<string, Running<L>[]>;
}

/**
 * This end's reads and writes of memory that the peer has granted: directly where a link can, by messages where not, and again on the next link where one is lost.
 * Pure: it neither sends nor waits.
 */
export class Accesses<L> {
  readonly #known = new Map<L, Known<L>>();
  readonly #running = new Set<Running<L>>();

  constructor(private readonly host: AccessHost<L>) {}

  /** Accesses that are not done. */
  get size(): number {
    return this.#running.size;
  }

  /** Begins one. @returns gives it up: its memory is the program's from then on. It says whether anything may have been written */
  begin(lane: L, request: AccessRequest): () => boolean {
    const running: Running<L> = {
      request,
      lane,
      life: this.host.lifeOf(lane),
      bytes: lengthOf(request.memory),
      refusals: 0,
      mayHaveRun: false,
      isOver: false,
      doneBytes: 0,
      moving: undefined,
      asked: undefined,
    };
    this.#running.add(running);
    this.#go(running);
    return () => {
      this.#end(running);
      running.moving?.takeBack();
      running.asked?.giveUp();
      return this.#mayHaveRun(running);
    };
  }

  /** The peer has revoked a grant. @param done to be told when nothing is under way there */
  onRevoke(lane: L, id: Uint8Array, done: () => void): void {
    const mappings = this.#known.get(lane)?.mappings;
    const mapping = mappings?.get(hex(id));
    mappings?.delete(hex(id));
    if (mapping === undefined || mapping.users.size === 0) done();
    else mapping.onIdle = done;
  }

  end(status: XioStatus): void {
    for (const running of this.#running) {
      running.moving?.takeBack();
      this.#fail(running, status);
    }
  }

  #go(running: Running<L>): void {
    if (running.isOver) return;
    const { lane, request } = running;
    if (this.host.lifeOf(lane) !== running.life) {
      this.#fail(running, XioStatus.XIO_E_PEER_RESTARTED);
      return;
    }
    if (isGone(running)) {
      this.#fail(running, XioStatus.XIO_E_NO_USER_BUFS);
      return;
    }
    const link = this.host.linkOf(lane);
    const { bytes } = running;
    if (bytes === 0 || running.doneBytes > 0 || (link !== undefined && !this.host.isDirect(lane))) {
      this.#message(running);
      return;
    }
    const mapping = this.#of(lane).mappings.get(hex(request.id));
    if (mapping === undefined || mapping.link !== link || !this.#use(running, mapping)) this.#map(running);
  }

  /** Moves it by a mapping. @returns false where its link is gone */
  #use(running: Running<L>, mapping: Mapping<L>): boolean {
    const { lane, request } = running;
    const { isRead, offset, memory } = request;
    const { place, length, access } = mapping;
    if (!(isRead ? access.read : access.write)) {
      this.#fail(running, isRead ? XioStatus.XIO_E_READ_FAILED : XioStatus.XIO_E_WRITE_FAILED);
      return true;
    }
    if (offset + lengthOf(memory) > length) {
      this.#fail(running, XioStatus.XIO_E_REM_USER_BUF_OVERFLOW);
      return true;
    }
    if (place === undefined) {
      this.#message(running);
      return true;
    }
    const moving = this.host.move(lane, { isRead, place, offset, memory }, (outcome) => {
      mapping.users.delete(running);
      if (mapping.users.size === 0) mapping.onIdle?.();
      running.moving = undefined;
      this.#onMoved(running, outcome);
    });
    if (moving === undefined) return false;
    running.moving = moving;
    running.mayHaveRun = true;
    mapping.users.add(running);
    return true;
  }

  #onMoved(running: Running<L>, outcome: MoveOutcome): void {
    if (running.isOver) return;
    const { isRead } = running.request;
    switch (outcome) {
      case 'done':
        this.#done(running);
        return;
      case 'revoked':
        this.#fail(running, XioStatus.XIO_E_USER_OBJ_NOT_FOUND);
        return;
      case 'refused':
        running.refusals += 1;
        if (running.refusals >= MOST_REFUSALS)
          this.#fail(running, isRead ? XioStatus.XIO_E_READ_FAILED : XioStatus.XIO_E_WRITE_FAILED);
        else this.#go(running);
        return;
      case 'lost':
        this.#go(running);
    }
  }

  /** Asks how the link names the grant, once for all who wait for that. */
  #map(running: Running<L>): void {
    const { lane, request } = running;
    const key = hex(request.id);
    const { waiting, mappings } = this.#of(lane);
    const others = waiting.get(key);
    if (others !== undefined) {
      others.push(running);
      return;
    }
    mappings.delete(key);
    const all = [running];
    waiting.set(key, all);
    const asker: Asker = {
      onAnswer: (status, header) => {
        waiting.delete(key);
        const mapped = status === XioStatus.XIO_E_SUCCESS ? decodeMapped(header) : undefined;
        const link = this.host.linkOf(lane);
        if (mapped !== undefined && link !== undefined) {
          forgetOld(mappings, link);
          mappings.set(key, { ...mapped, link, users: new Set(), onIdle: undefined });
        }
        const failure = status === XioStatus.XIO_E_SUCCESS ? XioStatus.XIO_E_USER_OBJ_NOT_FOUND : status;
        for (const one of all) {
          if (mapped === undefined) this.#fail(one, failure);
          else this.#go(one);
        }
      },
      onFailed: (status) => {
        waiting.delete(key);
        for (const one of all) this.#fail(one, status);
      },
    };
    this.#ask(lane, { operation: DirectOperation.MAP, id: request.id, offset: 0, length: 0 }, {}, asker);
  }

  /** Has the owner do it, a piece at a time. */
  #message(running: Running<L>): void {
    const { lane, request, doneBytes } = running;
    const { isRead, id, memory } = request;
    const most = this.host.mostBytes(lane);
    const left = running.bytes - doneBytes;
    const length = Math.min(left, MOST_CHUNK_BYTES, isRead ? most.response : most.request);
    if (length === 0 && left > 0) {
      this.#fail(running, XioStatus.XIO_E_MSG_SIZE);
      return;
    }
    const offset = request.offset + doneBytes;
    const piece = part(memory, doneBytes, length);
    const asker: Asker = {
      onAnswer: (status, _header, body) => {
        running.mayHaveRun ||= !isRead && status === XioStatus.XIO_E_SUCCESS;
        running.asked = undefined;
        if (running.isOver) return;
        if (status !== XioStatus.XIO_E_SUCCESS) this.#fail(running, status);
        else if (isRead && lengthOf(body) !== length) this.#fail(running, XioStatus.XIO_E_READ_FAILED);
        else this.#onPiece(running, length);
      },
      onFailed: (status, mayHaveRun) => {
        running.mayHaveRun ||= mayHaveRun;
        running.asked = undefined;
        this.#fail(running, status);
      },
    };
    const operation = isRead ? DirectOperation.READ : DirectOperation.WRITE;
    const fields = isRead ? { into: piece, maxResponseBytes: length } : { body: piece };
    running.asked = this.#ask(lane, { operation, id, offset, length }, fields, asker);
  }

  #onPiece(running: Running<L>, bytes: number): void {
    running.doneBytes += bytes;
    if (running.doneBytes === running.bytes) this.#done(running);
    else this.#go(running);
  }

  #ask(
    lane: L,
    request: Parameters<typeof encodeDirectRequest>[0],
    fields: ItemFields & { readonly into?: Body | undefined },
    asker: Asker,
  ): Asked {
    return this.host.ask(lane, { ...fields, header: encodeDirectRequest(request), flags: Flag.DIRECT }, asker);
  }

  #of(lane: L): Known<L> {
    let known = this.#known.get(lane);
    if (known === undefined) {
      known = { mappings: new Map<string, Mapping<L>>(), waiting: new Map<string, Running<L>[]>() };
      this.#known.set(lane, known);
    }
    return known;
  }

  #mayHaveRun({ request, mayHaveRun, asked }: Running<L>): boolean {
    return !request.isRead && (mayHaveRun || asked?.mayHaveRun === true);
  }

  #end(running: Running<L>): boolean {
    if (running.isOver) return false;
    running.isOver = true;
    this.#running.delete(running);
    return true;
  }

  #done(running: Running<L>): void {
    // What was to be read is nowhere, where its memory is gone.
    if (running.request.isRead && isGone(running)) this.#fail(running, XioStatus.XIO_E_NO_USER_BUFS);
    else if (this.#end(running)) running.request.onDone();
  }

  #fail(running: Running<L>, status: XioStatus): void {
    if (this.#end(running)) running.request.onFailed(status, this.#mayHaveRun(running));
  }
}

/** Forgets what links before have named, and the oldest of more than an owner can have granted. */
function forgetOld<L>(mappings: Map<string, Mapping<L>>, link: object): void {
  for (const [key, mapping] of mappings) {
    if (mapping.link === link && mappings.size < MOST_GRANTS) return;
    mappings.delete(key);
  }
}

/** Whether the memory is not there any more that a program has named. */
function isGone({ request, bytes }: { readonly request: AccessRequest; readonly bytes: number }): boolean {
  return lengthOf(request.memory) !== bytes;
}
