import { bytesOf, type Plan, planFacts } from './plan.js';
import type { Figures } from './meter.js';
import { boxText, headText, rowText, type TableStyle } from './table.js';

/** What the command line says of how to print. */
export interface ReportFlags extends TableStyle {
  readonly json: boolean;
  /** Say by which protocol messages go. */
  readonly explains: boolean;
}

/** Prints what UCX's tool prints, or one JSON object at the end. */
export class Report {
  readonly #stages: Figures[] = [];
  #hasEnded = false;

  constructor(private readonly flags: ReportFlags) {}

  waiting(): void {
    this.#say('Waiting for connection...\n');
  }

  accepted(address: string): void {
    this.#say(`Accepted connection from ${address}\n`);
  }

  box(plan: Plan): void {
    this.#say(boxText(plan));
  }

  head({ test }: Plan): void {
    this.#say(headText(test.figure, this.flags));
  }

  stage(figures: Figures): void {
    this.#stages.push(figures);
    if (!this.flags.finalOnly) this.#say(rowText(figures, false, this.flags));
  }

  /** The user ends a run whose warm-up is not over. */
  nothing(plan: Plan): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    process.stderr.write(`Nothing was measured: the warm-up of ${plan.warmUp} messages (-w) was not over.\n`);
    this.#tell(plan, { messageBytes: bytesOf(plan), interrupted: true, stages: [] }, 'client');
  }

  /** Once: the last row, or all as JSON. @param explanation of how messages went */
  final(plan: Plan, figures: Figures, explanation: string, isInterrupted = false): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#say(rowText(figures, true, this.flags, this.flags.explains ? `  ${explanation}` : ''));
    const facts = {
      messageBytes: bytesOf(plan),
      protocol: explanation,
      interrupted: isInterrupted,
    };
    this.#tell(plan, { ...facts, stages: this.#stages, final: figures }, 'client');
  }

  served(plan: Plan): void {
    this.#tell(plan, {}, 'server');
  }

  #tell(plan: Plan, facts: object, role: 'client' | 'server'): void {
    if (!this.flags.json) return;
    const { rank } = this.flags;
    const own = role === 'client' ? { rank } : {};
    process.stdout.write(`${JSON.stringify({ tool: 'ucx_perftest', role, ...planFacts(plan), ...own, ...facts })}\n`);
  }

  #say(text: string): void {
    if (!this.flags.json) process.stdout.write(text);
  }
}
