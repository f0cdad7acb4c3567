import type { DurableProcess } from '../../kernel/contract/process.ts'

export const disputeProcess = {
  name: 'dispute',
  title: 'Dispute',
  recurs: true,
  details: `Opens the dispute at the card processor, waits for evidence until the deadline, sends a reminder a day before, and submits the dispute. Then it asks daily for the decision of the card network; a message of the network may come sooner. A processor that does not answer is called again after a minute, later up to an hour, and acts once per reference.

There are no signals. The owner submits or withdraws with \`POST /disputes/{id}/submit\` and \`/withdraw\`; the operator records that a payment was authorized with \`POST /disputes/{id}/finding\`, with the dashboard secret and reasons.`,
} as const satisfies DurableProcess
