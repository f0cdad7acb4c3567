import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, type ContextOf, externalCall } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { definedOnly, FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import { addMs } from '../../values/clock.ts'
import {
  cardIdForIntent,
  denyCardAccess,
  discloseCardData,
  loadCardDataSubject,
  recordDisclosureOutcome,
  recordLostDisclosure,
  redeemCardAccess,
} from '../access-events/index.ts'
import { credentialsApi, unusableCredentialRefusals } from './api.ts'
import {
  Credential,
  credentialEvent,
  credentialMachine,
  OPEN_CREDENTIAL_SQL,
  unusableCredentialReason,
} from './credential.ts'

type Context = ContextOf<typeof credentialsApi.redeem>

async function reopen(id: string, { em, emit }: Context): Promise<void> {
  const credential = await em.findOne(Credential, { id }, FOR_UPDATE)
  if (!credential || !credentialMachine.move(credential, 'issued')) return
  Object.assign(credential, { redeemedAt: null, accessEventId: null, keyThumbprint: null })
  emit('credential.reopened', credentialEvent(credential))
}

/** Uses up the credential before it calls the processor, so of two concurrent redemptions only one succeeds. */
const redeem = externalCall(credentialsApi.redeem, {
  async reserve({ params: { id }, body: recipient }, context) {
    const { em, now, emit, refuse } = context
    const credential = await em.findOne(Credential, { id }, FOR_UPDATE)
    if (!credential) return refuse('credential_not_found')
    const code = unusableCredentialReason(credential, now)
    const unusable = code && { code, message: unusableCredentialRefusals[code][1] }
    const { cardId, intentId } = credential
    const redeemable = { id, way: 'credential', cardId, intentId, merchantHost: null, unusable } as const
    const request = await redeemCardAccess(redeemable, recipient, context)
    if (request instanceof Refusal) return request
    const { accessEventId, key } = request
    credentialMachine.move(credential, 'redeemed')
    Object.assign(credential, { redeemedAt: now, accessEventId, keyThumbprint: key.thumbprint })
    emit('credential.redeemed', credentialEvent(credential))
    return { ...request, credentialId: id }
  },

  call: (request, outside) => discloseCardData(request, outside),

  async record(answer, { credentialId, accessEventId }, context) {
    const given = await recordDisclosureOutcome(answer, accessEventId, context)
    if (given instanceof Refusal) {
      await reopen(credentialId, context)
      return given
    }
    const credential = await context.em.findOneOrFail(Credential, { id: credentialId })
    return withMembers(credential, { jwe: given.jwe })
  },

  async recover({ credentialId, accessEventId }, context) {
    await reopen(credentialId, context)
    return recordLostDisclosure(accessEventId, context)
  },
})

const credentials = bindHandlers(credentialsApi, {
  redeem,

  async create({ body: { intentId, cardId, ttlSeconds } }, context) {
    const { em, actor, now, emit } = context
    const subject = await loadCardDataSubject(
      { cardId: await cardIdForIntent({ cardId, intentId }, context), intentId },
      context,
    )
    const { card, intent } = subject
    const ask = {
      way: 'credential',
      sourceId: null,
      purpose: null,
      merchantHost: null,
      keyThumbprint: null,
    } as const
    const denial = denyCardAccess(subject, ask, {}, context)
    if (denial) return denial
    if (!card || !intent) throw new Error('granted without a card or an intent')
    const credential = em.create(Credential, {
      agentId: card.agentId,
      delegationId: actor.delegationId ?? intent.delegationId,
      intentId,
      cardId: card.id,
      expiresAt: addMs(now, ttlSeconds * 1_000),
    })
    emit('credential.issued', credentialEvent(credential))
    return credential
  },

  async revoke({ params }, { em, now, emit, refuse }) {
    const credential = await em.findOne(Credential, { id: params.id }, FOR_UPDATE)
    if (!credential) return refuse('credential_not_found')
    if (credential.expiresAt <= now || !credentialMachine.move(credential, 'revoked'))
      return refuse('credential_over')
    credential.revokedAt = now
    emit('credential.revoked', credentialEvent(credential))
    return credential
  },

  list: ({ query: { status, agentId, intentId, cardId } }, { page }) =>
    page(Credential, definedOnly({ status, agentId, intentId, cardId })),

  get: getRecord(Credential, 'credential_not_found'),

  async expire({ params }, { em, now, emit, refuse }) {
    const credential = await em.findOne(Credential, { id: params.id }, FOR_UPDATE)
    if (!credential) return refuse('credential_not_found')
    if (credential.expiresAt > now || !credentialMachine.move(credential, 'expired'))
      return { expired: false }
    emit('credential.expired', credentialEvent(credential))
    return { expired: true }
  },
})

const expiry: Deadline = {
  process: { name: 'credential' },
  table: 'credentials',
  record: 'id',
  agent: 'agent_id',
  due: 'expires_at',
  open: OPEN_CREDENTIAL_SQL,
  waits: 'false',
  operations: ['credentials.expire'],
}

export const credentialsArea = area(
  'Credentials',
  'Single-use rights to have card data encrypted to a key.',
  credentials,
  {
    entities: [Credential],
    machines: [credentialMachine],
    deadlines: [expiry],
  },
)
