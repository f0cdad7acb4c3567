import { withMembers } from '../../kernel/database/entity.ts'
import { excerpt } from '../../values/schemas.ts'
import { type CardRequest, shownCardId } from './card-request.ts'
import { approvedLimits, askedLimits } from './limits.ts'

const isApproved = ({ status }: CardRequest): boolean =>
  status === 'approved' || status === 'issued' || status === 'changed' || status === 'failed'

/** A request as the API shows it. */
export const requestResponse = (request: CardRequest) =>
  withMembers(request, {
    cardId: shownCardId(request),
    limits: askedLimits(request),
    approvedLimits: isApproved(request) ? approvedLimits(request) : null,
  })

/** The data of a request's event: the limits as they stand, and the words that came with its last change. */
export const requestEvent = (request: CardRequest, reason?: string | null) => ({
  requestId: request.id,
  agentId: request.agentId,
  cardId: shownCardId(request),
  type: request.type,
  status: request.status,
  ...(isApproved(request) ? approvedLimits(request) : askedLimits(request)),
  ...(reason ? { reason: excerpt(reason) } : {}),
})
