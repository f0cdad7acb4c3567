import type { DurableProcess } from '../../kernel/contract/process.ts'

/** Begins with the first payment for a cut-off, and ends when the bank has reported on the file. A later report begins it anew. */
export const sepaFileProcess = {
  name: 'sepa-file',
  title: 'File for the bank',
  details: `Collects payments until the cut-off, makes the file, stages it in the bank’s folder and hands it over, once. Then it waits for the bank’s
report (pain.002), says when it is late, and takes what it says of each payment: a rejection brings the money back. A file without payments, an
instant payment’s file, and every file with \`SEPA_REPORT_HOURS=0\` wait for no report.

It has no signals. A report arrives in the folder \`in\`, or by \`POST /rails/sepa\`.`,
  newIn: ['open'],
  recurs: true,
} as const satisfies DurableProcess
