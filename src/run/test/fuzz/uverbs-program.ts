import { fstatSync } from 'node:fs';
import { SharedMapping } from '../../../node/system/index.js';
import { AH_ATTR } from '../../structs/addresses.js';
import { OpenFiles } from '../../processes/guest-files.js';
import { Structs } from '../../uverbs/structs.js';
import type { UverbsFile } from '../../uverbs/uverbs-file.js';
import { AccessFlags, MwType, QpAttrMask, QpState, QpType, SrqAttrMask } from '../../../entry/index.js';
import type { Choices } from '../../../../test/fuzz/random.js';
import type { FakeCalls } from './fake-calls.js';
import { chooseRegion } from './chosen-region.js';
import type { FuzzMemory } from './memory.js';
import { corruptRing, postReceive, postSend, Ring } from './rings.js';
import { type FuzzQp, type KnownObjects, type Kind, nameable } from './known-objects.js';
import { type UverbsCommand, writeFrame } from './uverbs-frame.js';

const PAGE_BYTES = 4096;
/** Few enough for names to meet that belong together. */
const MOST: Record<Kind, number> = { pd: 2, mr: 12, mw: 6, ah: 6, cq: 6, qp: 8, srq: 3 };
const MOST_CHANNELS = 6;
const MOST_RINGS = 120;
/** Among the commands: without memory there is little to do. */
const REGISTRATIONS = 6;
/** Receive requests of queue pairs that were just connected. */
const ROOM_FOR_MESSAGES = 8;
const { REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC } = AccessFlags;
const CAP = { maxSendWr: 15, maxRecvWr: 15, maxSendSge: 3, maxRecvSge: 3, maxInlineData: 64 };

/** A program that has opened a device, and does with it whatever comes to its mind. */
export class UverbsProgram {
  readonly #handles: Record<Kind, number[]> = { pd: [], mr: [], mw: [], ah: [], cq: [], qp: [], srq: [] };
  readonly #qps: FuzzQp[] = [];
  readonly #rings: Ring[] = [];
  readonly #channels: number[] = [];

  constructor(
    readonly file: UverbsFile,
    private readonly calls: FakeCalls,
    private readonly memory: FuzzMemory,
    private readonly choices: Choices,
    private readonly known: KnownObjects,
    private readonly gid: Uint8Array,
  ) {}

  step(): void {
    const { choices } = this;
    const dice = choices.below(100);
    if (dice < 30) this.#post();
    else if (dice < 40) this.#ring(this.#handle('qp'));
    else if (dice < 41 && this.#rings.length > 0) corruptRing(choices.of(this.#rings), choices);
    else if (dice < 42) this.#closeDescriptor();
    else if (dice < 55 && this.#qps.length > 1) this.#marry();
    else if (dice < 56) this.#garbage();
    else choices.of(this.#commands)();
  }

  close(): void {
    for (const ring of this.#rings) ring.close();
    this.#rings.length = 0;
    this.file.close();
  }

  readonly #commands: readonly (() => void)[] = (() => {
    const {
      EMPTY,
      HANDLE,
      HANDLE_BEHIND,
      CREATE_AH,
      CREATE_CQ,
      CREATE_CQ_EX,
      CREATE_QP,
      CREATE_QP_EX,
      CREATE_SRQ,
      CREATE_XSRQ,
      ALLOC_MW,
      MCAST,
      MODIFY_SRQ,
      QUERY_PORT,
      QUERY_QP,
      REG_MR,
      REQ_NOTIFY_CQ,
      RESIZE_CQ,
    } = Structs;
    const count = (most: number): number =>
      this.#number(1 + this.choices.below(most), [0, most + 1, 0xffffffff, 2 ** 31]);
    const cap = () => ({
      maxSendWr: count(CAP.maxSendWr),
      maxRecvWr: count(CAP.maxRecvWr),
      maxSendSge: count(CAP.maxSendSge),
      maxRecvSge: count(CAP.maxRecvSge),
      maxInlineData: this.#number(CAP.maxInlineData, [0, 304, 305, 0xffffffff]),
    });
    const qp = () => ({
      userHandle: BigInt(this.choices.below(64)),
      pd: this.#handle('pd'),
      sendCq: this.#handle('cq'),
      recvCq: this.#handle('cq'),
      srq: this.#handle('srq'),
      isSrq: this.choices.chance(25) ? 1 : 0,
      sqSigAll: this.choices.below(2),
      qpType: this.choices.chance(95)
        ? this.choices.of([QpType.RC, QpType.RC, QpType.UC, QpType.UD])
        : this.choices.below(256),
      ...cap(),
    });
    const ends =
      (number: number, kind: Kind, behind = true) =>
      () => {
        const handle = this.#handle(kind);
        const request = (behind ? HANDLE_BEHIND : HANDLE).encodePadded({ handle });
        if (this.#give({ number, request }) === 0) this.#forget(kind, handle);
      };
    const gives =
      (kind: Kind, make: () => UverbsCommand, then?: (answer: Uint8Array, driver: Uint8Array) => void) => () => {
        if (this.#handles[kind].length >= MOST[kind]) return;
        const command = make();
        this.#give(command, (answer, driver) => {
          this.#handles[kind].push(HANDLE.readPadded(answer).handle);
          then?.(answer, driver);
        });
      };
    const knowsQp = (type: number, isSrq: number, domain: string) => (answer: Uint8Array, driver: Uint8Array) => {
      const { handle, qpn } = CREATE_QP.answer.readPadded(answer);
      const { sq, rq } = CREATE_QP.driverAnswer.readPadded(driver);
      const sends = this.#map(sq);
      this.#qps.push({
        domain,
        peerDomain: '',
        handle,
        number: qpn,
        type,
        sends,
        receives: isSrq === 0 ? this.#map(rq) : undefined,
      });
      this.known.qps.push(qpn);
    };
    const regMr = (): void => {
      const { start, length, access, sealed = false } = chooseRegion(this.memory, this.choices);
      const elsewhere = [0n, BigInt(this.memory.secret.at), 2n ** 64n - 4096n];
      const iova = sealed || this.choices.chance(80) ? start : this.choices.of(elsewhere);
      const pd = this.#handle('pd');
      const request = REG_MR.request.encodePadded({ start, length, iova, access, pd });
      const knowsKeys = (answer: Uint8Array): void => {
        const { handle, lkey, rkey } = REG_MR.answer.readPadded(answer);
        this.known.keys.push(lkey, rkey);
        this.known.regions.push({ name: this.#name(handle), lkey, rkey, iova, length, domain: this.#name(pd), sealed });
      };
      gives('mr', () => ({ number: 9, request }), knowsKeys)();
    };
    const cqRequest = () => ({
      userHandle: BigInt(this.choices.below(64)),
      cqe: count(31),
      compVector: this.#number(0, [1, 0xffffffff]),
      channel: this.choices.chance(50) ? -1 : this.#descriptor(),
    });
    const knowsCq = (_: Uint8Array, driver: Uint8Array): void => {
      this.#map(CREATE_CQ.driverAnswer.readPadded(driver))?.holdCompletions();
    };
    const srqRequest = () => ({
      userHandle: BigInt(this.choices.below(64)),
      pd: this.#handle('pd'),
      maxWr: count(31),
      maxSge: count(3),
      srqLimit: this.choices.below(8),
    });
    const knowsSrq = (_: Uint8Array, driver: Uint8Array): void => {
      this.#map(CREATE_SRQ.driverAnswer.readPadded(driver));
    };
    const modify = () => {
      const state = this.choices.below(8);
      this.#modify(
        this.#handle('qp'),
        state,
        this.choices.chance(50) ? this.choices.u32() >>> 0 : 0x1e0000 >>> this.choices.below(20),
      );
    };
    return [
      () => this.#give({ number: 0, request: EMPTY.encodePadded({}) }),
      () => this.#give({ number: 1, extended: this.choices.chance(50), request: EMPTY.encodePadded({}) }),
      () =>
        this.#give({ number: 2, request: QUERY_PORT.request.encodePadded({ portNum: this.#number(1, [0, 2, 255]) }) }),
      gives('pd', () => ({ number: 3, request: EMPTY.encodePadded({}) })),
      ends(4, 'pd', false),
      ...Array<() => void>(REGISTRATIONS).fill(regMr),
      ends(13, 'mr', false),
      gives(
        'mw',
        () => ({
          number: 14,
          request: ALLOC_MW.request.encodePadded({
            pd: this.#handle('pd'),
            type: this.#number(this.choices.of([MwType.TYPE_1, MwType.TYPE_2]), [0, 3, 255]),
          }),
        }),
        (answer) => void this.known.keys.push(ALLOC_MW.answer.readPadded(answer).rkey),
      ),
      ends(16, 'mw', false),
      gives('ah', () => ({
        number: 5,
        request: CREATE_AH.request.encodePadded({
          pd: this.#handle('pd'),
          attr: AH_ATTR.readPadded(AH_ATTR.encodePadded(this.#address())),
        }),
      })),
      ends(8, 'ah', false),
      () => {
        if (this.#channels.length >= MOST_CHANNELS) return;
        this.#give({ number: 17, request: EMPTY.encodePadded({}) }, (answer) =>
          this.#channels.push(Structs.CREATE_COMP_CHANNEL.answer.readPadded(answer).fd),
        );
      },
      gives('cq', () => ({ number: 18, request: CREATE_CQ.request.encodePadded(cqRequest()) }), knowsCq),
      gives(
        'cq',
        () => ({
          number: 18,
          extended: true,
          request: CREATE_CQ_EX.request.encodePadded({ ...cqRequest(), flags: this.#number(0, [1, 2]) }),
        }),
        knowsCq,
      ),
      () => {
        const request = RESIZE_CQ.request.encodePadded({ handle: this.#handle('cq'), cqe: count(63) });
        this.#give({ number: 19, request }, knowsCq);
      },
      ends(20, 'cq'),
      () =>
        this.#give({
          number: 23,
          request: REQ_NOTIFY_CQ.request.encodePadded({
            handle: this.#handle('cq'),
            solicitedOnly: this.choices.below(2),
          }),
        }),
      () => {
        const values = qp();
        gives(
          'qp',
          () => ({ number: 24, request: CREATE_QP.request.encodePadded(values) }),
          knowsQp(values.qpType, values.isSrq, this.#name(values.pd)),
        )();
      },
      () => {
        const values = { ...qp(), createFlags: this.#number(0, [1, 2, 0xffffffff]) };
        const request = CREATE_QP_EX.request.encodePadded(values);
        gives('qp', () => ({ number: 24, extended: true, request }))();
      },
      () =>
        this.#give({
          number: 25,
          request: QUERY_QP.request.encodePadded({ handle: this.#handle('qp'), mask: this.choices.u32() >>> 0 }),
        }),
      modify,
      modify,
      ends(27, 'qp'),
      () =>
        this.#give({
          number: this.choices.of([30, 31]),
          request: MCAST.request.encodePadded({
            gid: this.#gid(),
            handle: this.#handle('qp'),
            mlid: this.choices.below(2) * 0xc000,
          }),
        }),
      gives('srq', () => ({ number: 32, request: CREATE_SRQ.request.encodePadded(srqRequest()) }), knowsSrq),
      gives(
        'srq',
        () => ({
          number: 39,
          request: CREATE_XSRQ.request.encodePadded({ ...srqRequest(), srqType: this.choices.below(4) }),
        }),
        knowsSrq,
      ),
      () => {
        const { commands } = this.memory;
        const placeAddress = BigInt(
          this.choices.chance(80) ? commands.at + commands.bytes.length - 64 : this.memory.nowhere(this.choices),
        );
        const request = MODIFY_SRQ.request.encodePadded({
          handle: this.#handle('srq'),
          mask: this.choices.of([SrqAttrMask.MAX_WR, SrqAttrMask.LIMIT, 3, this.choices.below(16)]),
          maxWr: count(63),
          srqLimit: this.choices.below(70),
        });
        const found = this.#give({
          number: 33,
          request,
          driver: MODIFY_SRQ.driverRequest.encodePadded({ placeAddress }),
        });
        if (found === 0 && placeAddress > commands.at)
          this.#map(MODIFY_SRQ.place.readPadded(commands.bytes.subarray(-64)));
      },
      () => this.#give({ number: 34, request: HANDLE_BEHIND.encodePadded({ handle: this.#handle('srq') }) }),
      ends(35, 'srq'),
      () =>
        this.#give({
          number: this.choices.below(64),
          extended: this.choices.chance(50),
          request: this.#noise(this.choices.below(200)),
        }),
      () => void this.file.push(),
    ];
  })();

  /** What no other program has by that. */
  #name(handle: number): string {
    return `${this.file.name} ${handle}`;
  }

  #number(right: number, wrong: readonly number[]): number {
    return this.choices.chance(94) ? right : this.choices.of(wrong);
  }

  #noise(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.choices.u32() & 0xff);
  }

  #handle(kind: Kind): number {
    const own = this.#handles[kind];
    if (own.length > 0 && this.choices.chance(94)) return this.choices.of(own);
    return this.choices.of([0, 1, this.choices.below(300), 0xffffffff]);
  }

  #descriptor(): number {
    const own = this.#channels;
    if (own.length > 0 && this.choices.chance(85)) return this.choices.of(own);
    return this.choices.of([0, 1, 2, this.file.fd, 0x7fffffff, this.choices.below(64)]);
  }

  #gid(): Uint8Array {
    if (this.choices.chance(90)) return this.choices.of(this.known.gids);
    return this.#noise(16);
  }

  #address() {
    const { choices } = this;
    return {
      dgid: this.#gid(),
      isGlobal: this.#number(1, [0, 255]),
      portNum: this.#number(1, [0, 2]),
      sgidIndex: this.#number(0, [1, 255]),
      hopLimit: 64,
      flowLabel: choices.chance(90) ? 0 : choices.u32() >>> 0,
      sl: this.#number(0, [15, 16, 255]),
    };
  }

  /** Gives a command, and again where a signal took it back. @returns its ending, a negative errno where it was refused */
  #give(command: UverbsCommand, then?: (answer: Uint8Array, driver: Uint8Array) => void): number {
    const { choices, calls, file } = this;
    const cut = choices.chance(3)
      ? command.request.subarray(0, choices.below(command.request.length + 1))
      : command.request;
    const request = choices.chance(2) ? new Uint8Array([...cut, ...this.#noise(40)]) : cut;
    const frame = writeFrame(this.memory, { ...command, request }, choices);
    const call = (interrupted: boolean) =>
      calls.make([file.fd, 0, frame.at], (waiting) => file.ioctl(waiting), interrupted);
    let ending = call(choices.chance(3));
    if (ending === 'taken back' && choices.chance(70)) ending = call(false);
    if (ending === 'taken back') return -4;
    if (typeof ending !== 'number') throw new Error(`a command ended so: ${ending}`);
    if (ending > 0) throw new Error(`a command ended in ${ending}`);
    if (ending === 0) then?.(frame.answer, frame.driver);
    return ending;
  }

  #forget(kind: Kind, handle: number): void {
    const own = this.#handles[kind];
    const at = own.indexOf(handle);
    if (at >= 0) own.splice(at, 1);
    if (kind === 'mr' && this.choices.chance(80)) {
      const { regions } = this.known;
      const region = regions.findIndex(({ name }) => name === this.#name(handle));
      if (region >= 0) regions.splice(region, 1);
    }
    if (kind !== 'qp') return;
    const index = this.#qps.findIndex((qp) => qp.handle === handle);
    if (index >= 0) this.#qps.splice(index, 1);
  }

  #map({ offset, size }: { readonly offset: bigint; readonly size: number }): Ring | undefined {
    // What lies behind the end of the file is nobody's but the program's own death (SIGBUS).
    if (size === 0 || Number(offset) % PAGE_BYTES !== 0) return undefined;
    if (Number(offset) + size > fstatSync(this.file.fd).size) return undefined;
    const ring = new Ring(new SharedMapping(this.file.fd, Number(offset), size));
    this.#rings.push(ring);
    if (this.#rings.length > MOST_RINGS) this.#rings.shift()?.close();
    return ring;
  }

  #modify(handle: number, qpState: number, mask: number, more: object = {}): number {
    const { choices } = this;
    const dest = this.#address();
    const values = {
      dest: dest as never,
      altDest: dest as never,
      handle,
      mask: mask >>> 0,
      qkey: 0x11111111,
      rqPsn: 0,
      sqPsn: 0,
      destQpNum: this.known.qps.length > 0 ? choices.of(this.known.qps) : 1,
      qpAccessFlags: choices.chance(90) ? REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC : choices.u32() >>> 0,
      pkeyIndex: this.#number(0, [1, 65535]),
      qpState,
      pathMtu: this.#number(1 + choices.below(5), [0, 6, 255]),
      maxRdAtomic: choices.below(20),
      maxDestRdAtomic: choices.below(20),
      minRnrTimer: choices.below(32),
      portNum: this.#number(1, [0, 2]),
      timeout: choices.below(20),
      retryCnt: choices.below(8),
      rnrRetry: choices.below(8),
      ...more,
    };
    const extended = choices.chance(10);
    const request = extended
      ? Structs.MODIFY_QP_EX.request.encodePadded(values)
      : Structs.MODIFY_QP.request.encodePadded(values);
    return this.#give({ number: 26, extended, request });
  }

  /** Connects two queue pairs, as honest programs do. */
  #marry(): void {
    const { choices, known, memory } = this;
    const [a, b] = [choices.of(this.#qps), choices.of(this.#qps)];
    if (a.type !== b.type) return;
    a.peerDomain = b.domain;
    b.peerDomain = a.domain;
    const { STATE, PKEY_INDEX, PORT, ACCESS_FLAGS, AV, PATH_MTU, DEST_QPN, RQ_PSN, MAX_DEST_RD_ATOMIC, MIN_RNR_TIMER } =
      QpAttrMask;
    const { SQ_PSN, TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, QKEY } = QpAttrMask;
    for (const [qp, peer] of [
      [a, b],
      [b, a],
    ] as const) {
      const more = {
        destQpNum: peer.number,
        portNum: 1,
        pkeyIndex: 0,
        pathMtu: 1,
        timeout: 10,
        maxRdAtomic: 4,
        maxDestRdAtomic: 4,
      };
      const dest = { dgid: this.gid, isGlobal: 1, portNum: 1, sgidIndex: 0, hopLimit: 64 };
      const connected = qp.type === QpType.RC || qp.type === QpType.UC;
      const reliable = qp.type === QpType.RC;
      const all = { ...more, dest: { ...this.#address(), ...dest, flowLabel: 0, sl: 0 } };
      this.#modify(qp.handle, QpState.RESET, STATE);
      this.#modify(qp.handle, QpState.INIT, STATE | PKEY_INDEX | PORT | (connected ? ACCESS_FLAGS : QKEY), all);
      const toRtr = connected ? AV | PATH_MTU | DEST_QPN | RQ_PSN : 0;
      this.#modify(qp.handle, QpState.RTR, STATE | toRtr | (reliable ? MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER : 0), all);
      const toRts = reliable ? TIMEOUT | RETRY_CNT | RNR_RETRY | MAX_QP_RD_ATOMIC : 0;
      this.#modify(qp.handle, QpState.RTS, STATE | SQ_PSN | toRts, all);
    }
    // Before anything happens to them. A message for which there is no room would hold up all that comes after it.
    for (const { receives, domain } of [a, b]) {
      for (let i = 0; i < ROOM_FOR_MESSAGES; i += 1) {
        if (receives !== undefined) postReceive(receives, nameable(known, memory, [], domain, domain), choices);
      }
    }
    for (const qp of [a, b, a, b]) this.#postTo(qp);
  }

  #post(): void {
    const { choices, known } = this;
    if (this.#qps.length === 0) return;
    if (choices.chance(70)) for (const ring of this.#rings) ring.consume(known.completions);
    this.#postTo(choices.of(this.#qps));
  }

  #postTo(qp: FuzzQp): void {
    const { choices, memory, known } = this;
    const named = nameable(known, memory, this.#handles.ah, qp.domain, qp.peerDomain);
    if (qp.receives !== undefined && choices.chance(40)) postReceive(qp.receives, named, choices);
    if (qp.sends === undefined) return;
    for (let i = choices.below(4); i >= 0; i -= 1) postSend(qp.sends, named, choices);
    if (choices.chance(90)) this.#ring(qp.handle);
  }

  #ring(handle: number): void {
    const { choices, calls, file, memory } = this;
    const { at, bytes } = memory.commands;
    const request = Structs.DOORBELL.request.encodePadded({ command: this.#number(28, [0, 1, 30]), handle });
    bytes.set(request, 1024);
    const length = this.#number(request.length, [0, 31, 33, 2 ** 31, 2 ** 52]);
    const from = this.#number(at + 1024, [0, at + bytes.length - 16, 2 ** 47]);
    const ending = calls.make([file.fd, from, length], (waiting) => file.write(waiting), choices.chance(2));
    if (ending === 'waits' || ending === 'let through') throw new Error(`a doorbell ended so: ${ending}`);
  }

  #closeDescriptor(): void {
    for (const fd of this.#channels.splice(this.choices.below(this.#channels.length + 1), 1)) this.calls.close(fd);
    this.file.sweep(new OpenFiles());
  }

  /** What nobody would take for a command. */
  #garbage(): void {
    const { calls, file, choices, memory } = this;
    const { at, bytes } = memory.commands;
    bytes.set(this.#noise(400));
    if (choices.chance(50)) new DataView(bytes.buffer, bytes.byteOffset).setUint16(0, 24 + 16 * bytes[6], true);
    calls.make([file.fd, 0, choices.chance(90) ? at : memory.nowhere(choices)], (waiting) => file.ioctl(waiting));
  }
}
