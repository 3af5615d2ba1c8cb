import { ClientMachine } from '../protocol/index.js';
import { XioError } from '../transport/index.js';
import {
  Action,
  decodeSetupAnswer,
  type Head,
  Kind,
  SESSION_ID_BYTES,
  type SetupAnswer,
  statusName,
  XioStatus,
} from '../wire/index.js';
import type { Settings } from '../options.js';
import { secretBytes } from '../../../api/provider/index.js';
import { XioRejectedError } from '../transport/index.js';
import { SessionConnection } from '../session/session-connection.js';
import type { Outgoing } from '../session/outgoing.js';
import { Session } from '../session/session.js';
import { Connector, type ConnectorSettings } from './connector.js';

export interface ClientSettings extends Settings, ConnectorSettings {
  readonly addresses: readonly string[];
  readonly resource: string;
  readonly ownPrivateData: Uint8Array;
  readonly connections: number;
  readonly maxRedirects: number;
  readonly answerTimeoutMs: number;
}

/** Names of sessions that are remembered: those of connections that began anew less often. */
const MOST_NAMES = 64;

export class ClientSession extends Session {
  readonly resource: string;
  readonly #machines = new Map<SessionConnection, ClientMachine<Outgoing>>();
  readonly #connectors = new Map<SessionConnection, Connector>();
  #privateData: Uint8Array = new Uint8Array(0);
  /** By how often a connection has begun anew: all of them have the same, so that they are one session wherever they meet. */
  readonly #names = new Map<number, Uint8Array>();
  #isOpen = false;
  #settle: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined;

  constructor(private readonly client: ClientSettings) {
    super(client);
    this.resource = client.resource;
  }

  /** @throws XioError (the promise rejects) when there will be no session; the signal's reason */
  async open(signal: AbortSignal | undefined): Promise<void> {
    const abort = (): void => this.#settle?.reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        this.#settle = { resolve, reject };
        this.#begin(0, this.client.addresses);
      });
    } catch (error) {
      this.abort();
      throw error;
    } finally {
      this.#settle = undefined;
      signal?.removeEventListener('abort', abort);
    }
  }

  protected get homeConnection(): undefined {
    return undefined;
  }

  get privateData(): Uint8Array {
    return this.#privateData;
  }

  get url(): string {
    const [machine] = this.#machines.values();
    return machine.address;
  }

  accept(): this {
    throw new XioError('XIO_E_STATE', 'a session is accepted by its server');
  }

  redirect(): void {
    throw new XioError('XIO_E_STATE', 'a session is sent on by its server');
  }

  reject(): void {
    throw new XioError('XIO_E_STATE', 'a session is rejected by its server');
  }

  onSetup(lane: SessionConnection, head: Head, header: Uint8Array): string | undefined {
    if (head.kind !== Kind.SESSION_ANSWER) return 'a server asks for a session';
    const answer = decodeSetupAnswer(header);
    if (typeof answer === 'string') return answer;
    return this.#machines.get(lane)?.onAnswer(answer, head.ackSn);
  }

  onMove(lane: SessionConnection, addresses: readonly string[]): undefined {
    this.#machines.get(lane)?.onMove(addresses);
  }

  override onDone(lane: SessionConnection): void {
    const machine = this.#machines.get(lane);
    if (machine !== undefined && isMovedOn(lane)) machine.onDone();
    else super.onDone(lane);
  }

  override onAborted(lane: SessionConnection, status: XioStatus): void {
    const machine = this.#machines.get(lane);
    // A server that has sent the session on does not wait for ever until it has gone.
    if (machine !== undefined && isMovedOn(lane)) machine.onDone();
    else super.onAborted(lane, status);
  }

  onLinkLost(lane: SessionConnection, reason: string): void {
    const machine = this.#machines.get(lane);
    const wasOpen = machine?.state === 'open';
    const { life } = lane.channel;
    machine?.onLinkLost(reason);
    // One that has gone where it was sent has lost nothing.
    if (wasOpen && !this.hasEnded && lane.channel.life === life) this.disconnected(reason);
  }

  protected get isOpen(): boolean {
    return this.#isOpen;
  }

  protected hasParted(lane: SessionConnection): boolean {
    return this.#machines.get(lane)?.state === 'over';
  }

  protected take(): void {
    // Its program has it when it is open.
  }

  protected onEnded(): void {
    for (const connector of this.#connectors.values()) connector.end();
    for (const machine of this.#machines.values()) machine.over(XioStatus.XIO_E_SUCCESS, 'the session has ended');
    this.#settle?.reject(this.failure ?? new XioError('XIO_E_SESSION_CLOSED', 'the session was closed'));
  }

  #begin(connection: number, addresses: readonly string[]): void {
    const lane = new SessionConnection(this.client, this, connection);
    const context = this.client.context ?? this.lanes.at(0)?.lastLink?.context;
    const { resource, maxRedirects, reconnectMs, answerTimeoutMs, ownPrivateData: privateData } = this.client;
    const connector = new Connector({ ...this.client, context }, lane, {
      sessionId: (life) => this.#nameOf(life),
      roomProblem: () => this.roomProblem(lane),
      onOpen: (how, answer) => this.#opened(lane, how, answer),
      onRedirected: (address) => this.events.tell(({ redirected }) => redirected?.(address)),
      onOver: (status, reason, answer) => {
        if (status === XioStatus.XIO_E_SUCCESS) {
          lane.leave('close');
          this.endIfDone();
        } else if (connection === 0 || lane.channel.peer !== undefined) this.#ended(status, reason, answer);
        else this.#doWithout(lane, status);
      },
    });
    const manners = { addresses, resource, privateData, connection, maxRedirects, reconnectMs, answerTimeoutMs };
    const machine = new ClientMachine(lane.channel, manners, connector);
    connector.machine = machine;
    this.lanes.push(lane);
    this.#connectors.set(lane, connector);
    this.#machines.set(lane, machine);
    machine.start();
  }

  /** A further connection was not to be made: the session goes on with those that it has. */
  #doWithout(lane: SessionConnection, status: XioStatus): void {
    lane.leave('abort');
    // One that was begun before may have been asked for something.
    lane.channel.end(status);
    this.#machines.delete(lane);
    this.#connectors.delete(lane);
    const index = this.lanes.indexOf(lane);
    if (index >= 0) this.lanes.splice(index, 1);
    this.endIfDone();
  }

  #opened(lane: SessionConnection, how: 'begun' | 'resumed' | 'restarted', answer: SetupAnswer): void {
    if (how !== 'begun') {
      if (how === 'restarted') this.#privateData = answer.privateData;
      this.resumed(lane);
      return;
    }
    if (this.#isOpen) {
      lane.pump();
      return;
    }
    this.#isOpen = true;
    this.#privateData = answer.privateData;
    this.#settle?.resolve();
    const { connections } = this.client;
    for (let i = 1; i < connections; i += 1) this.#begin(i, this.#portal(i, answer.addresses));
    lane.pump();
  }

  /** Where a further connection goes: to one portal after the other. */
  #portal(connection: number, portals: readonly string[]): readonly string[] {
    if (portals.length === 0) return this.client.addresses;
    const first = (connection - 1) % portals.length;
    return [...portals.slice(first), ...portals.slice(0, first)];
  }

  #ended(status: XioStatus, reason: string, answer: SetupAnswer | undefined): void {
    const code = statusName(status) ?? 'XIO_E_SESSION_ABORTED';
    if (answer?.action !== Action.REJECT) {
      this.over(status, new XioError(code, reason));
      return;
    }
    const { words, privateData } = answer;
    this.over(status, new XioRejectedError(code, words === '' ? reason : `${reason}: ${words}`, privateData));
  }

  #nameOf(life: number): Uint8Array {
    const known = this.#names.get(life);
    if (known !== undefined) return known;
    const name = secretBytes(SESSION_ID_BYTES);
    this.#names.set(life, name);
    for (const old of this.#names.keys()) if (this.#names.size > MOST_NAMES) this.#names.delete(old);
    return name;
  }
}

/** Whether the session goes on elsewhere when this server is done with it. */
function isMovedOn({ channel }: SessionConnection): boolean {
  return channel.isMoving && !channel.hasNothingLeft;
}
