import { LONGEST_NAME, sepaText } from '../../../iso20022/sepa-charset.ts'
import type { TenantNow } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { workflowIdOf } from '../../../kernel/contract/process.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import type { Book } from '../../../money/ledger/index.ts'
import type { WalletRow } from '../../../money/wallets/index.ts'
import { after, dayOf } from '../../../values/clock.ts'
import { newId } from '../../../values/ids.ts'
import type { Euros } from '../../../values/money.ts'
import { transferEvent } from '../events.ts'
import { addToDay, limitExceeded, limitsOf, lockDay } from '../limits/limits.ts'
import { transferProcess } from '../process.ts'
import type { transferEvents } from '../schemas.ts'
import { transferMachine } from '../transfer.ts'
import { insertTransfers, type TransferRow } from '../transfer-rows.ts'
import { PROCESS_GRACE_MS } from './sepa-transfer.ts'

/** Money that goes back to the account that it came from, which need be no beneficiary of the owner's. */
export interface PayBack {
  readonly wallet: WalletRow
  readonly to: { readonly name: string; readonly iban: string }
  readonly amountEuros: Euros
  /** In SEPA's characters. */
  readonly reference: string
}

type PayBackContext = TenantNow &
  Pick<Context<never, Pick<typeof transferEvents, 'payment.updated'>>, 'emit' | 'wake'>

/** The transfers by SEPA that a transaction makes, within the limits of its day. */
export interface PayBacks {
  /** Why these amounts cannot leave today, as code and message; undefined if they can. */
  blocker(amounts: readonly Euros[]): ReturnType<typeof limitExceeded>
  /** Makes a transfer, whose money is held in the open book; its process begins with the commit. */
  pay(payBack: PayBack, book: Book, context: PayBackContext): TransferRow
  write(): Promise<void>
}

/** Locks the day's limit. The accounts are locked before. */
export async function openPayBacks(sql: Sql, { tenant, now }: TenantNow): Promise<PayBacks> {
  const day = dayOf(now)
  const [limits, used] = await Promise.all([limitsOf(sql, tenant), lockDay(sql, tenant, day)])
  if (!limits) throw new Error('a tenant without a customer')
  const transfers: TransferRow[] = []
  const added = (): Euros => transfers.reduce((sum, { amountEuros }) => sum + amountEuros, 0n)
  return {
    blocker(amounts) {
      let taken = used + added()
      for (const amount of amounts) {
        const exceeded = limitExceeded(limits, taken, amount)
        if (exceeded) return exceeded
        taken += amount
      }
      return undefined
    },
    pay(payBack, book, context) {
      const transfer = transferOf(payBack, day, context)
      book.hold(transfer.fromWalletId, transfer.amountEuros, { type: 'transfer', id: transfer.id })
      transfers.push(transfer)
      context.emit('payment.updated', transferEvent(transfer))
      context.wake(transferProcess, transfer)
      return transfer
    },
    async write() {
      if (transfers.length === 0) return
      await Promise.all([addToDay(sql, tenant, day, added()), insertTransfers(sql, transfers)])
    },
  }
}

function transferOf(
  { wallet, to, amountEuros, reference }: PayBack,
  day: string,
  { tenant, now }: TenantNow,
): TransferRow {
  const id = newId('transfer')
  return {
    ...tenant,
    id,
    createdAt: now,
    updatedAt: now,
    agentId: wallet.agentId,
    fromWalletId: wallet.id,
    toWalletId: null,
    beneficiaryId: null,
    creditId: null,
    intentId: null,
    tokenId: null,
    delegationId: null,
    kind: 'sepa',
    scheme: 'sct',
    amountEuros,
    reference,
    endToEndId: id.replace('transfer_', ''),
    payee: { name: to.name, sepaName: sepaText(to.name, LONGEST_NAME), iban: to.iban, bic: null },
    status: transferMachine.initial,
    countedOn: day,
    inquiries: 0,
    dueAt: after(now, PROCESS_GRACE_MS),
    completedAt: null,
    transactionId: null,
    workflowId: workflowIdOf(transferProcess, id),
  }
}
