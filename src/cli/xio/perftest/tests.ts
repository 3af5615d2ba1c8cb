/** What can be measured, by Accelio's names without their `xio_`, and with memory that the server shares, of which it hears nothing. */
export interface XioTest {
  readonly name: `${'' | 'direct_'}${'read' | 'write'}_${'lat' | 'bw'}`;
  /** Who sends the bytes: a server that answers with them, or a client that asks with them. */
  readonly direction: 'read' | 'write';
  /** Whether the client reads and writes the server's memory, in place of asking. */
  readonly isDirect: boolean;
  /** Requests under way at a time in each thread, where nothing else is said: as in Accelio's tools. */
  readonly depth: number;
  readonly title: string;
}

export const XIO_TESTS: readonly XioTest[] = [
  {
    name: 'read_lat',
    direction: 'read',
    isDirect: false,
    depth: 1,
    title: 'responses with the bytes, one after the other',
  },
  { name: 'read_bw', direction: 'read', isDirect: false, depth: 50, title: 'the same, many at a time' },
  {
    name: 'write_lat',
    direction: 'write',
    isDirect: false,
    depth: 1,
    title: 'requests with the bytes, one after the other',
  },
  { name: 'write_bw', direction: 'write', isDirect: false, depth: 50, title: 'the same, many at a time' },
  {
    name: 'direct_read_lat',
    direction: 'read',
    isDirect: true,
    depth: 1,
    title: 'reads of memory that the server shares',
  },
  { name: 'direct_read_bw', direction: 'read', isDirect: true, depth: 50, title: 'the same, many at a time' },
  { name: 'direct_write_lat', direction: 'write', isDirect: true, depth: 1, title: 'writes to such memory' },
  { name: 'direct_write_bw', direction: 'write', isDirect: true, depth: 50, title: 'the same, many at a time' },
];

/** Both may be given as Accelio names them: `xio_read_lat`. */
export function testOf(name: string): XioTest | undefined {
  return XIO_TESTS.find((test) => test.name === name.replace(/^xio_/, ''));
}
