import { defineEntity, p } from '@mikro-orm/core'
import type { z } from 'zod'
import { messageKinds } from '../../iso20022/bank-message.ts'
import { timestamps } from '../../kernel/database/entity.ts'
import { newId } from '../../values/ids.ts'
import type { railsApi } from './api.ts'

type Response = z.output<(typeof railsApi.read)['returns'][1]>

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
    payments: p.json<Response['payments']>(),
    credits: p.json<Response['credits'] | null>().strictNullable(),
  },
})

export class SepaMessage extends schema.class {}
schema.setClass(SepaMessage)
