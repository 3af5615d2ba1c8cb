import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { alloc, type CmId, connect, type Connection, type HostKind, listen, type Mr } from '../../../entry/index.js';
import { loopback } from '../../../../test/support/loopback.js';

const ROUNDS = 50;
const BYTES = 64;

interface End {
  readonly connection: Connection;
  readonly memory: Mr;
}

/** Both ends of a connection, each with a device of its own. */
async function ends(host: HostKind, first: number): Promise<readonly [End, End]> {
  const memories: Mr[] = [];
  const prepare = (id: CmId): void => {
    memories.push(id.regMsgs(alloc(BYTES)));
    id.postRecv(0n, memories[memories.length - 1].sge());
  };
  const open = { host } as const;
  using listener = listen({ host: loopback(first), open });
  const connecting = connect({
    host: loopback(first),
    port: listener.address.port,
    localAddress: loopback(first + 1),
    open,
    prepare,
  });
  const { value: request } = await listener[Symbol.asyncIterator]().next();
  assert.ok(request !== undefined);
  const accepted = await request.accept({ prepare });
  return [
    { connection: await connecting, memory: memories[0] },
    { connection: accepted, memory: memories[1] },
  ];
}

async function receive({ connection, memory }: End): Promise<void> {
  await connection.recvComp();
  connection.postRecv(0n, memory.sge());
}

async function echo(a: End, b: End): Promise<void> {
  a.connection.postSend(0n, a.memory.sge());
  await receive(b);
  b.connection.postSend(0n, b.memory.sge());
  await receive(a);
}

/** Files that are read while `action` runs. */
async function filesRead(action: () => Promise<void>): Promise<readonly string[]> {
  const files: string[] = [];
  const { readFileSync } = fs;
  fs.readFileSync = ((path: string, ...rest: never[]) => {
    files.push(path);
    return readFileSync(path, ...rest);
  }) as typeof readFileSync;
  syncBuiltinESMExports();
  try {
    await action();
  } finally {
    fs.readFileSync = readFileSync;
    syncBuiltinESMExports();
  }
  return files;
}

for (const [host, first] of [
  ['thread', 1],
  ['inline', 3],
] as const)
  test(`a message that is awaited has no file read: NIC ${host}`, async () => {
    const [a, b] = await ends(host, first);
    try {
      await echo(a, b);
      const files = await filesRead(async () => {
        for (let i = 0; i < ROUNDS; i += 1) await echo(a, b);
      });
      assert.deepEqual(files, []);
    } finally {
      for (const { connection } of [a, b]) connection[Symbol.dispose]();
    }
  });
