import { defineEntity, p } from '@mikro-orm/core'
import type { z } from 'zod'
import { bankMessageKinds } from '../../iso20022/bank-message.ts'
import { isKnownPaymentStatus } from '../../iso20022/pain002.ts'
import { paymentNoticeKinds, type ReportedPayeeCheck } from '../../iso20022/payment-notice.ts'
import { isKnownReasonCode } from '../../iso20022/reason-codes.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import {
  FOR_UPDATE,
  nullable,
  recordColumns,
  tenantTable,
  timestampColumns,
  withMembers,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { newId } from '../../values/ids.ts'
import { cents } from '../../values/money.ts'
import { isAboutSql } from '../../values/personal.ts'
import { applyBankNotice, type sepaTransferEvents } from '../transfers/index.ts'
import type { railsApi } from './api.ts'

type Response = z.output<(typeof railsApi.read)['returns'][1]>
type ReportedPayment = Response['payments'][number]

export type StoredPaymentReport = Omit<ReportedPayment, 'note' | 'status' | 'amountCents'> & {
  readonly status?: string | null
  readonly cents?: string | null
  readonly isInstant?: boolean
}

/**
 * Files are read side by side. An assignment waits for them, and they wait for it, since a report that either
 * overlooks would never be applied.
 */
export const WHILE_NO_DEBIT_IS_ASSIGNED = `select pg_advisory_xact_lock_shared(hashtextextended('bank_debits', 0))`
export const WHILE_NO_FILE_IS_READ = `select pg_advisory_xact_lock(hashtextextended('bank_debits', 0))`

/** A file of the bank and what it changed. It belongs to the platform, not to an owner. */
const message = defineEntity({
  name: 'SepaMessage',
  tableName: 'sepa_messages',
  ...personalTable({ owner: null }),
  properties: {
    id: p
      .text()
      .primary()
      .onCreate(() => newId('sepamessage')),
    ...timestampColumns(),
    ownerId: p.text(),
    mode: p.enum(['test', 'live'] as const),
    sha256: plain(p.text()),
    kind: plain(p.enum(bankMessageKinds)),
    messageId: plain(p.text()),
    payments: personal(p.json<StoredPaymentReport[]>(), 'payment', 'vouchers', 'empty'),
    credits: personal(p.json<Response['credits'] | null>().strictNullable(), 'payment', 'vouchers', 'null'),
  },
})

export class SepaMessage extends message.class {}
message.setClass(SepaMessage)

export const sepaMessageResponse = (message: SepaMessage) =>
  withMembers(message, {
    payments: message.payments.map(({ cents: amount, ...payment }) => ({
      ...payment,
      status: payment.status ?? null,
      amountCents: amount ? cents(amount) : null,
      note: noteOf(payment),
    })),
  })

function noteOf({ status, reasonCode }: StoredPaymentReport): string | null {
  if (status && !isKnownPaymentStatus(status))
    return `The bank reports ${status}, an unknown status. Nothing changes; ask the bank what it means.`
  if (reasonCode && !isKnownReasonCode(reasonCode))
    return `The bank gives the reason ${reasonCode}, which is unknown here. Ask the bank what it means.`
  return null
}

export const sepaNoticeMachine = stateMachine('sepa_notice', { waiting: ['told'], told: [] })

const notice = defineEntity({
  ...tenantTable('SepaNotice', 'sepa_notices'),
  ...personalTable({
    about: {
      beneficiary: [
        '(select f.beneficiary_id from transfers f where (f.owner_id, f.mode, f.id) = (t.owner_id, t.mode, t.transfer_id))',
      ],
    },
    keptWhile: {
      where: `not ${isAboutSql(
        'transfers',
        't.transfer_id',
        row => `${row}.status = 'cancelled' and ${row}.submitted_at is null`,
      )}`,
      words: 'its transfer was not cancelled before its submission',
    },
  }),
  properties: {
    ...recordColumns('sepanotice'),
    messageId: plain(p.text()),
    /** The file that a pain.002 reports on. Its run takes the notice. */
    fileId: plain(nullable.string()),
    transferId: p.text(),
    notice: plain(p.enum(paymentNoticeKinds)),
    reasonCode: plain(nullable.string()),
    payeeCheck: personal(nullable.json<ReportedPayeeCheck>(), 'name', 'vouchers', 'null'),
    status: p.enum(sepaNoticeMachine.states).onCreate(() => sepaNoticeMachine.initial),
    dueAt: nullable.instant(),
  },
})

export class SepaNotice extends notice.class {}
notice.setClass(SepaNotice)

export async function applyNotice(id: string, tx: WriteContext<typeof sepaTransferEvents>): Promise<void> {
  const found = await tx.em.findOne(SepaNotice, { id }, FOR_UPDATE)
  if (!found || !sepaNoticeMachine.move(found, 'told')) return
  found.dueAt = null
  await applyBankNotice(found.transferId, found, tx)
}
