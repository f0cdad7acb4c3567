import { defineEntity, p } from '@mikro-orm/core'
import { noticeKinds, type ReportedPayeeCheck } from '../../iso20022/payment-notice.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

export const noticeMachine = machine('sepa_notice', { waiting: ['told'], told: [] })

/** What a bank's message reports of one transfer; waits until it is applied to the transfer. */
const schema = defineEntity({
  ...tenantTable('SepaNotice', 'sepa_notices'),
  properties: {
    ...record('sepanotice'),
    messageId: p.text(),
    transferId: p.text(),
    notice: p.enum(noticeKinds),
    reasonCode: nullable.string(),
    /** Of `payee_checked`; null once the payee was forgotten. */
    payeeCheck: p
      .json<ReportedPayeeCheck | null>()
      .strictNullable()
      .onCreate(() => null),
    status: p.enum(noticeMachine.states).onCreate(() => noticeMachine.initial),
    dueAt: nullable.instant(),
  },
})

export class SepaNotice extends schema.class {}
schema.setClass(SepaNotice)
