import type { Process } from '../../kernel/contract/process.ts'

/** Exists while an intent waits for a person, and then until it is completed or its deadline has come. */
export const intentProcess = { name: 'intent' } as const satisfies Process

/** What an approver signals, from the Web UI or the command line, is one of these. */
export const approverSignals = ['approve', 'deny', 'cancel'] as const
export type ApproverSignal = (typeof approverSignals)[number]
