/** The values of `enum ibv_rate`: a limit of the rate at which an address is sent to (`AhAttr.staticRate`). */
export const Rate = {
  /** No limit but the port's own. */
  RATE_MAX: 0,
  RATE_2_5_GBPS: 2,
  RATE_5_GBPS: 5,
  RATE_10_GBPS: 3,
  RATE_20_GBPS: 6,
  RATE_30_GBPS: 4,
  RATE_40_GBPS: 7,
  RATE_60_GBPS: 8,
  RATE_80_GBPS: 9,
  RATE_120_GBPS: 10,
  RATE_14_GBPS: 11,
  RATE_56_GBPS: 12,
  RATE_112_GBPS: 13,
  RATE_168_GBPS: 14,
  RATE_25_GBPS: 15,
  RATE_100_GBPS: 16,
  RATE_200_GBPS: 17,
  RATE_300_GBPS: 18,
  RATE_28_GBPS: 19,
  RATE_50_GBPS: 20,
  RATE_400_GBPS: 21,
  RATE_600_GBPS: 22,
  RATE_800_GBPS: 23,
  RATE_1200_GBPS: 24,
} as const;
export type Rate = (typeof Rate)[keyof typeof Rate];

/** What a rate is exactly: Mbit/s of data, after the encoding of its generation of lanes. */
const mbps: ReadonlyMap<number, number> = new Map<Rate, number>([
  [Rate.RATE_2_5_GBPS, 2500],
  [Rate.RATE_5_GBPS, 5000],
  [Rate.RATE_10_GBPS, 10000],
  [Rate.RATE_20_GBPS, 20000],
  [Rate.RATE_30_GBPS, 30000],
  [Rate.RATE_40_GBPS, 40000],
  [Rate.RATE_60_GBPS, 60000],
  [Rate.RATE_80_GBPS, 80000],
  [Rate.RATE_120_GBPS, 120000],
  [Rate.RATE_14_GBPS, 14062],
  [Rate.RATE_56_GBPS, 56250],
  [Rate.RATE_112_GBPS, 112500],
  [Rate.RATE_168_GBPS, 168750],
  [Rate.RATE_25_GBPS, 25781],
  [Rate.RATE_100_GBPS, 103125],
  [Rate.RATE_200_GBPS, 206250],
  [Rate.RATE_300_GBPS, 309375],
  [Rate.RATE_28_GBPS, 28125],
  [Rate.RATE_50_GBPS, 53125],
  [Rate.RATE_400_GBPS, 425000],
  [Rate.RATE_600_GBPS, 637500],
  [Rate.RATE_800_GBPS, 850000],
  [Rate.RATE_1200_GBPS, 1275000],
]);

/** Multiples of 2.5 Gbit/s, of those rates that libibverbs gives one. */
const multiples: ReadonlyMap<number, number> = new Map<Rate, number>([
  [Rate.RATE_2_5_GBPS, 1],
  [Rate.RATE_5_GBPS, 2],
  [Rate.RATE_10_GBPS, 4],
  [Rate.RATE_20_GBPS, 8],
  [Rate.RATE_28_GBPS, 11],
  [Rate.RATE_30_GBPS, 12],
  [Rate.RATE_40_GBPS, 16],
  [Rate.RATE_50_GBPS, 20],
  [Rate.RATE_60_GBPS, 24],
  [Rate.RATE_80_GBPS, 32],
  [Rate.RATE_120_GBPS, 48],
  [Rate.RATE_400_GBPS, 160],
  [Rate.RATE_600_GBPS, 240],
  [Rate.RATE_800_GBPS, 320],
  [Rate.RATE_1200_GBPS, 480],
]);

function reversed(table: ReadonlyMap<number, number>): ReadonlyMap<number, Rate> {
  const rates = Object.values(Rate);
  return new Map(rates.flatMap((rate) => (table.has(rate) ? [[table.get(rate) ?? 0, rate] as const] : [])));
}

const rateOfMbps = reversed(mbps);
const rateOfMultiple = reversed(multiples);

/** A rate as a multiple of 2.5 Gbit/s, or -1 for RATE_MAX and those that are none (`ibv_rate_to_mult`). */
export function rateToMult(rate: number): number {
  return multiples.get(rate) ?? -1;
}

/** The rate that is this multiple of 2.5 Gbit/s, or RATE_MAX when none is (`mult_to_ibv_rate`). */
export function multToRate(mult: number): Rate {
  return rateOfMultiple.get(mult) ?? Rate.RATE_MAX;
}

/** A rate in Mbit/s, or -1 for RATE_MAX and what is not a rate (`ibv_rate_to_mbps`). */
export function rateToMbps(rate: number): number {
  return mbps.get(rate) ?? -1;
}

/** The rate of exactly so many Mbit/s, or RATE_MAX when there is none (`mbps_to_ibv_rate`). */
export function mbpsToRate(megabits: number): Rate {
  return rateOfMbps.get(megabits) ?? Rate.RATE_MAX;
}
