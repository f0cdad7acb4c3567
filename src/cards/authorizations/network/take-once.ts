import type { Context } from '../../../kernel/contract/context.ts'
import { CardMessage } from '../authorization.ts'
import type { IncomingMessage } from './incoming-message.ts'

/** Acts on a message and keeps it with its answer. One that comes again changes nothing and gets the same answer. */
export async function takeOnce(
  incoming: IncomingMessage,
  { records }: Pick<Context, 'records'>,
  act: () => Promise<void>,
) {
  const { message, cardId, agentId, digest } = incoming
  const stored = await records.findOne(CardMessage, { id: message.id })
  if (stored) return { status: stored.answerStatus, headers: stored.answerHeaders, body: stored.answerBody }
  await act()
  const answer = incoming.answer({ kind: 'noted' })
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
