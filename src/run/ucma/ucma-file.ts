import {
  cmEventStr,
  type CmId,
  createEventChannel,
  createId,
  type EventChannel,
  type RelayedEvent,
  relayEvent,
  type SocketAddress,
  watchEvents,
} from '../../api/rdmacm/index.js';
import { type Context, VerbsError } from '../../api/verbs/index.js';
import { CmEventType, type PortSpace, type QpType } from '../../device/ibta/index.js';
import type { EndedObject } from '../uverbs/guest-objects.js';
import { Identifier, Membership } from './identifier.js';
import { refusalText } from '../refusal.js';
import { eventReason } from './event-reason.js';
import { eventFor, type EventValues } from './structs/event.js';
import type { IdentifierTable } from './identifier-table.js';

/** What an open file has of whoever serves the program. */
export interface UcmaFileParts {
  /** An event waits: the descriptor becomes readable, once more for each. */
  announce(): void;
  /** The opposite of {@link announce}: an event was taken, or has gone. */
  retract(): void;
  /** The devices have told something: {@link UcmaFile.poll} takes it. */
  news(): void;
  /** Reads memory of the program. @throws VerbsError EFAULT where there is none */
  readMemory(address: bigint, lengthBytes: number): Buffer;
  /** Whether memory of the program can be written, which keeps its values. */
  canWriteMemory(address: bigint, lengthBytes: number): boolean;
  /** Tells the user why a call of the program failed, or an event is one of an error; absent where nobody asked for that. */
  readonly tell?: ((what: string, why: string) => void) | undefined;
  /** Another open file of the program, by its descriptor. */
  fileAt(fd: number): UcmaFile | undefined;
}

/** Identifiers that one sentence lists. */
const MOST_DESCRIBED = 4;
/** Destroyed identifiers that are remembered. */
const MOST_ENDED = 64;

/** An event that the program has not fetched. */
interface Waiting {
  readonly subject: Identifier;
  /** Of CONNECT_REQUEST: the identifier that stands for the request. */
  readonly request?: Identifier;
  /** Of events of a group. */
  readonly membership?: Membership;
  readonly event: RelayedEvent;
}

/** An event as the program gets it, and how to put it back when the program could not take it. */
export interface Fetched {
  readonly answer: EventValues;
  undo(): void;
}

/** One open file of `/dev/infiniband/rdma_cm`: an event channel, with the identifiers that report to it. */
export class UcmaFile {
  readonly #channel: EventChannel;
  readonly #waiting: Waiting[] = [];

  constructor(
    readonly identifiers: IdentifierTable,
    private readonly contexts: readonly Context[],
    readonly parts: UcmaFileParts,
    readonly explain: (text: string) => void,
  ) {
    this.#channel = createEventChannel({ contexts });
    watchEvents(this.#channel, () => parts.news());
  }

  /** Takes the news of the devices. To be called after each command, and now and then. @returns whether there were any */
  poll(): boolean {
    let found = false;
    for (let event = relayEvent(this.#channel); event !== undefined; event = relayEvent(this.#channel)) {
      this.#take(event);
      found = true;
    }
    return found;
  }

  get hasEvents(): boolean {
    return this.#waiting.length > 0;
  }

  /** Identifiers that were destroyed before their events were acknowledged, the latest last. */
  readonly ended: EndedObject[] = [];

  /** What its identifiers wait for, a clause each. */
  describe(): string[] {
    const own = this.identifiers.of(this);
    if (own.length === 0) return ['no identifier reports to that channel'];
    const facts = own.slice(0, MOST_DESCRIBED).map(({ cmId, isListening, hasPeer, destination }) => {
      const at = isListening && cmId.localAddr !== undefined ? cmId.localAddr : (cmId.peerAddr ?? destination);
      const where = at === undefined ? '' : ` ${at.host}, port ${at.port}`;
      if (isListening) return `listens at${where}`;
      return hasPeer
        ? `has or makes a connection with${where}`
        : `resolves${where}, or waits for the program's next call`;
    });
    return own.length > facts.length ? [...facts, `${own.length - facts.length} more identifiers`] : facts;
  }

  /** An identifier is destroyed: librdmacm waits until each event that it was told is acknowledged. */
  remember({ uid, eventsReported, lastEvent }: Identifier): void {
    if (uid === undefined || eventsReported === 0) return;
    if (this.ended.length === MOST_ENDED) this.ended.shift();
    const what = `the identifier${lastEvent === undefined ? '' : `, the last ${cmEventStr(lastEvent)},`}`;
    this.ended.push({
      call: 'rdma_destroy_id',
      what,
      userHandle: uid,
      eventsReported,
      acknowledge: 'rdma_ack_cm_event',
    });
  }

  /** Tells the user why a command of the program was refused. */
  refused(error: VerbsError): void {
    this.parts.tell?.(error.call, refusalText(error) ?? error.message);
  }

  /** The oldest event, or undefined while there is none. */
  fetch(): Fetched | undefined {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) return undefined;
    const { subject, request, membership, event } = waiting;
    this.parts.retract();
    const reporters = membership === undefined ? [subject] : [subject, membership];
    for (const reporter of reporters) reporter.eventsReported += 1;
    subject.lastEvent = event.event;
    if (request !== undefined) request.isTold = true;
    event.taken();
    // The program acknowledges its copy by itself.
    event.ack();
    return {
      answer: eventFor((membership ?? subject).uid ?? 0n, (membership ?? request ?? subject).number, event),
      undo: () => {
        for (const reporter of reporters) reporter.eventsReported -= 1;
        if (request !== undefined) request.isTold = false;
        this.#waiting.unshift(waiting);
        this.parts.announce();
      },
    };
  }

  create(portSpace: PortSpace, qpType: QpType | undefined, uid: bigint): Identifier {
    const id = createId(this.#channel, portSpace, qpType === undefined ? {} : { qpType });
    try {
      return this.identifiers.add(id, this, uid);
    } catch (error) {
      id.destroy();
      throw error;
    }
  }

  /** Ends an identifier, with the events of it that nobody has fetched. */
  destroy(identifier: Identifier): void {
    for (const { request } of this.#withdraw(({ subject }) => subject === identifier))
      if (request !== undefined) this.#end(request);
    this.#end(identifier);
  }

  join(identifier: Identifier, group: SocketAddress, uid: bigint, act: (membership: Membership) => void): Membership {
    const membership = this.identifiers.addMembership(identifier, uid, group);
    try {
      act(membership);
    } catch (error) {
      this.identifiers.removeMembership(membership);
      throw error;
    }
    return membership;
  }

  leave(membership: Membership): void {
    membership.identifier.cmId.leaveMulticast(membership.group);
    this.#withdraw((waiting) => waiting.membership === membership);
    this.identifiers.removeMembership(membership);
  }

  /** Takes over an identifier of another file, with the events of it that nobody has fetched. */
  adopt(identifier: Identifier, from: UcmaFile): void {
    if (from === this) return;
    identifier.cmId.migrate(this.#channel);
    this.identifiers.move(identifier, this);
    for (const waiting of from.#withdraw(({ subject }) => subject === identifier)) {
      if (waiting.request !== undefined) {
        waiting.request.cmId.migrate(this.#channel);
        this.identifiers.move(waiting.request, this);
      }
      this.#add(waiting);
    }
  }

  /** The program has closed it, or has ended: so do its identifiers. */
  close(): void {
    this.#waiting.length = 0;
    for (const identifier of this.identifiers.of(this)) this.#end(identifier);
    this.#channel[Symbol.dispose]();
  }

  #take(event: RelayedEvent): void {
    const { listenId } = event;
    this.#tellOf(event);
    if (event.event === CmEventType.CONNECT_REQUEST && listenId !== undefined) {
      const subject = identifierOf(listenId);
      const request = this.#addRequest(event.id);
      if (subject !== undefined && request !== undefined) this.#add({ subject, request, event });
      return;
    }
    const subject = identifierOf(event.id);
    if (subject?.uid === undefined) return;
    const { multicastContext } = event;
    this.#add(
      multicastContext instanceof Membership ? { subject, membership: multicastContext, event } : { subject, event },
    );
  }

  /** A name for the identifier of a request. Where there is none left, the peer is refused. */
  #addRequest(id: CmId): Identifier | undefined {
    try {
      const identifier = this.identifiers.add(id, this, undefined);
      identifier.hasPeer = true;
      identifier.isTold = false;
      return identifier;
    } catch (error) {
      id.destroy();
      if (!(error instanceof VerbsError)) throw error;
      return undefined;
    }
  }

  #tellOf(event: RelayedEvent): void {
    if (this.parts.tell === undefined) return;
    const { event: type, status, id } = event;
    const to = id.peerAddr ?? identifierOf(id)?.destination;
    const told = eventReason(
      { event: type, status, to },
      { contexts: this.contexts, listening: () => this.identifiers.listening() },
    );
    if (told !== undefined) this.parts.tell(told.what, told.why);
  }

  #add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    this.parts.announce();
  }

  /** Takes out those events that were meant. */
  #withdraw(isMeant: (waiting: Waiting) => boolean): Waiting[] {
    const withdrawn = this.#waiting.filter(isMeant);
    const rest = this.#waiting.filter((waiting) => !isMeant(waiting));
    this.#waiting.splice(0, this.#waiting.length, ...rest);
    for (let i = 0; i < withdrawn.length; i += 1) this.parts.retract();
    return withdrawn;
  }

  #end(identifier: Identifier): void {
    this.identifiers.remove(identifier);
    identifier.cmId.destroy();
  }
}

function identifierOf({ context }: CmId): Identifier | undefined {
  return context instanceof Identifier ? context : undefined;
}
