// Lab 3, the sender, solved. Read it after you have tried: lab-3-sender.ts is the exercise, lab-3.md the page to it.
//
//   bin/verbena lab 3 receiver                    in one shell, or on one host
//   bin/verbena lab 3 solution HOST FILE [ID]     in another
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import {
  CmEventType,
  PortSpace,
  SendFlags,
  type WorkCompletion,
  WcStatus,
  alloc,
  cmEventStr,
  createEventChannel,
  createId,
  getAddrInfo,
  rejectReasonStr,
} from 'verbena';
import {
  LAB_PORT,
  MESSAGE_BYTES,
  MESSAGE_NAMES,
  type Message,
  MessageType,
  decodeMessage,
  encodeMessage,
} from './lab-3-protocol.js';

/** How long a look-up of the address and of the path may take. */
const ADDRESS_MS = 2000;
/** How long to wait for an event: a peer that is not there does not answer. */
const EVENT_MS = 10_000;
/** How long the receiver may take to answer. */
const ANSWER_MS = 30_000;
/** Answers that the receiver will send: MSG_REGION, MSG_VERDICT, MSG_KEY. */
const ANSWERS = 3;

const host = process.argv.at(2);
const path = process.argv.at(3);
const name = process.argv.at(4) ?? userInfo().username;
if (host === undefined || path === undefined) throw new Error('usage: verbena lab 3 solution HOST FILE [ID]');
// The NIC will read the file from memory, and alloc() gives such as can be registered everywhere.
const fromDisk = readFileSync(path);
const content = alloc(fromDisk.length);
content.set(fromDisk);
const sha256 = createHash('sha256').update(content).digest();
console.log(`${path}: ${content.length.toLocaleString('en')} bytes, SHA-256 ${sha256.toString('hex')}`);

// 1. An identifier is to rdma_cm what a socket is to TCP. What happens to it is told by events, on its channel.
using channel = createEventChannel();
using id = createId(channel, PortSpace.TCP);

/** Waits for the next event, which should be this one. Each event has to be acknowledged. */
function awaitEvent(wanted: CmEventType): void {
  const event = channel.getCmEvent(EVENT_MS);
  const { event: type, status } = event;
  event.ack();
  if (type === wanted) return;
  const why = type === CmEventType.REJECTED ? rejectReasonStr(status) : `status ${status}`;
  throw new Error(`${cmEventStr(type)} came in place of ${cmEventStr(wanted)}: ${why}`);
}

// 2. The address that the name stands for. Which of our devices reaches it, and by which path? The answers are events.
const [{ dst }] = await getAddrInfo(host, LAB_PORT);
id.resolveAddr(dst, { timeoutMs: ADDRESS_MS });
awaitEvent(CmEventType.ADDR_RESOLVED);
id.resolveRoute(ADDRESS_MS);
awaitEvent(CmEventType.ROUTE_RESOLVED);

// 3. A queue pair, which rdma_cm moves through its states by itself; memory for messages; room for all the answers,
// before anybody can send one; and then the connection.
id.createQp(undefined, { cap: { maxSendWr: 4, maxRecvWr: ANSWERS } });
using outbox = id.regMsgs(alloc(MESSAGE_BYTES));
using inbox = id.regMsgs(alloc(ANSWERS * MESSAGE_BYTES));
for (let slot = 0; slot < ANSWERS; slot += 1) {
  // The slot's number comes back with the completion: that is how to know which one was filled.
  id.postRecv(slot, inbox.sge(slot * MESSAGE_BYTES, MESSAGE_BYTES));
}
id.connect();
awaitEvent(CmEventType.ESTABLISHED);
console.log(`connected to ${id.peerAddr?.host ?? '?'}`);

/** A completion says how a request ended, and only its status says whether well. */
function checked(wc: WorkCompletion): WorkCompletion {
  if (wc.status !== WcStatus.SUCCESS) throw new Error(id.verbs?.explain(wc));
  return wc;
}

/** Sends a message, and waits until it has arrived: before that, the outbox is the NIC's. */
function say(message: Message): void {
  const bytes = encodeMessage(message);
  outbox.bytes.set(bytes);
  id.postSend(0, outbox.sge(0, bytes.length), SendFlags.SIGNALED);
  checked(id.getSendComp());
}

/** Waits for the receiver's next message, which should be of this type. */
function hear<T extends MessageType>(wanted: T): Message & { type: T } {
  const wc = checked(id.getRecvComp(ANSWER_MS));
  const begin = Number(wc.wrId) * MESSAGE_BYTES;
  const message = decodeMessage(inbox.bytes.slice(begin, begin + wc.byteLen));
  if (typeof message === 'string') throw new Error(`${message} came in place of ${MESSAGE_NAMES[wanted]}`);
  if (message.type !== wanted) throw new Error(`${MESSAGE_NAMES[message.type]} came, not ${MESSAGE_NAMES[wanted]}`);
  // What has this type is the message of this type.
  return message as Message & { type: T };
}

// 4. MSG_FILE: how long the file is, and its hash.
say({ type: MessageType.FILE, length: content.length, sha256 });

// 5. MSG_REGION: where to write it.
const region = hear(MessageType.REGION);
if (region.length !== content.length) throw new Error(`the receiver has room for ${region.length} bytes`);

// 6. The file into the region. Our NIC reads it where it lies, and theirs writes it where it belongs; no program touches it.
using file = id.regMsgs(content);
id.postWrite(0, file.sge(), SendFlags.SIGNALED, region.addr, region.rkey);
checked(id.getSendComp());

// 7. MSG_DONE. Nobody at the receiver has noticed the WRITE.
say({ type: MessageType.DONE });

// 8. MSG_VERDICT. Bad means that what arrived has another hash.
if (!hear(MessageType.VERDICT).good) throw new Error('bad: what arrived has another hash than was announced');
console.log('good: what arrived has the hash that was announced');

// 9. MSG_ID.
say({ type: MessageType.ID, id: name });

// 10. MSG_KEY.
const { key } = hear(MessageType.KEY);
console.log(`secret key of ${name}: ${Buffer.from(key).toString('hex')}`);

// 11. Hang up, and wait until the receiver has heard of it. (The rest ends by itself: that is `using`.)
id.disconnect();
awaitEvent(CmEventType.DISCONNECTED);
