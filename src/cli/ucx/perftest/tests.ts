/** The names that UCX has for those of UCP. */
export type UcpTestName =
  | 'tag_lat'
  | 'tag_bw'
  | 'tag_sync_lat'
  | 'tag_sync_bw'
  | 'ucp_put_lat'
  | 'ucp_put_bw'
  | 'ucp_get'
  | 'ucp_add'
  | 'ucp_fadd'
  | 'ucp_swap'
  | 'ucp_cswap'
  | 'stream_bw'
  | 'stream_lat'
  | 'ucp_am_lat'
  | 'ucp_am_bw';

/** The names that it has for those of UCT: of transports by themselves. */
export type UctTestName =
  | 'am_lat'
  | 'put_lat'
  | 'add_lat'
  | 'get'
  | 'fadd'
  | 'swap'
  | 'cswap'
  | 'am_bw'
  | 'put_bw'
  | 'add_mr';

export type UcxTest = UcpTest | UctTest;

export interface UcpTest extends TestFacts {
  readonly api: 'UCP';
  readonly name: UcpTestName;
  readonly family: 'tag' | 'stream' | 'am' | 'rma' | 'atomic';
}

export interface UctTest extends TestFacts {
  readonly api: 'UCT';
  readonly name: UctTestName;
  readonly family: 'am' | 'rma' | 'atomic';
}

interface TestFacts {
  readonly title: string;
  /** What the first figures of the table are called. */
  readonly figure: 'latency' | 'overhead';
  /** Whether each message is answered by one, so that its time is half of what it takes. */
  readonly isPingPong: boolean;
  /** Whether it goes by the peer's memory. */
  readonly byMemory: boolean;
  /** Messages under way at a time, if nothing else is said. */
  readonly outstanding: number;
}

const PING_PONG = { figure: 'latency', isPingPong: true, byMemory: false, outstanding: 1 } as const;
const STREAMING = { figure: 'overhead', isPingPong: false, byMemory: false, outstanding: 32 } as const;
const ASKING = { figure: 'latency', isPingPong: false, byMemory: true, outstanding: 1 } as const;

const UCP_TESTS: readonly Omit<UcpTest, 'api'>[] = [
  { name: 'tag_lat', title: 'tag match latency', family: 'tag', ...PING_PONG },
  { name: 'tag_bw', title: 'tag match bandwidth', family: 'tag', ...STREAMING },
  { name: 'tag_sync_lat', title: 'tag sync match latency', family: 'tag', ...PING_PONG },
  { name: 'tag_sync_bw', title: 'tag sync match bandwidth', family: 'tag', ...STREAMING },
  { name: 'ucp_put_lat', title: 'put latency', family: 'rma', ...PING_PONG, byMemory: true },
  { name: 'ucp_put_bw', title: 'put bandwidth', family: 'rma', ...STREAMING, byMemory: true },
  { name: 'ucp_get', title: 'get latency / bandwidth / message rate', family: 'rma', ...ASKING },
  {
    name: 'ucp_add',
    title: 'atomic add bandwidth / message rate',
    family: 'atomic',
    ...ASKING,
    figure: 'overhead',
  },
  {
    name: 'ucp_fadd',
    title: 'atomic fetch-and-add latency / bandwidth / rate',
    family: 'atomic',
    ...ASKING,
  },
  {
    name: 'ucp_swap',
    title: 'atomic swap latency / bandwidth / rate',
    family: 'atomic',
    ...ASKING,
  },
  {
    name: 'ucp_cswap',
    title: 'atomic compare-and-swap latency / bandwidth / rate',
    family: 'atomic',
    ...ASKING,
  },
  { name: 'stream_bw', title: 'stream bandwidth', family: 'stream', ...STREAMING, outstanding: 1 },
  { name: 'stream_lat', title: 'stream latency', family: 'stream', ...PING_PONG },
  { name: 'ucp_am_lat', title: 'am latency', family: 'am', ...PING_PONG },
  { name: 'ucp_am_bw', title: 'am bandwidth / message rate', family: 'am', ...STREAMING },
];

const UCT_TESTS: readonly Omit<UctTest, 'api'>[] = [
  { name: 'am_lat', title: 'active message latency', family: 'am', ...PING_PONG },
  { name: 'put_lat', title: 'put latency', family: 'rma', ...PING_PONG, byMemory: true },
  { name: 'add_lat', title: 'atomic add latency', family: 'atomic', ...PING_PONG, byMemory: true },
  { name: 'get', title: 'get latency / bandwidth / message rate', family: 'rma', ...ASKING },
  { name: 'fadd', title: 'atomic fetch-and-add latency / rate', family: 'atomic', ...ASKING },
  { name: 'swap', title: 'atomic swap latency / rate', family: 'atomic', ...ASKING },
  { name: 'cswap', title: 'atomic compare-and-swap latency / rate', family: 'atomic', ...ASKING },
  { name: 'am_bw', title: 'active message bandwidth / message rate', family: 'am', ...STREAMING },
  { name: 'put_bw', title: 'put bandwidth / message rate', family: 'rma', ...STREAMING, byMemory: true },
  { name: 'add_mr', title: 'atomic add message rate', family: 'atomic', ...STREAMING, byMemory: true },
];

/** All tests, in the order in which UCX's tool lists them: those of UCT come first. */
export const UCX_TESTS: readonly UcxTest[] = [
  ...UCT_TESTS.map((test) => ({ api: 'UCT', ...test }) as const),
  ...UCP_TESTS.map((test) => ({ api: 'UCP', ...test }) as const),
];

export function testOf(name: string): UcxTest | undefined {
  return UCX_TESTS.find((test) => test.name === name);
}
