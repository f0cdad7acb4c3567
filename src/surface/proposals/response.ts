import { withMembers } from '../../kernel/database/entity.ts'
import type { Proposal } from './proposal.ts'

/** A proposal as the API shows it. */
export const proposalResponse = (proposal: Proposal) =>
  withMembers(proposal, { changes: [...proposal.changes], input: { ...proposal.input } })

/** The data of its events: ids and states, and no words. */
export const proposalEvent = ({
  id,
  agentId,
  operation,
  recordId,
  resultId,
  status,
  expiresAt,
}: Proposal) => ({ proposalId: id, agentId, operation, recordId, resultId, status, expiresAt })
