import type { Row } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import type { AccountKind } from './account.ts'
import type { HoldMovement, Template } from './templates.ts'

/** An account with its current balance, locked until the transaction ends. */
export interface LockedAccount extends Row {
  readonly id: string
  readonly kind: AccountKind
  readonly walletId: string | null
  posted: Euros
  held: Euros
  /** A frozen account can be neither debited nor held. */
  readonly frozen: boolean
}

/** A hold and what remains of it. */
export interface OpenHold extends Row {
  readonly id: string
  readonly accountId: string
  readonly referenceType: string
  readonly referenceId: string
  remaining: Euros
}

export interface TransferRow {
  readonly id: string
  readonly currency: 'EUR'
  readonly kind: Template | HoldMovement
  readonly referenceType: string
  readonly referenceId: string
  readonly valueDate: string | null
}

export interface EntryRow {
  readonly transferId: string
  readonly accountId: string
  readonly amount: Euros
  readonly holdId: string | null
  readonly hold: Euros
}
