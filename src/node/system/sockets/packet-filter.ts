/** What a packet socket lets through, as a program for the kernel's filter machine (bpf(4), classic BPF). */

/** What instructions do to the accumulator, with the index X. */
const LOAD_WORD = 0x20;
const LOAD_HALF = 0x28;
const LOAD_BYTE = 0x30;
const LOAD_HALF_AT_X = 0x48;
const LOAD_FRAME_LENGTH = 0x80;
/** X = bytes of the IPv4 header that begins here. */
const INDEX_IP_HEADER = 0xb1;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER = 0x25;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Where the kernel shows what kind of frame it is; 0 to 2 are for this host, for all, and for a group. */
const PACKET_TYPE = 0xfffff004;
const LAST_TYPE_FOR_US = 2;

const ETHERTYPE_IPV4 = 0x0800;
const ETHERTYPE_IPV6 = 0x86dd;
const PROTOCOL_UDP = 17;
const FRAGMENT_OFFSET = 0x1fff;
const ETHERNET = 14;
/** Ethernet, IPv4, UDP, BTH, ICRC: nothing shorter is RoCEv2. */
const SMALLEST_ROCE_FRAME = 58;
const WHOLE_FRAME = 0x40000;

/** A step: its name for others to jump to, what it does, and where to go next. Empty: no name, the step that follows. */
type Step = readonly [name: string, code: number, value: number, ifTrue: string, ifFalse: string];

/**
 * Lets frames through that an adapter would take: those sent by others to this host, to all or to a group, but no UDP to
 * `udpPort`, which its own socket takes.
 */
function steps(udpPort: number): readonly Step[] {
  return [
    ['', LOAD_WORD, PACKET_TYPE, '', ''],
    ['', JUMP_IF_GREATER, LAST_TYPE_FOR_US, 'drop', ''],
    ['', LOAD_FRAME_LENGTH, 0, '', ''],
    ['', JUMP_IF_GREATER, SMALLEST_ROCE_FRAME - 1, '', 'take'],
    ['', LOAD_HALF, 12, '', ''],
    ['', JUMP_IF_EQUAL, ETHERTYPE_IPV6, 'ipv6', ''],
    ['', JUMP_IF_EQUAL, ETHERTYPE_IPV4, '', 'take'],
    ['', LOAD_BYTE, ETHERNET + 9, '', ''],
    ['', JUMP_IF_EQUAL, PROTOCOL_UDP, '', 'take'],
    ['', LOAD_HALF, ETHERNET + 6, '', ''],
    ['', JUMP_IF_ANY_BIT, FRAGMENT_OFFSET, 'take', ''],
    ['', INDEX_IP_HEADER, ETHERNET, '', ''],
    ['', LOAD_HALF_AT_X, ETHERNET + 2, '', ''],
    ['', JUMP_IF_EQUAL, udpPort, 'drop', 'take'],
    ['ipv6', LOAD_BYTE, ETHERNET + 6, '', ''],
    ['', JUMP_IF_EQUAL, PROTOCOL_UDP, '', 'take'],
    ['', LOAD_HALF, ETHERNET + 40 + 2, '', ''],
    ['', JUMP_IF_EQUAL, udpPort, 'drop', 'take'],
    ['take', RETURN, WHOLE_FRAME, '', ''],
    ['drop', RETURN, 0, '', ''],
  ];
}

/** Bytes of one instruction: `struct sock_filter`. */
export const FILTER_STEP_BYTES = 8;

/** The filter as an array of `struct sock_filter`. */
export function adapterFilter(udpPort: number): Uint8Array {
  const program = steps(udpPort);
  const bytes = new Uint8Array(program.length * FILTER_STEP_BYTES);
  const view = new DataView(bytes.buffer);
  const distance = (from: number, to: string): number =>
    to === '' ? 0 : program.findIndex(([name]) => name === to) - from - 1;
  program.forEach(([, code, value, ifTrue, ifFalse], i) => {
    const at = i * FILTER_STEP_BYTES;
    view.setUint16(at, code, true);
    bytes[at + 2] = distance(i, ifTrue);
    bytes[at + 3] = distance(i, ifFalse);
    view.setUint32(at + 4, value, true);
  });
  return bytes;
}
