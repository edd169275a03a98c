// The document that the engine embeds in the page, schema version 1.
export const kSchema = 1;

// JSON has no NaN and no infinities: they come as strings.
export type Numeric = number | 'NaN' | 'Infinity' | '-Infinity';

export interface Backend {
  name: string;
  version: string;
  answered: boolean;
  judged: number;
}

export interface Pair {
  a: string;
  b: string;
  metric: string;
  threshold: number;
  triggering: number;
  instances: number;
  max: Numeric;
  inconsistent: boolean;
  pattern: number[];
  tolerance: {rtol: Numeric; atol: Numeric};
}

export interface Finding {
  id: string;
  kind: string;
  backend: string;
  op: string;
  node: string;
  verdict: string;
  detail?: string;
  test?: string;
  repro?: string;
  script?: string;
  variant?: string;
  pass?: string;
  passes?: string[];
  signal?: number;
}

export interface Statistics {
  backend: number;
  count?: number;
  min?: Numeric;
  max?: Numeric;
  mean?: Numeric;
  nan?: number;
  inf?: number;
}

export interface Judged {
  backend: number;
  verdict: string;
  difference: Numeric;
  excess: Numeric;
  detail?: string;
  variant?: string;
}

export interface Image {
  pair: number;
  rows: number;
  columns: number;
  height: number;
  width: number;
  largest: Numeric;
  at: number;
  cells: string;
}

export interface Output {
  name: string;
  type?: string;
  values?: Statistics[];
  judged?: Judged[];
  images?: Image[];
}

export interface Input {
  name: string;
  node?: number;
  parameter?: string;
}

export interface Rate {
  pair: number;
  delta: Numeric;
  rate: Numeric;
  highlighted: boolean;
  pass?: string;
}

export interface MapNode {
  name: string;
  op: string;
  domain?: string;
  inputs: Input[];
  outputs: Output[];
  attributes?: [string, string][];
  origin?: [string, number][];
  rates?: Rate[];
}

export interface LocalisationMap {
  pairs: [string, string][];
  nodes: MapNode[];
  findings: (number | null)[];
  texts: string[];
}

export interface Model {
  file: string;
  name: string;
  producer: string;
  opsets: Record<string, number>;
  nodes: number;
  parameters: number;
  inputs: [string, string][];
  outputs: [string, string][];
}

export interface Report {
  schema: number;
  command?: string;
  assay: string;
  seconds?: number;
  model: Model;
  backends: Backend[];
  outputs: Record<string, {rtol: Numeric; atol: Numeric}>;
  pairs: Pair[];
  unique: number;
  findings: Finding[];
  releases?: {first_bad?: string; first_good?: string};
  map: LocalisationMap;
}

// Ranges of all values stand where a comparison has what backends gave.
export function isLint(report: Report): boolean {
  return report.command === 'lint';
}

// A document that this page cannot show, with the reason for a person.
export class Unreadable extends Error {}

export function toNumber(value: Numeric | undefined): number {
  return value === undefined ? NaN : Number(value);
}

export function readReport(text: string): Report {
  let document: Partial<Report>;
  try {
    document = JSON.parse(text) as Partial<Report>;
  } catch (failure) {
    throw new Unreadable(`The document inside this page is damaged: ${String(failure)}`);
  }
  if (typeof document.schema !== 'number') {
    throw new Unreadable('The document inside this page has no schema version.');
  }
  if (document.schema > kSchema) {
    throw new Unreadable(
      `The document has schema version ${document.schema}, this page knows up to ${kSchema}.`,
    );
  }
  for (const part of ['model', 'backends', 'pairs', 'findings', 'map'] as const) {
    if (!document[part]) throw new Unreadable(`The document inside this page lacks “${part}”.`);
  }
  return document as Report;
}

// The passes of an optimiser that a finding names.
export function passesOf(finding: Finding): string[] {
  return finding.passes?.length ? finding.passes : finding.pass ? [finding.pass] : [];
}
