import type { Euros } from '../../values/money.ts'
import type { RefundRow } from './refund-rows.ts'

/** The record that speaks for a refund. */
export interface RefundSource {
  readonly type: string
  readonly id: string
}

/** Money that has come back: a fact, whatever is left of the payment. */
export interface Arrival extends Pick<RefundRow, 'agentId' | 'walletId' | 'way'> {
  readonly origin: Exclude<RefundRow['origin'], 'asked'>
  readonly amountEuros: Euros
  readonly source: RefundSource
}

/** A refund that is asked for. */
export type Asked = Pick<RefundRow, 'id' | 'way' | 'amountEuros' | 'reason'> &
  Partial<Pick<RefundRow, 'note' | 'dueAt' | 'attempts' | 'askDueAt' | 'workflowId'>> & {
    readonly source?: RefundSource
  }
