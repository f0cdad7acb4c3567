import { IntentPayments } from '../../../control/intents/index.ts'
import { paymentBatch } from '../../../control/payments/index.ts'
import { MAX_SEPA_NAME_LENGTH, toSepaText } from '../../../iso20022/sepa-charset.ts'
import type { TenantNow } from '../../../kernel/contract/actor.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import type { LockedBook } from '../../../money/ledger/index.ts'
import { loadRefundBook } from '../../../money/refunds/index.ts'
import type { WalletRow } from '../../../money/wallets/index.ts'
import { type Cents, cents, sumOf } from '../../../values/money.ts'
import { lockTodaysTransferLimit, transferLimitExceeded } from '../limits.ts'
import { beginTransfer } from '../pay.ts'
import { insertTransfers, newSepaTransfer, type TransferRow } from '../transfer.ts'

/** Money returned to its source account, which need not be one of the owner's beneficiaries. */
interface PayBack {
  readonly wallet: WalletRow
  readonly to: { readonly name: string; readonly iban: string }
  readonly amountCents: Cents
  readonly reference: string
}

type PayBackContext = TenantNow & Parameters<typeof beginTransfer>[3]

export interface CreditReturns {
  blocker(amounts: readonly Cents[]): ReturnType<typeof transferLimitExceeded>
  /** Makes a transfer whose money is held in the open book. Its process begins with the commit. */
  pay(payBack: PayBack, book: LockedBook, context: PayBackContext): TransferRow
  write(): Promise<void>
}

/** Locks the day's limit. The caller has locked the accounts. */
export async function loadCreditReturns(sql: Sql, tenantNow: TenantNow): Promise<CreditReturns> {
  const payments = new IntentPayments(tenantNow)
  const [today, refunds] = await Promise.all([
    lockTodaysTransferLimit(sql, tenantNow),
    loadRefundBook(sql, tenantNow, {}),
  ])
  const transfers: TransferRow[] = []
  return {
    blocker(amounts) {
      const exceeded = amounts.map((amount, index) =>
        transferLimitExceeded(today, amount, sumOf(amounts.slice(0, index).map(cents))),
      )
      return exceeded.find(refusal => refusal !== undefined)
    },
    pay({ wallet, to, amountCents, reference }, book, context) {
      const transfer = newSepaTransfer(context, {
        ...{ agentId: wallet.agentId, fromWalletId: wallet.id, amountCents, reference, scheme: 'sct' },
        payee: {
          name: to.name,
          sepaName: toSepaText(to.name, MAX_SEPA_NAME_LENGTH),
          iban: to.iban,
          bic: null,
        },
        countedOn: today.day,
      })
      const wallets = new Map([[wallet.id, wallet]])
      beginTransfer(
        transfer,
        paymentBatch(context, { payments, book, wallets, refunds }),
        today.days,
        context,
      )
      transfers.push(transfer)
      return transfer
    },
    async write() {
      await Promise.all([today.days.write(sql), insertTransfers(sql, transfers)])
    },
  }
}
