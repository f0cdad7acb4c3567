import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Records } from '../../kernel/contract/records.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { insertInto } from '../../kernel/database/bulk-sql.ts'
import { tableOf } from '../../kernel/database/hot-table.ts'
import { creditMachine, IncomingCredit } from './incoming-credit.ts'

const insertCredits = insertInto(tableOf(IncomingCredit))

const UNSET = {
  reason: null,
  walletId: null,
  toOwnerId: null,
  recipientName: null,
  dueAt: null,
  returnedAt: null,
  returnReference: null,
  payableType: null,
  payableId: null,
  fromOwnerId: null,
  fromWalletId: null,
  refundedEuros: 0n,
}

/** Makes credits as plain rows, which a group commit inserts at once. */
export class CreditRows implements Pick<Records, 'create'> {
  readonly #made: IncomingCredit[] = []
  readonly #now: Date

  constructor({ now }: Pick<TenantNow, 'now'>) {
    this.#now = now
  }

  readonly create: Records['create'] = (entity, members) => {
    if (entity !== (IncomingCredit as object)) throw new Error('these are rows of incoming credits')
    const status = creditMachine.initial
    const row = { ...UNSET, status, createdAt: this.#now, updatedAt: this.#now, ...members }
    this.#made.push(row as unknown as IncomingCredit)
    return row as never
  }

  insert(sql: Sql): Promise<void> {
    return insertCredits(sql, this.#made)
  }
}
