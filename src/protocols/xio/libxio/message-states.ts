import type { XioRequest, XioSession } from '../api.js';
import { XioError } from '../transport/index.js';
import type { LibxioSession } from './handles.js';
import { wrongState } from './problems.js';
import type { XioMsg, XioSessionOps } from './types.js';

export interface MessageSource {
  readonly phase: 'connecting' | 'established' | 'ended' | 'torn down' | 'destroyed';
  /** The session, once there is one. */
  readonly inner: XioSession | undefined;
  follow(done: Promise<void>): void;
  tell(action: (ops: XioSessionOps, session: LibxioSession, userContext: unknown) => void): void;
}

/** Whose a message is, and what may be done with it. */
export type MessageState =
  | { readonly kind: 'sent'; readonly controller: AbortController | undefined }
  /** A request whose response the program has not released. */
  | { readonly kind: 'answered'; readonly source: MessageSource }
  /** A request of the peer's. */
  | { readonly kind: 'request'; readonly source: MessageSource; readonly request: XioRequest }
  /** A one-way message of the peer's. */
  | { readonly kind: 'message'; readonly release: () => void }
  /** One of the peer's that the program has let go of. */
  | { readonly kind: 'gone' };

const states = new WeakMap<XioMsg, MessageState>();
const SAYING: Readonly<Record<MessageState['kind'], string>> = {
  sent: 'the message is on its way, until a callback gives it back',
  answered: 'the response was not released, which xioReleaseResponse does',
  request: 'the message is a request of the peer, which xioSendResponse answers',
  message: 'the message is a one-way message of the peer, which has no response: xioReleaseMsg lets go of it',
  gone: 'the message was let go of',
};

export function setState(message: XioMsg, state: MessageState | undefined): void {
  if (state === undefined) states.delete(message);
  else states.set(message, state);
}

/** @throws XioError XIO_E_STATE for a message that is not the program's to send */
export function requireFree(call: string, message: XioMsg): void {
  const state = states.get(message);
  if (state !== undefined) throw wrongState(call, SAYING[state.kind]);
}

/** The state of a message that has to be of that kind. @throws XioError XIO_E_STATE */
export function stateOf<K extends MessageState['kind']>(
  call: string,
  message: XioMsg,
  kind: K,
): Extract<MessageState, { kind: K }> {
  const state = states.get(message);
  if (state !== undefined && isOf(state, kind)) return state;
  throw wrongState(
    call,
    state === undefined ? 'the message is the program’s own, and not on its way' : SAYING[state.kind],
  );
}

/** Where a request came, or was answered. */
export function sourceOf(message: XioMsg): MessageSource | undefined {
  const state = states.get(message);
  return state?.kind === 'request' || state?.kind === 'answered' ? state.source : undefined;
}

/** A request that is on its way. @throws XioError XIO_E_MSG_NOT_FOUND where it is not */
export function sentRequestOf(call: string, message: XioMsg): AbortController {
  const state = states.get(message);
  if (state?.kind === 'sent' && state.controller !== undefined) return state.controller;
  throw new XioError('XIO_E_MSG_NOT_FOUND', `${call}: no such request is on its way`);
}

function isOf<K extends MessageState['kind']>(
  state: MessageState,
  kind: K,
): state is Extract<MessageState, { kind: K }> {
  return state.kind === kind;
}
