import { createHash } from 'node:crypto'
import type { BankMessage } from '../../iso20022/bank-message.ts'
import type { BankFile } from '../../iso20022/camt.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { platformTenant, recordBankFile } from '../../money/incoming/index.ts'
import { excerpt } from '../../values/schemas.ts'
import type { railsApi } from './api.ts'
import { type MatchedPayment, matchPayments } from './match-payments.ts'
import { messageResponse, SepaMessage } from './message.ts'
import { SepaNotice } from './notice.ts'
import type { messageIn } from './thread.ts'

type ReadContext = ContextOf<typeof railsApi.read>

/** Stores what a bank's file reports, in one transaction; each transfer then follows in a transaction of its own. */
export const read: HandlerOf<typeof railsApi.read> = async ({ body: { content, mode } }, context) => {
  const { now, records, actFor, refuse, ports } = context
  const bytes = Buffer.from(content, 'base64')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const platform = platformTenant(mode)
  actFor(platform)
  const earlier = await records.findOne(SepaMessage, { ...platform, sha256 })
  if (earlier) return messageResponse(earlier)
  const bankMessage = await ports.threads.run<typeof messageIn>(
    { module: new URL('./thread.ts', import.meta.url), name: 'messageIn', owner: platform.ownerId },
    bytes,
    now.toISOString().slice(0, 10),
  )
  if ('unreadable' in bankMessage) return refuse('file_unreadable', `content: ${bankMessage.unreadable}`)
  return messageResponse(await recordMessage(bankMessage, sha256, mode, context))
}

async function recordMessage(
  bankMessage: BankMessage,
  sha256: string,
  mode: Mode,
  context: ReadContext,
): Promise<SepaMessage> {
  const { records, actFor, emit } = context
  const platform = platformTenant(mode)
  const { kind, statement } = bankMessage
  const matched = await matchPayments(bankMessage, mode, context.sql)
  const booked = statement && (await recordCredits(statement, mode, context))
  actFor(platform)
  const payments = matched.map(({ tenant: _, payeeCheck: __, ...payment }) => payment)
  const messageId = excerpt(bankMessage.messageId)
  const message = records.create(SepaMessage, {
    ...platform,
    sha256,
    kind,
    messageId,
    payments,
    credits: booked ?? null,
  })
  await records.flush()
  const taken = createNotices(message.id, matched, context)
  emit('sepa.message_read', {
    sepaMessageId: message.id,
    kind,
    messageId: message.messageId,
    payments: payments.length,
    taken,
    unknown: matched.filter(({ outcome }) => outcome === 'unknown_status').length,
  })
  return message
}

/** Records the credits. A skipped entry that reports payments of ours is answered among the payments, not as skipped. */
async function recordCredits(statement: BankFile, mode: Mode, context: ReadContext) {
  const counts = await recordBankFile(statement, mode, context)
  const others = statement.skipped.filter(({ payments }) => payments.length === 0)
  const skipped = others.map(({ bankReference, reason }) => ({ bankReference, reason }))
  return { ...counts, skipped }
}

/** Stores a notice for each transfer that changes; gives their number. */
function createNotices(
  messageId: string,
  matched: readonly MatchedPayment[],
  { records, now }: ReadContext,
): number {
  const taken = matched.filter(({ outcome }) => outcome === 'taken')
  for (const { tenant, transferId, notice, reasonCode, payeeCheck } of taken)
    if (tenant && transferId && notice)
      records.create(SepaNotice, {
        ...tenant,
        messageId,
        transferId,
        notice,
        reasonCode,
        payeeCheck,
        dueAt: now,
      })
  return taken.length
}
