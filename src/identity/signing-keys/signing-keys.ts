import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { newSigningKeyPair, publicKeyFromX } from '../../ports/signer.ts'
import { signingKeysApi } from './api.ts'
import { livePlatformTenant, SigningKey, sealSigningKey } from './signing-key.ts'

const shown = (key: SigningKey) => withMembers(key, { publicKey: key.publicKey() })

const signingKeys = bindHandlers(signingKeysApi, {
  async jwks(_, { em, switchTenant }) {
    switchTenant(livePlatformTenant)
    const keys = await em.find(SigningKey, {}, { orderBy: { id: 'desc' } })
    return { keys: keys.map(key => key.publicKey()) }
  },

  async list(_, { page, switchTenant }) {
    switchTenant(livePlatformTenant)
    const { data, ...rest } = await page(SigningKey, {})
    return { ...rest, data: data.map(shown) }
  },

  async rotate(_, context) {
    const { em, systems, emit, switchTenant } = context
    switchTenant(livePlatformTenant)
    await lockTenant(context, 'signing-keys')
    const old = await em.findOneOrFail(SigningKey, { retiredAt: null })
    old.retiredAt = context.now
    old.privateKey = null
    // Only one key is current at any time, so the old one is retired first.
    await em.flush()
    const { x, privateKey } = newSigningKeyPair()
    const { kid } = publicKeyFromX(x)
    const key = em.create(SigningKey, {
      kid,
      x,
      privateKey: sealSigningKey(systems.vault, kid, privateKey),
    })
    emit('signing_key.rotated', { signingKeyId: key.id, kid, replacedKid: old.kid })
    return shown(key)
  },
})

export const signingKeysArea = area(
  'Signing Keys',
  'The keys of this installation, with which it signs evidence and receipts.',
  signingKeys,
  { entities: [SigningKey] },
)
