import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { maybe, stamps, timestamp } from '../../kernel/database/entity.ts'
import { schemes } from '../../ports/sepa-rail.ts'
import { newId } from '../../values/ids.ts'

/** It takes payments until its cut-off, is made once, is laid down, and then the bank may have it. */
export const fileMachine = machine('sepa_file', {
  open: ['made', 'empty'],
  made: ['staged'],
  staged: ['handed_over'],
  handed_over: [],
  empty: [],
})

/** A file of payments for the bank. It holds those of many owners, and belongs to the platform. */
const schema = defineEntity({
  name: 'SepaFile',
  tableName: 'sepa_files',
  properties: {
    id: p
      .text()
      .primary()
      .onCreate(() => newId('sepafile')),
    ...stamps(),
    ownerId: p.text(),
    mode: p.enum(['test', 'live'] as const),
    scheme: p.enum(schemes),
    closesAt: timestamp(),
    executeOn: p.date().$type<string>(),
    status: p.enum(fileMachine.states).onCreate(() => fileMachine.initial),
    messageId: p.text(),
    payments: p.integer(),
    totalEuros: p.bigint().name('total_cents'),
    content: maybe.string(),
    sha256: maybe.string(),
    madeAt: maybe.instant(),
    handedOverAt: maybe.instant(),
    /** When something is done with it. */
    dueAt: maybe.instant(),
  },
})

export class SepaFile extends schema.class {
  /** Under this the bank finds it. */
  get fileName(): string {
    return `${this.scheme}-${this.executeOn}-${this.messageId}.xml`
  }
}
schema.setClass(SepaFile)
