import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loopback, loopbackGroup } from '../../../test/support/loopback.js';
import { type Ended, Tool, run } from './tool.js';

const receiverAt = (game: number): string => loopback(4 * game + 1);
const senderAt = (game: number): string => loopback(4 * game + 2);

interface Flags {
  /** Of both; `group` names what both join. */
  readonly both?: (group: string) => readonly string[];
  readonly sender?: readonly string[];
  readonly receiver?: readonly string[];
}

/** Has one process send to group `game` and another one receive. */
async function play(game: number, flags: Flags = {}): Promise<{ receiver: Ended; sender: Ended }> {
  const group = loopbackGroup(game);
  const { both = () => ['-m', group], sender = [], receiver = [] } = flags;
  const common = ['mckey', '--pause', '0', ...both(group)];
  const hears = new Tool([...common, '-b', receiverAt(game), ...receiver]);
  // All of its queue pairs have joined by then.
  await hears.printed('receiving data transfers');
  const sends = await run([...common, '-s', '-b', senderAt(game), ...sender]);
  return { sender: sends, receiver: await hears.ended };
}

/** What a side prints when all goes well. */
function textOf(role: 'client' | 'server', group: string, members = 1): string {
  const joined = `mckey: joined dgid: ::ffff:${group} mlid 0x0 sl 0\n`;
  const doing = role === 'client' ? 'initiating' : 'receiving';
  return (
    `mckey: starting ${role}\nmckey: joining\n${joined.repeat(members)}` +
    `${doing} data transfers\ndata transfers complete\ntest complete\nreturn status 0\n`
  );
}

const CASES: readonly ({ readonly name: string; readonly members?: number } & Flags)[] = [
  { name: 'ten messages' },
  { name: 'four messages of 1 byte', both: (group) => ['-m', group, '-C', '4', '-S', '1'] },
  { name: 'messages as long as a packet can be', both: (group) => ['-m', group, '-S', '4096'] },
  { name: 'messages, the NICs inline', both: (group) => ['-m', group, '--host', 'inline'] },
  { name: 'messages to a group that is named by its GID', both: (group) => ['-M', `::ffff:${group}`] },
  { name: 'messages, joined to send only', sender: ['-o'] },
  { name: 'messages that do not come back to the sender', sender: ['-l'] },
  { name: 'messages in the port space of IPoIB', both: (group) => ['-m', group, '-p', '0x2'] },
  { name: 'messages of two queue pairs to two', both: (group) => ['-m', group, '-c', '2'], members: 2 },
];

describe('one process sends to another, by a group,', () => {
  for (const [game, { name, members, ...flags }] of CASES.entries()) {
    test(name, async () => {
      const { receiver, sender } = await play(game, flags);
      const good = (role: 'client' | 'server'): Ended => ({
        code: 0,
        signal: null,
        stdout: textOf(role, loopbackGroup(game), members),
        stderr: '',
      });
      assert.deepEqual({ receiver, sender }, { receiver: good('server'), sender: good('client') });
    });
  }
});

interface Facts {
  readonly status: number;
  readonly sent: number;
  readonly received: number;
  readonly joined: readonly {
    readonly qpNum: number;
    readonly dgid: string;
    readonly remoteQpn: number;
    readonly qkey: number;
  }[];
  readonly senders: readonly { readonly qpNum: number; readonly messages: number }[];
}

test('--json says who sent how much', async () => {
  const common = ['mckey', '--pause', '0', '-m', loopbackGroup(20), '-C', '4', '--json'];
  // It says nothing before its end, so it is sent to until it has enough.
  const receiver = new Tool([...common, '-b', receiverAt(20)]);
  const said: Facts[] = [];
  const isOver = (): boolean => receiver.child.exitCode !== null || receiver.child.signalCode !== null;
  while (!isOver()) {
    const sender = await run([...common, '-s', '-b', senderAt(20)]);
    said.push(JSON.parse(sender.stdout) as Facts);
  }
  const heard = JSON.parse((await receiver.ended).stdout) as Facts;
  assert.deepEqual([heard.status, heard.received, heard.sent], [0, 4, 0]);
  assert.equal(
    heard.senders.reduce((sum, { messages }) => sum + messages, 0),
    4,
  );
  const numbers = new Set(said.map(({ joined }) => joined[0].qpNum));
  assert.ok(heard.senders.every(({ qpNum }) => numbers.has(qpNum)));
  const [{ status, sent, received, senders, joined }] = said;
  assert.deepEqual([status, sent, received, senders], [0, 4, 0, []]);
  const { dgid, remoteQpn, qkey } = joined[0];
  assert.deepEqual([dgid, remoteQpn, qkey], [`::ffff:${loopbackGroup(20)}`, 0xffffff, 0x01234567]);
});

test('without messages the group is joined and left', async () => {
  const group = loopbackGroup(21);
  const ended = await run(['mckey', '-m', group, '-b', receiverAt(21), '-C', '0', '--pause', '0']);
  const joined = `mckey: joined dgid: ::ffff:${group} mlid 0x0 sl 0\n`;
  const stdout = `mckey: starting server\nmckey: joining\n${joined}test complete\nreturn status 0\n`;
  assert.deepEqual(ended, { code: 0, signal: null, stdout, stderr: '' });
});

test('Ctrl-C ends one that waits for messages', async () => {
  const tool = new Tool(['mckey', '-m', loopbackGroup(22), '-b', receiverAt(22), '--pause', '0']);
  await tool.printed('receiving data transfers');
  tool.child.kill('SIGINT');
  const { code, stderr } = await tool.ended;
  assert.deepEqual({ code, stderr }, { code: 130, stderr: '' });
});

test('a message longer than a packet is refused as by the C tool', async () => {
  const { code, stdout, stderr } = await run(['mckey', '-m', loopbackGroup(23), '-b', receiverAt(23), '-S', '4097']);
  assert.equal(code, 255);
  assert.match(stdout, /test complete\nreturn status -1\n$/);
  assert.match(stderr, /^mckey: message_size 4097 is larger than active mtu 4096; .+\n$/);
});

const REFUSED = [
  {
    flags: ['-M', '::ffff:239.1.2.3'],
    code: 1,
    says: /^unmapped multicast address requires binding to source address/,
  },
  { flags: [], code: 1, says: /^Which group\?/ },
  { flags: ['-m', '239.1.2.3', '-p', '0x106'], code: 1, says: /It is 0x111 \(UDP\) or 0x2 \(IPOIB\)\./ },
  { flags: ['-m', '192.0.2.7'], code: 255, says: /^192\.0\.2\.7 is not a multicast group\. Groups are/ },
  { flags: ['-M', '239.1.2.3', '-b', receiverAt(24)], code: 255, says: /^239\.1\.2\.3 is not a multicast GID/ },
  { flags: ['-M', '0', '-b', receiverAt(24)], code: 255, says: /^0 is not a multicast GID: .+ no manager/ },
];
for (const { flags, code, says } of REFUSED) {
  test(`mckey ${flags.join(' ')} is refused`, async () => {
    const ended = await run(['mckey', ...flags]);
    assert.equal(ended.code, code);
    assert.match(ended.stderr, says);
  });
}
