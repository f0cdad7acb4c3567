import { openChallenge } from '../../../identity/passkeys/index.ts'
import { findPerson } from '../../../identity/people/index.ts'
import type { Actor } from '../../../kernel/contract/actor.ts'
import { implement } from '../../../kernel/contract/operation.ts'
import type { Openings } from '../../../statements/index.ts'
import { findSpenders } from '../../policies/index.ts'
import { Intent } from '../intent.ts'
import { alreadyMessage } from '../settle.ts'
import { Approval, ApprovalOpenings } from './approval.ts'
import { approvalApi } from './approval-api.ts'
import { currentIbans, subjectOf } from './statement.ts'

export const approvals = implement(approvalApi, {
  async challenge({ params, body }, context) {
    const { records, sql, tenant, actor, now, refuse } = context
    const intent = await records.findOne(Intent, { id: params.intentId })
    if (!intent) return refuse('intent_not_found')
    if (intent.status !== 'created') return refuse('intent_not_waiting', alreadyMessage(intent.status))
    if (intent.expiresAt <= now) return refuse('intent_expired')
    const inConsole = actor.type === 'console'
    if (inConsole && body.personId !== null && body.personId !== actor.id) return refuse('person_mismatch')
    const personId = inConsole ? actor.id : body.personId
    if (body.personId !== null && !(await findPerson(body.personId, context)))
      return refuse('person_not_found')
    const [spenders, ibanOf] = await Promise.all([
      findSpenders(sql, tenant, [intent.agentId]),
      currentIbans(sql, tenant, [intent]),
    ])
    const spender = spenders.get(intent.agentId)
    if (!spender) throw new Error(`${intent.id} has no agent`)
    const members = subjectOf(intent, { spender, iban: ibanOf(intent), personId })
    return openChallenge({ kind: 'intent', subjectId: intent.id, members, personId }, context)
  },

  async approval({ params }, { records, actor, refuse }) {
    const intent = await records.findOne(Intent, { id: params.id })
    if (!intent) return refuse('intent_not_found')
    const approval = await records.findOne(Approval, { intentId: intent.id })
    if (!approval) return refuse('approval_not_found')
    const kept = await records.findOne(ApprovalOpenings, { id: approval.id })
    const { id, intentId, createdAt: approvedAt, jws, keptUntil } = approval
    return { id, intentId, approvedAt, jws, openings: visibleTo(actor, kept?.openings ?? {}), keptUntil }
  },
})

/** The places whose openings an agent sees: whom it pays it knows; accounts and people are its owner’s. */
const SEEN_BY_AGENTS = ['payee.name']

const visibleTo = ({ agentId }: Actor, openings: Openings): Openings =>
  agentId
    ? Object.fromEntries(Object.entries(openings).filter(([place]) => SEEN_BY_AGENTS.includes(place)))
    : openings
