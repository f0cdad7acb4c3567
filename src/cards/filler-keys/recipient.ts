import type { Actor } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import { type EncryptionKey, encryptionKeySchema } from '../../values/encryption-key.ts'
import { id } from '../../values/ids.ts'
import { encryptionKeyOf, FillerKey } from './filler-key.ts'

export const recipientKeyMembers = {
  publicKeyJwk: encryptionKeySchema.optional(),
  fillerKeyId: id('fillerkey')
    .optional()
    .meta({ description: 'A filler key that the owner has registered. Replaces `publicKeyJwk`.' }),
}

export interface RecipientKeyReference {
  readonly publicKeyJwk?: EncryptionKey | undefined
  readonly fillerKeyId?: string | undefined
}

export const namesOneRecipientKey = ({ publicKeyJwk, fillerKeyId }: RecipientKeyReference): boolean =>
  (publicKeyJwk === undefined) !== (fillerKeyId === undefined)
export const oneRecipientKeyRequired = {
  path: ['publicKeyJwk'],
  error: 'send either publicKeyJwk or fillerKeyId',
}

export const recipientKeyRefusals = {
  filler_key_not_found: [404, 'fillerKeyId: no such filler key. GET /checkout/filler-keys lists them.'],
  filler_key_required: [
    403,
    'publicKeyJwk: an agent, or a person in the console, may have card data encrypted only to a registered filler key (POST /checkout/filler-keys).',
  ],
} as const satisfies Record<string, RefusalSpec>

/** An agent could read the card by a key of its own, and so could the thief of a session. */
export const mayNameAnyKey = ({ type }: Pick<Actor, 'type'>): boolean => type === 'key'

/**
 * The key that a request names, or why nothing is encrypted to it. Unless an owner's API key names it, it must be
 * registered: by id, or as the same key.
 */
export async function findRecipientKey(
  { publicKeyJwk, fillerKeyId }: RecipientKeyReference,
  { actor, em }: ReadContext,
): Promise<EncryptionKey | keyof typeof recipientKeyRefusals> {
  if (fillerKeyId !== undefined) {
    const registered = await em.findOne(FillerKey, { id: fillerKeyId })
    return registered ? encryptionKeyOf(registered) : 'filler_key_not_found'
  }
  if (!publicKeyJwk) throw new Error('a request without a key to encrypt to')
  if (mayNameAnyKey(actor)) return publicKeyJwk
  const registered = await em.findOne(FillerKey, { thumbprint: publicKeyJwk.thumbprint })
  return registered ? encryptionKeyOf(registered) : 'filler_key_required'
}
