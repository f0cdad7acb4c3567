import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { after } from '../../values/clock.ts'
import { chosenCard, denialOf, openSubject } from '../access-events/index.ts'
import { credentialsApi } from './api.ts'
import { Credential, credentialMachine, OPEN } from './credential.ts'
import { credentialEvent } from './events.ts'
import { credentialsPersonal } from './personal.ts'
import { redeem } from './redeem.ts'

const credentials = implement(credentialsApi, {
  redeem,

  async create({ body: { intentId, cardId, ttlSeconds } }, context) {
    const { records, actor, now, emit } = context
    const subject = await openSubject(
      { cardId: await chosenCard({ cardId, intentId }, context), intentId },
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
    const denial = denialOf(subject, ask, {}, context)
    if (denial) return denial
    if (!card || !intent) throw new Error('granted without a card or an intent')
    const credential = records.create(Credential, {
      agentId: card.agentId,
      delegationId: actor.delegationId ?? intent.delegationId,
      intentId,
      cardId: card.id,
      expiresAt: after(now, ttlSeconds * 1_000),
    })
    emit('credential.issued', credentialEvent(credential))
    return credential
  },

  async revoke({ params }, { records, now, emit, refuse }) {
    const credential = await records.lock(Credential, params.id)
    if (!credential) return refuse('credential_not_found')
    if (credential.expiresAt <= now || !credentialMachine.move(credential, 'revoked'))
      return refuse('credential_over')
    credential.revokedAt = now
    emit('credential.revoked', credentialEvent(credential))
    return credential
  },

  list: ({ query: { status, agentId, intentId, cardId } }, { page }) =>
    page(Credential, definedOnly({ status, agentId, intentId, cardId })),

  async get({ params }, { records, refuse }) {
    return (await records.findOne(Credential, { id: params.id })) ?? refuse('credential_not_found')
  },

  async expire({ params }, { records, now, emit, refuse }) {
    const credential = await records.lock(Credential, params.id)
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
  open: OPEN,
  waits: 'false',
  operations: ['credentials.expire'],
}

export const credentialsArea = area(
  'Credentials',
  'The right to have the data of a card encrypted to a key, once.',
  credentials,
  {
    personal: credentialsPersonal,
    entities: [Credential],
    machines: [credentialMachine],
    deadlines: [expiry],
  },
)
