import { findAgent } from '../../control/agents/index.ts'
import { payeeMatcher } from '../../control/merchants/index.ts'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import {
  type ContextOf,
  externalCall,
  type InputOf,
  type RefusalSpec,
} from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import { addMs } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { formatMoney } from '../../values/money.ts'
import {
  type AccessSubject,
  denyCardAccess,
  disclosureCall,
  disclosureRequest,
  grantCardAccess,
  loadAccessSubject,
  recordDisclosureOutcome,
  recordLostDisclosure,
} from '../access-events/index.ts'
import { findRecipientKey } from '../filler-keys/index.ts'
import { AgentCredential, agentCredentialEvent, agentCredentialMachine } from './agent-credential.ts'
import { agentCredentialsApi } from './api.ts'

type Context = ContextOf<typeof agentCredentialsApi.create>
type Body = InputOf<typeof agentCredentialsApi.create>['body']

const fails: Readonly<Record<string, RefusalSpec | undefined>> = agentCredentialsApi.create.fails ?? {}

function blockersOf(body: Body, { card, intent }: AccessSubject, context: Context): string[] {
  const { actor, systems, tenant } = context
  const agentId = body.agentId ?? actor.agentId
  const hasCap = Boolean(actor.delegationId || actor.budgetId)
  const isInScope = !intent || payeeMatcher(body.merchantScope)(intent.merchant) !== undefined
  const blockers = {
    card_other_agent: card !== null && card.agentId !== agentId,
    intent_required: hasCap && body.intentId === undefined,
    above_intent: intent !== null && body.amountLimitCents > intent.amountCents,
    merchant_mismatch: !isInScope,
    network_tokens_missing: card?.status === 'active' && !systems.cardProcessor(tenant.mode).networkToken,
  }
  return Object.entries(blockers).flatMap(([code, isSo]) => (isSo ? [code] : []))
}

async function fail(id: string, { em, emit }: Context): Promise<void> {
  const credential = await em.findOne(AgentCredential, { id }, FOR_UPDATE)
  if (!credential || !agentCredentialMachine.move(credential, 'failed')) return
  emit('agent_credential.failed', agentCredentialEvent(credential))
}

const newTokenInWords = ({
  cardId,
  merchantScope,
  amountLimitCents,
  ttlSeconds,
  maxCharges,
}: Body): StatedWidening => ({
  of: 'card',
  id: cardId,
  name: null,
  field: 'New network token',
  from: 'none',
  to: [
    `${formatMoney(amountLimitCents)} in all`,
    ...(maxCharges === null ? [] : [`at most ${maxCharges} payments`]),
    `only for ${merchantScope.map(quoted).join(', ')}`,
    `for ${ttlSeconds} seconds`,
  ].join(', '),
})

/** The token is recorded with its limits before the processor is asked for it. */
export const issueAgentCredential = externalCall(agentCredentialsApi.create, {
  async reserve({ body }, context) {
    const { actor, now, em, emit, refuse, tenant, systems } = context
    const { cardId, intentId = null, ttlSeconds, publicKeyJwk } = body
    if (!actor.agentId && body.agentId === undefined) return refuse('agent_required')
    if (body.agentId !== undefined && !(await findAgent(em, body.agentId))) return refuse('agent_not_found')
    const [subject, key] = await Promise.all([
      loadAccessSubject({ cardId, intentId }, context),
      findRecipientKey(body, context),
    ])
    const isKey = typeof key !== 'string'
    const codes = [...blockersOf(body, subject, context), ...(isKey ? [] : [key])]
    const id = newId('agentcredential')
    const keyThumbprint = (isKey ? key : publicKeyJwk)?.thumbprint ?? null
    const accessRequest = {
      way: 'agent_credential',
      sourceId: id,
      purpose: null,
      merchantHost: null,
      keyThumbprint,
    } as const
    const reasons = codes.map(code => ({ code, message: fails[code]?.[1] ?? code }))
    const denial = denyCardAccess(subject, accessRequest, { after: reasons }, context)
    if (denial) return denial
    const unsigned = await refuseUnsignedWidening(
      body.webauthnAssertion,
      // With an intent, the token pays only what a person or the policy has approved.
      () => (intentId === null ? [newTokenInWords(body)] : []),
      context,
    )
    if (unsigned) return unsigned
    const { card, number, intent } = subject
    if (!isKey || !card || !number) throw new Error('granted without a key or a card')
    const granted = grantCardAccess(subject, accessRequest, context)
    const expiresAt = addMs(now, ttlSeconds * 1_000)
    const credential = em.create(AgentCredential, {
      id,
      agentId: card.agentId,
      delegationId: actor.delegationId ?? intent?.delegationId ?? null,
      intentId,
      cardId,
      merchantScope: body.merchantScope,
      amountLimitCents: body.amountLimitCents,
      maxCharges: body.maxCharges,
      expiresAt,
      processor: systems.cardProcessor(tenant.mode).name,
      accessEventId: granted.id,
      keyThumbprint: key.thumbprint,
    })
    emit('agent_credential.created', agentCredentialEvent(credential))
    const request = disclosureRequest(granted, number, key, now)
    return { ...request, credentialId: id, expiresAt: expiresAt.toISOString() }
  },

  call(request, { systems, requestId }) {
    const { networkToken } = systems.cardProcessor(request.mode)
    if (!networkToken) throw new Error('a processor without network tokens')
    const token = { processorCardId: request.processorCardId, expiresAt: new Date(request.expiresAt) }
    return networkToken(token, request, {
      ...disclosureCall(request, requestId),
      reference: request.credentialId,
    })
  },

  async record(answer, { credentialId, accessEventId }, context) {
    const { em, emit } = context
    const given = await recordDisclosureOutcome(answer, accessEventId, context)
    if (given instanceof Refusal) {
      await fail(credentialId, context)
      return given
    }
    const credential = await em.findOne(AgentCredential, { id: credentialId }, FOR_UPDATE)
    if (!credential) throw new Error('a network token without its record')
    const { tokenId, last4 } = given
    Object.assign(credential, { tokenId, last4 })
    // It may have been revoked or have expired during the call.
    if (!agentCredentialMachine.move(credential, 'active')) {
      credential.processorProblem = 'The processor issued the token after its end. Revoke it again.'
      return withMembers(credential, { jwe: null })
    }
    emit('agent_credential.issued', agentCredentialEvent(credential))
    return withMembers(credential, { jwe: given.jwe })
  },

  async recover({ credentialId, accessEventId }, context) {
    await fail(credentialId, context)
    return recordLostDisclosure(accessEventId, context)
  },
})
