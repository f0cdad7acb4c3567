import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import type { CardNotice } from '../../../ports/card-processor.ts'
import { applyCardNotice } from '../../cards/index.ts'
import type { messagesApi } from '../messages-api.ts'
import { takeOnce } from './take-once.ts'

/** Takes news about a card itself. */
export const notice: HandlerOf<typeof messagesApi.notice> = ({ body }, context) => {
  const { message, cardId, numberId } = body
  return takeOnce(body, context, () =>
    applyCardNotice({ id: numberId, cardId }, message.content as CardNotice, context),
  )
}
