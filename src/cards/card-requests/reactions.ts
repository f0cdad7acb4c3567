import { AgentEvent } from '../../control/agents/index.ts'
import { reaction } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { CardEvent } from '../cards/index.ts'
import { moveRequest } from './answer.ts'
import { CardRequest } from './card-request.ts'
import { fail } from './carry-out.ts'
import { requestEvents } from './schemas.ts'

const REFUSED = 'The processor refused to issue the card.'
const CLOSED = 'The card was closed before it was issued.'

/** Locks the request that a card is issued for. A card that the owner has made has none, and costs nothing here. */
const lockRequestOf = async (
  { requestId }: { readonly requestId?: string | undefined },
  { records }: Pick<Context, 'records'>,
): Promise<CardRequest | null> => (requestId ? records.lock(CardRequest, requestId) : null)

export const requestReactions = {
  'card.issued': reaction(CardEvent, requestEvents, async (card, context) => {
    const request = await lockRequestOf(card, context)
    if (request) moveRequest(request, 'issued', context)
  }),
  'card.closed': reaction(CardEvent, requestEvents, async (card, context) => {
    const request = await lockRequestOf(card, context)
    if (request) fail(request, card.reason === 'processor_refused' ? REFUSED : CLOSED, context)
  }),
  /** What waits for an answer ends with the agent; what was approved fails, as its card is closed or not issued. */
  'agent.deleting': reaction(AgentEvent, requestEvents, async ({ agentId }, context) => {
    const pending = await context.records.find(
      CardRequest,
      { agentId, status: 'pending' },
      { orderBy: { id: 'asc' }, lock: true },
    )
    for (const request of pending) {
      request.comment = 'The agent is being deleted.'
      moveRequest(request, 'cancelled', context, request.comment)
    }
  }),
}
