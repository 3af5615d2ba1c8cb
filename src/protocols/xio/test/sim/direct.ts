import type { SeededRandom } from '../../../../device/link/index.js';
import {
  Accesses,
  type AccessHost,
  type Asked,
  type Asker,
  type GrantedPlace,
  type GrantHost,
  Grants,
  Item,
  type Moved,
  type Moving,
  spoilable,
} from '../../protocol/index.js';
import {
  type Access,
  type Body,
  decodeDirectRequest,
  DirectOperation,
  type DirectRequest,
  encodeDirectRequest,
  Flag,
  gather,
  type Head,
  isOnePiece,
  Kind,
  lengthOf,
  type MoveOutcome,
  scatter,
  XioStatus,
} from '../../wire/index.js';
import { check, SimulationFailure } from '../../../../../test/sim/failure.js';
import { INLINE_BYTES } from './plan.js';
import type { Speaker } from './speaker.js';
import { CELL_BYTES, checkStatus, type Vault } from './vault.js';
import type { World } from './world.js';

interface Question {
  readonly asker: Asker;
  readonly into: Body | undefined;
}

/** Memory that one end grants and uses, as a session binds it to its connection. */
export class Direct implements GrantHost<Speaker>, AccessHost<Speaker> {
  readonly #grants = new Grants<Speaker>(this);
  readonly #accesses = new Accesses<Speaker>(this);
  readonly #questions = new Map<Item, Question>();
  readonly #random: SeededRandom;
  #hasEnded = false;
  #whenIdle: (() => void) | undefined;

  constructor(
    private readonly world: World,
    private readonly speaker: () => Speaker,
  ) {
    this.#random = world.directRandom;
  }

  /** Grants memory. @returns its name */
  share(vault: Vault): Uint8Array {
    const id = Uint8Array.from({ length: 16 }, () => this.#random.below(256));
    this.#grants.add(id, vault.bytes, { read: true, write: true });
    return id;
  }

  unshare(id: Uint8Array, vault: Vault): void {
    this.#grants.revoke(id);
    vault.revoked();
  }

  revoke(lane: Speaker, id: Uint8Array, done: () => void): boolean {
    if (this.#hasEnded || lane.channel.isFinishing) return false;
    const header = encodeDirectRequest({ operation: DirectOperation.REVOKE, id, offset: 0, length: 0 });
    this.ask(lane, { header, flags: Flag.DIRECT }, { onAnswer: done, onFailed: done });
    return true;
  }

  /** The program reads from a vault of the peer's, or writes a cell of it. */
  access(id: Uint8Array, vault: Vault, isRead: boolean, deadlineUs: number, isOwnerThere: () => boolean): void {
    if (this.#hasEnded || this.speaker().channel.isFinishing || this.#whenIdle !== undefined) return;
    if (isRead) this.#read(id, vault, deadlineUs, isOwnerThere);
    else this.#write(id, vault, deadlineUs, isOwnerThere);
  }

  get isIdle(): boolean {
    return this.#accesses.size === 0;
  }

  /** Calls `action` when nothing is read or written any more; nothing is begun from now on. */
  whenIdle(action: () => void): void {
    if (this.#accesses.size === 0) action();
    this.#whenIdle = action;
  }

  end(status: XioStatus): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#grants.end();
    this.#accesses.end(status);
  }

  landing(header: Uint8Array, bodyBytes: number): Uint8Array | undefined {
    const request = decodeDirectRequest(header);
    if (typeof request === 'string' || request.operation !== DirectOperation.WRITE) return undefined;
    return request.length === bodyBytes ? this.#grants.landing(this.speaker(), request) : undefined;
  }

  onRequest({ sn, maxResponseBytes }: Head, header: Uint8Array, body: Body): void {
    const request = decodeDirectRequest(header);
    if (typeof request === 'string') throw new SimulationFailure(`an honest end is taken for a liar: ${request}`);
    const { life } = this.speaker().channel;
    const respond = (item: Item): void => {
      const speaker = this.speaker();
      if (speaker.channel.life === life) speaker.channel.respond(item);
      speaker.pump();
    };
    if (request.operation === DirectOperation.REVOKE) {
      this.#accesses.onRevoke(this.speaker(), request.id, () => respond(new Item(Kind.RESPONSE, { about: sn })));
      return;
    }
    const status = this.#grants.check(request);
    if (status !== XioStatus.XIO_E_SUCCESS) respond(new Item(Kind.RESPONSE, { about: sn, status }));
    else respond(this.#served(sn, maxResponseBytes, request, body));
  }

  /** @returns whether it was a request of the session's own */
  onResponse(item: Item, { status }: Head, header: Uint8Array, body: Body): boolean {
    const question = this.#questions.get(item);
    if (question === undefined) return false;
    this.#questions.delete(item);
    const { asker, into } = question;
    if (into !== undefined && status === XioStatus.XIO_E_SUCCESS) scatter(gather(body), into);
    asker.onAnswer(status, header.slice(), body);
    return true;
  }

  onFailed(item: Item, status: XioStatus): boolean {
    const question = this.#questions.get(item);
    this.#questions.delete(item);
    question?.asker.onFailed(status, item.mayHaveRun);
    return question !== undefined;
  }

  linkOf({ link, channel }: Speaker): object | undefined {
    return channel.isAttached ? link : undefined;
  }

  isDirect({ link }: Speaker): boolean {
    return link?.isDirect === true;
  }

  lifeOf({ channel }: Speaker): number {
    return channel.life;
  }

  mostBytes({ channel: { own, peer } }: Speaker) {
    return { request: peer?.maxBodyBytes ?? own.maxBodyBytes, response: own.maxBodyBytes };
  }

  ask(lane: Speaker, fields: Parameters<AccessHost<Speaker>['ask']>[1], asker: Asker): Asked {
    const item = new Item(Kind.REQUEST, fields);
    this.#questions.set(item, { asker, into: fields.into });
    lane.channel.call(item);
    lane.pump();
    return {
      giveUp: () => {
        this.#questions.delete(item);
        lane.takeBack(item);
        lane.channel.giveUp(item);
        lane.pump();
      },
      get mayHaveRun() {
        return item.mayHaveRun;
      },
    };
  }

  move({ link }: Speaker, move: Moved, onMoved: (outcome: MoveOutcome) => void): Moving | undefined {
    return link?.move(move, onMoved);
  }

  expose({ link, channel }: Speaker, bytes: Uint8Array, access: Access): GrantedPlace | undefined {
    if (link === undefined) return undefined;
    link.memory.onRefused = () =>
      check(this.#hasEnded || channel.isFinishing, () => 'an access of an honest end is refused');
    return link.grant(bytes, access);
  }

  redirect({ link }: Speaker, landing: Body): void {
    if (isOnePiece(landing)) link?.redirect(landing);
  }

  #served(about: number, maxResponseBytes: number, request: DirectRequest, body: Body): Item {
    if (request.operation === DirectOperation.MAP) {
      const item = new Item(Kind.RESPONSE, { about });
      this.speaker().headers.set(item, () => this.#grants.map(this.speaker(), request.id));
      return item;
    }
    const memory = this.#grants.memory(request);
    if (request.operation === DirectOperation.WRITE) {
      if (!this.#grants.landed(request, body)) memory.set(gather(body));
      return new Item(Kind.RESPONSE, { about });
    }
    check(request.length <= maxResponseBytes, () => 'more is asked for than there is room for');
    if (memory.length <= INLINE_BYTES) return new Item(Kind.RESPONSE, { about, body: memory.slice() });
    const item = new Item(Kind.RESPONSE, { about, body: memory, flags: Flag.ACKNOWLEDGE });
    this.#grants.answering(
      request,
      spoilable(item, () => this.speaker().takeBack(item)),
    );
    return item;
  }

  #read(id: Uint8Array, vault: Vault, deadlineUs: number, isOwnerThere: () => boolean): void {
    const offset = this.#random.between(0, vault.cells * CELL_BYTES - 1);
    const length = this.#random.between(0, vault.cells * CELL_BYTES - offset);
    const cut = this.#random.between(0, length);
    const wasRevoked = vault.isRevoked;
    const memory = [new Uint8Array(cut), new Uint8Array(length - cut)].filter((piece) => piece.length > 0);
    this.#begin(id, offset, memory, deadlineUs, {
      isRead: true,
      done: () => {
        check(!wasRevoked, () => 'memory is read that was revoked before');
        vault.checkRead(offset, gather(memory));
      },
      failed: (status) => checkStatus(status, vault, isOwnerThere(), this.world.ledger),
    });
  }

  #write(id: Uint8Array, vault: Vault, deadlineUs: number, isOwnerThere: () => boolean): void {
    const wasRevoked = vault.isRevoked;
    const write = vault.newWrite();
    if (write === undefined) return;
    this.#begin(id, write.offset, write.bytes, deadlineUs, {
      isRead: false,
      done: () => {
        check(!wasRevoked, () => 'memory is written that was revoked before');
        write.done();
      },
      failed: (status, mayHaveRun) => {
        checkStatus(status, vault, isOwnerThere(), this.world.ledger);
        write.failed(mayHaveRun);
      },
      givenUp: (mayHaveRun) => write.failed(mayHaveRun),
    });
  }

  #begin(
    id: Uint8Array,
    offset: number,
    memory: Body,
    deadlineUs: number,
    told: {
      readonly isRead: boolean;
      readonly done: () => void;
      readonly failed: (status: XioStatus, mayHaveRun: boolean) => void;
      readonly givenUp?: (mayHaveRun: boolean) => void;
    },
  ): void {
    const { isRead } = told;
    let isSettled = false;
    const settle = (tell: () => void): void => {
      check(!isSettled, () => 'an access is settled twice');
      isSettled = true;
      tell();
      if (this.#accesses.size === 0) this.#whenIdle?.();
    };
    const giveUp = this.#accesses.begin(this.speaker(), {
      isRead,
      id,
      offset,
      memory,
      onDone: () => settle(told.done),
      onFailed: (status, mayHaveRun) => settle(() => told.failed(status, mayHaveRun)),
    });
    this.world.accesses.push(() => check(isSettled, () => 'nobody was told what became of an access'));
    if (deadlineUs === Infinity) return;
    this.world.clock.after(deadlineUs, () => {
      if (isSettled) return;
      const mayHaveRun = giveUp();
      const before = gather(memory);
      settle(() => told.givenUp?.(mayHaveRun));
      if (isRead)
        this.world.accesses.push(() =>
          check(
            gather(memory).every((byte, i) => byte === before[i]),
            () => 'memory is written whose program has it back',
          ),
        );
      check(lengthOf(memory) === before.length, () => 'memory is as long as it was');
    });
  }
}

interface Finishing {
  readonly direct: Direct;
  finish(): void;
}

/** Has all connections begin nothing any more, once nothing is read or written by any of them. */
export function finishWhenIdle(ends: readonly Finishing[]): void {
  const attempt = (): void => {
    if (ends.every(({ direct }) => direct.isIdle)) for (const end of ends.slice()) end.finish();
  };
  for (const { direct } of ends.slice()) direct.whenIdle(attempt);
}
