import { countProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioSession } from '../api.js';
import { landingFrom } from '../options.js';
import { XioError } from '../transport/index.js';
import { type Body, decodeGrantToken, lengthOf, MAX_PIECES, part } from '../wire/index.js';
import { connectionOf } from './connection.js';
import { XioMsgType } from './constants.js';
import type { LibxioConnection, LibxioManagedRkey, XioRegMem } from './handles.js';
import { regMemOf } from './memory.js';
import { requireFree, setState, sourceOf } from './message-states.js';
import { checkMessage, openOf } from './messages.js';
import { wrongState } from './problems.js';
import type { XioMsg, XioRdmaSge } from './types.js';

class ManagedRkey implements LibxioManagedRkey {
  readonly handle = 'managed rkey';
  isRegistered = true;

  constructor(readonly rkey: Uint8Array) {}
}

/** @throws VerbsError EINVAL for what is no key */
function checkRkey(call: string, name: string, rkey: Uint8Array): void {
  const given: unknown = rkey;
  if (given instanceof Uint8Array && decodeGrantToken(given) !== undefined) return;
  throw new VerbsError(call, invalid(`${name} is ${show(given)}`, 'It is 32 bytes, that xioLookupRkeyByRequest gave'));
}

function grant(call: string, regMem: XioRegMem, message: XioMsg): Uint8Array {
  const core = regMemOf(call, regMem);
  const session = sourceOf(message)?.inner;
  if (session === undefined) throw wrongState(call, 'the message belongs to no connection that there is');
  return core.rkeyFor(session);
}

/**
 * `xio_lookup_rkey_by_request`: what the peer of a request's connection calls memory. From then on it can read and write it, until the memory is given back, or the session ends.
 *
 * @param req a request that has come, or one of one's own that was answered
 * @returns 32 bytes to be sent to the peer, where C has 4: nobody can guess them
 * @throws XioError XIO_E_STATE for what was given back, and for a message without a connection; as `XioSession.share`; VerbsError EINVAL
 */
export function xioLookupRkeyByRequest(regMem: XioRegMem, req: XioMsg): Uint8Array {
  const call = 'xioLookupRkeyByRequest';
  checkMessage(call, req);
  return grant(call, regMem, req);
}

/** `xio_lookup_rkey_by_response`: the same for a response that is to be sent, by its `request`. @throws as {@link xioLookupRkeyByRequest} */
export function xioLookupRkeyByResponse(regMem: XioRegMem, rsp: XioMsg): Uint8Array {
  const call = 'xioLookupRkeyByResponse';
  checkMessage(call, rsp);
  const { request } = rsp;
  if (request === undefined) throw new VerbsError(call, invalid('the response has no request', 'onMsg was given one'));
  checkMessage(call, request);
  return grant(call, regMem, request);
}

/** `xio_register_remote_rkey`: a key of the peer's that stays good when the connection is made anew, as all do here. @throws XioError XIO_E_STATE where the connection was destroyed; VerbsError EINVAL */
export function xioRegisterRemoteRkey(connection: LibxioConnection, rawRkey: Uint8Array): LibxioManagedRkey {
  const call = 'xioRegisterRemoteRkey';
  if (connectionOf(call, connection).phase === 'destroyed') throw wrongState(call, 'the connection was destroyed');
  checkRkey(call, 'rawRkey', rawRkey);
  return new ManagedRkey(rawRkey.slice());
}

/** @throws VerbsError EINVAL for what is no managed key; XioError XIO_E_STATE for one that was unregistered */
function managedOf(call: string, managedRkey: LibxioManagedRkey): ManagedRkey {
  const given: unknown = managedRkey;
  if (!(given instanceof ManagedRkey)) throw new VerbsError(call, invalid(`the key is ${show(given)}`));
  if (!given.isRegistered) throw wrongState(call, 'the key was unregistered');
  return given;
}

/** `xio_managed_rkey_unwrap`: the key, for `stag`. @throws XioError XIO_E_STATE for one that was unregistered; VerbsError EINVAL */
export function xioManagedRkeyUnwrap(managedRkey: LibxioManagedRkey): Uint8Array {
  return managedOf('xioManagedRkeyUnwrap', managedRkey).rkey.slice();
}

/** `xio_unregister_remote_key`. @throws as {@link xioManagedRkeyUnwrap} */
export function xioUnregisterRemoteKey(managedRkey: LibxioManagedRkey): void {
  managedOf('xioUnregisterRemoteKey', managedRkey).isRegistered = false;
}

interface Moves {
  readonly isRead: boolean;
  readonly places: readonly XioRdmaSge[];
  readonly memory: Body;
}

function movesOf(call: string, { rdma, out }: XioMsg): Moves {
  if (rdma === undefined) throw new VerbsError(call, invalid('the message has no rdma', 'It says what is to be moved'));
  const { isRead, length, rsgList } = rdma;
  const given: unknown = rsgList;
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_PIECES)
    throw new VerbsError(call, invalid(`rsgList is ${show(given)}`, `It has 1 to ${MAX_PIECES} places`));
  const pieces = (out?.dataIov ?? []).filter((piece) => typeof piece !== 'string');
  const memory = landingFrom(call, 'out.dataIov', pieces);
  refuse(call, countProblem('length', length, 0, lengthOf(memory)));
  let left = length;
  const places = rsgList.map(({ addr, length: bytes, stag }) => {
    refuse(call, countProblem('addr', addr, 0, Number.MAX_SAFE_INTEGER));
    refuse(call, countProblem('length of a place', bytes, 0, Number.MAX_SAFE_INTEGER));
    checkRkey(call, 'stag', stag);
    const taken = Math.min(left, bytes);
    left -= taken;
    return { addr, length: taken, stag };
  });
  if (left > 0) throw new VerbsError(call, invalid(`${length} bytes are to be moved, and rsgList has ${left} fewer`));
  return { isRead, places, memory };
}

/** Moves all of it, or tells why the first has failed once none is under way. */
async function moveAll(session: XioSession, { isRead, places, memory }: Moves): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  let failure: unknown;
  let at = 0;
  const moved = places.map(async ({ addr, length, stag }) => {
    const piece = part(memory, at, length);
    at += length;
    try {
      await (isRead ? session.read(stag, addr, piece, { signal }) : session.write(stag, addr, piece, { signal }));
    } catch (error) {
      failure ??= error;
      controller.abort(error);
    }
  });
  await Promise.all(moved);
  if (failure !== undefined)
    throw failure instanceof Error ? failure : new XioError('XIO_E_UNSUCCESSFUL', show(failure));
}

/**
 * `xio_send_rdma`: reads memory of the peer's into `out.dataIov`, or writes that there, as `rdma` says. `onRdmaDirectComplete` says when it is done, and the message the program's again;
 * otherwise `onMsgError`. The peer's program hears nothing of it.
 *
 * @throws as `xioSendMsg`
 */
export function xioSendRdma(connection: LibxioConnection, msg: XioMsg): void {
  const call = 'xioSendRdma';
  const core = openOf(call, connection);
  checkMessage(call, msg);
  requireFree(call, msg);
  const moves = movesOf(call, msg);
  setState(msg, { kind: 'sent', controller: undefined });
  msg.type = XioMsgType.XIO_MSG_TYPE_RDMA;
  core.send({
    message: msg,
    bodyBytes: moves.places.reduce((sum, { length }) => sum + length, 0),
    begin: async (session) => {
      await moveAll(session, moves);
      core.tell(({ onRdmaDirectComplete }, of, context) => {
        setState(msg, undefined);
        onRdmaDirectComplete?.(of, msg, context);
      });
    },
  });
}
