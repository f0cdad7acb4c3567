import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { centsColumn, nullable, timestampColumn, timestampColumns } from '../../kernel/database/entity.ts'
import { sepaSchemes } from '../../ports/sepa-rail.ts'
import { newId } from '../../values/ids.ts'
import type { PersonalData } from '../../values/personal.ts'

/** A file collects payments until its cut-off, is written once, staged in the bank's folder, and then handed over. */
export const sepaFileMachine = stateMachine('sepa_file', {
  open: ['made', 'empty'],
  made: ['staged'],
  staged: ['handed_over'],
  handed_over: [],
  empty: [],
})

const schema = defineEntity({
  name: 'SepaFile',
  tableName: 'sepa_files',
  properties: {
    id: p
      .text()
      .primary()
      .onCreate(() => newId('sepafile')),
    ...timestampColumns(),
    ownerId: p.text(),
    mode: p.enum(['test', 'live'] as const),
    scheme: p.enum(sepaSchemes),
    closesAt: timestampColumn(),
    executeOn: p.date().$type<string>(),
    status: p.enum(sepaFileMachine.states).onCreate(() => sepaFileMachine.initial),
    messageId: p.text(),
    payments: p.integer(),
    totalCents: centsColumn('total_cents'),
    content: nullable.string(),
    sha256: nullable.string(),
    madeAt: nullable.instant(),
    handedOverAt: nullable.instant(),
    dueAt: nullable.instant(),
  },
})

export class SepaFile extends schema.class {
  get fileName(): string {
    return `${this.scheme}-${this.executeOn}-${this.messageId}.xml`
  }
}
schema.setClass(SepaFile)

export const filesPersonalData = {
  sepa_files: {
    personal: {
      content: { kind: 'payment', ground: 'vouchers', forget: 'word' },
    },
    plain: ['scheme', 'message_id', 'sha256'],
    owner: null,
  },
} as const satisfies PersonalData
