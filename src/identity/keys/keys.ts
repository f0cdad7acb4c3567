import type { EntityManager } from '@mikro-orm/postgresql'
import { area } from '../../kernel/area.ts'
import { after, clock, minutes } from '../../kernel/clock.ts'
import type { Actor } from '../../kernel/context.ts'
import { newId } from '../../kernel/ids.ts'
import { implement } from '../../kernel/operation.ts'
import { given, lock } from '../../kernel/record.ts'
import { type Scope, scopes } from '../../kernel/scopes.ts'
import { isOpen, newSecret, traceOf } from '../../kernel/secrets.ts'
import { aboutCustomer, addCustomer, findCustomer } from '../customers/customers.ts'
import { keysApi } from './api.ts'
import { authenticator } from './authenticate.ts'
import { Key, modeOf } from './key.ts'

export { authenticator } from './authenticate.ts'

type Members = Pick<Key, 'name' | 'environment' | 'granted' | 'expiresAt'>

/** A new key and, for this one answer, its secret: it is kept nowhere. */
function make(em: EntityManager, members: Members): Key & { key: string } {
  const secret = newSecret(`sk_${members.environment}_`)
  return Object.assign(em.create(Key, { ...members, ...traceOf(secret) }), { key: secret })
}

const about = ({ id, name, environment, expiresAt }: Key) => ({ keyId: id, name, environment, expiresAt })

/** The first of these scopes that the caller lacks. Nobody gives what he does not have. */
export const lacking = (wanted: readonly Scope[], { scopes: own }: Actor): Scope | undefined =>
  wanted.find(scope => !own.has(scope))

/** What a key gives when nothing is said: all it has. */
const inherited = (actor: Actor): Scope[] | null =>
  lacking(scopes, actor) ? scopes.filter(scope => actor.scopes.has(scope)) : null

const keys = implement(keysApi, {
  openAccount({ body }, { em, actFor, emit }) {
    const ownerId = newId('customer')
    actFor({ ownerId, mode: 'test' })
    const customer = addCustomer(em, ownerId, body)
    const first = make(em, { name: 'First key', environment: 'sandbox', granted: null, expiresAt: null })
    emit('customer.created', aboutCustomer(customer))
    emit('key.created', about(first))
    return Object.assign(customer, { key: first.key })
  },

  async create({ body: { scopes: wanted, ...body } }, { em, actor, tenant, actFor, emit, refuse }) {
    const lacks = lacking(wanted ?? [], actor)
    if (lacks) return refuse('scope_not_held', `scopes: the calling key does not have ${lacks} itself.`)
    if (body.expiresAt && body.expiresAt <= clock.real()) return refuse('expires_in_past')
    const owner = await findCustomer(em, tenant.ownerId)
    if (body.environment === 'live' && !owner.isVerified()) return refuse('owner_not_verified')
    actFor({ ownerId: tenant.ownerId, mode: modeOf(body.environment) })
    const key = make(em, { ...body, granted: wanted ?? inherited(actor) })
    emit('key.created', about(key))
    return key
  },

  list: ({ query: { environment } }, { page }) => page(Key, given({ environment })),

  async get({ params }, { em, refuse }) {
    return (await em.findOne(Key, { id: params.id })) ?? refuse('key_not_found')
  },

  async rotate({ params, body }, { em, actor, emit, refuse }) {
    const old = await lock(em, Key, params.id)
    if (!old) return refuse('key_not_found')
    if (!isOpen(old)) return refuse('key_not_open')
    if (lacking(old.scopes, actor)) return refuse('scope_not_held')
    const { name, environment, granted, expiresAt } = old
    const key = make(em, { name, environment, granted, expiresAt })
    const end = after(clock.real(), minutes(body.overlapMinutes))
    if (!expiresAt || expiresAt > end) old.expiresAt = end
    emit('key.rotated', { ...about(old), replacedById: key.id })
    return key
  },

  async revoke({ params }, { em, emit, refuse }) {
    const key = await lock(em, Key, params.id)
    if (!key) return refuse('key_not_found')
    if (key.revokedAt) return refuse('key_revoked')
    key.revokedAt = clock.real()
    emit('key.revoked', about(key))
    return key
  },
})

export const keysArea = area('Keys', 'The secrets that owners call with: create, rotate, revoke.', keys, {
  entities: [Key],
  credentials: { sk: authenticator('key', 'keys') },
  endsCredentials: ['key.rotated', 'key.revoked'],
})
