/** One of the two processes of `bare-udp.ts`: `bare-udp-peer ROLE OWN-ADDRESS OTHER-ADDRESS`. */
import { performance } from 'node:perf_hooks';
import {
  ANCILLARY_BYTES,
  MessageBlock,
  NativeBlock,
  sockaddrLength,
  SOCKADDR_BYTES,
  UdpSocket,
  writeSockaddr,
} from '../src/host/index.js';
import { UdpLink } from '../src/link/index.js';
import { gidFromIp } from '../src/spec/index.js';
import { createPath, ROCE_PORT } from '../src/wire/index.js';

interface Order {
  readonly rounds: number;
  readonly durationMs: number;
}

const PING_BYTES = 64;
const PACKET_BYTES = 4096 + 28;
const PACKETS = 15;
/** A drain hears nothing for so long when the source has finished. */
const SILENCE_MS = 200;
const WARM_UP_ROUNDS = 2000;
const STRETCH_ROUNDS = 500;

const SOL_SOCKET = 1;
const SO_RCVBUFFORCE = 33;
const SOL_UDP = 17;
const UDP_SEGMENT = 103;
const UDP_GRO = 104;

const [role, own, other] = process.argv.slice(2);

function report(message: { figure: number } | { ready: true }): void {
  process.send?.(message);
}

/** The simplest thing that can be done with a socket: one call to send, one to receive. */
function openCalls(): { send: () => void; receive: () => number; socket: UdpSocket } {
  const socket = new UdpSocket(false);
  socket.setOption(SOL_SOCKET, SO_RCVBUFFORCE, 4 * 1024 * 1024);
  socket.bind({ ip: gidFromIp(own), port: ROCE_PORT });
  const { libc } = socket.native;
  const name = new NativeBlock(SOCKADDR_BYTES);
  writeSockaddr(name.bytes, 0, false, { ip: gidFromIp(other), port: ROCE_PORT });
  const buffer = new NativeBlock(65536);
  return {
    socket,
    send: () => {
      const sent = libc.sendto(socket.fd, buffer.address, PING_BYTES, 0, name.address, sockaddrLength(false));
      if (sent !== PING_BYTES) throw socket.native.failure('sendto');
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

function ping(rounds: number, send: () => void, awaitAnswer: () => void): void {
  const round = (): void => {
    send();
    awaitAnswer();
  };
  for (let i = 0; i < WARM_UP_ROUNDS; i += 1) round();
  const stretches: number[] = [];
  for (let done = 0; done < rounds; done += STRETCH_ROUNDS) {
    const started = performance.now();
    for (let i = 0; i < STRETCH_ROUNDS; i += 1) round();
    stretches.push(((performance.now() - started) / STRETCH_ROUNDS) * 1000);
  }
  stretches.sort((a, b) => a - b);
  report({ figure: stretches[stretches.length >> 1] });
}

/** Answers until the process is ended. */
function pong(send: () => void, awaitQuestion: () => void): void {
  for (;;) {
    awaitQuestion();
    send();
  }
}

function source(durationMs: number, send: () => number): void {
  const started = performance.now();
  const end = started + durationMs;
  let bytes = 0;
  let now = started;
  while (now < end) {
    for (let i = 0; i < 16; i += 1) bytes += Math.max(0, send());
    now = performance.now();
  }
  report({ figure: bytes / (now - started) / 1e6 });
}

function drain(receive: () => number): void {
  let first = 0;
  let last = Infinity;
  let bytes = 0;
  for (;;) {
    const length = receive();
    const now = performance.now();
    if (length > 0) {
      if (bytes === 0) first = now;
      last = now;
      bytes += length;
    } else if (now > last + SILENCE_MS) {
      break;
    }
  }
  report({ figure: bytes / (last - first) / 1e6 });
}

function runCalls(what: string): (order: Order) => void {
  const { socket, send, receive } = openCalls();
  const untilReceived = (): void => {
    while (receive() < 0);
  };
  switch (what) {
    case 'ping':
      return ({ rounds }) => ping(rounds, send, untilReceived);
    case 'pong':
      return () => pong(send, untilReceived);
    case 'source': {
      const segments = prepareSegments(socket);
      return ({ durationMs }) => source(durationMs, segments);
    }
    default:
      socket.setOption(SOL_UDP, UDP_GRO, 1);
      return () => drain(receive);
  }
}

function runLink(what: string): (order: Order) => void {
  const link = UdpLink.open({ address: own });
  const path = createPath({ sgid: link.gid, dgid: gidFromIp(other) });
  let received = 0;
  const receiver = {
    receive: (_bytes: Uint8Array, _offset: number, lengthBytes: number): void => {
      received += lengthBytes;
    },
  };
  const send = (): void => {
    link.sink.reserve(path, PING_BYTES);
    link.sink.commit();
    link.flush();
  };
  const untilReceived = (): void => {
    while (link.receive(receiver, 16) === 0);
  };
  switch (what) {
    case 'ping':
      return ({ rounds }) => ping(rounds, send, untilReceived);
    case 'pong':
      return () => pong(send, untilReceived);
    case 'source':
      return ({ durationMs }) => {
        source(durationMs, () => {
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
      return () => {
        drain(() => {
          received = 0;
          link.receive(receiver, 64);
          return received;
        });
      };
  }
}

const [kind, what] = role.split('-');
const run = kind === 'link' ? runLink(what) : runCalls(what);
process.once('message', (order: Order) => run(order));
report({ ready: true });
