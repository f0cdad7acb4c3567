import type { ProcessStatus, RecordProcess } from '../../kernel/contract/process.ts'

export const disputeProcess = {
  name: 'dispute',
  title: 'Dispute',
  recurs: true,
  details: `Opens the dispute at the card processor, waits for evidence until the deadline, sends a reminder a day before, and submits the dispute. Then it asks daily for the decision of the card network; a message of the network may come sooner. A processor that does not answer is called again after a minute, later up to an hour, and acts once per reference.

There are no signals. The owner submits or withdraws with \`POST /disputes/{id}/submit\` and \`/withdraw\`; the operator records that a payment was authorized with \`POST /disputes/{id}/finding\`, with the dashboard secret and reasons.`,
  read: { activity: 'readDispute', operation: 'disputes.processStatus', summary: 'Status of the dispute' },
  steps: {
    followDisputeDeadlines: {
      operation: 'disputes.followDeadlines',
      summary: 'Provisional credit, reminder, or the end of the time for evidence',
    },
    callAboutDispute: {
      operation: 'disputes.callProcessor',
      callsOutside: true,
      summary: 'Call the card processor, which acts once on each reference',
      timeoutMs: 60_000,
    },
  },
} as const satisfies RecordProcess

export interface DisputeProcessStatus extends ProcessStatus {
  readonly next: 'open' | 'document' | 'file' | 'withdraw' | 'inquire' | 'deadline' | null
}
