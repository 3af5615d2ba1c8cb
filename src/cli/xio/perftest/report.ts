import { checkWritable, writeWhole } from '../../kit/new-file.js';
import type { Figures } from './figures.js';
import type { Request, XioPerfFlags } from './flags.js';
import { fileText, headText, rowText } from './table.js';

/** What a client prints: a table as it goes, or one JSON object at the end; and what it writes. */
export class Report {
  readonly #rows: Figures[] = [];
  #hasEnded = false;

  /** @throws ToolError when a file was asked for that cannot be written */
  constructor(
    private readonly request: Request,
    private readonly flags: XioPerfFlags,
  ) {
    if (flags.o !== undefined) checkWritable(flags.o);
  }

  head(): void {
    this.#say(headText());
  }

  row(figures: Figures): void {
    if (this.#hasEnded) return;
    this.#rows.push(figures);
    this.#say(rowText(figures));
  }

  cut(figures: Figures): void {
    if (this.#hasEnded || figures.requests === 0) return;
    this.row(figures);
    this.#say('(interrupted)\n');
  }

  /** Once: what stands in the file, and as JSON. */
  end(isInterrupted: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.flags.o !== undefined) writeWhole(this.flags.o, fileText(this.#rows));
    if (this.flags.json !== true) return;
    const { test, depth } = this.request;
    const { r: transport, n: threads } = this.flags;
    const facts = {
      tool: 'xio_perftest',
      role: 'client',
      test: test.name,
      transport,
      threads,
      depth,
    };
    process.stdout.write(`${JSON.stringify({ ...facts, interrupted: isInterrupted, results: this.#rows })}\n`);
  }

  #say(text: string): void {
    if (this.flags.json !== true) process.stdout.write(text);
  }
}
