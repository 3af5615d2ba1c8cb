import { invalid, show, VerbsError } from '../../../api/verbs/index.js';
import type { Bytes, XioPlacement } from '../api.js';
import { bodyFrom, bytesOf, landingFrom } from '../options.js';
import { XioError } from '../transport/index.js';
import { lengthOf, statusName, XioStatus } from '../wire/index.js';
import { type ConnectionCore, connectionOf } from './connection.js';
import { XioMsgFlag, XioMsgType } from './constants.js';
import type { LibxioConnection } from './handles.js';
import { type MessageSource, requireFree, sentRequestOf, setState, stateOf } from './message-states.js';
import { wrongState } from './problems.js';
import type { XioMsg } from './types.js';

/** More than any end has credit for. */
const MOST = 65_535;

/** A message, and those behind it by `next`. @throws VerbsError EINVAL for what is no message, one that comes twice, and too many */
function chainOf(call: string, first: XioMsg): readonly XioMsg[] {
  const chain = new Set<XioMsg>();
  let message: unknown = first;
  do {
    if (!isMessage(message)) throw new VerbsError(call, invalid(`the message is ${show(message)}`));
    if (chain.has(message)) throw new VerbsError(call, invalid('a message is behind itself, by next'));
    if (chain.size === MOST) throw new VerbsError(call, invalid(`more than ${MOST} messages are behind each other`));
    chain.add(message);
    message = message.next;
  } while (message !== undefined);
  return [...chain];
}

function isMessage(value: unknown): value is XioMsg {
  return typeof value === 'object' && value !== null;
}

const RECEIPT = XioMsgFlag.XIO_MSG_FLAG_REQUEST_READ_RECEIPT;
const { XIO_MSG_FLAG_PEER_WRITE_RSP: WRITE_RESPONSE, XIO_MSG_FLAG_PEER_READ_REQ: READ_REQUEST } = XioMsgFlag;
const FLAGS = Object.values(XioMsgFlag).reduce<number>((bits, bit) => bits | bit, 0);
/** What waits for a connection that is not there yet; afterwards the session counts. */
const MOST_WAITING = 1024;

interface Parts {
  readonly header: Uint8Array;
  readonly body: readonly Bytes[];
}

function partsOf(call: string, { out = {} }: XioMsg): Parts & { readonly bodyBytes: number } {
  const { header, dataIov = [] } = out;
  if (!Array.isArray(dataIov)) throw new VerbsError(call, invalid(`dataIov is ${show(dataIov)}`, 'It is an array'));
  const body: readonly Bytes[] = dataIov;
  const bodyBytes = lengthOf(bodyFrom(call, 'dataIov', body));
  return { header: bytesOf(call, 'header', header), body, bodyBytes };
}

/** Where a response's body is to lie. */
function intoOf(call: string, message: XioMsg): readonly Uint8Array[] | undefined {
  const dataIov: readonly Uint8Array[] = message.in?.dataIov ?? [];
  if (!isArray(dataIov)) throw new VerbsError(call, invalid(`in.dataIov is ${show(dataIov)}`, 'It is an array'));
  if (dataIov.length === 0) return undefined;
  landingFrom(call, 'in.dataIov', dataIov);
  return dataIov;
}

function isArray(given: unknown): boolean {
  return Array.isArray(given);
}

function flagsOf(call: string, { flags = 0 }: XioMsg): number {
  if (Number.isInteger(flags) && (flags & ~FLAGS) === 0) return flags;
  throw new VerbsError(call, invalid(`flags are ${show(flags)}`));
}

function placementOf(flags: number, flag: number): XioPlacement {
  return (flags & flag) === 0 ? 'auto' : 'rdma';
}

/** @throws VerbsError EINVAL for what is no message */
export function checkMessage(call: string, message: XioMsg): void {
  const given: unknown = message;
  if (typeof given !== 'object' || given === null) throw new VerbsError(call, invalid(`the message is ${show(given)}`));
}

/** A connection that may be sent on. @throws XioError XIO_E_SESSION_CLOSED, XIO_E_STATE, XIO_E_TX_QUEUE_OVERFLOW */
export function openOf(call: string, connection: LibxioConnection): ConnectionCore {
  const core = connectionOf(call, connection);
  core.requireOpen(call);
  if (core.waiting >= (core.context.params.queueMessages ?? MOST_WAITING))
    throw new XioError('XIO_E_TX_QUEUE_OVERFLOW', `${call}: ${core.waiting} wait for the connection already`);
  return core;
}

/**
 * `xio_send_request`. `onMsg` is given the same message when it is answered, with the response in `in`; or else `onMsgError`, or `onCancel`. Until then it is xio's.
 *
 * @param req and what is behind it by `next`: all are looked at before any is sent
 * @throws XioError XIO_E_STATE for a message that is on its way, was not released, or is the peer's, and where the connection was destroyed; XIO_E_SESSION_CLOSED where it has ended;
 *   XIO_E_TX_QUEUE_OVERFLOW where too many wait until there is one; VerbsError EINVAL for wrong arguments
 */
export function xioSendRequest(connection: LibxioConnection, req: XioMsg): void {
  const call = 'xioSendRequest';
  const core = openOf(call, connection);
  const sends = chainOf(call, req).map((each) => preparedRequest(call, core, each));
  for (const send of sends) send();
}

/** Looks whether a request can be sent. @returns sends it */
function preparedRequest(call: string, core: ConnectionCore, req: XioMsg): () => void {
  requireFree(call, req);
  const { header, body, bodyBytes } = partsOf(call, req);
  const into = intoOf(call, req);
  const flags = flagsOf(call, req);
  const isReceiptDue = (flags & RECEIPT) !== 0;
  const placement = placementOf(flags, READ_REQUEST);
  const responsePlacement = placementOf(flags, WRITE_RESPONSE);
  return () => {
    const controller = new AbortController();
    setState(req, { kind: 'sent', controller });
    req.type = XioMsgType.XIO_MSG_TYPE_REQ;
    req.sn = core.nextSn();
    core.send({
      message: req,
      bodyBytes,
      begin: async (session) => {
        try {
          const response = await session.request(header, body, {
            into,
            placement,
            responsePlacement,
            signal: controller.signal,
          });
          if (isReceiptDue) core.tell(({ onMsgDelivered }, of, context) => onMsgDelivered?.(of, req, context));
          core.tellMsg(req, () => {
            setState(req, { kind: 'answered', source: core });
            req.type = XioMsgType.XIO_MSG_TYPE_RSP;
            req.in = { header: response.header, dataIov: response.pieces };
          });
        } catch (error) {
          if (!controller.signal.aborted) throw error;
          setState(req, undefined);
          core.tell(({ onCancel }, of, context) => onCancel?.(of, XioStatus.XIO_E_MSG_CANCELED, req, context));
        }
      },
    });
  };
}

/**
 * `xio_send_response`. The request is let go of: its memory is not to be used any more. `onMsgSendComplete` says when the response is the program's again. Where nobody waits for it, it goes nowhere.
 *
 * @param rsp has the request in `request`. What is behind it by `next` is sent as well, one after the other until one throws
 * @throws XioError XIO_E_STATE where the request was answered before, or is none, where the response is on its way, and where the connection was torn down; XIO_E_MSG_SIZE for a header,
 *   XIO_E_RSP_BUF_SIZE_MISMATCH for a body that is longer than the requester takes: the request can be answered otherwise; VerbsError EINVAL
 */
export function xioSendResponse(rsp: XioMsg): void {
  const call = 'xioSendResponse';
  for (const each of chainOf(call, rsp)) sendResponse(call, each);
}

function sendResponse(call: string, rsp: XioMsg): void {
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
  const sends = chainOf(call, msg).map((each) => preparedMessage(call, core, each));
  for (const send of sends) send();
}

/** Looks whether a message can be sent. @returns sends it */
function preparedMessage(call: string, core: ConnectionCore, msg: XioMsg): () => void {
  requireFree(call, msg);
  const { bodyBytes, ...parts } = partsOf(call, msg);
  const flags = flagsOf(call, msg);
  const receipt = (flags & RECEIPT) !== 0;
  const placement = placementOf(flags, READ_REQUEST);
  return () => {
    setState(msg, { kind: 'sent', controller: undefined });
    msg.type = XioMsgType.XIO_MSG_TYPE_ONE_WAY;
    msg.sn = core.nextSn();
    core.send({
      message: msg,
      bodyBytes,
      begin: async (session) => {
        await session.send(parts, { receipt, placement });
        core.tell(({ onMsgDelivered, onOwMsgSendComplete }, of, context) => {
          setState(msg, undefined);
          (receipt ? onMsgDelivered : onOwMsgSendComplete)?.(of, msg, context);
        });
      },
    });
  };
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
