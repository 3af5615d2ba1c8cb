// Accelio's hello_world in its forms: a server that greets, and clients that ask it, that tell it something without asking, and whose
// session has several connections. A session lives on when its connection breaks: what was asked is answered once, a little later.
//
//   node hello-world.js serve [rdma | tcp]         prints its URL
//   node hello-world.js ask URL [TIMES]            asks so often, many at a time
//   node hello-world.js tell URL [TIMES]           sends messages, and waits until the server's program has read them
//   node hello-world.js many URL [CONNECTIONS]     asks by several connections
import { connect, listen, type XioConnectOptions, type XioSession } from 'verbena/xio';

const TIMES = 1000;
/** Of questions that are under way at a time. */
const DEPTH = 64;

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Reads what a client tells. The end of the loop's body is what gives the client its receipt. */
async function readAll(session: XioSession): Promise<void> {
  let count = 0;
  let last = '';
  for await (const message of session.messages()) {
    count += 1;
    last = textOf(message.body);
  }
  if (count > 0) console.error(`was told ${count} times, and in the end: ${last}`);
}

async function serve(transport: 'rdma' | 'tcp'): Promise<void> {
  const server = await listen({ transport });
  console.log(server.url);
  for await (const session of server) {
    session.on('request', ({ body }) => ({ header: 'hello world', body: `hello, ${textOf(body)}` }));
    session.accept();
    readAll(session).catch((error: unknown) => console.error(`a client is lost: ${String(error)}`));
  }
}

/** Asks many at a time: whichever is answered makes room for the next. */
async function askOften(session: XioSession, times: number): Promise<string> {
  let asked = 0;
  let last = '';
  const lane = async (): Promise<void> => {
    while (asked < times) {
      const number = (asked += 1);
      using response = await session.request('hello world', `number ${number}`, { deadlineMs: 60_000 });
      if (number === times) last = `${textOf(response.header)}: ${textOf(response.body)}`;
    }
  };
  await Promise.all(Array.from({ length: DEPTH }, lane));
  return last;
}

async function ask(options: XioConnectOptions, times: number): Promise<void> {
  await using session = await connect(options);
  session.on('reconnecting', (reason) => console.error(`connecting again: ${reason.message}`));
  console.log(await askOften(session, times));
  console.log(`asked ${session.statistics.requestsSent} times`);
}

async function tell(url: string, times: number): Promise<void> {
  await using session = await connect({ url });
  // Messages arrive in their order; the receipt of the last is that of all.
  for (let number = 1; number < times; number += 1) await session.send(`number ${number}`);
  await session.send({ header: 'last', body: `number ${times}` }, { receipt: true });
  console.log(`${times} messages were read`);
}

async function main(): Promise<void> {
  const [role, place = '', count = ''] = process.argv.slice(2);
  const number = (preset: number): number => (count === '' ? preset : Number(count));
  if (role === 'serve') await serve(place === 'tcp' ? 'tcp' : 'rdma');
  else if (role === 'ask' && place !== '') await ask({ url: place }, number(TIMES));
  else if (role === 'tell' && place !== '') await tell(place, number(TIMES));
  else if (role === 'many' && place !== '') await ask({ url: place, connections: number(4) }, TIMES);
  else
    throw new Error(
      'usage: hello-world serve [rdma | tcp] | ask URL [TIMES] | tell URL [TIMES] | many URL [CONNECTIONS]',
    );
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
