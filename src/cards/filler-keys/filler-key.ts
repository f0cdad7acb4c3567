import { defineEntity, p } from '@mikro-orm/core'
import { recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import type { EncryptionKey } from '../../values/encryption-key.ts'
import type { PersonalData } from '../../values/personal.ts'

const schema = defineEntity({
  ...tenantTable('FillerKey', 'filler_keys'),
  properties: {
    ...recordColumns('fillerkey'),
    label: p.text(),
    thumbprint: p.text(),
    alg: p.text().$type<EncryptionKey['alg']>(),
    publicKeyJwk: p.json<EncryptionKey['jwk']>(),
  },
})

/**
 * The public key of a program that fills payment forms, registered by the owner. An agent may have card data
 * encrypted only to such a key, since it could read data encrypted to a key of its own.
 */
export class FillerKey extends schema.class {}
schema.setClass(FillerKey)

export const encryptionKeyOf = ({ publicKeyJwk: jwk, alg, thumbprint }: FillerKey): EncryptionKey => ({
  jwk,
  alg,
  thumbprint,
})

export const fillerKeysPersonalData = {
  filler_keys: {
    personal: {
      label: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['thumbprint', 'alg', 'public_key_jwk'],
  },
} as const satisfies PersonalData
