import { LockMode } from '@mikro-orm/core'
import { area } from '../../kernel/contract/area.ts'
import type { Context, WriteContext } from '../../kernel/contract/context.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { hashAndHint, isCredentialValid, newSecret } from '../../kernel/database/credential.ts'
import { definedOnly, withMembers } from '../../kernel/database/entity.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import { merchantApplicationsApi } from './api.ts'
import {
  authenticateMerchant,
  livePlatformTenant,
  MerchantApplication,
  MerchantKey,
  merchantApplicationMachine,
  merchantApplicationsPersonalData,
} from './application.ts'
import { merchantApplicationEvent } from './schemas.ts'

const shown = (application: MerchantApplication) =>
  withMembers(application, { thumbprint: application.thumbprint() })

function issueKey(merchantId: string, { em }: WriteContext): string {
  const secret = newSecret('mer_')
  em.create(MerchantKey, { merchantId, ...hashAndHint(secret) })
  return secret
}

function lockApplication(id: string, { em, switchTenant }: Context) {
  switchTenant(livePlatformTenant)
  return em.findOne(MerchantApplication, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })
}

const callingKey = ({ em, actor }: WriteContext) => em.findOne(MerchantKey, { id: String(actor.id) })

/** Locks the calling merchant. While this waited, another request may have revoked the key. */
async function lockCallingMerchant(context: WriteContext): Promise<MerchantApplication | null> {
  const { em } = context
  const known = await callingKey(context)
  const merchant =
    known &&
    (await em.findOne(
      MerchantApplication,
      { id: known.merchantId },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    ))
  const key =
    known && (await em.findOne(MerchantKey, { id: known.id }, { lockMode: LockMode.PESSIMISTIC_WRITE }))
  if (!key || !isCredentialValid(key)) throw new Problem('unauthenticated')
  return merchant?.status === 'approved' ? merchant : null
}

const merchantApplications = bindHandlers(merchantApplicationsApi, {
  create({ body }, { em, switchTenant, emit }) {
    switchTenant(livePlatformTenant)
    const application = em.create(MerchantApplication, body)
    emit('merchant_application.submitted', merchantApplicationEvent(application))
    return shown(application)
  },

  async list({ query: { status, from, to } }, context) {
    context.switchTenant(livePlatformTenant)
    const created = await createdWithinCondition('merchant', { from, to }, context)
    const page = await context.page(MerchantApplication, definedOnly({ status, ...created }))
    return { ...page, data: page.data.map(shown) }
  },

  async get({ params }, { em, switchTenant, refuse }) {
    switchTenant(livePlatformTenant)
    const application = await em.findOne(MerchantApplication, { id: params.id })
    return application ? shown(application) : refuse('application_not_found')
  },

  async approve({ params }, context) {
    const { now, emit, refuse } = context
    const application = await lockApplication(params.id, context)
    if (!application) return refuse('application_not_found')
    if (!merchantApplicationMachine.move(application, 'approved')) return refuse('application_decided')
    application.decidedAt = now
    const key = issueKey(application.id, context)
    emit('merchant_application.approved', merchantApplicationEvent(application))
    return withMembers(application, { thumbprint: application.thumbprint(), key })
  },

  async reject({ params, body: { reason } }, context) {
    const { now, emit, refuse } = context
    const application = await lockApplication(params.id, context)
    if (!application) return refuse('application_not_found')
    if (!merchantApplicationMachine.move(application, 'rejected')) return refuse('application_decided')
    Object.assign(application, { reason, decidedAt: now })
    emit('merchant_application.rejected', merchantApplicationEvent(application))
    return shown(application)
  },

  async revoke({ params, body: { reason } }, context) {
    const { em, now, emit, refuse } = context
    const application = await lockApplication(params.id, context)
    if (!application) return refuse('application_not_found')
    if (!merchantApplicationMachine.move(application, 'revoked')) return refuse('application_not_approved')
    Object.assign(application, { reason, revokedAt: now })
    for (const key of await em.find(MerchantKey, { merchantId: application.id, revokedAt: null }))
      key.revokedAt = clock.real()
    emit('merchant_application.revoked', merchantApplicationEvent(application))
    return shown(application)
  },

  async me(_, context) {
    const id = (await callingKey(context))?.merchantId
    const merchant = id && (await context.em.findOne(MerchantApplication, { id, status: 'approved' }))
    return merchant ? shown(merchant) : context.refuse('application_not_found')
  },

  async updateMe({ body: { name, publicKeyJwk } }, context) {
    const merchant = await lockCallingMerchant(context)
    if (!merchant) return context.refuse('application_not_found')
    const changed: ('name' | 'publicKeyJwk')[] = []
    if (name !== undefined) {
      merchant.name = name
      changed.push('name')
    }
    if (publicKeyJwk !== undefined) {
      merchant.publicKeyJwk = publicKeyJwk === null ? null : publicKeyJwk.jwk
      changed.push('publicKeyJwk')
    }
    context.emit('merchant.updated', { ...merchantApplicationEvent(merchant), changed })
    return shown(merchant)
  },

  async rotateKey({ body: { overlapMinutes } }, context) {
    const { em, actor, emit, refuse } = context
    const merchant = await lockCallingMerchant(context)
    if (!merchant) return refuse('application_not_found')
    const replacedEndsAt = addMs(clock.real(), minutes(overlapMinutes))
    for (const old of await em.find(MerchantKey, { merchantId: merchant.id, revokedAt: null })) {
      if (old.id !== actor.id) old.revokedAt = clock.real()
      else if (!old.expiresAt || old.expiresAt > replacedEndsAt) old.expiresAt = replacedEndsAt
    }
    const key = issueKey(merchant.id, context)
    emit('merchant.updated', { ...merchantApplicationEvent(merchant), changed: ['key'] })
    return { merchantId: merchant.id, key, hint: key.slice(-4), replacedEndsAt }
  },
})

export const merchantApplicationsArea = area(
  'Merchant Applications',
  'Merchants: applications, API keys, and public keys for encrypted data.',
  merchantApplications,
  {
    entities: [MerchantApplication, MerchantKey],
    personal: merchantApplicationsPersonalData,
    machines: [merchantApplicationMachine],
    credentials: { mer: authenticateMerchant },
    endsCredentials: ['merchant_application.revoked', 'merchant.updated'],
  },
)
