// Procedures with types: what a client asks and what it is answered is checked by schemas (zod) on both sides, and by the compiler. What
// does not fit its schema never reaches a procedure. Needs `npm install zod` as well.
//
//   node typed-rpc.js serve          prints its URL
//   node typed-rpc.js call URL       makes some calls
import { connect, listen, XioError, type XioRequest, type XioSession } from 'verbena/xio';
import { z } from 'zod';

/** What both sides know of a procedure. */
interface Contract<Question, Answer> {
  readonly name: string;
  readonly input: z.ZodType<Question>;
  readonly output: z.ZodType<Answer>;
}

function contract<Question, Answer>(
  name: string,
  input: z.ZodType<Question>,
  output: z.ZodType<Answer>,
): Contract<Question, Answer> {
  return { name, input, output };
}

const ADD = contract('add', z.object({ a: z.number(), b: z.number() }), z.number());
const PRICE = contract(
  'price',
  z.array(z.object({ item: z.string().min(1), count: z.number().int().min(1).max(1000) })).max(100),
  z.object({ lines: z.array(z.string()), total: z.number() }),
);

const PRICES = new Map([
  ['tea', 3],
  ['cake', 4.5],
]);

function add({ a, b }: z.infer<typeof ADD.input>): z.infer<typeof ADD.output> {
  return a + b;
}

function price(orders: z.infer<typeof PRICE.input>): z.infer<typeof PRICE.output> {
  const lines = orders.map(({ item, count }) => {
    const each = PRICES.get(item);
    if (each === undefined) throw new Error(`there is no ${item}`);
    return { text: `${count} x ${item}`, sum: count * each };
  });
  return { lines: lines.map(({ text }) => text), total: lines.reduce((total, { sum }) => total + sum, 0) };
}

type Procedure = (question: unknown) => unknown;

/** A procedure that looks at what it is asked first. */
function procedure<Question, Answer>(
  { name, input }: Contract<Question, Answer>,
  run: (question: Question) => Answer,
): readonly [string, Procedure] {
  return [name, (question) => run(input.parse(question))];
}

const PROCEDURES = new Map([procedure(ADD, add), procedure(PRICE, price)]);

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const decode = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

/** The procedure's name is the header, its argument the body. */
async function answer(request: XioRequest): Promise<void> {
  const name = new TextDecoder().decode(request.header);
  const called = PROCEDURES.get(name);
  if (called === undefined) {
    request.fail(`no procedure ${name}`, 'XIO_E_NOT_SUPPORTED');
    return;
  }
  try {
    await request.reply(undefined, encode(await called(decode(request.body))));
  } catch (error) {
    if (error instanceof z.ZodError) request.fail(z.prettifyError(error), 'XIO_E_MSG_INVALID');
    // The caller is told what any other error says.
    else throw error;
  }
}

async function serve(): Promise<void> {
  const server = await listen({ maxBodyBytes: 1 << 20 });
  console.log(server.url);
  for await (const session of server) session.on('request', answer).accept();
}

/** Calls a procedure. The server is not believed either: what it answers is looked at. */
async function call<Question, Answer>(
  session: XioSession,
  { name, output }: Contract<Question, Answer>,
  question: Question,
): Promise<Answer> {
  using response = await session.request(name, encode(question), { deadlineMs: 5000 });
  return output.parse(decode(response.body));
}

async function main(): Promise<void> {
  const [role, url = ''] = process.argv.slice(2);
  if (role === 'serve') return serve();
  if (role !== 'call' || url === '') throw new Error('usage: typed-rpc serve | call URL');
  await using session = await connect({ url });
  console.log(`add: ${await call(session, ADD, { a: 20, b: 22 })}`);
  const { lines, total } = await call(session, PRICE, [
    { item: 'tea', count: 2 },
    { item: 'cake', count: 1 },
  ]);
  console.log(`price: ${lines.join(', ')}: ${total}`);
  const failing = [
    call(session, PRICE, [{ item: 'tea', count: 0 }]),
    call(session, PRICE, [{ item: 'gold', count: 1 }]),
  ];
  for (const failed of await Promise.allSettled(failing)) {
    const reason: unknown = failed.status === 'rejected' ? failed.reason : undefined;
    if (reason instanceof XioError) console.log(`${reason.code}: ${reason.message.split('\n')[0]}`);
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
