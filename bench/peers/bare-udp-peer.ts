/** One of the two processes of `measure/bare-udp.ts`: `bare-udp-peer ROLE OWN-ADDRESS OTHER-ADDRESS`. */
import { gidFromIp } from '../../src/device/ibta/index.js';
import { createPath, ROCE_PORT } from '../../src/device/wire/index.js';
import { UdpLink } from '../../src/node/links/index.js';
import {
  ANCILLARY_BYTES,
  MessageBlock,
  NativeBlock,
  SOCKADDR_BYTES,
  sockaddrLength,
  UdpSocket,
  writeSockaddr,
} from '../../src/node/system/index.js';
import { measureRounds } from '../measure/latency.js';
import { type Effort, measure, type Measurement } from '../measure/measurement.js';

/** What a peer can be told to do. */
export type BareOrder =
  | { readonly kind: 'hello' }
  | { readonly kind: 'run'; readonly bytes: number; readonly effort: Effort };

type Run = Extract<BareOrder, { kind: 'run' }>;

const PACKET_BYTES = 4096 + 28;
const PACKETS = 15;
const SOL_SOCKET = 1;
const SO_RCVBUFFORCE = 33;
const SOL_UDP = 17;
const UDP_SEGMENT = 103;
const UDP_GRO = 104;

const [role, own, other] = process.argv.slice(2);

function report(message: Measurement | object): void {
  process.send?.(message);
}

/** The simplest thing that can be done with a socket: one call to send, one to receive. */
function openCalls(): { send: (bytes: number) => void; receive: () => number; socket: UdpSocket } {
  const socket = new UdpSocket(false);
  socket.setOption(SOL_SOCKET, SO_RCVBUFFORCE, 4 * 1024 * 1024);
  socket.bind({ ip: gidFromIp(own), port: ROCE_PORT });
  const { libc } = socket.native;
  const name = new NativeBlock(SOCKADDR_BYTES);
  writeSockaddr(name.bytes, 0, false, { ip: gidFromIp(other), port: ROCE_PORT });
  const buffer = new NativeBlock(65536);
  return {
    socket,
    send: (bytes) => {
      const sent = libc.sendto(socket.fd, buffer.address, bytes, 0, name.address, sockaddrLength(false));
      if (sent !== bytes) throw socket.native.failure('sendto');
    },
    receive: () => libc.recv(socket.fd, buffer.address, buffer.bytes.length, 0),
  };
}

/** One send of many segments, prepared once. */
function prepareSegments(socket: UdpSocket): () => number {
  const payload = new NativeBlock(PACKETS * PACKET_BYTES);
  const message = new MessageBlock(1, ANCILLARY_BYTES);
  message.setBuffer(0, payload.address);
  message.setBufferLength(0, PACKETS * PACKET_BYTES);
  writeSockaddr(message.bytes, message.nameOffset(0), false, { ip: gidFromIp(other), port: ROCE_PORT });
  message.setNameLength(0, sockaddrLength(false));
  message.writeAncillaryHeader(message.controlOffset(0), SOL_UDP, UDP_SEGMENT, 2);
  message.setAncillaryValue(message.controlOffset(0), PACKET_BYTES);
  message.setControlLength(0, ANCILLARY_BYTES);
  // The closure holds the payload: nothing else does.
  return () => Math.min(payload.bytes.length, socket.native.libc.sendmsg(socket.fd, message.address(0), 0));
}

/** Answers until the process is ended. */
function pong(send: () => void, awaitQuestion: () => void): void {
  for (;;) {
    awaitQuestion();
    send();
  }
}

/** Sends until the process is ended. */
function source(send: () => number): void {
  for (;;) send();
}

/** 10^9 bytes a second that arrive. */
function drain(effort: Effort, receive: () => number): Measurement {
  const received = (): number => {
    let bytes = 0;
    for (let i = 0; i < 16; i += 1) bytes += Math.max(0, receive());
    return bytes;
  };
  return { samples: measure(effort, received, (milliseconds, bytes) => bytes / milliseconds / 1e6) };
}

function runCalls(what: string): (order: Run) => void {
  const { socket, send, receive } = openCalls();
  const untilReceived = (): void => {
    while (receive() < 0);
  };
  switch (what) {
    case 'ping':
      return ({ bytes, effort }) => {
        report(
          measureRounds(effort, () => {
            send(bytes);
            untilReceived();
          }),
        );
      };
    case 'pong':
      return ({ bytes }) => pong(() => send(bytes), untilReceived);
    case 'source': {
      const segments = prepareSegments(socket);
      return () => source(segments);
    }
    default:
      socket.setOption(SOL_UDP, UDP_GRO, 1);
      return ({ effort }) => report(drain(effort, receive));
  }
}

function runLink(what: string): (order: Run) => void {
  const link = UdpLink.open({ address: own });
  const path = createPath({ sgid: link.gid, dgid: gidFromIp(other) });
  let received = 0;
  const receiver = {
    receive: (_bytes: Uint8Array, _offset: number, lengthBytes: number): void => {
      received += lengthBytes;
    },
  };
  const send = (bytes: number): void => {
    link.sink.reserve(path, bytes);
    link.sink.commit();
    link.flush();
  };
  const untilReceived = (): void => {
    while (link.receive(receiver, 16) === 0);
  };
  switch (what) {
    case 'ping':
      return ({ bytes, effort }) => {
        report(
          measureRounds(effort, () => {
            send(bytes);
            untilReceived();
          }),
        );
      };
    case 'pong':
      return ({ bytes }) => pong(() => send(bytes), untilReceived);
    case 'source':
      return () => {
        source(() => {
          let bytes = 0;
          while (link.sink.reserve(path, PACKET_BYTES) >= 0) {
            link.sink.commit();
            bytes += PACKET_BYTES;
          }
          link.flush();
          return bytes;
        });
      };
    default:
      return ({ effort }) => {
        const taken = (): number => {
          received = 0;
          link.receive(receiver, 64);
          return received;
        };
        report(drain(effort, taken));
      };
  }
}

const [kind, what] = role.split('-');
const run = kind === 'link' ? runLink(what) : runCalls(what);
// `measure/bare-udp.ts` sends nothing else.
process.on('message', (order: BareOrder) => {
  if (order.kind === 'hello') report({});
  else run(order);
});
