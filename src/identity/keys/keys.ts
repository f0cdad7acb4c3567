import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import { area, reaction } from '../../kernel/contract/area.ts'
import type { Context, WriteContext } from '../../kernel/contract/context.ts'
import { bindHandlers, type ContextOf, type InputOf } from '../../kernel/contract/operation.ts'
import { answerTo } from '../../kernel/contract/question.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import type { Subjects } from '../../statements/index.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { addCustomer, customerEvent, findCustomer, hasCustomerAfterLock } from '../customers/index.ts'
import {
  type AssertionRefusalCode,
  type assertionEvents,
  consumeAssertion,
  keyNames,
  type VerifiedAssertion,
  verifyAssertion,
  type WebauthnAssertion,
} from '../passkeys/index.ts'
import { personEvents } from '../people/index.ts'
import { ApiKeyEvent, apiKeysApi } from './api.ts'
import { secretAuthenticator } from './authenticate.ts'
import { ApiKey, modeOfEnvironment } from './key.ts'
import {
  hasActiveLiveKey,
  hasTooManyApiKeys,
  inheritedInMode,
  inheritedScopes,
  isBoundToSameDevice,
  keyExpiryProblem,
  type LockedCaller,
  lockCaller,
} from './locked-caller.ts'
import { apiKeyEvent, createApiKey, lockKeysMadeInSession, revokeApiKey, revokeApiKeys } from './made-key.ts'

/**
 * The console requires a person's signature for each new key; a calling key signs nothing. Call this before
 * any row is locked.
 */
const consentToKey = async (
  envelope: WebauthnAssertion | undefined,
  context: WriteContext<typeof assertionEvents>,
): Promise<VerifiedAssertion | undefined | AssertionRefusalCode> =>
  context.actor.type === 'console' ? verifyAssertion(envelope, context) : undefined

const useConsentToKey = async (
  consent: VerifiedAssertion | undefined,
  members: Subjects['key'],
  context: WriteContext<typeof assertionEvents>,
): Promise<AssertionRefusalCode | undefined> =>
  consent && consumeAssertion(consent, { kind: 'key', members }, context)

/** The first of these scopes that the caller lacks, since a key can grant only its own scopes. */
export const scopeCallerLacks = (scopes: readonly Scope[], caller: Actor): Scope | undefined =>
  scopes.find(scope => !caller.scopes.has(scope))

const subjectOf = ({ name, environment, scopes, toolWrites }: NewKeyMembers) => ({
  name,
  environment,
  scopes: scopes ?? null,
  ...(toolWrites ? { toolWrites: true as const } : {}),
})

type NewKeyMembers = InputOf<typeof apiKeysApi.create>['body']

type CreateContext = ContextOf<typeof apiKeysApi.create>

/**
 * Explains the steps that the owner still has to take. Reads the caller's mode, because the identity was
 * verified with a test key.
 */
async function missingInWords({ service, sql, actor, tenant }: CreateContext): Promise<string> {
  const missing = await service.missingIdentity(sql, actor.tenant ?? tenant)
  return `environment: live keys require a verified owner. Missing: ${missing.join('; ')}. See GET /kyc/status.`
}

/** Refuses a live key that this caller cannot create now. The request must already act in live mode. */
async function liveKeyProblem(context: CreateContext, granted: readonly Scope[] | null) {
  const { em, tenant, actor, refuse } = context
  const owner = await findCustomer(em, tenant.ownerId)
  if (!owner.isVerified()) return refuse('owner_not_verified', await missingInWords(context))
  if (actor.tenant?.mode === 'live') return undefined
  if (await hasActiveLiveKey(context, clock.real())) return refuse('live_key_at_work')
  return granted && !granted.includes('keys:write') ? refuse('first_live_key') : undefined
}

/**
 * Locks the caller and the target, which may be the same key, in the order of their ids. A session is locked
 * before any key.
 */
async function lockCallerAndTarget(
  id: string,
  context: WriteContext,
): Promise<[LockedCaller, ApiKey | null]> {
  const { em, actor } = context
  if (actor.type === 'console' || id >= String(actor.id))
    return [await lockCaller(context), await em.findOne(ApiKey, { id }, FOR_UPDATE)]
  const key = await em.findOne(ApiKey, { id }, FOR_UPDATE)
  return [await lockCaller(context), key]
}

const TENANT_OF_KEY = 'select owner_id as "ownerId", mode from keys where id = $1'

async function lockForOperator(
  id: string,
  { em, sql, switchTenant }: Context,
): Promise<[null, ApiKey | null]> {
  const [tenant] = await sql<Tenant & Row>(TENANT_OF_KEY, [id])
  if (!tenant) return [null, null]
  switchTenant({ ownerId: tenant.ownerId, mode: tenant.mode })
  return [null, await em.findOne(ApiKey, { id }, FOR_UPDATE)]
}

const keys = bindHandlers(apiKeysApi, {
  async openAccount({ body }, context) {
    const { em, sql, systems, switchTenant, emit, refuse } = context
    const isOnly = systems.identityVerification().decider === 'installation'
    if (isOnly && (await hasCustomerAfterLock(sql))) return refuse('second_customer')
    const ownerId = newId('customer')
    switchTenant({ ownerId, mode: 'test' })
    const customer = addCustomer(em, ownerId, body)
    const first = createApiKey(
      { name: 'First key', environment: 'sandbox', granted: null, expiresAt: null },
      context,
    )
    emit('customer.created', customerEvent(customer))
    emit('key.created', apiKeyEvent(first))
    return Object.assign(customer, { key: first.key })
  },

  async create({ body: { webauthnAssertion, ...wanted } }, context) {
    const { scopes: requestedScopes, expiresAt: requestedExpiry, toolWrites, ...body } = wanted
    const { em, actor, tenant, now, switchTenant, emit, refuse } = context
    const missing = scopeCallerLacks(requestedScopes ?? [], actor)
    if (missing) return refuse('scope_not_held', `scopes: the calling key does not have ${missing}.`)
    const consent = await consentToKey(webauthnAssertion, context)
    if (typeof consent === 'string') return refuse(consent)
    const maker = await lockCaller(context)
    const code = await useConsentToKey(consent, subjectOf(wanted), context)
    if (code) return refuse(code)
    if (toolWrites && !maker.toolWrites) return refuse('tool_writes_not_held')
    const expiresAt = requestedExpiry === undefined ? maker.expiresAt : requestedExpiry
    if (expiresAt && expiresAt <= clock.real()) return refuse('expires_in_past')
    const late = keyExpiryProblem(expiresAt, maker)
    if (late) return refuse('expires_too_late', `expiresAt: ${late}`)
    const granted = requestedScopes ?? inheritedScopes(maker)
    const mode = modeOfEnvironment(body.environment)
    switchTenant({ ownerId: tenant.ownerId, mode })
    const refusal = mode === 'live' ? await liveKeyProblem(context, granted) : undefined
    if (refusal) return refusal
    if (await hasTooManyApiKeys(context, clock.real())) return refuse('too_many_keys')
    const inherited = inheritedInMode(mode, maker, actor)
    const key = createApiKey(
      { ...body, toolWrites, expiresAt, granted, madeById: maker.keyId, ...inherited },
      context,
    )
    emit('key.created', apiKeyEvent(key))
    if (mode === tenant.mode) return key
    await em.flush()
    switchTenant(tenant, now)
    emit('key.live_created', apiKeyEvent(key))
    return key
  },

  list: ({ query: { environment, madeById } }, { page }) =>
    page(ApiKey, definedOnly({ environment, madeById })),

  async current(_, { em, actor, refuse }) {
    return (await em.findOne(ApiKey, { id: String(actor.id) })) ?? refuse('key_not_found')
  },

  get: getRecord(ApiKey, 'key_not_found'),

  async rotate({ params, body }, context) {
    const { em, emit, refuse } = context
    if (!(await em.findOne(ApiKey, { id: params.id }))) return refuse('key_not_found')
    const consent = await consentToKey(body.webauthnAssertion, context)
    if (typeof consent === 'string') return refuse(consent)
    const [maker, old] = await lockCallerAndTarget(params.id, context)
    if (!old) return refuse('key_not_found')
    const code = await useConsentToKey(consent, { keyId: old.id, name: old.name }, context)
    if (code) return refuse(code)
    if (!old.isUsable()) return refuse('key_not_open')
    if (old.hasScopesBeyond(maker)) return refuse('scope_not_held')
    if (old.toolWrites && !maker.toolWrites) return refuse('tool_writes_not_held')
    if (!isBoundToSameDevice(maker, old)) return refuse('binding_not_held')
    const { name, environment, granted, expiresAt, idleDays, toolWrites, boundTo, sessionId, personId } = old
    const late = keyExpiryProblem(expiresAt, maker)
    if (late) return refuse('expires_too_late', `The key would expire later: ${late}`)
    const children = await lockKeysMadeInSession(old, context)
    if (body.overlapMinutes > 0 && (await hasTooManyApiKeys(context, clock.real())))
      return refuse('too_many_keys')
    const kept = { name, environment, granted, expiresAt, idleDays, toolWrites, boundTo, sessionId, personId }
    // In a session, a key ends with its maker: a replacement takes the place of its key. That key ends with it, and so does what it
    // creates during the overlap.
    const madeById = sessionId ? old.madeById : maker.keyId
    // Who replaces a key knows the new secret; a key without a person does not take the person away.
    const madeByPersonId = maker.personId ?? old.madeByPersonId
    const firstId = old.firstId ?? old.id
    const key = createApiKey({ ...kept, madeById, madeByPersonId, firstId }, context)
    for (const child of children) child.madeById = key.id
    if (sessionId) old.madeById = key.id
    const end = addMs(clock.real(), minutes(body.overlapMinutes))
    if (!expiresAt || expiresAt > end) old.expiresAt = end
    emit('key.rotated', { ...apiKeyEvent(old), replacedById: key.id })
    return key
  },

  async revokeCurrent(_, context) {
    const { em, actor, refuse } = context
    const key = await em.findOne(ApiKey, { id: String(actor.id) }, FOR_UPDATE)
    if (!key || key.revokedAt) return refuse('key_not_found')
    revokeApiKey(key, context)
    return key
  },

  async revoke({ params }, context) {
    const { actor, refuse } = context
    const [maker, key] = await (actor.type === 'dash' ? lockForOperator : lockCallerAndTarget)(
      params.id,
      context,
    )
    if (!key) return refuse('key_not_found')
    if (key.revokedAt) return refuse('key_revoked')
    if (maker && key.hasScopesBeyond(maker)) return refuse('scope_not_held')
    revokeApiKey(key, context)
    return key
  },
})

const NAME = 'select name from keys where owner_id = $1 and mode = $2 and id = $3'

const nameOfKey = answerTo(keyNames, async (id, { sql, tenant: { ownerId, mode } }) => {
  const [key] = await sql<{ name: string } & Row>(NAME, [ownerId, mode, id])
  return key?.name
})

export const apiKeysArea = area('Keys', 'API keys of owners: create, rotate, revoke.', keys, {
  entities: [ApiKey],
  credentials: { sk: secretAuthenticator('key', 'keys') },
  expiring: [{ table: 'used_proofs', column: 'expires_at', keptMs: 0 }],
  endsCredentials: ['key.rotated', 'key.revoked'],
  answers: [nameOfKey],
  reactions: {
    'person.removed': reaction(
      personEvents['person.removed'],
      { 'key.revoked': ApiKeyEvent },
      ({ personId }, context) => revokeApiKeys({ personId }, context),
    ),
  },
})
