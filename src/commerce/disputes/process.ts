import type { ProcessStatus, RecordProcess } from '../../kernel/contract/process.ts'

export const disputeProcess = {
  name: 'dispute',
  title: 'Dispute',
  recurs: true,
  details: `Opens the dispute at the card processor, waits for evidence until its time is over, reminds a day before, and submits what is there. Then it asks daily how the card network has decided; a message of the network comes sooner. A processor that does not answer is asked again, from a minute apart to an hour, and acts once on each reference.

No signal decides. The owner submits or withdraws by \`POST /disputes/{id}/submit\` and \`/withdraw\`; that a payment was authorized after all, the operator finds by \`POST /disputes/{id}/finding\`, with the dashboard secret and reasons.`,
  read: { activity: 'readDispute', operation: 'disputes.processStatus', summary: 'Status of the dispute' },
  steps: {
    followDisputeDeadlines: {
      operation: 'disputes.followDeadlines',
      summary: 'Provisional credit, reminder, or the end of the time for evidence',
    },
    callAboutDispute: {
      operation: 'disputes.callProcessor',
      summary: 'Call the card processor, which acts once on each reference',
      timeoutMs: 60_000,
    },
  },
} as const satisfies RecordProcess

export interface DisputeStatus extends ProcessStatus {
  readonly next: 'open' | 'document' | 'file' | 'withdraw' | 'inquire' | 'deadline' | null
}
