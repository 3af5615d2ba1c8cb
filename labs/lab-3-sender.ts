// Lab 3, the sender: THE EXERCISE. Steps 1 to 3 are there, and connect. Steps 4 to 11 are yours: put your code in the
// place of each TODO. It compiles and runs as it is; both sides say how far it came. lab-3.md has the protocol, a hint for
// each step, and what mistakes look like. What you edit is compiled when you run it.
//
//   bin/verbena lab 3 receiver                    in one shell, or on one host
//   bin/verbena lab 3 sender HOST FILE [ID]       in another
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import {
  CmEventType,
  PortSpace,
  alloc,
  cmEventStr,
  createEventChannel,
  createId,
  getAddrInfo,
  rejectReasonStr,
} from 'verbena';
import { LAB_PORT, MESSAGE_BYTES, type Message, MessageType, encodeMessage } from './lab-3-protocol.js';

/** How long a look-up of the address and of the path may take. */
const ADDRESS_MS = 2000;
/** How long to wait for an event: a peer that is not there does not answer. */
const EVENT_MS = 10_000;
/** Answers that the receiver will send: MSG_REGION, MSG_VERDICT, MSG_KEY. */
const ANSWERS = 3;

const host = process.argv.at(2);
const path = process.argv.at(3);
const name = process.argv.at(4) ?? userInfo().username;
if (host === undefined || path === undefined) throw new Error('usage: verbena lab 3 sender HOST FILE [ID]');
// The NIC will read the file from memory, and alloc() gives such as can be registered everywhere.
const fromDisk = readFileSync(path);
const content = alloc(fromDisk.length);
content.set(fromDisk);
const sha256 = createHash('sha256').update(content).digest();
console.log(`${path}: ${content.length.toLocaleString('en')} bytes, SHA-256 ${sha256.toString('hex')}`);

/** Stands where a step is to be written. */
function todo(step: number, what: string): void {
  const error = new Error(`step ${step} is to do: ${what}`);
  // The place that is told is the step's.
  Error.captureStackTrace(error, todo);
  throw error;
}

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

/** Sends a message, and waits until it has arrived. */
function say(message: Message): void {
  const bytes = encodeMessage(message);
  outbox.bytes.set(bytes);
  // 4. TODO: post a SEND of the first bytes.length bytes of the outbox; wait for its completion; look at its status.
  todo(4, 'send what is in the outbox, and wait until it has arrived');
}

/** Waits for the receiver's next message. */
function hear(): Message {
  // 5. TODO: wait for the completion of a receive request; look at its status; decode the bytes that it brought.
  throw new Error('step 5 is to do: wait for a message, and decode it');
}

// 4. MSG_FILE: how long the file is, and its hash.
say({ type: MessageType.FILE, length: content.length, sha256 });

// 5. MSG_REGION: where to write it.
const region = hear();
console.log(region);

// 6. TODO: the file into the region, by RDMA WRITE. The NIC reads it from memory that is registered.
todo(6, 'write the file into the region of MSG_REGION');

// 7. TODO: MSG_DONE. Nobody at the receiver has noticed the WRITE.
todo(7, 'say MSG_DONE');

// 8. TODO: MSG_VERDICT. Bad means that what arrived has another hash.
todo(8, 'hear MSG_VERDICT, and stop unless it is good');

// 9. TODO: MSG_ID, with `name`.
todo(9, `say MSG_ID: ${name}`);

// 10. TODO: MSG_KEY. Print the key in hexadecimal.
todo(10, 'hear MSG_KEY, and print the key');

// 11. TODO: disconnect, and wait for the event that says so. (The rest ends by itself: that is `using`.)
todo(11, 'disconnect');
