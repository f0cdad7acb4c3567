import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import { fillerKeysApi } from './api.ts'
import { FillerKey } from './filler-key.ts'

const fillerKeyEvent = ({ id, label, thumbprint }: FillerKey) => ({ fillerKeyId: id, label, thumbprint })

const newKeyInWords = (
  ownerId: string,
  { label, thumbprint }: Pick<FillerKey, 'label' | 'thumbprint'>,
): StatedWidening => ({
  of: 'account',
  id: ownerId,
  name: null,
  field: 'New key to which card data is encrypted',
  from: 'none',
  to: `${quoted(label)}, with the thumbprint ${thumbprint}`,
})

const fillerKeys = bindHandlers(fillerKeysApi, {
  async create({ body: { label, publicKeyJwk, webauthnAssertion } }, context) {
    const { em, tenant, emit, refuse } = context
    const { jwk, alg, thumbprint } = publicKeyJwk
    const other = await em.findOne(FillerKey, { thumbprint })
    if (other)
      return refuse(
        'filler_key_exists',
        `publicKeyJwk: this key is already registered: ${other.id}, ${other.label}.`,
      )
    const unsigned = await refuseUnsignedWidening(
      webauthnAssertion,
      () => [newKeyInWords(tenant.ownerId, { label, thumbprint })],
      context,
    )
    if (unsigned) return unsigned
    const key = em.create(FillerKey, { label, alg, thumbprint, publicKeyJwk: jwk })
    emit('filler_key.created', fillerKeyEvent(key))
    return key
  },

  list: ({ query: { thumbprint } }, { page }) => page(FillerKey, definedOnly({ thumbprint })),

  get: getRecord(FillerKey, 'filler_key_not_found'),

  async delete({ params }, { em, emit, refuse }) {
    const key = await em.findOne(FillerKey, { id: params.id }, FOR_UPDATE)
    if (!key) return refuse('filler_key_not_found')
    em.remove(key)
    emit('filler_key.deleted', fillerKeyEvent(key))
  },
})

export const fillerKeysArea = area(
  'Filler Keys',
  'The public keys of programs that fill payment forms, to which card data may be encrypted.',
  fillerKeys,
  { entities: [FillerKey] },
)
