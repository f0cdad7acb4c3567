import type { Process } from '../../kernel/contract/process.ts'

/** Exists while a transfer by SEPA is under way. */
export const transferProcess = { name: 'transfer' } as const satisfies Process

/** The process of a transfer that had ended already: a recall begins it anew. */
export const recallProcess = { ...transferProcess, recurs: true } as const satisfies Process

/** What a person signals, from the Web UI or the command line, is one of these. */
export const transferSignals = ['confirmPayee', 'cancel'] as const
export type TransferSignal = (typeof transferSignals)[number]
