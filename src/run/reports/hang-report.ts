import { nameOfCq } from '../../providers/soft/index.js';
import { nameOf, QpState } from '../../device/ibta/index.js';
import type { Machine } from '../launcher/system-calls.js';
import { readProgram } from '../processes/program-memory.js';
import { RdmaCmFile } from '../ucma/rdma-cm-file.js';
import type { GuestContext } from '../uverbs/guest-context.js';
import type { EndedObject, GuestChannel, GuestCq, GuestQp } from '../uverbs/guest-objects.js';
import { UverbsFile } from '../uverbs/uverbs-file.js';
import { processName } from './failure-report.js';
import { stateOf, threadsOf, type ThreadWait, waitOf } from './thread-waits.js';

/** What one thread waits for, and what is known of that. */
export interface Finding {
  readonly pid: number;
  readonly tid: number;
  readonly comm: string;
  /** `waits in ibv_get_cq_event`, `runs`, `is stopped`. */
  readonly does: string;
  readonly forMs: number;
  /** The state of what it waits for, a clause each. */
  readonly facts: readonly string[];
  /** Why nothing will ever wake it, and what to do; absent where it may just wait for its peer. */
  readonly advice?: string;
}

/** A wait that nothing can end is spoken of when it lasts longer. */
const SPEAK_AFTER_MS = 5000;
/** Threads of a process that are looked at. */
const MOST_THREADS = 64;
/** Objects that one sentence lists. */
const MOST_LISTED = 4;
/** Where in a structure of libibverbs or librdmacm a thread waits for acknowledgements: it is no longer than that. */
const STRUCTURE_BYTES = 1024n;

interface Since {
  readonly key: string;
  readonly atMs: number;
  told: boolean;
}

/** Says of programs that wait in whom they wait for, and what would wake them. */
export class HangReport {
  readonly #since = new Map<number, Since>();
  /** The findings of the last look, by process: of one that has ended since, nothing can be found any more. */
  readonly #last = new Map<number, { readonly atMs: number; readonly findings: readonly Finding[] }>();

  /**
   * @param files what programs have open
   * @param tell takes what is said unasked
   */
  constructor(
    private readonly machine: Machine,
    private readonly files: () => Iterable<object>,
    private readonly tell: (pid: number, what: string, why: string) => void,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** To be called about once a second: finds what threads wait for, and speaks of waits that cannot end. @returns what was found */
  look(): readonly Finding[] {
    const now = this.nowMs();
    const { contexts, cmFiles } = this.#open();
    const seen = new Set<number>();
    const all: Finding[] = [];
    for (const pid of new Set([...contexts, ...cmFiles].map((file) => file.pid))) {
      const findings: Finding[] = [];
      for (const tid of threadsOf(pid).slice(0, MOST_THREADS)) {
        seen.add(tid);
        const wait = waitOf(pid, tid, this.machine);
        const since = this.#sinceOf(tid, wait, now);
        const found = find({ pid, tid, wait, contexts, cmFiles });
        if (found === undefined) continue;
        const finding = { ...found, pid, tid, comm: processName(pid), forMs: now - since.atMs };
        findings.push(finding);
        if (finding.advice === undefined || since.told || finding.forMs < SPEAK_AFTER_MS) continue;
        since.told = true;
        this.tell(pid, ...sentenceOf(finding));
      }
      this.#last.set(pid, { atMs: now, findings });
      all.push(...findings);
    }
    for (const context of contexts) context.tellDrops();
    for (const tid of this.#since.keys()) if (!seen.has(tid)) this.#since.delete(tid);
    return all;
  }

  /** Tells all that is found now, and of processes that have ended within the last two seconds what was found before. */
  tellAll(): void {
    this.look();
    const now = this.nowMs();
    for (const { atMs, findings } of this.#last.values())
      if (now - atMs <= 2000) for (const finding of findings) this.tell(finding.pid, ...sentenceOf(finding));
  }

  #open(): { readonly contexts: readonly GuestContext[]; readonly cmFiles: readonly RdmaCmFile[] } {
    const contexts: GuestContext[] = [];
    const cmFiles: RdmaCmFile[] = [];
    for (const file of this.files()) {
      if (file instanceof UverbsFile) contexts.push(file.context);
      else if (file instanceof RdmaCmFile) cmFiles.push(file);
    }
    return { contexts, cmFiles };
  }

  #sinceOf(tid: number, wait: ThreadWait, now: number): Since {
    const key = keyOf(wait);
    const known = this.#since.get(tid);
    if (known?.key === key) return known;
    const since = { key, atMs: now, told: false };
    this.#since.set(tid, since);
    return since;
  }
}

function keyOf(wait: ThreadWait): string {
  if (wait.kind === 'files') return `files ${wait.names.join(' ')}`;
  return wait.kind === 'futex' ? `futex ${wait.address}` : wait.kind;
}

/** What a finding says: what the thread does, and why. */
export function sentenceOf({ does, forMs, facts, advice }: Finding): [what: string, why: string] {
  const long = forMs < 1000 ? '' : ` for ${Math.round(forMs / 1000)} s`;
  const state = facts.length === 0 ? 'nothing is known of it' : facts.join('; ');
  return [`${does}${long}`, advice === undefined ? state : `${state}: ${advice}`];
}

interface Looking {
  readonly pid: number;
  readonly tid: number;
  readonly wait: ThreadWait;
  readonly contexts: readonly GuestContext[];
  readonly cmFiles: readonly RdmaCmFile[];
}

type Found = Pick<Finding, 'does' | 'facts' | 'advice'>;

function find(looking: Looking): Found | undefined {
  const { wait, pid, contexts } = looking;
  switch (wait.kind) {
    case 'files':
      return findFiles(looking, wait.names, wait.polls);
    case 'futex':
      return findAcknowledgement(looking, wait.address);
    case 'stopped':
      return { does: 'is stopped', facts: ['it goes on at SIGCONT'] };
    case 'running': {
      const own = contexts.filter((context) => context.pid === pid);
      const facts = own.flatMap((context) => factsOf(context, [...context.cqs], contexts));
      return facts.length === 0 ? undefined : { does: 'runs', facts };
    }
    case 'other':
      return undefined;
  }
}

function findFiles({ pid, contexts, cmFiles }: Looking, names: readonly string[], polls: boolean): Found | undefined {
  const does = (call: string): string => (polls ? `polls the descriptor of ${call}` : `waits in ${call}`);
  for (const context of contexts) {
    if (context.pid !== pid) continue;
    for (const name of names) {
      const channel = context.channels.get(name);
      if (channel !== undefined) return findChannel(context, channel, does('ibv_get_cq_event'), contexts);
    }
  }
  for (const file of cmFiles)
    if (file.pid === pid && names.includes(file.name))
      return { does: does('rdma_get_cm_event'), facts: file.describe() };
  const asks = contexts.some((context) => context.pid === pid && names.includes(context.asyncEvents.name));
  return asks && !polls
    ? { does: does('ibv_get_async_event'), facts: ['no event of the device or its objects came'] }
    : undefined;
}

function findChannel(
  context: GuestContext,
  channel: GuestChannel,
  does: string,
  contexts: readonly GuestContext[],
): Found {
  const cqs = [...context.cqs].filter((guest) => guest.channel === channel);
  const facts = factsOf(context, cqs, contexts);
  if (cqs.length === 0)
    return { does, facts: ['no CQ was made with that channel'], advice: 'give it to ibv_create_cq' };
  if (cqs.some(({ armed }) => armed)) return { does, facts };
  const isNew = cqs.every(({ requests }) => requests === 0);
  const advice = isNew
    ? 'call ibv_req_notify_cq before you wait, or no completion makes an event'
    : 'each ibv_req_notify_cq asks for one event: call it again after ibv_get_cq_event, then poll, then wait';
  return { does, facts, advice };
}

/** Destroying an object waits, in the program, until each of its events was acknowledged. */
function findAcknowledgement({ pid, tid, contexts, cmFiles }: Looking, address: bigint): Found | undefined {
  const isIn = ({ userHandle }: EndedObject): boolean =>
    address >= userHandle && address < userHandle + STRUCTURE_BYTES;
  const ended = [...contexts, ...cmFiles].filter((file) => file.pid === pid).flatMap((file) => file.ended);
  const object = ended.findLast(isIn);
  if (object === undefined) return undefined;
  const { call, what, eventsReported, acknowledge, completedAt } = object;
  const bytes = completedAt === undefined ? undefined : readProgram(tid, Number(object.userHandle) + completedAt, 4);
  const acknowledged =
    bytes === undefined ? undefined : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const events = `${eventsReported} event${eventsReported === 1 ? '' : 's'} of ${what}`;
  const were = eventsReported === 1 ? 'was' : 'were';
  const fact = `${events} ${were} got, and ${acknowledged ?? 'not all'} acknowledged`;
  return { does: `waits in ${call}`, facts: [fact], advice: `call ${acknowledge} for each` };
}

/** Of CQs and their queue pairs, as many as one sentence lists: a program may have thousands, and is looked at every second. */
function factsOf(context: GuestContext, cqs: readonly GuestCq[], contexts: readonly GuestContext[]): string[] {
  const listed = new Set<unknown>(cqs.map(({ cq }) => cq));
  const facts = cqs.slice(0, MOST_LISTED).map(cqFact);
  let left = Math.max(0, cqs.length - MOST_LISTED);
  for (const guest of context.qps) {
    const { qp } = guest;
    if (!listed.has(qp.recvCq) && !listed.has(qp.sendCq)) continue;
    if (facts.length < MOST_LISTED) facts.push(qpFact(guest, cqs, contexts));
    else left += 1;
  }
  return left === 0 ? facts : [...facts, `${left} more CQs and QPs`];
}

function cqFact({ cq, completions, armed, requests, solicitedOnly, channel }: GuestCq): string {
  const { told, unpolled } = completions;
  const count = `${nameOfCq(cq)}: ${told} completion${told === 1 ? '' : 's'}, ${told - unpolled} polled`;
  if (channel === undefined) return count;
  if (armed) return `${count}, armed${solicitedOnly ? ' for solicited events alone' : ''}`;
  return `${count}, ${requests === 0 ? 'never armed' : 'not armed since its last event'}`;
}

function qpFact({ qp, sends, receives }: GuestQp, cqs: readonly GuestCq[], contexts: readonly GuestContext[]): string {
  const parts = [`QP 0x${qp.qpNum.toString(16)} in ${nameOf(QpState, qp.state)}`];
  if (receives !== undefined)
    parts.push(`${receives.posted || 'no'} receive${receives.posted === 1 ? '' : 's'} posted`);
  if (sends.outstanding > 0) parts.push(`${sends.outstanding} sends outstanding`);
  const writes = qp.counters()['rx_write_requests'] ?? 0;
  const received = cqs.find(({ cq }) => cq === qp.recvCq)?.completions.told ?? 0;
  if (writes > 0 && received === 0)
    parts.push(
      `${writes} WRITE${writes === 1 ? '' : 's'} came (without immediate data one completes only at its requester)`,
    );
  const peer = stoppedPeerOf(qp.qpNum, contexts);
  if (peer !== undefined) parts.push(`its peer, ${processName(peer.pid)} (pid ${peer.pid}), is stopped`);
  return parts.join(', ');
}

/** The program of this launcher that has the other end of a connection, if it is stopped. */
function stoppedPeerOf(qpNum: number, contexts: readonly GuestContext[]): GuestContext | undefined {
  const stopped = contexts.filter(({ pid }) => stateOf(pid) === 'T');
  return stopped.find((context) => [...context.qps].some(({ qp }) => qp.query().attr.destQpNum === qpNum));
}
