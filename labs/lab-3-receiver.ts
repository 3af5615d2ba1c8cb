// Lab 3, the receiver: takes a file from one sender, and grades what the sender did. It is given, not the exercise; but
// it is the passive side of a connection by rdma_cm, and worth reading. lab-3.md goes through it.
//
//   bin/verbena lab 3 receiver [ADDRESS]     ADDRESS is where our NIC is to be
import { createHash, createHmac, randomBytes, randomFillSync } from 'node:crypto';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { CmEventType, PortSpace, alloc, createEventChannel, createId } from 'verbena';
import { type News, Peer } from './lab-3-peer.js';
import { LAB_PORT, MESSAGE_NAMES, type Message, MessageType } from './lab-3-protocol.js';
import { type ItemName, ScoreSheet } from './lab-3-score.js';

/** Longer files are refused; this one is our memory. */
const MAX_FILE_BYTES = 2 ** 30;
/** What the region holds before anything is written to it repeats after so many random bytes. */
const PATTERN_BYTES = 4096;
/** Bytes at the end of a region that look untouched for another reason than luck. */
const TELLING_BYTES = 16;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // The key that the secret keys are made with: for those who want to check them later.
    secret: { type: 'string' },
    // Seconds to wait for the sender's next step.
    patience: { type: 'string', default: '10' },
    // Where to put the file.
    output: { type: 'string', short: 'o' },
  },
});
const address = positionals.at(0);
const secret = values.secret ?? randomBytes(32).toString('hex');
const patienceMs = Number(values.patience) * 1000;
if (!(patienceMs > 0)) throw new Error(`--patience takes seconds, not '${values.patience}'`);

// A folder that takes no file is better known before the sender has done its work.
if (values.output !== undefined) accessSync(dirname(values.output), constants.W_OK);

const sheet = new ScoreSheet();

// 1. Listen. The passive side binds an identifier to an address and port, as one does with a socket.
using channel = createEventChannel();
const events = channel[Symbol.asyncIterator]();
const listener = createId(channel, PortSpace.TCP);
listener.bindAddr({ port: LAB_PORT, ...(address === undefined ? {} : { host: address }) });
listener.listen(1);
console.log(
  `receiver at ${listener.localAddr?.host ?? 'nowhere'}, waiting on port ${listener.getSrcPort()} of rdma_cm`,
);

// 2. Wait for a request. It brings an identifier of its own, which is our end of the new connection.
const asked = await events.next();
if (asked.done === true || asked.value.event !== CmEventType.CONNECT_REQUEST) throw new Error('nobody asked');
const { id } = asked.value;
asked.value.ack();
// One sender is enough: whoever comes now is told that nobody listens.
listener.destroy();
const context = id.verbs;
if (context === undefined) throw new Error('a request came by no device');
const from = `${id.peerAddr?.host ?? '?'}, port ${id.peerAddr?.port ?? 0}`;

// 3. A queue pair, room for messages, and accept: all in there.
const peer = new Peer(id, context, events, patienceMs);

/** What came in place of the message that was due, for the table. */
function insteadOf(wanted: string, news: News): string {
  switch (news.kind) {
    case 'message':
      return `${MESSAGE_NAMES[news.message.type]} came where ${wanted} was due`;
    case 'nonsense':
      return `${news.what} came where ${wanted} was due`;
    case 'gone':
      return `the sender disconnected where ${wanted} was due`;
    case 'silence':
      return `${wanted} was due, and nothing came for ${patienceMs / 1000} s`;
    case 'trespass':
      return `the connection died where ${wanted} was due`;
    case 'broken':
      return `${wanted} was due, but: ${news.why}`;
  }
}

/** Where in the protocol a sender touched memory that is not its own, by the message that was due. */
let trespass = 'it wrote or read before it had MSG_REGION, with a key that nobody gave it';

/** Puts on the sheet that something else came than what was due. */
function mishap(news: News, wanted: string, item: ItemName): void {
  if (news.kind === 'trespass') sheet.deny('bounds', trespass);
  sheet.deny(item, insteadOf(wanted, news));
}

/** Hears the message that is due. Undefined when something else came, which is then on the sheet. */
async function hear<T extends MessageType>(type: T, item: ItemName): Promise<(Message & { type: T }) | undefined> {
  const news = await peer.hear();
  if (peer.established) sheet.award('connect', from);
  else sheet.deny('connect', `${from}, asked for a connection and did not complete it`);
  // What has this type is the message of this type.
  if (news.kind === 'message' && news.message.type === type) return news.message as Message & { type: T };
  mishap(news, MESSAGE_NAMES[type], item);
  return undefined;
}

/** Answers. False when the answer did not arrive, which is then on the sheet. */
async function say(message: Message, item: ItemName): Promise<boolean> {
  const news = await peer.say(message);
  if (news !== undefined) mishap(news, `the arrival of ${MESSAGE_NAMES[message.type]}`, item);
  return news === undefined;
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** Bytes at the end of the region that are still as they were before. */
function untouchedTail(bytes: Uint8Array, pattern: Uint8Array): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === pattern[(end - 1) % PATTERN_BYTES]) end -= 1;
  return bytes.length - end;
}

/** The protocol, from MSG_FILE to the farewell. It returns where a sender goes wrong; the sheet says how. */
async function receive(): Promise<void> {
  // 4. What is coming?
  const file = await hear(MessageType.FILE, 'file');
  if (file === undefined) return;
  const announced = `${file.length.toLocaleString('en')} bytes, SHA-256 ${Buffer.from(file.sha256).toString('hex', 0, 4)}…`;
  if (file.length < 1 || file.length > MAX_FILE_BYTES) {
    sheet.deny('file', `${announced}: this receiver takes 1 to ${MAX_FILE_BYTES.toLocaleString('en')}`);
    return;
  }
  sheet.award('file', announced);

  // 5. Memory for it, that the peer may write: exactly as long as announced, so that the NIC refuses any byte beyond.
  const memory = alloc(file.length);
  const pattern = randomFillSync(new Uint8Array(PATTERN_BYTES));
  for (let at = 0; at < memory.length; at += PATTERN_BYTES) {
    memory.set(pattern.subarray(0, Math.min(PATTERN_BYTES, memory.length - at)), at);
  }
  const region = id.regWrite(memory);
  const { addr, length, rkey } = region;
  trespass =
    `it named memory that MSG_REGION does not offer (${length} bytes at 0x${addr.toString(16)}, rkey ` +
    `0x${rkey.toString(16)}); context.explain of the sender's failed completion has what it named`;
  if (!(await say({ type: MessageType.REGION, addr, length, rkey }, 'done'))) return;

  // 6. RDMA WRITEs make no completion here. MSG_DONE is how we learn of them; what was posted before it is in place
  // then, since a reliable connection keeps order. All our receive requests are for messages, and short, so whatever is
  // in the region came by RDMA WRITE.
  const done = await hear(MessageType.DONE, 'done');
  // From now on nobody writes there: the key is dead.
  region.dereg();
  if (done === undefined) return;
  trespass = 'it wrote or read after MSG_DONE, when its key was dead';
  sheet.award('bounds', 'the NIC had nothing to refuse');
  sheet.award('done', 'it came');
  const untouched = untouchedTail(memory, pattern);
  if (untouched === length) sheet.deny('write', 'nothing had been written when MSG_DONE came');
  else if (untouched >= TELLING_BYTES) {
    sheet.deny('write', `the last ${untouched} of ${length} bytes had not been written when MSG_DONE came`);
  } else sheet.award('write', `all ${length.toLocaleString('en')} bytes are there`);

  // 7. Is it what was announced?
  const digest = sha256(memory);
  const good = digest.equals(file.sha256);
  if (good) sheet.award('hash', 'the SHA-256 is the same');
  else {
    const arrived = digest.toString('hex', 0, 4);
    sheet.deny('hash', `the SHA-256 of what arrived is ${arrived}…, not the one that MSG_FILE announced`);
  }
  if (!(await say({ type: MessageType.VERDICT, good }, 'id'))) return;
  if (!good) return;
  if (values.output !== undefined) writeFileSync(values.output, memory);

  // 8. Who was it? The secret key belongs to the ID: nobody can make it up who does not know what it is made with.
  const name = await hear(MessageType.ID, 'id');
  if (name === undefined) return;
  sheet.award('id', name.id);
  const key = createHmac('sha256', secret).update(name.id).digest();
  if (!(await say({ type: MessageType.KEY, key }, 'goodbye'))) return;
  console.log(`secret key of ${name.id}: ${key.toString('hex')}`);

  // 9. The sender hangs up: it is the one that knows when it has all it wanted.
  const news = await peer.hear();
  if (news.kind === 'gone') sheet.award('goodbye', 'it did');
  else mishap(news, 'the end of the connection', 'goodbye');
}

await receive();
peer.close();
id.destroyEp();
console.log(`\n${String(sheet)}`);
process.exitCode = sheet.total === sheet.most ? 0 : 1;
