import type { EntityManager } from '@mikro-orm/postgresql'
import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type ContextOf, implement } from '../../kernel/contract/operation.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { isOpen, newSecret, traceOf } from '../../kernel/database/credential.ts'
import { given, lock } from '../../kernel/database/entity.ts'
import { after, clock, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { addCustomer, customerEvent, findCustomer } from '../customers/index.ts'
import { keysApi } from './api.ts'
import { authenticator } from './authenticate.ts'
import { expiryProblem, hasActiveLiveKey, inheritedScopes, lockCallingKey } from './calling-key.ts'
import { Key, modeOf } from './key.ts'

type Members = Pick<Key, 'name' | 'environment' | 'granted' | 'expiresAt'> & Partial<Pick<Key, 'madeById'>>

/** A new key and, for this one answer, its secret: it is kept nowhere. */
function createKey(em: EntityManager, members: Members): Key & { key: string } {
  const secret = newSecret(`sk_${members.environment}_`)
  return Object.assign(em.create(Key, { ...members, ...traceOf(secret) }), { key: secret })
}

const keyEvent = ({ id, name, environment, expiresAt, madeById }: Key) => ({
  keyId: id,
  name,
  environment,
  expiresAt,
  madeById,
})

/** The first of these scopes that the caller lacks. Nobody gives what he does not have. */
export const missingScope = (wanted: readonly Scope[], { scopes: own }: Actor): Scope | undefined =>
  wanted.find(scope => !own.has(scope))

type CreateContext = ContextOf<typeof keysApi.create>

/** Why a live key cannot be made now, and by this key; the caller acts in live mode by then. */
async function liveKeyProblem(context: CreateContext, granted: readonly Scope[] | null) {
  const { em, tenant, actor, refuse } = context
  const owner = await findCustomer(em, tenant.ownerId)
  if (!owner.isVerified()) return refuse('owner_not_verified')
  if (actor.tenant?.mode === 'live') return undefined
  if (await hasActiveLiveKey(context, clock.real())) return refuse('live_key_at_work')
  return granted && !granted.includes('keys:write') ? refuse('first_live_key') : undefined
}

/** The key that calls and the one that it is about, which may be the same: held in the order of their ids. */
async function lockCallingAndTarget(
  id: string,
  context: Pick<Context, 'em' | 'actor'>,
): Promise<[Key, Key | null]> {
  if (id >= String(context.actor.id)) return [await lockCallingKey(context), await lock(context.em, Key, id)]
  const key = await lock(context.em, Key, id)
  return [await lockCallingKey(context), key]
}

const PLACE = 'select owner_id as "ownerId", mode from keys where id = $1'

/** For the operator, who is no key: whosever it is. */
async function lockForOperator(
  id: string,
  { em, sql, actFor }: Pick<Context, 'em' | 'sql' | 'actFor'>,
): Promise<[null, Key | null]> {
  const [place] = await sql<Tenant & Row>(PLACE, [id])
  if (!place) return [null, null]
  actFor({ ownerId: place.ownerId, mode: place.mode })
  return [null, await lock(em, Key, id)]
}

const keys = implement(keysApi, {
  openAccount({ body }, { em, actFor, emit }) {
    const ownerId = newId('customer')
    actFor({ ownerId, mode: 'test' })
    const customer = addCustomer(em, ownerId, body)
    const first = createKey(em, { name: 'First key', environment: 'sandbox', granted: null, expiresAt: null })
    emit('customer.created', customerEvent(customer))
    emit('key.created', keyEvent(first))
    return Object.assign(customer, { key: first.key })
  },

  async create({ body: { scopes: wanted, expiresAt: wish, ...body } }, context) {
    const { em, actor, tenant, now, actFor, emit, refuse } = context
    const lacks = missingScope(wanted ?? [], actor)
    if (lacks) return refuse('scope_not_held', `scopes: the calling key does not have ${lacks} itself.`)
    const maker = await lockCallingKey(context)
    const expiresAt = wish === undefined ? maker.expiresAt : wish
    if (expiresAt && expiresAt <= clock.real()) return refuse('expires_in_past')
    const late = expiryProblem(expiresAt, maker)
    if (late) return refuse('expires_too_late', `expiresAt: ${late}`)
    const granted = wanted ?? inheritedScopes(maker)
    const mode = modeOf(body.environment)
    actFor({ ownerId: tenant.ownerId, mode })
    const obstacle = mode === 'live' ? await liveKeyProblem(context, granted) : undefined
    if (obstacle) return obstacle
    const key = createKey(em, { ...body, expiresAt, granted, madeById: maker.id })
    emit('key.created', keyEvent(key))
    if (mode === tenant.mode) return key
    await em.flush()
    actFor(tenant, now)
    emit('key.live_created', keyEvent(key))
    return key
  },

  list: ({ query: { environment, madeById } }, { page }) => page(Key, given({ environment, madeById })),

  async get({ params }, { em, refuse }) {
    return (await em.findOne(Key, { id: params.id })) ?? refuse('key_not_found')
  },

  async rotate({ params, body }, context) {
    const { em, emit, refuse } = context
    const [maker, old] = await lockCallingAndTarget(params.id, context)
    if (!old) return refuse('key_not_found')
    if (!isOpen(old)) return refuse('key_not_open')
    if (old.hasScopesBeyond(maker)) return refuse('scope_not_held')
    const { name, environment, granted, expiresAt } = old
    const late = expiryProblem(expiresAt, maker)
    if (late) return refuse('expires_too_late', `The key lasts longer: ${late}`)
    const key = createKey(em, { name, environment, granted, expiresAt, madeById: maker.id })
    const end = after(clock.real(), minutes(body.overlapMinutes))
    if (!expiresAt || expiresAt > end) old.expiresAt = end
    emit('key.rotated', { ...keyEvent(old), replacedById: key.id })
    return key
  },

  async revoke({ params }, context) {
    const { actor, emit, refuse } = context
    const [maker, key] = await (actor.type === 'dash' ? lockForOperator : lockCallingAndTarget)(
      params.id,
      context,
    )
    if (!key) return refuse('key_not_found')
    if (key.revokedAt) return refuse('key_revoked')
    if (maker && key.hasScopesBeyond(maker)) return refuse('scope_not_held')
    key.revokedAt = clock.real()
    emit('key.revoked', keyEvent(key))
    return key
  },
})

export const keysArea = area('Keys', 'The secrets that owners call with: create, rotate, revoke.', keys, {
  entities: [Key],
  credentials: { sk: authenticator('key', 'keys') },
  endsCredentials: ['key.rotated', 'key.revoked'],
})
