import { createHash } from 'node:crypto'
import type { BankFile } from '../../iso20022/camt.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { platformTenant, receiveBankFile } from '../../money/incoming/index.ts'
import { excerpt } from '../../values/schemas.ts'
import type { railsApi } from './api.ts'
import { type Judged, judge } from './match-payments.ts'
import { SepaMessage } from './message.ts'
import { SepaNotice } from './notice.ts'
import type { messageIn } from './thread.ts'

type Reading = ContextOf<typeof railsApi.read>

/** All that a bank's file tells, in one transaction; each transfer then follows in one of its own. */
export async function read(content: string, mode: Mode, context: Reading) {
  const { now, em, actFor, refuse, emit, ports } = context
  const bytes = Buffer.from(content, 'base64')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const platform = platformTenant(mode)
  actFor(platform)
  const known = await em.findOne(SepaMessage, { ...platform, sha256 })
  if (known) return known
  const told = await ports.threads.run<typeof messageIn>(
    { module: new URL('./thread.ts', import.meta.url), name: 'messageIn', owner: platform.ownerId },
    bytes,
    now.toISOString().slice(0, 10),
  )
  if ('unreadable' in told) return refuse('file_unreadable', `content: ${told.unreadable}`)
  const judged = await judge(told, mode, context.sql)
  const credits = told.statement && (await creditsOf(told.statement, mode, context))
  actFor(platform)
  const { kind, messageId } = told
  const payments = judged.map(({ tenant: _, ...shown }) => shown)
  const message = em.create(SepaMessage, {
    ...{ ...platform, sha256, kind, messageId: excerpt(messageId), payments, credits },
  })
  await em.flush()
  const taken = notify(message.id, judged, context)
  emit('sepa.message_read', {
    ...{ sepaMessageId: message.id, kind, messageId: message.messageId, payments: payments.length, taken },
  })
  return message
}

/** Of what is skipped there, what is said of payments of ours stands among these. */
async function creditsOf(bookings: BankFile, mode: Mode, context: Reading) {
  const counts = await receiveBankFile(bookings, mode, context)
  const others = bookings.skipped.filter(({ payments }) => payments.length === 0)
  return { ...counts, skipped: others.map(({ bankReference, reason }) => ({ bankReference, reason })) }
}

/** Writes down what the transfers are to be told; gives how many. */
function notify(messageId: string, judged: readonly Judged[], { em, now }: Reading): number {
  const taken = judged.filter(({ outcome }) => outcome === 'taken')
  for (const { tenant, transferId, notice, reasonCode } of taken)
    if (tenant && transferId && notice)
      em.create(SepaNotice, { ...tenant, messageId, transferId, notice, reasonCode, dueAt: now })
  return taken.length
}
