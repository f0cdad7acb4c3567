import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, DONE, externalCall } from '../../kernel/contract/operation.ts'
import { FOR_UPDATE, withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { mppKeysApi } from './api.ts'
import { MppKey, mppPublicJwk, type NewMppKey, newMppKey, retireMppKey } from './mpp-key.ts'

const shown = (key: MppKey) => withMembers(key, { publicKeyJwk: { ...mppPublicJwk(key) } })

/** Locks the key: of two concurrent replacements, the second replaces the key that the first one made. */
async function lockCurrent(context: Context<never>): Promise<MppKey | null> {
  await lockTenant(context, 'mpp-keys')
  return context.em.findOne(MppKey, { retiredAt: null })
}

async function storeFirst(key: NewMppKey, context: Context<never, (typeof mppKeysApi.make)['emits']>) {
  if (await lockCurrent(context)) return { made: false }
  const { id, kid } = context.em.create(MppKey, key)
  context.emit('mpp_key.created', { mppKeyId: id, kid })
  return { made: true }
}

type RotateContext = Context<never, (typeof mppKeysApi.rotate)['emits']>

async function replace(key: NewMppKey, context: RotateContext) {
  const { em, now, emit } = context
  const old = await lockCurrent(context)
  if (old) retireMppKey(old, now)
  // Only one key may be current at any moment, so the old one is retired first.
  await em.flush()
  const made = em.create(MppKey, key)
  emit('mpp_key.rotated', { mppKeyId: made.id, kid: made.kid, replacedKid: old?.kid ?? null })
  return shown(made)
}

const nothingReserved = async () => ({})

const mppKeys = bindHandlers(mppKeysApi, {
  async list(_, { page }) {
    const { data, ...rest } = await page(MppKey, {})
    return { ...rest, data: data.map(shown) }
  },

  rotate: externalCall(mppKeysApi.rotate, {
    reserve: nothingReserved,
    call: (_reserved, { systems }) => newMppKey(systems.vault),
    record: (key, _reserved, context) => replace(key, context),
    recover: async (_reserved, context) => replace(await newMppKey(context.systems.vault), context),
  }),

  make: externalCall(mppKeysApi.make, {
    reserve: nothingReserved,
    call: (_reserved, { systems }) => newMppKey(systems.vault),
    record: (key, _reserved, context) => storeFirst(key, context),
    recover: async (_reserved, context) => storeFirst(await newMppKey(context.systems.vault), context),
  }),

  async end({ params }, { em, now, emit, refuse }) {
    const key = await em.findOne(MppKey, { id: params.id }, FOR_UPDATE)
    if (!key) return refuse('mpp_key_not_found')
    const { secret, endsAt, id: mppKeyId, kid } = key
    if (secret === null) return DONE
    if (endsAt === null || endsAt > now) return { done: false }
    Object.assign(key, { secret: null, privateKey: null })
    emit('mpp_key.ended', { mppKeyId, kid })
    return DONE
  },
})

const retirement: Deadline = {
  process: { name: 'mpp-key' },
  table: 'mpp_keys',
  record: 'id',
  agent: 'null::text',
  due: 'ends_at',
  open: 'ends_at is not null and secret is not null',
  waits: 'false',
  operations: ['mppKeys.end'],
}

export const mppKeysArea = area(
  'Payment Keys',
  'The keys of the challenges with which you are paid.',
  mppKeys,
  { entities: [MppKey], deadlines: [retirement] },
)
