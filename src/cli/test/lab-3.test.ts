import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type LabSender, connected } from './lab-3-sender.js';
import { type Ended, Tool, run } from './tool.js';
import { MessageType } from '../../../labs/lab-3-protocol.js';
import { openDevice } from '../../entry/index.js';
import { loopback } from '../../../test/support/loopback.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-lab-3-'));
after(() => rmSync(folder, { recursive: true }));

const content = randomBytes(200_001);
const sha256 = createHash('sha256').update(content).digest();
const FILE = { type: MessageType.FILE, length: content.length, sha256 } as const;
const DONE = { type: MessageType.DONE } as const;

async function receiver(address: string, ...options: string[]): Promise<Tool> {
  const tool = new Tool(['lab', '3', 'receiver', address, ...options]);
  await tool.printed('waiting on port');
  return tool;
}

function fileOfContent(): string {
  const file = join(folder, 'file');
  writeFileSync(file, content);
  return file;
}

test('the solution of lab 3 gets all points, a good verdict and the key of its ID', async () => {
  const output = join(folder, 'copy');
  const receiving = await receiver(loopback(1), '--secret', 'a secret', '--output', output);
  const settings = { VERBENA_ADDR: loopback(2) };
  const sender = await run(['lab', '3', 'solution', loopback(1), fileOfContent(), 'ada'], settings);
  const { code, stdout, stderr } = await receiving.ended;
  assert.deepEqual([code, stderr, sender.code, sender.stderr], [0, '', 0, '']);
  assert.match(stdout, /^grade: 100 of 100$/m);
  assert.match(sender.stdout, /^good: what arrived has the hash that was announced$/m);
  const key = createHmac('sha256', 'a secret').update('ada').digest('hex');
  assert.match(sender.stdout, new RegExp(`^secret key of ada: ${key}$`, 'm'));
  assert.ok(readFileSync(output).equals(content));
});

test('the exercise of lab 3 connects as it stands, and both sides say what is to do next', async () => {
  const receiving = await receiver(loopback(3));
  const settings = { VERBENA_ADDR: loopback(4) };
  const sender = await run(['lab', '3', 'sender', loopback(3), fileOfContent()], settings);
  const { code, stdout } = await receiving.ended;
  assert.deepEqual([code, sender.code], [1, 1]);
  assert.match(sender.stderr, /^step 4 is to do: .+\n {2}at labs\/lab-3-sender\.ts:\d+\n$/);
  assert.match(stdout, /^ {2}0 \/ 15 .+: the sender disconnected where MSG_FILE was due \(step 4\)$/m);
  assert.match(stdout, /^grade: 10 of 100$/m);
});

test('a sender of lab 3 is told when nobody listens', async () => {
  using nobody = openDevice({ address: loopback(5) });
  const sender = await run(['lab', '3', 'solution', nobody.address, fileOfContent()], { VERBENA_ADDR: loopback(6) });
  assert.equal(sender.code, 1);
  assert.match(sender.stderr, /^RDMA_CM_EVENT_REJECTED came in place of RDMA_CM_EVENT_ESTABLISHED: .+ nobody listens /);
});

test('a program of lab 3 has to be named', async () => {
  const { code, stderr } = await run(['lab', '3']);
  const told = 'Lab 3 has several programs; say which one: receiver, sender, solution.\n';
  assert.deepEqual({ code, stderr }, { code: 1, stderr: told });
});

/** A sender that goes wrong, and what the receiver says of it. */
interface Mistake {
  readonly name: string;
  play(sender: LabSender): Promise<unknown>;
  readonly grade: number;
  readonly sentence: RegExp;
  /** Seconds that the receiver waits, where the mistake is to be silent. */
  readonly patience?: number;
}

const MISTAKES: readonly Mistake[] = [
  {
    name: 'announces another hash',
    play: async (sender) => {
      await sender.say({ ...FILE, sha256: randomBytes(32) });
      await sender.write(await sender.region(), content);
      await sender.say(DONE);
      assert.deepEqual(await sender.hear(), { type: MessageType.VERDICT, good: false });
    },
    grade: 70,
    sentence: /the SHA-256 of what arrived is \w+…, not the one that MSG_FILE announced \(steps 4 and 6\)$/m,
  },
  {
    name: 'writes before it was told where',
    play: async (sender) => {
      await sender.write({ addr: 0x1000n, rkey: 0x12345678 }, content);
    },
    grade: 10,
    sentence: /it wrote or read before it had MSG_REGION, with a key that nobody gave it \(step 6\)$/m,
  },
  {
    name: 'writes beyond the region',
    play: async (sender) => {
      await sender.say(FILE);
      await sender.write(await sender.region(), Buffer.concat([content, Buffer.of(1)]));
    },
    grade: 25,
    sentence:
      /it named memory that MSG_REGION does not offer \(200001 bytes at 0x\w+, rkey 0x\w+\); .+ has what it named \(step 6\)$/m,
  },
  {
    name: 'writes after it said that it was done',
    play: async (sender) => {
      await sender.say(FILE);
      const region = await sender.region();
      await sender.write(region, content);
      await sender.say(DONE);
      await sender.hear();
      await sender.write(region, content);
    },
    grade: 70,
    sentence: /it wrote or read after MSG_DONE, when its key was dead \(step 6\)$/m,
  },
  {
    name: 'never says that it is done',
    play: async (sender) => {
      await sender.say(FILE);
      await sender.write(await sender.region(), content);
      await sender.closed;
    },
    grade: 25,
    sentence: /MSG_DONE was due, and nothing came for 2 s \(step 7\)$/m,
    patience: 2,
  },
  {
    name: 'disconnects midway',
    play: async (sender) => {
      await sender.say(FILE);
      await sender.region();
    },
    grade: 25,
    sentence: /the sender disconnected where MSG_DONE was due \(step 7\)$/m,
  },
  {
    name: 'writes nothing',
    play: async (sender) => {
      await sender.say(FILE);
      await sender.region();
      await sender.say(DONE);
      await sender.hear();
    },
    grade: 50,
    sentence: /nothing had been written when MSG_DONE came \(step 6\)$/m,
  },
  {
    name: 'writes half of it',
    play: async (sender) => {
      await sender.say(FILE);
      await sender.write(await sender.region(), content.subarray(0, 100_000));
      await sender.say(DONE);
      await sender.hear();
    },
    grade: 50,
    sentence: /the last 100001 of 200001 bytes had not been written when MSG_DONE came \(step 6\)$/m,
  },
  {
    name: 'sends the file in place of writing it',
    play: async (sender) => {
      await sender.say(FILE);
      await sender.region();
      await sender.send(content);
    },
    grade: 25,
    sentence: /MSG_DONE was due, but: local length error: .+ for a receive request of 64 bytes; .+ \(step 7\)$/m,
  },
  {
    name: 'says that it is done before anything else',
    play: (sender) => sender.say(DONE),
    grade: 10,
    sentence: /MSG_DONE came where MSG_FILE was due \(step 4\)$/m,
  },
  {
    name: 'sends what is not a message',
    play: (sender) => sender.send(Buffer.from('hello')),
    grade: 10,
    sentence: /a message of 5 bytes that begins with 104 came where MSG_FILE was due \(step 4\)$/m,
  },
  {
    name: 'has no file',
    play: (sender) => sender.say({ ...FILE, length: 0 }),
    grade: 10,
    sentence: /0 bytes, SHA-256 \w+…: this receiver takes 1 to 1,073,741,824 \(step 4\)$/m,
  },
  {
    name: 'stays when it has its key',
    play: async (sender) => {
      await sender.say(FILE);
      await sender.write(await sender.region(), content);
      await sender.say(DONE);
      await sender.hear();
      await sender.say({ type: MessageType.ID, id: 'ada' });
      await sender.hear();
      await sender.closed;
    },
    grade: 90,
    sentence: /the end of the connection was due, and nothing came for 2 s \(steps 10 and 11\)$/m,
    patience: 2,
  },
];

/** The receiver's end after a sender that went wrong. */
async function graded(mistake: Mistake, place: number): Promise<Ended> {
  const address = loopback(place);
  const receiving = await receiver(address, ...(mistake.patience === undefined ? [] : ['--patience', '2']));
  const sender = await connected(address, loopback(place + 100));
  try {
    await mistake.play(sender);
  } finally {
    await sender.close();
  }
  return receiving.ended;
}

for (const [index, mistake] of MISTAKES.entries()) {
  test(`a sender of lab 3 that ${mistake.name} loses points, and is told why`, async () => {
    const { code, stdout, stderr } = await graded(mistake, 10 + index);
    assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
    assert.match(stdout, mistake.sentence);
    assert.match(stdout, new RegExp(`^grade: ${mistake.grade} of 100$`, 'm'));
  });
}

test('a sender of lab 3 that makes no room for answers is told how often it was asked for it', async () => {
  const receiving = await receiver(loopback(50), '--patience', '2');
  const sender = await connected(loopback(50), loopback(150), 0);
  await sender.say(FILE);
  await sender.closed;
  await sender.close();
  const { stdout } = await receiving.ended;
  assert.match(stdout, /MSG_REGION was due, but: .+ has posted no receive request for it \(rcvd_rnr_err is [1-9]\d*\)/);
});
