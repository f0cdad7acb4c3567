import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import type { CardNotice } from '../../../ports/card-processor.ts'
import { applyCardNotice } from '../../cards/index.ts'
import { CardMessage } from '../authorization.ts'
import type { messagesApi } from '../messages-api.ts'

/** Takes news about a card itself. A message that comes again changes nothing and gets the same answer. */
export const notice: HandlerOf<typeof messagesApi.notice> = async ({ body }, context) => {
  const { records } = context
  const { message, cardId, agentId, numberId, digest } = body
  const stored = await records.findOne(CardMessage, { id: message.id })
  if (stored) return { status: stored.answerStatus, headers: stored.answerHeaders, body: stored.answerBody }
  await applyCardNotice({ id: numberId, cardId }, message.content as CardNotice, context)
  const answer = body.answer({ kind: 'noted' })
  const headers = { ...answer.headers }
  records.create(CardMessage, {
    id: message.id,
    agentId,
    cardId,
    kind: message.content.kind,
    digest,
    answerStatus: answer.status,
    answerHeaders: headers,
    answerBody: answer.body,
  })
  return { status: answer.status, headers, body: answer.body }
}
