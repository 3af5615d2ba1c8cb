import { readFileSync } from 'node:fs';

const DEFAULT = 1024;

/** How many descriptors programs may have that are started from here. */
export function descriptorLimit(): number {
  const line = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  return line === 'unlimited' ? 2 ** 20 : Number(line ?? DEFAULT);
}

/** Numbers of file descriptors, from `first` up to and without `end`. */
export interface DescriptorRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Where in programs the descriptors lie that are ours: a filter sees of a file nothing but its number, so that must tell of
 * which kind it is.
 */
export interface DescriptorRanges {
  readonly uverbs: DescriptorRange;
  /** Opened `/dev/infiniband/rdma_cm`: programs may `select` on them, which ends at 1023. */
  readonly rdmaCm: DescriptorRange;
  /** More of those, once these are taken: a program with hundreds of channels does not `select`. */
  readonly moreRdmaCm: DescriptorRange;
  readonly directories: DescriptorRange;
}

const SELECT_LIMIT = 1024;
const EACH = 96;
/** Where a program may have that many files, a test of thousands of opens finds room. */
const MANY = 8192;
const MANY_EACH = 2048;

/** @param limit how many descriptors a program may have (`RLIMIT_NOFILE`) */
export function descriptorRanges(limit: number): DescriptorRanges {
  const top = Math.min(limit, SELECT_LIMIT);
  const rdmaCm = { first: top - EACH, end: top };
  const isLarge = limit >= MANY;
  const uverbs = isLarge ? { first: MANY - MANY_EACH, end: MANY } : { first: top - 2 * EACH, end: top - EACH };
  const moreRdmaCm = isLarge ? { first: uverbs.first - MANY_EACH, end: uverbs.first } : { first: top, end: top };
  return { rdmaCm, moreRdmaCm, uverbs, directories: { first: top - 3 * EACH, end: top - 2 * EACH } };
}

export function isWithin({ first, end }: DescriptorRange, fd: number): boolean {
  return fd >= first && fd < end;
}
