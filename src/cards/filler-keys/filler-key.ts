import { defineEntity, p } from '@mikro-orm/core'
import { recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import type { EncryptionKey } from '../../values/encryption-key.ts'

const schema = defineEntity({
  ...tenantTable('FillerKey', 'filler_keys'),
  properties: {
    ...recordColumns('fillerkey'),
    label: personal(p.text(), 'words', 'contract', 'word'),
    thumbprint: plain(p.text()),
    alg: plain(p.text().$type<EncryptionKey['alg']>()),
    publicKeyJwk: plain(p.json<EncryptionKey['jwk']>()),
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
