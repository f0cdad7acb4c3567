import { defineEntity, p } from '@mikro-orm/core'
import type { z } from 'zod'
import { messageKinds } from '../../iso20022/bank-message.ts'
import { isKnownStatus } from '../../iso20022/pain002.ts'
import { isKnownReason } from '../../iso20022/reason-codes.ts'
import { timestamps, withMembers } from '../../kernel/database/entity.ts'
import { newId } from '../../values/ids.ts'
import type { railsApi } from './api.ts'

type Response = z.output<(typeof railsApi.read)['returns'][1]>
type ReportedPayment = Response['payments'][number]

/** A report of a payment as it is stored: one of a version before has no status. */
export type StoredPayment = Omit<ReportedPayment, 'note' | 'status'> & { readonly status?: string | null }

/** A file of the bank and what it has changed. It belongs to the platform, not to an owner. */
const schema = defineEntity({
  name: 'SepaMessage',
  tableName: 'sepa_messages',
  properties: {
    id: p
      .text()
      .primary()
      .onCreate(() => newId('sepamessage')),
    ...timestamps(),
    ownerId: p.text(),
    mode: p.enum(['test', 'live'] as const),
    sha256: p.text(),
    kind: p.enum(messageKinds),
    messageId: p.text(),
    payments: p.json<StoredPayment[]>(),
    credits: p.json<Response['credits'] | null>().strictNullable(),
  },
})

export class SepaMessage extends schema.class {}
schema.setClass(SepaMessage)

/** A file of the bank as the API answers it, with a note where the bank says what is not known. */
export const messageResponse = (message: SepaMessage) =>
  withMembers(message, {
    payments: message.payments.map(payment => ({
      ...payment,
      status: payment.status ?? null,
      note: noteOf(payment),
    })),
  })

function noteOf({ status, reasonCode }: StoredPayment): string | null {
  if (status && !isKnownStatus(status))
    return `The bank reports ${status}, a status that is not known here. Nothing changes by it: ask the bank what it means.`
  if (reasonCode && !isKnownReason(reasonCode))
    return `The bank gives the reason ${reasonCode}, which is not known here: ask the bank what it means.`
  return null
}
