import {
  type LibxioConnection,
  type LibxioContext,
  type LibxioSession,
  xioBind,
  xioConnect,
  xioContextCreate,
  type XioContextParams,
  type XioMsg,
  xioConnectionDestroy,
  type XioSessionEventData,
  type XioSessionOps,
  xioSessionCreate,
  xioSessionDestroy,
  xioSessionEventStr,
} from '../../../../entry/xio.js';
import type { Net } from '../support/nets.js';

/** `XIO_SESSION_CONNECTION_CLOSED_EVENT` is `CONNECTION_CLOSED`. */
export function shortOf(event: number): string {
  return xioSessionEventStr(event)
    .replace(/^XIO_SESSION_/, '')
    .replace(/_EVENT$/, '');
}

export const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

export const headerOf = (message: XioMsg): string => text(message.in?.header);

/** What a test calls a message of its own, or the header of the peer's. */
function nameOf(message: XioMsg): string {
  const { userContext: name } = message;
  return typeof name === 'string' || typeof name === 'number' ? String(name) : headerOf(message);
}

export class End {
  readonly ctx: LibxioContext;
  /** Events, and what became of messages, in their order. */
  readonly told: string[] = [];
  readonly events: XioSessionEventData[] = [];
  readonly got: XioMsg[] = [];
  readonly sessions: LibxioSession[] = [];
  conn: LibxioConnection | undefined;
  /** Does something in an event. */
  onEvent: ((event: string) => void) | undefined;
  /** Whether it destroys what is torn down. */
  isTidy = true;
  readonly ops: XioSessionOps;

  constructor(
    readonly net: Net,
    host: Net['client'],
    more: XioSessionOps = {},
    params: XioContextParams = {},
  ) {
    this.ctx = xioContextCreate({ context: host.context, ...params });
    const note = (what: string) => (_: LibxioSession, message: XioMsg) =>
      void this.told.push(`${what} ${nameOf(message)}`);
    this.ops = {
      onSessionEvent: (session, data) => this.#onEvent(session, data),
      onMsg: (_, message) => void this.got.push(message),
      onMsgSendComplete: note('sent'),
      onOwMsgSendComplete: note('sent'),
      onMsgDelivered: note('delivered'),
      onCancelRequest: note('cancel request'),
      onCancel: (session, result, message) => note(`cancel ${result}`)(session, message),
      onMsgError: (session, error, direction, message) => note(`error ${error} ${direction}`)(session, message),
      ...more,
    };
  }

  #onEvent(session: LibxioSession, data: XioSessionEventData): void {
    const event = shortOf(data.event);
    this.told.push(event);
    this.events.push(data);
    this.onEvent?.(event);
    if (event === 'NEW_CONNECTION') this.conn = data.conn;
    if (!this.isTidy) return;
    if (event === 'CONNECTION_TEARDOWN' && data.conn !== undefined) xioConnectionDestroy(data.conn);
    if (event === 'TEARDOWN') xioSessionDestroy(session);
  }

  readonly has = (what: string) => (): boolean => this.told.includes(what);

  bind(options = {}): ReturnType<typeof xioBind> {
    return xioBind(this.ctx, this.ops, this.net.urlOf(this.net.server), options);
  }

  connect(uri = this.net.urlOf(this.net.server), params = {}): { session: LibxioSession; conn: LibxioConnection } {
    const session = xioSessionCreate({ sesOps: this.ops, uri, ...params });
    this.sessions.push(session);
    const conn = xioConnect({ session, ctx: this.ctx });
    this.conn = conn;
    return { session, conn };
  }
}
