import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { findEvidence } from '../evidence/index.ts'
import type { disputesApi } from './api.ts'
import { MOST_EVIDENCE } from './dispute.ts'
import { lockDispute } from './lock-dispute.ts'
import { settle } from './settle.ts'

/** Evidence is kept for an intent of the agent that has paid; which of its intents, the owner knows best. */
export const addEvidence: HandlerOf<typeof disputesApi.addEvidence> = async ({ params, body }, context) => {
  const { refuse } = context
  const [locked, found] = await Promise.all([
    lockDispute(params.id, context),
    findEvidence(body.evidenceIds, context),
  ])
  if (!locked) return refuse('dispute_not_found')
  const { dispute } = locked
  if (dispute.status !== 'open')
    return refuse('dispute_not_open', `The dispute is ${dispute.status} already.`)
  const ofAgent = found.filter(({ agentId }) => agentId === dispute.agentId)
  const missing = body.evidenceIds.find(id => !ofAgent.some(piece => piece.id === id))
  if (missing) return refuse('evidence_not_found')
  const evidenceIds = [...new Set([...dispute.evidenceIds, ...body.evidenceIds])]
  if (evidenceIds.length > MOST_EVIDENCE) return refuse('too_much_evidence')
  dispute.evidenceIds = evidenceIds
  settle(locked, context, { change: 'evidence' })
  return dispute
}
