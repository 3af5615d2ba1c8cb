import { invalid, show, VerbsError } from '../../../api/verbs/index.js';
import type { Bytes } from '../api.js';
import { bytesOf } from '../options.js';
import { XioError } from '../transport/index.js';
import { statusName, XioStatus } from '../wire/index.js';
import { type ConnectionCore, connectionOf } from './connection.js';
import { XioMsgFlag, XioMsgType } from './constants.js';
import type { LibxioConnection } from './handles.js';
import { type MessageSource, requireFree, sentRequestOf, setState, stateOf } from './message-states.js';
import { wrongState } from './problems.js';
import type { XioMsg } from './types.js';

const RECEIPT = XioMsgFlag.XIO_MSG_FLAG_REQUEST_READ_RECEIPT;
const FORCES = XioMsgFlag.XIO_MSG_FLAG_PEER_WRITE_RSP | XioMsgFlag.XIO_MSG_FLAG_PEER_READ_REQ;
const FLAGS = Object.values(XioMsgFlag).reduce<number>((bits, bit) => bits | bit, 0);
/** What waits for a connection that is not there yet; afterwards the session counts. */
const MOST_WAITING = 1024;

/** What is sent, in one piece each. */
interface Parts {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

function partsOf(call: string, { out = {} }: XioMsg): Parts {
  const { header, dataIov = [] } = out;
  if (!Array.isArray(dataIov)) throw new VerbsError(call, invalid(`dataIov is ${show(dataIov)}`, 'It is an array'));
  const pieces = dataIov.map((piece: Bytes) => bytesOf(call, 'a piece of dataIov', piece));
  return { header: bytesOf(call, 'header', header), body: gathered(pieces) };
}

function gathered(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0];
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Where a response's body is to lie. */
function intoOf(call: string, message: XioMsg): Uint8Array | undefined {
  const { dataIov = [] } = message.in ?? {};
  if (!Array.isArray(dataIov) || dataIov.length > 1)
    throw new VerbsError(call, invalid(`in.dataIov is ${show(dataIov)}`, 'It is one piece of memory, or none'));
  const into: unknown = dataIov.at(0);
  if (into === undefined || into instanceof Uint8Array) return into;
  throw new VerbsError(call, invalid(`in.dataIov has ${show(into)}`, 'It is a Uint8Array'));
}

function flagsOf(call: string, { flags = 0 }: XioMsg): number {
  if (!Number.isInteger(flags) || (flags & ~FLAGS) !== 0)
    throw new VerbsError(call, invalid(`flags are ${show(flags)}`));
  if ((flags & FORCES) === 0) return flags;
  throw new XioError('XIO_E_NOT_SUPPORTED', `${call}: who moves a body is decided by its length, and by inlineBytes`);
}

/** @throws VerbsError EINVAL for what is no message */
function checkMessage(call: string, message: XioMsg): void {
  const given: unknown = message;
  if (typeof given !== 'object' || given === null) throw new VerbsError(call, invalid(`the message is ${show(given)}`));
}

/** A connection that may be sent on. @throws XioError XIO_E_SESSION_CLOSED, XIO_E_STATE, XIO_E_TX_QUEUE_OVERFLOW */
function openOf(call: string, connection: LibxioConnection): ConnectionCore {
  const core = connectionOf(call, connection);
  core.requireOpen(call);
  if (core.waiting >= (core.context.params.queueMessages ?? MOST_WAITING))
    throw new XioError('XIO_E_TX_QUEUE_OVERFLOW', `${call}: ${core.waiting} wait for the connection already`);
  return core;
}

/**
 * `xio_send_request`. `onMsg` is given the same message when it is answered, with the response in `in`; or else `onMsgError`, or `onCancel`. Until then it is xio's.
 *
 * @throws XioError XIO_E_STATE for a message that is on its way, was not released, or is the peer's, and where the connection was destroyed; XIO_E_SESSION_CLOSED where it has ended;
 *   XIO_E_TX_QUEUE_OVERFLOW where too many wait until there is one; XIO_E_NOT_SUPPORTED for flags that are not there; VerbsError EINVAL for wrong arguments
 */
export function xioSendRequest(connection: LibxioConnection, req: XioMsg): void {
  const call = 'xioSendRequest';
  const core = openOf(call, connection);
  checkMessage(call, req);
  requireFree(call, req);
  const { header, body } = partsOf(call, req);
  const into = intoOf(call, req);
  const isReceiptDue = (flagsOf(call, req) & RECEIPT) !== 0;
  const controller = new AbortController();
  setState(req, { kind: 'sent', controller });
  req.type = XioMsgType.XIO_MSG_TYPE_REQ;
  req.sn = core.nextSn();
  core.send({
    message: req,
    begin: async (session) => {
      try {
        const response = await session.request(header, body, { into, signal: controller.signal });
        if (isReceiptDue) core.tell(({ onMsgDelivered }, of, context) => onMsgDelivered?.(of, req, context));
        core.tell(({ onMsg }, of, context) => {
          setState(req, { kind: 'answered' });
          req.type = XioMsgType.XIO_MSG_TYPE_RSP;
          req.in = { header: response.header, dataIov: response.body.length === 0 ? [] : [response.body] };
          onMsg?.(of, req, context);
        });
      } catch (error) {
        if (!controller.signal.aborted) throw error;
        setState(req, undefined);
        core.tell(({ onCancel }, of, context) => onCancel?.(of, XioStatus.XIO_E_MSG_CANCELED, req, context));
      }
    },
  });
}

/**
 * `xio_send_response`. The request is let go of: its memory is not to be used any more. `onMsgSendComplete` says when the response is the program's again. Where nobody waits for it, it goes nowhere.
 *
 * @param rsp has the request in `request`
 * @throws XioError XIO_E_STATE where the request was answered before, or is none, where the response is on its way, and where the connection was torn down; XIO_E_MSG_SIZE for a header,
 *   XIO_E_RSP_BUF_SIZE_MISMATCH for a body that is longer than the requester takes: the request can be answered otherwise; VerbsError EINVAL
 */
export function xioSendResponse(rsp: XioMsg): void {
  const call = 'xioSendResponse';
  checkMessage(call, rsp);
  const { request: req } = rsp;
  if (req === undefined) throw new VerbsError(call, invalid('the response has no request', 'onMsg was given one'));
  checkMessage(call, req);
  const { source, request } = stateOf(call, req, 'request');
  requireAlive(call, source);
  requireFree(call, rsp);
  const { header, body } = partsOf(call, rsp);
  flagsOf(call, rsp);
  const done = request.reply(header, body);
  setState(req, { kind: 'gone' });
  setState(rsp, { kind: 'sent', controller: undefined });
  rsp.type = XioMsgType.XIO_MSG_TYPE_RSP;
  rsp.sn = req.sn;
  source.follow(
    done.then(() =>
      source.tell(({ onMsgSendComplete }, of, context) => {
        setState(rsp, undefined);
        onMsgSendComplete?.(of, rsp, context);
      }),
    ),
  );
}

/** `xio_release_response`: the request that was answered is the program's again. @throws XioError XIO_E_STATE for what is no response, or was released before */
export function xioReleaseResponse(rsp: XioMsg): void {
  const call = 'xioReleaseResponse';
  checkMessage(call, rsp);
  stateOf(call, rsp, 'answered');
  setState(rsp, undefined);
  rsp.in = undefined;
}

/**
 * `xio_send_msg`: sends a message that is not answered. `onOwMsgSendComplete` says when it is the program's again; with XIO_MSG_FLAG_REQUEST_READ_RECEIPT `onMsgDelivered` does, when the
 * peer's program has released it; otherwise `onMsgError`.
 *
 * @throws as {@link xioSendRequest}
 */
export function xioSendMsg(connection: LibxioConnection, msg: XioMsg): void {
  const call = 'xioSendMsg';
  const core = openOf(call, connection);
  checkMessage(call, msg);
  requireFree(call, msg);
  const parts = partsOf(call, msg);
  const receipt = (flagsOf(call, msg) & RECEIPT) !== 0;
  setState(msg, { kind: 'sent', controller: undefined });
  msg.type = XioMsgType.XIO_MSG_TYPE_ONE_WAY;
  msg.sn = core.nextSn();
  core.send({
    message: msg,
    begin: async (session) => {
      await session.send(parts, { receipt });
      core.tell(({ onMsgDelivered, onOwMsgSendComplete }, of, context) => {
        setState(msg, undefined);
        (receipt ? onMsgDelivered : onOwMsgSendComplete)?.(of, msg, context);
      });
    },
  });
}

/** `xio_release_msg`: lets go of a one-way message of the peer's, who may send another for it. @throws XioError XIO_E_STATE for what is none, or was released before */
export function xioReleaseMsg(msg: XioMsg): void {
  const call = 'xioReleaseMsg';
  checkMessage(call, msg);
  const { release } = stateOf(call, msg, 'message');
  setState(msg, { kind: 'gone' });
  release();
}

/** `xio_cancel_request`: gives up a request. `onCancel` says when it is the program's again, and the peer hears `onCancelRequest`. @throws XioError XIO_E_MSG_NOT_FOUND for what is not on its way */
export function xioCancelRequest(req: XioMsg): void {
  const call = 'xioCancelRequest';
  checkMessage(call, req);
  const controller = sentRequestOf(call, req);
  controller.abort(new XioError('XIO_E_MSG_CANCELED', 'the requester has given up'));
}

/**
 * `xio_cancel`: the responder lets go of a request without an answer. A requester that still waits hears the status by `onMsgError`.
 *
 * @throws XioError XIO_E_STATE as {@link xioSendResponse}; VerbsError EINVAL for what is no status of a failure
 */
export function xioCancel(req: XioMsg, result: XioStatus = XioStatus.XIO_E_MSG_CANCELED): void {
  const call = 'xioCancel';
  checkMessage(call, req);
  const code = statusName(result);
  if (code === undefined || result === XioStatus.XIO_E_SUCCESS)
    throw new VerbsError(call, invalid(`result is ${show(result)}`, 'It is the XioStatus of a failure'));
  const { source, request } = stateOf(call, req, 'request');
  requireAlive(call, source);
  request.fail('', code);
  setState(req, { kind: 'gone' });
}

/** @throws XioError XIO_E_STATE once nothing comes of it any more */
function requireAlive(call: string, { phase }: MessageSource): void {
  if (phase === 'torn down' || phase === 'destroyed') throw wrongState(call, 'the connection was torn down');
}
