import { after } from '../../../api/provider/index.js';
import type { Context } from '../../../api/verbs/index.js';
import type { ClientHost, ClientMachine } from '../protocol/index.js';
import { type DeviceOptions, type LinkOptions, XioError } from '../transport/index.js';
import { encodeSetupRequest, Kind, type Limits, type SetupRequest, XioStatus } from '../wire/index.js';
import type { SessionConnection } from '../session/session-connection.js';
import type { Outgoing } from '../session/outgoing.js';
import { targetOfPeer } from '../url.js';

export interface ConnectorSettings extends DeviceOptions, Pick<LinkOptions, 'inlineBytes'> {
  readonly localAddress: string | undefined;
  readonly connectTimeoutMs: number;
  readonly limits: Limits;
}

/** Whoever is told how a connection fares. */
export type ConnectorListener = Pick<ClientHost, 'onOpen' | 'onRedirected' | 'onOver' | 'sessionId' | 'roomProblem'>;

/** Does what the machine of a client's connection says: makes links, and waits. */
export class Connector implements ClientHost {
  machine: ClientMachine<Outgoing> | undefined;
  #attempt: AbortController | undefined;
  #stopPause: (() => void) | undefined;
  #stopLimit: (() => void) | undefined;
  #stopWaiting: (() => void) | undefined;
  #hasEnded = false;

  constructor(
    private readonly settings: ConnectorSettings,
    private readonly lane: SessionConnection,
    private readonly listener: ConnectorListener,
  ) {}

  nowMs(): number {
    return (this.lane.lastLink?.clock.nowUs() ?? 0) / 1000;
  }

  connect(address: string, withinMs: number): void {
    this.#stopWaiting?.();
    const attempt = new AbortController();
    this.#attempt = attempt;
    void this.#connect(address, Math.min(withinMs, this.settings.connectTimeoutMs), attempt.signal);
  }

  ask(request: SetupRequest, withinMs: number): void {
    this.#stopWaiting?.();
    this.#stopWaiting = withinMs === Infinity ? undefined : this.#after(withinMs, () => this.machine?.onUnanswered());
    this.lane.sendAside(Kind.SESSION, encodeSetupRequest(request));
  }

  pause(delayMs: number): void {
    this.#stopWaiting?.();
    this.#stopPause?.();
    this.#stopPause = this.#after(delayMs, () => this.machine?.onPause());
  }

  limit(delayMs: number): void {
    this.#stopLimit?.();
    this.#stopLimit = delayMs === Infinity ? undefined : this.#after(delayMs, () => this.machine?.onLate());
  }

  dropLink(how: 'close' | 'abort'): void {
    this.lane.leave(how);
  }

  sessionId(life: number): Uint8Array {
    return this.listener.sessionId(life);
  }

  roomProblem(): string | undefined {
    return this.listener.roomProblem();
  }

  onOpen(...told: Parameters<ClientHost['onOpen']>): void {
    this.#stopWaiting?.();
    this.listener.onOpen(...told);
  }

  onRedirected(...told: Parameters<ClientHost['onRedirected']>): void {
    this.listener.onRedirected(...told);
  }

  onOver(...told: Parameters<ClientHost['onOver']>): void {
    this.listener.onOver(...told);
  }

  /** Nothing is waited for any more. Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#stopPause?.();
    this.#stopLimit?.();
    this.#stopWaiting?.();
    this.#attempt?.abort(new XioError('XIO_E_SESSION_CLOSED', 'the session has ended'));
  }

  /** The device that links have gone by: who calls back for one is on no host in particular. */
  get #context(): Context | undefined {
    return this.settings.context ?? this.lane.lastLink?.context;
  }

  async #connect(address: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { open, localAddress, inlineBytes, limits } = this.settings;
    try {
      const { transport, host, port } = targetOfPeer(address);
      const { maxBodyBytes } = limits;
      const link = await transport.connect({
        host,
        port,
        context: this.#context,
        open,
        localAddress,
        timeoutMs,
        signal,
        inlineBytes,
        maxBodyBytes,
      });
      if (this.#hasEnded) {
        link.abort();
        return;
      }
      this.lane.use(link);
      this.machine?.onLink();
    } catch (error) {
      if (this.#hasEnded) return;
      const status = error instanceof XioError ? error.status : XioStatus.XIO_E_CONNECT_ERROR;
      this.machine?.onConnectFailed(status, error instanceof Error ? error.message : String(error));
    }
  }

  #after(delayMs: number, action: () => void): () => void {
    return this.lane.lastLink?.clock.timer(delayMs, action) ?? after(this.settings.context, delayMs, action);
  }
}
